//! The only `f64` in the house. Distributions become tables of whole nanoseconds when a scenario is loaded;
//! nothing is drawn, compared or stored as a float. `libm` is software: the same bits on every system.

#![expect(clippy::float_arithmetic, reason = "this file is where floats end")]

use super::time::Duration;

/// An inverse distribution function, as knots with straight lines between them: rising, like their probabilities.
#[derive(Clone, Debug)]
pub enum Knots {
    /// As `(probability in 2⁻³², nanoseconds)`.
    Given(Vec<(u32, u64)>),
    /// The nanoseconds at the probabilities of the grid.
    Grid(Box<[u64; GRID]>),
}

/// An exponential distribution with this mean.
pub fn exponential(mean: Duration) -> Knots {
    let mean = mean.nanos() as f64;
    knots(|p| -mean * libm::log1p(-p))
}

/// A log-normal distribution with this median and 99th percentile.
pub fn log_normal(median: Duration, p99: Duration) -> Knots {
    const Z99: f64 = 2.326_347_874_040_841;
    let mu = libm::log(median.nanos().max(1) as f64);
    let sigma = (libm::log(p99.nanos().max(1) as f64) - mu) / Z99;
    knots(|p| libm::exp(mu + sigma * normal_quantile(p)))
}

/// A Pareto distribution: never below `least`, with tail exponent `alpha_milli / 1000`.
pub fn pareto(least: Duration, alpha_milli: u64) -> Knots {
    let (least, alpha) = (least.nanos() as f64, alpha_milli as f64 / 1000.0);
    knots(|p| least * libm::pow(1.0 - p, -1.0 / alpha))
}

impl Knots {
    /// The value at probability `p` (in 2⁻³²), interpolated in integers, rounded down; zero if there is no knot.
    pub fn at(&self, p: u32) -> u64 {
        match self {
            Knots::Given(knots) => {
                let right = knots.iter().position(|knot| p < knot.0).unwrap_or(knots.len());
                match (right.checked_sub(1).map(|left| &knots[left]), knots.get(right)) {
                    (Some((p0, v0)), Some((p1, v1))) => v0 + share(v1 - v0, p - p0, p1 - p0),
                    (Some((_, value)), None) | (None, Some((_, value))) => *value,
                    (None, None) => 0,
                }
            }
            Knots::Grid(values) => {
                let halving = (!p).leading_zeros() as usize;
                let Some(Halving { knot, start, bits }) = HALVINGS.get(halving) else {
                    let (v0, v1) = (values[GRID - 2], values[GRID - 1]);
                    return v0 + share(v1 - v0, p - END, u32::MAX - END);
                };
                let along = p - start;
                let left = knot + (along >> bits) as usize;
                let (v0, v1) = (values[left], values[left + 1]);
                let part = along & ((1 << bits) - 1);
                v0 + ((u128::from(v1 - v0) * u128::from(part)) >> bits) as u64
            }
        }
    }
}

/// So many parts of a rise.
fn share(rise: u64, part: u32, of: u32) -> u64 {
    match rise.checked_mul(u64::from(part)) {
        Some(product) => product / u64::from(of),
        None => (u128::from(rise) * u128::from(part) / u128::from(of)) as u64,
    }
}

/// 512 even steps up to one half, then 32 even steps in each halving of what is left, down to 2⁻²⁶, then one to
/// the last of 2³²: a distribution's tail is as fine as its body, the knot left of a probability is found by its bits,
/// and each step but the last is a power of two.
const GRID: usize = 512 + 26 * 32 + 2;

/// Where the last step begins.
const END: u32 = u32::MAX - 31;

/// The grid up to one half, and in each halving of what is left.
const HALVINGS: [Halving; 27] = {
    let mut halvings = [Halving { knot: 0, start: 0, bits: 22 }; 27];
    let mut at = 1;
    while at < 27 {
        let start = u32::MAX - (u32::MAX >> at);
        halvings[at] = Halving { knot: 512 + 32 * (at - 1), start, bits: 26 - at as u32 };
        at += 1;
    }
    halvings
};

/// A part of the grid whose steps are even.
#[derive(Clone, Copy)]
struct Halving {
    /// The position of its first knot.
    knot: usize,
    /// The probability there.
    start: u32,
    /// The length of a step is two to the power of this.
    bits: u32,
}

/// The probabilities of the grid.
fn grid() -> impl Iterator<Item = u32> {
    let steps = |at: usize| if at == 0 { 512 } else { 32 };
    let evenly = move |(at, half): (usize, &'static Halving)| {
        (0..steps(at)).map(move |step: u32| half.start + (step << half.bits))
    };
    HALVINGS.iter().enumerate().flat_map(evenly).chain([END, u32::MAX])
}

