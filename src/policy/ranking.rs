//! Preferences among the routes that may be used: a total order, and the reason for it.

use std::cmp::Ordering;

/// What routes are compared by. Smaller is better for each: quality is turned around by who fills it in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Key {
    /// Whether the request waited for this very route. Always compared first.
    Plan,
    /// How often this request has called the route already. Always compared second.
    Tries,
    /// The health state; among unhealthy ones bad results in a row, then staleness.
    Health,
    /// The rolling P95 latency, in steps.
    LatencyP95,
    /// Calls in flight on the route.
    QueueDepth,
    /// The worst case of this request on the route.
    Price,
    /// Measured quality.
    Quality,
    /// A draw, weighted.
    Weight,
    /// The order in the file. Always compared last.
    Order,
}

/// How many keys there are.
pub const KEYS: usize = 9;

impl Key {
    /// Every key.
    pub const ALL: [Key; KEYS] = [
        Key::Plan,
        Key::Tries,
        Key::Health,
        Key::LatencyP95,
        Key::QueueDepth,
        Key::Price,
        Key::Quality,
        Key::Weight,
        Key::Order,
    ];

    /// The word in scenario files and events.
    pub const fn label(self) -> &'static str {
        match self {
            Key::Plan => "plan",
            Key::Tries => "tries",
            Key::Health => "health",
            Key::LatencyP95 => "latency_p95",
            Key::QueueDepth => "queue_depth",
            Key::Price => "price",
            Key::Quality => "quality",
            Key::Weight => "weight",
            Key::Order => "order",
        }
    }
}

/// How one route stands: a number a key, smaller is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    values: [u64; KEYS],
}

impl Standing {
    /// The standing with `value` for `key`.
    #[inline]
    pub const fn with(mut self, key: Key, value: u64) -> Standing {
        self.set(key, value);
        self
    }

    /// Makes `value` the number for `key`.
    #[inline]
    pub const fn set(&mut self, key: Key, value: u64) {
        self.values[key as usize] = value;
    }

    /// The number for `key`.
    pub const fn get(&self, key: Key) -> u64 {
        self.values[key as usize]
    }
}

/// The order of the keys between [`Key::Tries`] and [`Key::Order`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    keys: [Key; KEYS],
    used: usize,
    /// The same keys, a bit each.
    mask: u16,
}

impl Default for Order {
    /// Health, P95 latency, queue depth, price, quality, weight.
    fn default() -> Order {
        Order { keys: Key::ALL, used: KEYS, mask: (1 << KEYS) - 1 }
    }
}

impl Order {
    /// The order that compares `middle`, most important first. A key counts once, at its first place.
    pub fn new(middle: &[Key]) -> Order {
        let mut order = Order { keys: [Key::Order; KEYS], used: 0, mask: 0 };
        for key in [Key::Plan, Key::Tries].iter().chain(middle).chain(&[Key::Order]) {
            if !order.keys[..order.used].contains(key) {
                order.keys[order.used] = *key;
                order.used += 1;
                order.mask |= 1 << *key as u16;
            }
        }
        order
    }

    /// Whether `key` is compared at all.
    pub const fn compares(&self, key: Key) -> bool {
        self.mask >> key as u16 & 1 == 1
    }

    /// Which of two standings is better, and the key that decides.
    pub fn compare(&self, a: &Standing, b: &Standing) -> (Ordering, Key) {
        match self.difference(a, b) {
            Some(at) => (a.get(self.keys[at]).cmp(&b.get(self.keys[at])), self.keys[at]),
            None => (Ordering::Equal, Key::Order),
        }
    }

    /// The place of the first key by which two standings differ, from zero.
    #[inline]
    pub fn difference(&self, a: &Standing, b: &Standing) -> Option<usize> {
        self.keys[..self.used].iter().position(|key| a.get(*key) != b.get(*key))
    }

    /// The key that is compared in this place.
    pub fn key(&self, place: usize) -> Key {
        self.keys[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_outranks_price_and_says_so() {
        let sick_and_cheap = Standing::default().with(Key::Health, 2).with(Key::Price, 1);
        let well_and_dear = Standing::default().with(Key::Price, 9);
        let order = Order::default();
        assert_eq!(order.compare(&well_and_dear, &sick_and_cheap), (Ordering::Less, Key::Health));
        let price_first = Order::new(&[Key::Price, Key::Health]);
        assert_eq!(price_first.compare(&sick_and_cheap, &well_and_dear), (Ordering::Less, Key::Price));
    }

    #[test]
    fn a_route_not_yet_tried_comes_first_whatever_the_preferences() {
        let tried = Standing::default().with(Key::Tries, 1);
        let sick = Standing::default().with(Key::Health, 2);
        assert_eq!(Order::new(&[Key::Health]).compare(&sick, &tried), (Ordering::Less, Key::Tries));
    }
}
