//! The time zones of the IANA database, as one block of bytes that is read in place.
//!
//! This replaces the crate `chrono-tz`, whose tables of pointers cost half a millisecond of relocations at the start of
//! every process. The block is generated from that crate (`UPDATE=1 cargo test --lib zones`), and a test compares both.
//!
//! Layout (little-endian): the number of names (`u16`), then for each name in order its length (`u8`), its text and the
//! offset of its zone (`u32`). A zone: the number of local times (`u8`), each with seconds east of UTC (`i32`), the length
//! of the abbreviation (`u8`) and its text; the number of transitions (`u16`), each with seconds since the epoch (`i40`)
//! and the index of the local time (`u8`). The first local time applies before the first transition.
//!
//! Invariant: reading past the end returns `None`, whatever the bytes are.

/// The block.
static BLOCK: &[u8] = include_bytes!("zones.bin");

/// The version of the database.
pub(super) const VERSION: &str = "2025b";

/// Size of a transition in bytes.
const CHANGE: usize = 6;

/// A time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// The position of its times in the block.
    at: usize,
}

/// A local time of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Seconds east of UTC.
    pub offset: i32,
    /// The abbreviation, such as `CEST`.
    pub abbreviation: &'static str,
}

/// Returns the zone `name`, such as `Europe/Berlin`.
pub fn zone(name: &str) -> Option<Zone> {
    let mut bytes = Zone { at: 0 };
    for _ in 0..bytes.u16()? {
        let found = bytes.text()? == name;
        let at = bytes.u32()?;
        if found {
            return Some(Zone { at: at as usize });
        }
    }
    None
}

impl Zone {
    /// Returns the local time at `seconds` since the epoch.
    pub fn local_time(self, seconds: i64) -> Option<LocalTime> {
        let mut bytes = self;
        let times = bytes.u8()?;
        let first = bytes.at;
        for _ in 0..times {
            bytes.take_local_time()?;
        }
        let count = bytes.u16()?;
        let changes = BLOCK.get(bytes.at..)?.get(..usize::from(count) * CHANGE)?;
        let wanted = last_at_or_before(changes, seconds).unwrap_or(0);
        let mut bytes = Zone { at: first };
        for _ in 0..wanted {
            bytes.take_local_time()?;
        }
        bytes.take_local_time()
    }
}

