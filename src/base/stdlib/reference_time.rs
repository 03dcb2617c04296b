//! Date layouts written as a reference time: the way that `Mon Jan 2 15:04:05 MST 2006` would be shown, as in Go's `time`.
//!
//! A [`Clock`] is a time as a zone shows it. Layouts and texts are bytes, because both may be cut within a character.

mod chunk;
mod clock;
mod format;
mod parse;

pub use clock::Clock;
pub use format::format;
pub use parse::parse;

/// Names of the months.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Names of the days of a week.
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Writes text in double quotes for a message: quotes and backslashes escaped, bytes outside of printable ASCII as `\xff`.
pub fn quoted(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=0x7F => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}
