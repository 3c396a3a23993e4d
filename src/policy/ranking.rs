//! Preferences among the routes that may be used: a total order, and the reason for it.

use crate::units::{Duration, Key as Draw, RouteId, real};

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

    /// The keys that it was made of, most important first.
    pub fn preferences(&self) -> impl Iterator<Item = Key> {
        self.keys().iter().copied().filter(|key| !matches!(key, Key::Plan | Key::Tries | Key::Order))
    }

    /// All keys, most important first: [`Key::Plan`], [`Key::Tries`], then the others.
    pub fn keys(&self) -> &[Key] {
        &self.keys[..self.used]
    }

    /// Those that can tell routes apart for a request that waited for no route, most important first: not by plan, and by
    /// tries only after a call.
    pub fn keys_unplanned(&self, is_tried: bool) -> &[Key] {
        &self.keys()[if is_tried { 1 } else { 2 }..]
    }
}

/// How a draw by weight is decided: a race, in which more weight makes faster. The odds are the weights' shares.
#[derive(Clone, Debug)]
pub struct Races {
    /// Exponential with mean 2³²: a time drawn from it, divided by a weight, is a race that weights win fairly. Empty
    /// if nobody takes part.
    times: real::Knots,
}

impl Races {
    /// Among routes of these weights. The table of times is made only if one of them takes part.
    pub fn new(weights: impl IntoIterator<Item = u32>) -> Races {
        let takes_part = weights.into_iter().any(|weight| weight > 0);
        let times = if takes_part {
            real::exponential(Duration::from_nanos(1 << 32))
        } else {
            real::Knots::Given(Vec::new())
        };
        Races { times }
    }

    /// The time of a route of this weight; a route without weight takes no part, and comes before all others: for it
    /// nothing is drawn.
    pub fn time(&self, weight: u32, draw: impl FnOnce() -> Draw) -> u64 {
        if weight == 0 {
            return 0;
        }
        1 + self.times.at((draw().bits() >> 32) as u32) / u64::from(weight)
    }
}

/// Routes that are held against each other, key by key: who is not among the best by a key is out by it.
#[derive(Debug, Default)]
pub struct Contest {
    /// Who is still in comes first, in the order of entering.
    routes: Vec<RouteId>,
}

/// Those of a contest who tie by all keys before the one that is compared.
#[derive(Debug)]
pub struct Round<'c> {
    routes: &'c mut [RouteId],
}

impl Contest {
    /// Forgets everybody, keeps the memory.
    pub fn clear(&mut self) {
        self.routes.clear();
    }

    /// One more route: they enter in the order of the file.
    pub fn enter(&mut self, route: RouteId) {
        self.routes.push(route);
    }

    /// All these routes.
    pub fn enter_all(&mut self, routes: &[RouteId]) {
        self.routes.extend_from_slice(routes);
    }

    /// The best route, and the last key that put another out; `None` if it was the only one. `compare` plays the round
    /// of a key; nobody is asked how a route stands that is out. Who is out is told, and by which key.
    #[inline]
    pub fn decide(
        &mut self,
        keys: &[Key],
        compare: impl Fn(Key, Round<'_>) -> usize,
        mut out: impl FnMut(RouteId, Key),
    ) -> Option<(RouteId, Option<Key>)> {
        let (mut left, mut by) = (self.routes.len(), None);
        for key in keys {
            if left <= 1 {
                break;
            }
            let routes = &mut self.routes[..left];
            let best = compare(*key, Round { routes });
            if best < left {
                self.routes[best..left].iter().for_each(|route| out(*route, *key));
                (left, by) = (best, Some(*key));
            }
        }
        self.routes.first().map(|best| (*best, by))
    }
}

impl Round<'_> {
    /// All tie.
    pub const fn tie(self) -> usize {
        self.routes.len()
    }

    /// Who entered first is the best.
    pub const fn first(self) -> usize {
        1
    }

