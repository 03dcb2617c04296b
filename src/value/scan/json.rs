//! JSON.

use super::Scan;
use super::bytes::END;
use super::nest::Kind;

/// Maximum length of a number. Longer ones may be out of range.
const LONGEST_NUMBER: usize = 100;

impl Scan<'_> {
    /// Scans one value.
    pub(super) fn json(&mut self) -> Option<()> {
        self.skip_white();
        self.json_value()?;
        while let Some(top) = self.nest.top() {
            self.skip_white();
            match (self.here(), top.kind) {
                (b'}', Kind::Map) | (b']', Kind::List) => {
                    self.at += 1;
                    self.nest.close()?;
                }
                (b',', _) if !self.pending => {
                    self.at += 1;
                    self.skip_white();
                    self.json_entry(top.kind)?;
                    continue;
                }
                (_, kind) if self.pending => {
                    self.json_entry(kind)?;
                    continue;
                }
                _ => return None,
            }
            self.pending = false;
        }
        self.skip_white();
        (self.at == self.bytes.len()).then_some(())
    }

    fn skip_white(&mut self) {
        while matches!(self.here(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    fn json_entry(&mut self, kind: Kind) -> Option<()> {
        if kind == Kind::Map {
            let start = self.at + 1;
            let is_verbatim = self.json_string()?;
            let name = self.bytes.get(start..self.at - 1).filter(|_| is_verbatim)?;
            self.nest.key(name);
            self.skip_white();
            if self.here() != b':' {
                return None;
            }
            self.at += 1;
            self.skip_white();
        }
        self.json_value()
    }

    /// Scans a scalar, or the start of a collection, which is then `pending`.
    fn json_value(&mut self) -> Option<()> {
        self.pending = matches!(self.here(), b'{' | b'[');
        match self.here() {
            b'{' => self.json_open(Kind::Map),
            b'[' => self.json_open(Kind::List),
            b'"' => self.json_string().map(drop),
            b'-' | b'0'..=b'9' => self.json_number(),
            _ => {
                let rest = self.bytes.get(self.at..)?;
                let word = [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word))?;
                self.at += word.len();
                Some(())
            }
        }
    }

    fn json_open(&mut self, kind: Kind) -> Option<()> {
        self.at += 1;
        self.nest.open(kind, 0)
    }

    /// Scans a string. Returns `true` if it has no escapes.
    fn json_string(&mut self) -> Option<bool> {
        if self.here() != b'"' {
            return None;
        }
        self.at += 1;
        let mut is_verbatim = true;
        loop {
            match self.here() {
                b'"' => break,
                b'\\' => {
                    is_verbatim = false;
                    self.json_escape()?;
                }
                END..=0x1F => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(is_verbatim)
    }

    fn json_escape(&mut self) -> Option<()> {
        let digits = match self.byte(self.at + 1) {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 0,
            b'u' => 4,
            _ => return None,
        };
        self.at += 2;
        self.hex(digits)
    }

    fn json_number(&mut self) -> Option<()> {
        let start = self.at;
        self.at += usize::from(self.here() == b'-');
        if self.here() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.here() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.here(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.here(), b'+' | b'-'));
            // Exponents of more digits may be out of range.
            if self.digits()? > 2 {
                return None;
            }
        }
        (self.at - start <= LONGEST_NUMBER).then_some(())
    }

    /// Scans at least one digit. Returns their number.
    fn digits(&mut self) -> Option<usize> {
        let start = self.at;
        while self.here().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(self.at - start)
    }
}
