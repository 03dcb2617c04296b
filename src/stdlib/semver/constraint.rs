//! Constraints on versions, as Helm reads them: `>=1.27, <2 || ~1.2 || 1.x || 1.2 - 1.4`.

use super::{Version, component, identifier, shown};

/// A comparison of a version with a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `~1.2.3`: the same minor version, at least this one.
    Tilde,
    /// `^1.2.3`: no change of the first number that is not zero, at least this one.
    Caret,
}

/// The spellings of the operators. Longer ones come first.
const OPERATORS: [(&str, Operator); 12] = [
    (">=", Operator::GreaterEqual),
    ("=>", Operator::GreaterEqual),
    ("<=", Operator::LessEqual),
    ("=<", Operator::LessEqual),
    ("!=", Operator::NotEqual),
    ("~>", Operator::Tilde),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("=", Operator::Equal),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
    ("", Operator::Equal),
];

/// A version of a constraint, which may lack numbers or have `x` or `*` for them.
struct Bound<'t> {
    version: Version<'t>,
    /// The number of numbers that are given: 0 to 3.
    given: usize,
}

impl Version<'_> {
    /// Returns `true` if the version fulfils a constraint: alternatives separated by `||`, each a list of comparisons
    /// that all hold. A prerelease only fulfils comparisons with a prerelease.
    ///
    /// # Errors
    /// The part of the constraint that is invalid.
    pub(crate) fn fulfils(&self, constraint: &str) -> Result<bool, String> {
        // All alternatives are read, so that an error does not depend on the version.
        constraint.split("||").try_fold(false, |found, alternative| Ok(self.fulfils_all(alternative)? || found))
    }

    fn fulfils_all(&self, alternative: &str) -> Result<bool, String> {
        let separator = |c: char| c == ',' || c.is_ascii_whitespace();
        let (mut rest, mut all, mut count) = (alternative.trim_matches(separator), true, 0);
        while !rest.is_empty() {
            let (operator, behind) = operator(rest);
            let (text, behind) = behind.split_at(behind.find(separator).unwrap_or(behind.len()));
            let bound = Bound::parse(text)?;
            rest = behind.trim_start_matches(separator);
            if let Some(upper) = behind.trim_start().strip_prefix("- ").filter(|_| operator == Operator::Equal) {
                let upper = upper.trim_start();
                let (text, behind) = upper.split_at(upper.find(separator).unwrap_or(upper.len()));
                all &=
                    bound.admits(Operator::GreaterEqual, self) & Bound::parse(text)?.admits(Operator::LessEqual, self);
                rest = behind.trim_start_matches(separator);
            } else {
                all &= bound.admits(operator, self);
            }
            count += 1;
        }
        if count == 0 { Err("a comparison such as `>=1.27` is missing".to_owned()) } else { Ok(all) }
    }
}

/// Splits off the operator at the start of a text, and the white space after it.
fn operator(text: &str) -> (Operator, &str) {
    let found = OPERATORS.iter().find_map(|(spelling, operator)| Some((*operator, text.strip_prefix(spelling)?)));
    let (operator, rest) = found.unwrap_or((Operator::Equal, text));
    (operator, rest.trim_start())
}

impl<'t> Bound<'t> {
    fn parse(text: &'t str) -> Result<Self, String> {
        let wrong = || format!("{} is not a version", shown(text));
        let plain = text.strip_prefix('v').unwrap_or(text);
        let plain = plain.split_once('+').map_or(plain, |(version, _)| version);
        let (numbers, prerelease) =
            plain.split_once('-').map_or((plain, None), |(numbers, rest)| (numbers, Some(rest)));
        let parts: Vec<&str> = numbers.splitn(4, '.').collect();
        let is_any = |part: &&str| matches!(*part, "x" | "X" | "*");
        let given = parts.iter().position(is_any).unwrap_or(parts.len());
        if parts.len() > 3 || !parts.iter().skip(given).all(|part| is_any(part) || component("", part).is_ok()) {
            return Err(wrong());
        }
        let mut version = Version { numbers: [0; 3], prerelease: Vec::new() };
        for (number, part) in version.numbers.iter_mut().zip(&parts[..given]) {
            *number = component("", part).map_err(|_| wrong())?;
        }
        version.prerelease = prerelease.map_or(Vec::new(), |text| text.split('.').collect());
        version.prerelease.iter().try_for_each(|part| identifier(part)).map_err(|_| wrong())?;
        Ok(Self { version, given })
    }