    /// Holds them against each other by a number, smaller is better. How many are the best; they come first now.
    #[inline]
    pub fn by(self, number: impl Fn(RouteId) -> u64) -> usize {
        let (mut least, mut best) = (u64::MAX, 0);
        for at in 0..self.routes.len() {
            let number = number(self.routes[at]);
            if number < least {
                (least, best) = (number, 0);
            }
            if number == least {
                self.routes.swap(best, at);
                best += 1;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who is best of routes with these values, by which key, and by which the others are out, in file order.
    fn decided(order: &Order, routes: &[&[(Key, u64)]]) -> (usize, Option<Key>, Vec<(usize, Key)>) {
        let mut contest = Contest::default();
        (0..routes.len() as u16).for_each(|route| contest.enter(RouteId(route)));
        let of = |key: Key, route: RouteId| {
            routes[route.index()].iter().find(|(of, _)| *of == key).map_or(0, |(_, value)| *value)
        };
        let mut others = Vec::new();
        let compare = |key, round: Round<'_>| {
            if key == Key::Order { round.first() } else { round.by(|route| of(key, route)) }
        };
        let (best, by) =
            contest.decide(order.keys(), compare, |out, key| others.push((out.index(), key))).unwrap();
        others.sort();
        (best.index(), by, others)
    }

    #[test]
    fn health_outranks_price_and_says_so() {
        let (sick_and_cheap, well_and_dear) =
            ([(Key::Health, 2), (Key::Price, 1)], [(Key::Health, 0), (Key::Price, 9)]);
        let best = |order: &Order| decided(order, &[&sick_and_cheap, &well_and_dear]);
        assert_eq!(best(&Order::default()), (1, Some(Key::Health), vec![(0, Key::Health)]));
        let price_first = Order::new(&[Key::Price, Key::Health]);
        assert_eq!(best(&price_first), (0, Some(Key::Price), vec![(1, Key::Price)]));
    }

    #[test]
    fn a_route_not_yet_tried_comes_first_whatever_the_preferences() {
        let (tried, sick) = ([(Key::Tries, 1)], [(Key::Health, 2)]);
        let best = decided(&Order::new(&[Key::Health]), &[&tried, &sick]);
        assert_eq!(best, (1, Some(Key::Tries), vec![(0, Key::Tries)]));
    }

    #[test]
    fn the_only_one_is_chosen_by_nothing_and_nobody_is_chosen_of_none() {
        assert_eq!(decided(&Order::default(), &[&[(Key::Price, 7)]]), (0, None, vec![]));
        assert_eq!(
            Contest::default().decide(Order::default().keys(), |_, round| round.tie(), |_, _| {}),
            None
        );
    }

    #[test]
    fn each_is_out_by_the_first_key_in_which_it_differs_from_the_best() {
        use proptest::prelude::*;
        let keys = [Key::Health, Key::QueueDepth, Key::Price];
        let order = Order::new(&keys);
        proptest!(|(rows in proptest::collection::vec([0u64..3, 0u64..3, 0u64..3], 1..7))| {
            let rows: Vec<Vec<(Key, u64)>> = rows.iter().map(|row| keys.into_iter().zip(*row).collect()).collect();
            let (best, by, others) = decided(&order, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let least = rows.iter().enumerate().min_by_key(|(at, row)| (row.iter().map(|(_, n)| *n).collect::<Vec<_>>(), *at));
            prop_assert_eq!(best, least.unwrap().0);
            prop_assert_eq!(others.len() + 1, rows.len());
            for (other, key) in &others {
                let differs = rows[best].iter().zip(&rows[*other]).find(|(a, b)| a != b);
                prop_assert_eq!(*key, differs.map_or(Key::Order, |(a, _)| a.0));
            }
            let place = |key: &Key| order.keys().iter().position(|other| other == key);
            prop_assert_eq!(by, others.iter().map(|(_, key)| *key).max_by_key(place));
        });
    }
}
