//! Constraints on versions, as Helm reads them: `>=1.27, <2 || ~1.2 || 1.x || 1.2 - 1.4`.

use super::{Version, lenient_prerelease};

/// Maximum characters of a constraint in a message.
const SHOWN: usize = 1000;

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
    /// The number of numbers that are given: 1 to 3. A wildcard alone counts as `0.0.0`.
    given: usize,
    /// `true` for a wildcard alone.
    any: bool,
}

impl Version<'_> {
    /// Returns `true` if the version fulfils a constraint: alternatives separated by `||`, each a list of comparisons
    /// that all hold. A prerelease only fulfils alternatives of which one comparison has a prerelease.
    ///
    /// # Errors
    /// The message of the reference.
    pub fn fulfils(&self, constraint: &str) -> Result<bool, String> {
        // All alternatives are read, so that an error does not depend on the version.
        constraint.split("||").try_fold(false, |found, alternative| Ok(self.fulfils_all(alternative)? || found))
    }

    fn fulfils_all(&self, alternative: &str) -> Result<bool, String> {
        let (mut all, mut has_prerelease) = (true, false);
        comparisons(alternative, &mut |operator, text| {
            let bound = Bound::parse(text)?;
            has_prerelease |= !bound.version.prerelease.is_empty();
            all &= bound.admits(operator, self);
            Ok(())
        })?;
        Ok(all && (self.prerelease.is_empty() || has_prerelease))
    }
}

/// Calls `each` with the operator and the version of each comparison.
fn comparisons<'t>(
    alternative: &'t str,
    each: &mut dyn FnMut(Operator, &'t str) -> Result<(), String>,
) -> Result<(), String> {
    let improper = || format!("improper constraint: {:?}", alternative.chars().take(SHOWN).collect::<String>());
    let mut rest = without_spaces(alternative);
    loop {
        let (operator, behind) = operator(rest);
        let is_plain = behind.len() == rest.len();
        let (version, behind) = split_version(behind).ok_or_else(improper)?;
        rest = match range_end(behind).filter(|_| is_plain) {
            Some(upper) => {
                let (upper, behind) = split_version(upper).ok_or_else(improper)?;
                each(Operator::GreaterEqual, version)?;
                each(Operator::LessEqual, upper)?;
                behind
            }
            None => {
                each(operator, version)?;
                behind
            }
        };
        if without_spaces(rest).is_empty() {
            return Ok(());
        }
        rest = next_comparison(rest).ok_or_else(improper)?;
    }
}

fn without_spaces(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_whitespace())
}

/// Returns the text after a hyphen with white space around it.
fn range_end(behind: &str) -> Option<&str> {
    let hyphen = without_spaces(behind);
    let upper = hyphen.strip_prefix('-')?;
    let end = without_spaces(upper);
    (hyphen.len() < behind.len() && end.len() < upper.len()).then_some(end)
}

/// Skips the white space or the comma between two comparisons.
fn next_comparison(rest: &str) -> Option<&str> {
    let trimmed = without_spaces(rest);
    match trimmed.strip_prefix(',') {
        Some(behind) => Some(without_spaces(behind)),
        None => (trimmed.len() < rest.len()).then_some(trimmed),
    }
}

/// Splits off the operator at the start of a text, and the white space after it.
fn operator(text: &str) -> (Operator, &str) {
    let found = OPERATORS.iter().find_map(|(spelling, operator)| Some((*operator, text.strip_prefix(spelling)?)));
    let (operator, rest) = found.unwrap_or((Operator::Equal, text));
    (operator, without_spaces(rest))
}

/// Splits off a version: up to three numbers, which may be `x` or `*`, a prerelease and build metadata.
fn split_version(text: &str) -> Option<(&str, &str)> {
    let start = usize::from(text.starts_with('v'));
    let mut end = start + number_len(text.get(start..)?)?;
    for _ in 0..2 {
        let next = text.get(end..)?.strip_prefix('.').and_then(number_len);
        end += next.map_or(0, |len| len + 1);
    }
    for mark in ['-', '+'] {
        let parts = text.get(end..)?.strip_prefix(mark).map(parts_len);
        end += parts.filter(|len| *len > 0).map_or(0, |len| len + 1);
    }
    text.split_at_checked(end)
}

/// Returns the length of a number or wildcard.
fn number_len(text: &str) -> Option<usize> {
    let len = text.bytes().take_while(|byte| byte.is_ascii_digit() || b"xX*|".contains(byte)).count();
    (len > 0).then_some(len)
}

