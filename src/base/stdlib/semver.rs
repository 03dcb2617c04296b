//! Semantic versions: `1.2.3-rc.1+build`.
//!
//! This is our own parser because Kubernetes' messages name the faulty component, which the crate `semver` does not report.

mod constraint;

use std::borrow::Cow;
use std::cmp::Ordering;

/// A version without build metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version<'t> {
    /// Major, minor and patch number.
    pub numbers: [u64; 3],
    /// The identifiers of the prerelease.
    prerelease: Vec<&'t str>,
}

/// The names of the three numbers.
const NAMES: [&str; 3] = ["Major", "Minor", "Patch"];

impl<'t> Version<'t> {
    /// Parses a version.
    ///
    /// # Errors
    /// The message of Kubernetes.
    pub fn parse(text: &'t str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, prerelease) =
            rest.split_once('-').map_or((rest, None), |(patch, prerelease)| (patch, Some(prerelease)));
        let mut numbers = [0; 3];
        for ((number, text), name) in numbers.iter_mut().zip([major, minor, patch]).zip(NAMES) {
            *number = component(name, text)?;
        }
        let prerelease = prerelease.map_or(Vec::new(), |text| text.split('.').collect());
        prerelease.iter().try_for_each(|part| identifier(part))?;
        build.into_iter().flat_map(|build| build.split('.')).try_for_each(build_part)?;
        Ok(Self { numbers, prerelease })
    }

    /// Compares two versions. A prerelease precedes its release.
    pub fn cmp_version(&self, other: &Self) -> Ordering {
        let by_numbers = self.numbers.cmp(&other.numbers);
        by_numbers.then_with(|| match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
            (true, _) | (_, true) => self.prerelease.is_empty().cmp(&other.prerelease.is_empty()),
            _ => self.cmp_prerelease(other),
        })
    }

    fn cmp_prerelease(&self, other: &Self) -> Ordering {
        let parts =
            self.prerelease.iter().zip(&other.prerelease).map(|(a, b)| match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            });
        parts.fold(Ordering::Equal, Ordering::then).then(self.prerelease.len().cmp(&other.prerelease.len()))
    }
}

/// A version as Helm's functions read it: with a leading `v`, with less than three numbers, with leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LenientVersion<'t> {
    /// The version without build metadata.
    pub version: Version<'t>,
    /// The text of the prerelease.
    pub prerelease: &'t str,
    /// The text of the build metadata.
    pub build: &'t str,
}

impl<'t> LenientVersion<'t> {
    /// Parses a version.
    ///
    /// # Errors
    /// The message of the reference.
    pub fn parse(text: &'t str) -> Result<Self, String> {
        let invalid = || "invalid semantic version".to_owned();
        let text = text.strip_prefix('v').unwrap_or(text);
        let (numbers, behind) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
        let parts: Vec<&str> = numbers.splitn(4, '.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let (prerelease, build) = suffixes(behind);
        let suffixes_are_plain = [prerelease, build]
            .into_iter()
            .flatten()
            .all(|suffix| suffix.split('.').all(|part| !part.is_empty() && is_plain(part)));
        if parts.len() > 3 || !parts.iter().all(is_number) || !suffixes_are_plain {
            return Err(invalid());
        }
        let mut version = Version { numbers: [0; 3], prerelease: Vec::new() };
        for (number, part) in version.numbers.iter_mut().zip(parts) {
            *number = part.parse().map_err(|_| {
                format!("error parsing version segment: strconv.ParseUint: parsing {part:?}: value out of range")
            })?;
        }
        version.prerelease = lenient_prerelease(behind)?;
        Ok(Self { version, prerelease: prerelease.unwrap_or(""), build: build.unwrap_or("") })
    }

    /// Returns the text of the version in full.
    pub fn to_text(&self) -> String {
        let [major, minor, patch] = self.version.numbers;
        let mut text = format!("{major}.{minor}.{patch}");
        for (mark, suffix) in [("-", self.prerelease), ("+", self.build)] {
            if !suffix.is_empty() {
                text.extend([mark, suffix]);
            }
        }
        text
    }
}

/// Splits the text after the numbers into the prerelease and the build metadata.
fn suffixes(behind: &str) -> (Option<&str>, Option<&str>) {
    if behind.is_empty() {
        return (None, None);
    }
    let (prerelease, build) = behind.split_once('+').map_or((behind, None), |(before, build)| (before, Some(build)));
    (prerelease.strip_prefix('-'), build)
}

/// Returns the identifiers of the prerelease in the text after the numbers.
fn lenient_prerelease(behind: &str) -> Result<Vec<&str>, String> {
    let Some(prerelease) = suffixes(behind).0 else { return Ok(Vec::new()) };
    let parts: Vec<&str> = prerelease.split('.').collect();
    let has_zeros = |part: &&str| part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit());
    if parts.iter().any(has_zeros) { Err("version segment starts with 0".to_owned()) } else { Ok(parts) }
}

/// Normalizes a version: no leading `v`, exactly three numbers, no leading zeros.
///
/// # Errors
/// A short version has a prerelease or build metadata.
pub fn normalized(text: &str) -> Result<Cow<'_, str>, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<Cow<'_, str>> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err("short version cannot contain PreRelease/Build meta data".to_owned());
    }
    parts.resize(3, Cow::Borrowed("0"));
    Ok(Cow::Owned(parts.join(".")))
}

