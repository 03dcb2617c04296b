//! From at least to at most.

use crate::dialect::cel::cost::scaled;

/// Sizes or costs from `min` to `max`; nothing overflows, what is too large is [`u64::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

impl Range {
    /// Anything.
    pub const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    /// From `min` to `max`.
    pub const fn new(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    /// Exactly `n`.
    pub const fn fixed(n: u64) -> Self {
        Self { min: n, max: n }
    }

    /// The sum.
    pub const fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    /// The product.
    pub const fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// So much for each, rounded up.
    pub fn scaled(self, factor: f64) -> Self {
        Self { min: scaled(self.min, factor), max: scaled(self.max, factor) }
    }

    /// What holds both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_the_largest_number() {
        assert_eq!(Range::UNKNOWN.plus(Range::fixed(1)), Range::new(1, u64::MAX));
        assert_eq!(Range::UNKNOWN.times(Range::fixed(2)), Range::UNKNOWN);
        assert_eq!(Range::UNKNOWN.scaled(1.0), Range::UNKNOWN);
        assert_eq!(Range::UNKNOWN.scaled(0.1).max, 1_844_674_407_370_955_264);
        assert_eq!(Range::new(0, 11).scaled(0.1), Range::new(0, 2));
    }
}