/// Returns the length of identifiers separated by dots.
fn parts_len(text: &str) -> usize {
    let mut end = 0;
    for (at, part) in text.split('.').enumerate() {
        let len = part.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
        if len == 0 {
            break;
        }
        end += len + usize::from(at > 0);
        if len < part.len() {
            break;
        }
    }
    end
}

impl<'t> Bound<'t> {
    fn parse(text: &'t str) -> Result<Self, String> {
        let wrong = || "constraint parser error".to_owned();
        let numbers = text.split(['-', '+']).next().unwrap_or(text);
        let plain = numbers.strip_prefix('v').unwrap_or(numbers);
        let is_any = |part: &str| matches!(part, "x" | "X" | "*");
        let prerelease = lenient_prerelease(text.get(numbers.len()..).unwrap_or("")).map_err(|_| wrong())?;
        let (mut version, mut given) = (Version { numbers: [0; 3], prerelease }, 0);
        let parts = plain.split('.').take_while(|part| !is_any(part));
        for (number, part) in version.numbers.iter_mut().zip(parts) {
            *number = part.parse().map_err(|_| wrong())?;
            given += 1;
        }
        Ok(Self { version, given: if given == 0 { 3 } else { given }, any: given == 0 })
    }

    /// Returns `true` if `version` compares to the bound as `operator` says.
    fn admits(&self, operator: Operator, version: &Version<'_>) -> bool {
        let order = version.cmp_version(&self.version);
        let is_partial = self.given < 3;
        // The order of the numbers that are given.
        let roughly = version.numbers[..self.given].cmp(&self.version.numbers[..self.given]);
        match operator {
            Operator::Equal if is_partial || self.any => self.admits_minor(version),
            Operator::Equal => order.is_eq(),
            Operator::NotEqual if is_partial => roughly.is_ne() || self.differs_in_prerelease(version),
            Operator::NotEqual => order.is_ne(),
            Operator::Less => order.is_lt(),
            Operator::LessEqual if is_partial => roughly.is_le(),
            Operator::LessEqual if self.any => version.numbers[..2] == [0; 2],
            Operator::LessEqual => order.is_le(),
            Operator::Greater if is_partial => roughly.is_gt(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterEqual => order.is_ge(),
            Operator::Tilde => self.admits_minor(version),
            Operator::Caret => order.is_ge() && self.same(version, self.first_number()),
        }
    }

    /// Returns `true` for the versions of the same minor number, from the bound on. `0.0.0` has no upper limit.
    fn admits_minor(&self, version: &Version<'_>) -> bool {
        let is_zero = self.given == 3 && self.version.numbers == [0; 3];
        version.cmp_version(&self.version).is_ge() && (is_zero || self.same(version, 2))
    }

    /// Returns `true` if only the patch number is missing and the prereleases differ.
    fn differs_in_prerelease(&self, version: &Version<'_>) -> bool {
        self.given == 2 && self.version.prerelease != version.prerelease
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
            ("~*", "0.0.0 9.9.9", "1.0.0-rc"),
            ("!=*", "9.9.9", "0.0.0"),
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
            (">=1.0.0-0, <2", "1.0.0-rc.1 1.1.0-rc.1", "2.0.0"),
            ("<2 || >=3.0.0-0", "3.0.0-rc.1 1.0.0", "1.0.0-rc.1"),
            ("~0.0.0", "0.0.0 5.1.0", "0.0.0-rc"),
            ("~0.0", "0.0.9", "0.1.0"),
            ("=0.0.0", "0.0.0", "0.0.1"),
            ("01.2.3", "1.2.3", "1.2.4"),
            ("1.2.3+build", "1.2.3", "1.2.4"),
            ("1.2.3 ,1.x", "1.2.3", "1.2.4"),
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
            "1.2.3,",
            "1.2.3>2",
            "1|2",
            ">>1",
            "1..2",
            "1-",
            "=1.2 - 1.4",
            "1.2.3-01",
            "1.2 - ",
            "1 - 2 3,, 4",
            "99999999999999999999",
        ] {
            assert!(holds("1.0.0", wrong).is_err(), "{wrong:?}");
        }
        assert!(holds("1.0.0", &">=1 ".repeat(100_000)).is_ok());
        assert!(holds("1.0.0", "1 || nonsense").is_err());
        assert!(holds("2.0.0", &"<".repeat(1 << 20)).is_err_and(|why| why.len() < 2000));
    }
}
