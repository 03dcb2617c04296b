//! Dotted paths such as `metadata.labels["app.kubernetes.io/name"]`, split into steps.
//!
//! The scanner reproduces the reference, including its quirks: quotes and brackets end a step whatever they contain, empty
//! steps vanish, and positions are counted in characters but applied to bytes. A path with non-ASCII characters before a
//! separator may therefore be cut in the wrong place, or have no steps if that splits a character.

use std::borrow::Cow;

use crate::stdlib::json_pointer::unescaped;

/// A path that cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPath;

/// Returns the steps of `path`: map keys and list indexes. `~1` is a slash and `~0` a tilde. An error ends the
/// iteration.
///
/// `steps("a.b[\"c\"]")` yields `a`, `b`, `c`.
pub fn steps(path: &str) -> impl Iterator<Item = Result<Cow<'_, str>, BadPath>> {
    let mut scan = Scan { path, at: 0, single: false, double: false, escaped: false };
    std::iter::from_fn(move || match scan.step() {
        Ok(step) => step.map(|step| Ok(unescaped(step))),
        Err(error) => {
            scan.at = path.len();
            Some(Err(error))
        }
    })
}

/// Returns the list index of a step: decimal digits without a sign or leading zeros.
pub fn step_index(step: &str) -> Option<usize> {
    let unusual = step.starts_with('+') || (step.starts_with('0') && step.len() != 1);
    if unusual { None } else { step.parse().ok() }
}

struct Scan<'p> {
    path: &'p str,
    /// The start of the next step.
    at: usize,
    single: bool,
    double: bool,
    escaped: bool,
}

impl<'p> Scan<'p> {
    /// Returns the next step.
    fn step(&mut self) -> Result<Option<&'p str>, BadPath> {
        let rest = self.path.get(self.at..).ok_or(BadPath)?;
        let mut skip = 0;
        for (at, letter) in rest.chars().enumerate() {
            let escaped = std::mem::replace(&mut self.escaped, letter == '\\');
            let ends = match letter {
                '"' | '\'' if !escaped => {
                    let quoted = if letter == '"' { &mut self.double } else { &mut self.single };
                    *quoted = !*quoted;
                    true
                }
                '.' | '[' | ']' => !escaped && !self.single && !self.double,
                _ => false,
            };
            match letter {
                _ if !ends => {}
                ']' => skip += 1,
                '"' | '\'' | '.' if at == skip => skip += 1,
                _ => {
                    if let Some(step) = self.cut(skip, at)? {
                        return Ok(Some(step));
                    }
                }
            }
        }
        self.last(skip)
    }

    /// Returns the step from `skip` to `end`; the next one starts after it.
    fn cut(&mut self, skip: usize, end: usize) -> Result<Option<&'p str>, BadPath> {
        let step = self.path.get(self.at + skip..self.at + end).ok_or(BadPath)?;
        self.at += end + 1;
        Ok(Some(step).filter(|step| !step.is_empty()))
    }

    /// Returns the rest of the path after `skip`.
    fn last(&mut self, skip: usize) -> Result<Option<&'p str>, BadPath> {
        let start = self.at + skip;
        if start >= self.path.len() {
            return Ok(None);
        }
        self.at = self.path.len();
        self.path.get(start..).map(Some).ok_or(BadPath)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(path: &str) -> Result<Vec<String>, BadPath> {
        steps(path).map(|step| step.map(Cow::into_owned)).collect()
    }

    #[test]
    fn dots_brackets_and_quotes() {
        assert_eq!(cut("a").unwrap(), ["a"]);
        assert_eq!(cut("a.b.c").unwrap(), ["a", "b", "c"]);
        assert_eq!(cut("a[\"0\"].b").unwrap(), ["a", "0", "b"]);
        assert_eq!(cut("a[0].b").unwrap(), ["a", "]", "b"]);
        assert_eq!(cut("a[\"b.c\"].d").unwrap(), ["a", "b.c", "d"]);
        assert_eq!(cut("a['x/y']").unwrap(), ["a", "x/y"]);
        assert_eq!(cut("a~1b.c~0d").unwrap(), ["a/b", "c~d"]);
        assert!(cut("").unwrap().is_empty());
        assert_eq!(cut("..a..").unwrap(), ["a"]);
    }

    #[test]
    fn letters_beyond_ascii_before_a_separator() {
        assert_eq!(cut("ключ").unwrap(), ["ключ"]);
        assert_eq!(cut("é.b"), Err(BadPath));
        assert_eq!(cut("éa.b").unwrap(), ["é", "b"]);
    }

    #[test]
    fn indices_are_plain_digits() {
        assert_eq!(step_index("0"), Some(0));
        assert_eq!(step_index("12"), Some(12));
        for step in ["00", "+1", "-1", "1.0", "", "99999999999999999999"] {
            assert_eq!(step_index(step), None, "{step}");
        }
    }

    #[test]
    fn no_path_hangs_or_panics() {
        let alphabet = ['a', '.', '[', ']', '"', '\'', '\\', 'é'];
        for number in 0..8_usize.pow(6) {
            let path: String = (0..6).map(|place| alphabet[number / 8_usize.pow(place) % 8]).collect();
            assert!(steps(&path).count() <= 7, "{path}");
        }
    }
}
