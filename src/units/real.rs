//! The only `f64` in the house. Distributions become tables of whole nanoseconds when a scenario is loaded;
//! nothing is drawn, compared or stored as a float. `libm` is software: the same bits on every system.

#![expect(clippy::float_arithmetic, reason = "this file is where floats end")]

use super::time::Duration;

/// Knots of an inverse distribution function, as `(probability in 2⁻³², nanoseconds)`: rising in both.
/// Between two knots it is a straight line; see [`at`].
pub type Knots = Vec<(u32, u64)>;

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

/// The value at probability `p` (in 2⁻³²) of a table of knots, interpolated in integers, rounded down.
pub fn at(knots: &[(u32, u64)], p: u32) -> u64 {
    let left = if knots.len() == GRID {
        Some(grid_left(p))
    } else {
        knots.partition_point(|k| k.0 <= p).checked_sub(1)
    };
    let Some((left, (p0, v0))) = left.map(|left| (left, knots[left])) else {
        return knots.first().map_or(0, |k| k.1);
    };
    let Some((p1, v1)) = knots.get(left + 1).copied() else { return v0 };
    let (rise, run, part) = (v1 - v0, u64::from(p1 - p0), u64::from(p - p0));
    let share = match rise.checked_mul(part) {
        Some(product) => product / run,
        None => (u128::from(rise) * u128::from(part) / u128::from(run)) as u64,
    };
    v0 + share
}

/// 512 even steps up to one half, then 32 even steps in each halving of what is left, down to 2⁻²⁶, then one to
/// the last of 2³²: a distribution's tail is as fine as its body, and the knot left of `p` is found by its bits.
const GRID: usize = 512 + 26 * 32 + 2;

/// The position of the last knot of the grid that is not above `p`.
const fn grid_left(p: u32) -> usize {
    let halving = (!p).leading_zeros();
    if halving == 0 {
        return (p >> 22) as usize;
    }
    if halving > 26 {
        return GRID - 2 + (p == u32::MAX) as usize;
    }
    let start = u32::MAX - (u32::MAX >> halving);
    512 + 32 * (halving as usize - 1) + ((p - start) >> (26 - halving)) as usize
}

/// The grid's knots. Each value is rounded to the nearest nanosecond, ties to even, and capped at 2⁶² (146
/// years).
fn knots(inverse: impl Fn(f64) -> f64) -> Knots {
    const CAP: f64 = (1u64 << 62) as f64;
    let value = |p32: u32| {
        let ns = libm::rint(inverse(p32 as f64 / 4_294_967_296.0)).clamp(0.0, CAP);
        (p32, ns as u64)
    };
    let body = (0..512u32).map(|k| k << 22);
    let tail = (1..=26u32).flat_map(|halving| {
        let start = u32::MAX - (u32::MAX >> halving);
        (0..32u32).map(move |step| start + (step << (26 - halving)))
    });
    let ends = [u32::MAX - 31, u32::MAX];
    let mut table: Knots = body.chain(tail).chain(ends).map(value).collect();
    let mut least = 0;
    for knot in &mut table {
        least = least.max(knot.1);
        knot.1 = least;
    }
    table
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
        let sum: u128 = (1..=n).map(|k| u128::from(at(knots, (mix(k) >> 32) as u32))).sum();
        (sum / u128::from(n)) as u64
    }

    #[test]
    fn an_exponential_table_has_its_mean_and_its_tail() {
        let table = exponential(Duration::from_millis(100));
        let mean = mean(&table);
        assert!((99_000_000..101_000_000).contains(&mean), "{mean}");
        let p99 = at(&table, (0.99 * 4_294_967_296.0) as u32);
        assert!((460_000_000..461_500_000).contains(&p99), "{p99}");
        assert!(at(&table, u32::MAX) > 2_000_000_000);
    }

    #[test]
    fn a_log_normal_table_passes_through_its_median_and_p99() {
        let table = log_normal(Duration::from_millis(420), Duration::from_secs(3));
        let ms = |p: f64| at(&table, (p * 4_294_967_296.0) as u32) / 1_000_000;
        assert_eq!(ms(0.5), 420);
        assert!((2_980..=3_020).contains(&ms(0.99)), "{}", ms(0.99));
    }

    #[test]
    fn a_pareto_table_is_never_below_its_least_value() {
        let table = pareto(Duration::from_millis(10), 1500);
        assert_eq!(at(&table, 0), 10_000_000);
        assert!(at(&table, u32::MAX) > 1_000_000_000);
    }

    #[test]
    fn the_knot_left_of_a_probability_is_found_by_its_bits() {
        let table = exponential(Duration::from_secs(1));
        assert_eq!(table.len(), GRID);
        let probes = (0..100_000).map(|k| (mix(k) >> 32) as u32).chain((0..200).map(|k| u32::MAX - k));
        for p in probes.chain(table.iter().flat_map(|knot| [knot.0, knot.0.saturating_sub(1)])) {
            assert_eq!(grid_left(p), table.partition_point(|knot| knot.0 <= p) - 1, "{p:#x}");
        }
    }

    #[test]
    fn a_table_rises() {
        for table in [exponential(Duration::from_secs(1)), pareto(Duration::from_secs(1), 1001)] {
            assert!(table.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1));
        }
    }
}