/// The grid's values. Each is rounded to the nearest nanosecond, ties to even, and capped at 2⁶² (146 years).
fn knots(inverse: impl Fn(f64) -> f64) -> Knots {
    const CAP: f64 = (1u64 << 62) as f64;
    let mut least = 0;
    let value = |p32: u32| {
        let ns = libm::rint(inverse(p32 as f64 / 4_294_967_296.0)).clamp(0.0, CAP);
        least = least.max(ns as u64);
        least
    };
    let values: Box<[u64]> = grid().map(value).collect();
    Knots::Grid(values.try_into().expect("a value for each probability of the grid"))
}

/// The inverse of the standard normal distribution function (Acklam's rational approximation, relative
/// error below 1.2 × 10⁻⁹).
fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 5] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 4] = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416];
    let p = p.clamp(1.0e-10, 1.0 - 1.0e-10);
    let tail = |q: f64| {
        (((((C[0] * q + C[1]) * q + C[2]) * q + C[3]) * q + C[4]) * q + C[5])
            / ((((D[0] * q + D[1]) * q + D[2]) * q + D[3]) * q + 1.0)
    };
    if p < 0.02425 {
        return tail(libm::sqrt(-2.0 * libm::log(p)));
    }
    if p > 1.0 - 0.02425 {
        return -tail(libm::sqrt(-2.0 * libm::log1p(-p)));
    }
    let q = p - 0.5;
    let r = q * q;
    (((((A[0] * r + A[1]) * r + A[2]) * r + A[3]) * r + A[4]) * r + A[5]) * q
        / (((((B[0] * r + B[1]) * r + B[2]) * r + B[3]) * r + B[4]) * r + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::draw::mix;

    fn mean(knots: &Knots) -> u64 {
        let n = 200_000u64;
        let sum: u128 = (1..=n).map(|k| u128::from(knots.at((mix(k) >> 32) as u32))).sum();
        (sum / u128::from(n)) as u64
    }

    #[test]
    fn an_exponential_table_has_its_mean_and_its_tail() {
        let table = exponential(Duration::from_millis(100));
        let mean = mean(&table);
        assert!((99_000_000..101_000_000).contains(&mean), "{mean}");
        let p99 = table.at((0.99 * 4_294_967_296.0) as u32);
        assert!((460_000_000..461_500_000).contains(&p99), "{p99}");
        assert!(table.at(u32::MAX) > 2_000_000_000);
    }

    #[test]
    fn a_log_normal_table_passes_through_its_median_and_p99() {
        let table = log_normal(Duration::from_millis(420), Duration::from_secs(3));
        let ms = |p: f64| table.at((p * 4_294_967_296.0) as u32) / 1_000_000;
        assert_eq!(ms(0.5), 420);
        assert!((2_980..=3_020).contains(&ms(0.99)), "{}", ms(0.99));
    }

    #[test]
    fn a_pareto_table_is_never_below_its_least_value() {
        let table = pareto(Duration::from_millis(10), 1500);
        assert_eq!(table.at(0), 10_000_000);
        assert!(table.at(u32::MAX) > 1_000_000_000);
    }

    #[test]
    fn the_grid_is_what_it_is_with_its_probabilities_given() {
        for table in [exponential(Duration::from_secs(1)), pareto(Duration::from_secs(1), 1001)] {
            let Knots::Grid(values) = &table else { panic!("a distribution is a grid") };
            assert_eq!(values.len(), GRID);
            let given: Vec<(u32, u64)> = grid().zip(values.iter().copied()).collect();
            assert!(given.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1), "a table rises");
            let probes = (0..2_000).map(|k| (mix(k) >> 32) as u32).chain((0..200).map(|k| u32::MAX - k));
            let knots = given.iter().flat_map(|knot| [knot.0, knot.0.saturating_sub(1)]);
            let probes: Vec<u32> = probes.chain(knots).collect();
            let given = Knots::Given(given);
            for p in probes {
                assert_eq!(table.at(p), given.at(p), "{p:#x}");
            }
        }
    }

    #[test]
    fn outside_of_its_knots_a_table_is_flat_and_without_any_it_is_zero() {
        let table = Knots::Given(vec![(10, 100), (20, 200)]);
        assert_eq!([0, 10, 15, 20, 21].map(|p| table.at(p)), [100, 100, 150, 200, 200]);
        assert_eq!(Knots::Given(Vec::new()).at(7), 0);
    }
}
