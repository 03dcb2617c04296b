//! Ranges of costs and sizes.

/// A cost or size from `min` to `max`. Arithmetic saturates at [`u64::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: u64,
}

impl Range {
    /// Any size.
    pub const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    /// Makes the range from `min` to `max`.
    pub const fn new(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    /// Makes the range of exactly `n`.
    pub const fn fixed(n: u64) -> Self {
        Self { min: n, max: n }
    }

    /// Adds a range.
    pub const fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    /// Multiplies by a range.
    pub const fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Multiplies by a factor, and rounds up.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn scaled(self, factor: f64) -> Self {
        let scaled = |n: u64| (n as f64 * factor).ceil() as u64;
        Self { min: scaled(self.min), max: scaled(self.max) }
    }

    /// Returns the smallest range that contains both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Raises both ends to `least`.
    pub fn at_least(self, least: u64) -> Self {
        Self { min: self.min.max(least), max: self.max.max(least) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_saturate() {
        assert_eq!(Range::UNKNOWN.plus(Range::fixed(1)), Range::new(1, u64::MAX));
        assert_eq!(Range::UNKNOWN.times(Range::fixed(2)), Range::UNKNOWN);
        assert_eq!(Range::UNKNOWN.scaled(1.0), Range::UNKNOWN);
        assert_eq!(Range::UNKNOWN.scaled(0.1).max, 1_844_674_407_370_955_264);
        assert_eq!(Range::new(0, 11).scaled(0.1), Range::new(0, 2));
    }
}