    /// Returns `true` if `version` compares to the bound as `operator` says.
    fn admits(&self, operator: Operator, version: &Version<'_>) -> bool {
        if !version.prerelease.is_empty() && self.version.prerelease.is_empty() {
            return false;
        }
        let order = version.cmp_version(&self.version);
        // The order of the numbers that are given.
        let roughly = version.numbers[..self.given].cmp(&self.version.numbers[..self.given]);
        match operator {
            Operator::Equal if self.given < 3 => order.is_ge() && roughly.is_eq(),
            Operator::Equal => order.is_eq(),
            Operator::NotEqual if self.given < 3 => roughly.is_ne(),
            Operator::NotEqual => order.is_ne(),
            Operator::Less => order.is_lt(),
            Operator::LessEqual if self.given < 3 => roughly.is_le(),
            Operator::LessEqual => order.is_le(),
            Operator::Greater if self.given < 3 => roughly.is_gt(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterEqual => order.is_ge(),
            Operator::Tilde => order.is_ge() && self.same(version, 2),
            Operator::Caret => order.is_ge() && self.same(version, self.first_number()),
        }
    }

    /// Returns `true` if the first `count` numbers are equal, as far as they are given.
    fn same(&self, version: &Version<'_>, count: usize) -> bool {
        let count = count.min(self.given);
        version.numbers[..count] == self.version.numbers[..count]
    }

    /// Returns the count of numbers up to the first that is not zero, or of all.
    fn first_number(&self) -> usize {
        self.version.numbers.iter().position(|number| *number > 0).map_or(3, |at| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Version;

    fn holds(version: &str, constraint: &str) -> Result<bool, String> {
        Version::parse(version).unwrap().fulfils(constraint)
    }

    #[test]
    fn constraints_hold_as_in_helm() {
        for (constraint, versions, others) in [
            ("1.2.3", "1.2.3", "1.2.4 1.2.2"),
            ("=v1.2.3", "1.2.3", "1.2.4"),
            ("1.2", "1.2.0 1.2.9", "1.3.0 1.1.9"),
            ("1.x", "1.0.0 1.9.9", "2.0.0 0.9.0"),
            ("1.X.*", "1.0.0 1.9.9", "2.0.0"),
            ("*", "0.0.0 9.9.9", "1.0.0-rc"),
            ("!=1.2", "1.3.0 2.2.0", "1.2.0 1.2.7"),
            ("!= 1.2.3", "1.2.4", "1.2.3"),
            (">1.2", "1.3.0 2.0.0", "1.2.9"),
            (">11", "12.0.0", "11.1.0"),
            (">1.2.3", "1.2.4", "1.2.3"),
            (">=1.27, <2", "1.27.0 1.99.0", "1.26.9 2.0.0"),
            (">= 1.27 < 2", "1.27.0", "2.0.0"),
            ("<=1.2", "1.2.9 0.9.0", "1.3.0"),
            ("<=11", "11.9.9", "12.0.0"),
            ("=<1.2.3", "1.2.3", "1.2.4"),
            ("<1.2", "1.1.9", "1.2.0"),
            ("~1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2"),
            ("~1", "1.0.0 1.9.0", "2.0.0"),
            ("~>1.2", "1.2.0 1.2.5", "1.3.0"),
            ("^1.2.3", "1.2.3 1.9.0", "2.0.0 1.2.2"),
            ("^0.2.3", "0.2.3 0.2.9", "0.3.0"),
            ("^0.0.3", "0.0.3", "0.0.4"),
            ("^0.0", "0.0.9", "0.1.0"),
            ("^0", "0.9.9", "1.0.0"),
            ("1.2 - 1.4.5", "1.2.0 1.4.5", "1.4.6 1.1.0"),
            ("1.1 || >=3", "1.1.5 3.0.0", "2.0.0"),
            (">=1.0.0-0", "1.0.0-rc.1 1.0.0", "0.9.0"),
            (">=1.0.0", "1.0.0 1.0.1", "1.0.0-rc.1 1.1.0-rc.1"),
        ] {
            for version in versions.split(' ') {
                assert_eq!(holds(version, constraint), Ok(true), "{version} {constraint}");
            }
            for version in others.split(' ') {
                assert_eq!(holds(version, constraint), Ok(false), "{version} {constraint}");
            }
        }
    }

    #[test]
    fn invalid_constraints_are_named() {
        for wrong in [
            "",
            " ",
            "1 ||",
            "|| 1",
            "a",
            ">",
            ">=x.y",
            "1.2.3.4",
            "1.2.",
            ">>1",
            "1..2",
            "1-",
            "1.2 - ",
            "99999999999999999999",
        ] {
            assert!(holds("1.0.0", wrong).is_err(), "{wrong:?}");
        }
        assert!(holds("1.0.0", &">=1 ".repeat(100_000)).is_ok());
        assert!(holds("1.0.0", "1 || nonsense").is_err());
        assert!(holds("2.0.0", &"<".repeat(1 << 20)).is_err_and(|why| why.len() < 200));
    }
}