/// Returns the local time of the last transition at or before `seconds`.
fn last_at_or_before(changes: &[u8], seconds: i64) -> Option<u8> {
    let (mut low, mut high) = (0, changes.len() / CHANGE);
    while low < high {
        let middle = low.midpoint(high);
        let [a, b, c, d, e, _] = *changes.get(middle * CHANGE..)?.first_chunk::<CHANGE>()?;
        // Sign extension.
        let sign = if e & 0x80 == 0 { 0 } else { 0xFF };
        if i64::from_le_bytes([a, b, c, d, e, sign, sign, sign]) <= seconds {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    changes.get(low.checked_sub(1)? * CHANGE + CHANGE - 1).copied()
}

// A zone is also a position in the block while it is read.
impl Zone {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = *BLOCK.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn text(&mut self) -> Option<&'static str> {
        let len = usize::from(self.u8()?);
        let text = BLOCK.get(self.at..)?.get(..len)?;
        self.at += len;
        std::str::from_utf8(text).ok()
    }

    fn take_local_time(&mut self) -> Option<LocalTime> {
        let offset = self.take().map(i32::from_le_bytes)?;
        Some(LocalTime { offset, abbreviation: self.text()? })
    }
}

/// Returns names of tables and their versions.
pub fn data_versions() -> Vec<(&'static str, String)> {
    let unicode = |major: u64, minor: u64| format!("{major}.{minor}");
    let (major, minor, _) = unicode_segmentation::UNICODE_VERSION;
    Vec::from([
        ("Unicode characters", unicode(major, minor)),
        ("Unicode normalization", {
            let (major, minor, _) = unicode_normalization::UNICODE_VERSION;
            unicode(major.into(), minor.into())
        }),
        ("time zones", super::zones::VERSION.to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Offset, TimeZone, Utc};
    use chrono_tz::{TZ_VARIANTS, Tz};

    use super::*;

    /// There are no transitions before clocks had zones, and `chrono-tz` ends before the last year.
    const YEARS: std::ops::Range<i64> = 1800..2110;
    const YEAR: i64 = 31_556_952;

    fn told(zone: Tz, seconds: i64) -> (i32, String) {
        let moment = DateTime::<Utc>::from_timestamp(seconds, 0).unwrap().naive_utc();
        let offset = zone.offset_from_utc_datetime(&moment);
        (offset.fix().local_minus_utc(), offset.to_string())
    }

    fn seconds_of_years() -> std::ops::Range<i64> {
        (YEARS.start - 1970) * YEAR..(YEARS.end - 1970) * YEAR
    }

    /// Returns the transitions of `zone`.
    fn changes(zone: Tz) -> Vec<i64> {
        let (mut found, mut before) = (Vec::new(), told(zone, seconds_of_years().start));
        for hour in seconds_of_years().step_by(3600) {
            if told(zone, hour) != before {
                let (mut low, mut high) = (hour - 3600, hour);
                while high - low > 1 {
                    let middle = low.midpoint(high);
                    *(if told(zone, middle) == before { &mut low } else { &mut high }) = middle;
                }
                before = told(zone, hour);
                found.push(high);
            }
        }
        found
    }

    fn encode(zone: Tz) -> Vec<u8> {
        let (mut times, mut rows) = (vec![told(zone, seconds_of_years().start)], Vec::new());
        for at in changes(zone) {
            let time = told(zone, at);
            let index = times.iter().position(|known| *known == time).unwrap_or_else(|| {
                times.push(time);
                times.len() - 1
            });
            rows.push((at, u8::try_from(index).unwrap()));
        }
        let mut bytes = vec![u8::try_from(times.len()).unwrap()];
        for (offset, name) in times {
            bytes.extend(offset.to_le_bytes());
            bytes.push(u8::try_from(name.len()).unwrap());
            bytes.extend(name.bytes());
        }
        bytes.extend(u16::try_from(rows.len()).unwrap().to_le_bytes());
        for (at, index) in rows {
            bytes.extend(&at.to_le_bytes()[..5]);
            bytes.push(index);
        }
        bytes
    }

    fn block() -> Vec<u8> {
        let mut zones: Vec<(&str, Tz)> = TZ_VARIANTS.iter().map(|zone| (zone.name(), *zone)).collect();
        zones.sort_unstable_by_key(|(name, _)| *name);
        let head = 2 + zones.iter().map(|(name, _)| name.len() + 5).sum::<usize>();
        let (mut names, mut data) = (u16::try_from(zones.len()).unwrap().to_le_bytes().to_vec(), Vec::new());
        let mut known = std::collections::HashMap::new();
        for (name, zone) in zones {
            let bytes = encode(zone);
            // An alias shares the bytes of its zone.
            let at = *known.entry(bytes.clone()).or_insert_with(|| {
                let at = head + data.len();
                data.extend(bytes);
                at
            });
            names.push(u8::try_from(name.len()).unwrap());
            names.extend(name.bytes());
            names.extend(u32::try_from(at).unwrap().to_le_bytes());
        }
        names.extend(data);
        names
    }

    #[test]
    fn every_zone_matches_chrono_tz() {
        if std::env::var_os("UPDATE").is_some() {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/base/stdlib/zones.bin");
            std::fs::write(path, block()).unwrap();
            return;
        }
        assert_eq!(VERSION, chrono_tz::IANA_TZDB_VERSION);
        let mut random = fastrand::Rng::with_seed(7);
        for tz in TZ_VARIANTS {
            let zone = zone(tz.name()).unwrap_or_else(|| panic!("no {}", tz.name()));
            let days = seconds_of_years().step_by(86_400 * 45);
            for at in days.map(|at| at + random.i64(0..86_400 * 45)).chain([i64::MIN / 2, 0, 1 << 42]) {
                let ours = zone.local_time(at).unwrap();
                let at = at.clamp(DateTime::<Utc>::MIN_UTC.timestamp(), DateTime::<Utc>::MAX_UTC.timestamp());
                assert_eq!((ours.offset, ours.abbreviation.to_owned()), told(tz, at), "{} at {at}", tz.name());
            }
        }
    }

    #[test]
    fn a_change_counts_from_its_second_on() {
        let berlin = zone("Europe/Berlin").unwrap();
        let name = |at| berlin.local_time(at).unwrap().abbreviation;
        assert_eq!([name(1_711_846_799), name(1_711_846_800)], ["CET", "CEST"]);
        assert_eq!(zone("UTC").unwrap().local_time(0), Some(LocalTime { offset: 0, abbreviation: "UTC" }));
        assert_eq!((zone("europe/berlin"), zone("Mars/Olympus"), zone("")), (None, None, None));
    }
}