fn without_zeros(part: &str) -> Cow<'_, str> {
    let trimmed = part.trim_start_matches('0');
    match part.len() {
        0 | 1 => Cow::Borrowed(part),
        _ if trimmed.starts_with(|c: char| c.is_ascii_digit()) => Cow::Borrowed(trimmed),
        _ => Cow::Owned(format!("0{trimmed}")),
    }
}

fn component(name: &str, text: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {} number {}", name.to_ascii_lowercase(), shown(text)));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{name} number must not contain leading zeroes {}", shown(text)));
    }
    text.parse().map_err(|_| format!("{name} number {} is out of range", shown(text)))
}

fn identifier(part: &str) -> Result<(), String> {
    if part.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if part.bytes().all(|byte| byte.is_ascii_digit()) {
        return match part.parse::<u64>() {
            Ok(_) if part.len() > 1 && part.starts_with('0') => {
                Err(format!("Numeric PreRelease version must not contain leading zeroes {}", shown(part)))
            }
            Ok(_) => Ok(()),
            Err(_) => Err(format!("PreRelease number {} is out of range", shown(part))),
        };
    }
    if is_plain(part) { Ok(()) } else { Err(format!("Invalid character(s) found in prerelease {}", shown(part))) }
}

fn build_part(part: &str) -> Result<(), String> {
    match part {
        "" => Err("Build meta data is empty".to_owned()),
        part if is_plain(part) => Ok(()),
        part => Err(format!("Invalid character(s) found in build meta data {}", shown(part))),
    }
}

/// Returns a text for a message, shortened if necessary.
fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(60).collect::<String>())
}

fn is_plain(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_strictly() {
        for good in ["0.0.0", "1.2.3", "1.2.3-a.1", "1.2.3--", "1.2.3+001.x", "1.2.3-0a+b", "18446744073709551615.0.0"]
        {
            assert!(Version::parse(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("", "Version string empty"),
            ("1.2", "No Major.Minor.Patch elements found"),
            ("v1.2.3", "Invalid character(s) found in major number \"v1\""),
            ("1.02.3", "Minor number must not contain leading zeroes \"02\""),
            ("1.2.3.4", "Invalid character(s) found in patch number \"3.4\""),
            ("1.2.-1", "Invalid character(s) found in patch number \"\""),
            ("1.2.3-", "Prerelease is empty"),
            ("1.2.3-01", "Numeric PreRelease version must not contain leading zeroes \"01\""),
            ("1.2.3-ä", "Invalid character(s) found in prerelease \"ä\""),
            ("1.2.3+", "Build meta data is empty"),
            ("1.2.3+a+b", "Invalid character(s) found in build meta data \"a+b\""),
            ("18446744073709551616.0.0", "Major number \"18446744073709551616\" is out of range"),
        ] {
            assert_eq!(Version::parse(bad), Err(why.to_owned()), "{bad}");
        }
    }

    #[test]
    fn order() {
        let ordered = [
            "0.9.9",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0",
            "1.0.1",
            "1.2.0",
            "1.10.0",
            "2.0.0",
        ];
        for (at, a) in ordered.iter().enumerate() {
            for (other, b) in ordered.iter().enumerate() {
                let (a, b) = (Version::parse(a).unwrap(), Version::parse(b).unwrap());
                assert_eq!(a.cmp_version(&b), at.cmp(&other), "{a:?} {b:?}");
            }
        }
        let (a, b) = (Version::parse("1.0.0+a").unwrap(), Version::parse("1.0.0+b").unwrap());
        assert_eq!(a.cmp_version(&b), Ordering::Equal);
    }

    #[test]
    fn lenient_versions() {
        let text = |text| LenientVersion::parse(text).map(|version| version.to_text());
        for (given, full) in [
            ("1.2.3", "1.2.3"),
            ("v1", "1.0.0"),
            ("01.2", "1.2.0"),
            ("1-rc.1+b.01", "1.0.0-rc.1+b.01"),
            ("1+b-1", "1.0.0+b-1"),
        ] {
            assert_eq!(text(given).as_deref(), Ok(full), "{given}");
        }
        for bad in ["", "abc", "1.2.3.4", "1.", "1-", "1+", "1.x", "1-a..b", "vv1", " 1", "1+a+b"] {
            assert_eq!(text(bad), Err("invalid semantic version".to_owned()), "{bad}");
        }
        assert_eq!(text("1.2.3-01"), Err("version segment starts with 0".to_owned()));
        assert!(text("99999999999999999999").is_err_and(|why| why.ends_with("value out of range")));
    }

    #[test]
    fn short_versions_are_filled_up() {
        for (text, full) in [
            ("v1.0.0", "1.0.0"),
            ("1", "1.0.0"),
            ("1.0", "1.0.0"),
            ("01.001.010", "1.1.10"),
            ("00.0.000-rc", "0.0.0-rc"),
            ("v", ".0.0"),
        ] {
            assert_eq!(normalized(text).as_deref(), Ok(full), "{text}");
        }
        assert!(normalized("1.0-rc").is_err());
    }
}
