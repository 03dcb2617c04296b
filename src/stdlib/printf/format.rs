//! Reads formats.

use super::flags::Flags;
use super::operands::operand;
use super::{Content, Operand, Output};

/// Largest width, precision and index.
const MOST: usize = 1_000_000;

/// Formats operands. `grow` receives numbers of bytes about to be written and may stop the formatting.
///
/// # Errors
/// The error of `grow`.
pub fn printf<'a, N: Operand<'a>, E>(
    format: &[u8],
    operands: &[N],
    out: &mut Vec<u8>,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = Output { bytes: out, grow };
    let mut reader = Reader { format, at: 0, operands, next: 0, reordered: false, good: true, indexed: false };
    loop {
        let rest = format.get(reader.at..).unwrap_or(&[]);
        let literal = memchr::memchr(b'%', rest).unwrap_or(rest.len());
        out.push(rest.get(..literal).unwrap_or(&[]))?;
        if literal == rest.len() {
            break;
        }
        reader.at += literal + 1;
        reader.verb(&mut out)?;
    }
    if reader.reordered || reader.next >= operands.len() {
        return Ok(());
    }
    out.push(b"%!(EXTRA ")?;
    for (at, extra) in operands.iter().skip(reader.next).enumerate() {
        if at > 0 {
            out.push(b", ")?;
        }
        if !matches!(extra.content(), Content::Nil) {
            out.push(extra.type_name().as_bytes())?;
            out.push(b"=")?;
        }
        operand(*extra, 'v', Flags::default(), &mut out)?;
    }
    out.push(b")")
}

struct Reader<'f, N> {
    format: &'f [u8],
    at: usize,
    operands: &'f [N],
    /// The index of the next operand.
    next: usize,
    /// `true` if any operand was chosen by its index.
    reordered: bool,
    /// `false` if the index of this verb is none.
    good: bool,
    /// `true` right after an index.
    indexed: bool,
}

impl<'a, N: Operand<'a>> Reader<'_, N> {
    fn here(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    /// Reads and formats one verb.
    fn verb<E, G: FnMut(usize) -> Result<(), E>>(&mut self, out: &mut Output<'_, G>) -> Result<(), E> {
        self.good = true;
        self.indexed = false;
        let mut flags = self.flags();
        self.index();
        self.width(&mut flags, out)?;
        self.precision(&mut flags, out)?;
        if !self.indexed {
            self.index();
        }
        let Some(verb) = self.character() else { return out.push(b"%!(NOVERB)") };
        if verb == '%' {
            return out.push(b"%");
        }
        if !self.good {
            return out.push(format!("%!{verb}(BADINDEX)").as_bytes());
        }
        let Some(chosen) = self.operands.get(self.next) else {
            return out.push(format!("%!{verb}(MISSING)").as_bytes());
        };
        self.next += 1;
        if verb == 'v' {
            (flags.source, flags.sharp) = (flags.sharp, false);
            flags.plus = false;
        }
        operand(*chosen, verb, flags, out)
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Some(byte) = self.here() {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => break,
            }
            self.at += 1;
        }
        flags
    }

    /// Reads the verb.
    fn character(&mut self) -> Option<char> {
        let chunk = self.format.get(self.at..)?.utf8_chunks().next()?;
        let c = chunk.valid().chars().next();
        self.at += c.map_or(1, char::len_utf8);
        Some(c.unwrap_or('\u{fffd}'))
    }

    fn width<E, G: FnMut(usize) -> Result<(), E>>(
        &mut self,
        flags: &mut Flags,
        out: &mut Output<'_, G>,
    ) -> Result<(), E> {
        if self.here() != Some(b'*') {
            flags.width = self.number();
            self.good &= !(self.indexed && flags.width.is_some());
            return Ok(());
        }
        self.at += 1;
        self.indexed = false;
        let Some(width) = self.given_number() else { return out.push(b"%!(BADWIDTH)") };
        if width < 0 {
            (flags.minus, flags.zero) = (true, false);
        }
        flags.width = usize::try_from(width.unsigned_abs()).ok();
        Ok(())
    }

    fn precision<E, G: FnMut(usize) -> Result<(), E>>(
        &mut self,
        flags: &mut Flags,
        out: &mut Output<'_, G>,
    ) -> Result<(), E> {
        if self.here() != Some(b'.') {
            return Ok(());
        }
        self.at += 1;
        self.good &= !self.indexed;
        self.index();
        if self.here() != Some(b'*') {
            flags.precision = Some(self.number().unwrap_or(0));
            return Ok(());
        }
        self.at += 1;
        self.indexed = false;
        flags.precision = match self.given_number() {
            Some(precision) if precision >= 0 => usize::try_from(precision).ok(),
            // Negative precisions are no precisions, and said to be bad.
            _ => return out.push(b"%!(BADPREC)"),
        };
        Ok(())
    }

    /// Reads a number. `None` if there is none, or if it is too large.
    fn number(&mut self) -> Option<usize> {
        let start = self.at;
        let mut number = 0_usize;
        while let Some(digit) = self.here().filter(u8::is_ascii_digit) {
            number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
            self.at += 1;
        }
        if number > MOST {
            self.at = self.format.len();
            return None;
        }
        (self.at > start).then_some(number)
    }

    /// Takes the next operand as a number.
    fn given_number(&mut self) -> Option<i64> {
        let operand = self.operands.get(self.next)?;
        self.next += 1;
        let number = match operand.content() {
            Content::Signed(n) => n,
            Content::Unsigned(n) => i64::try_from(n).ok()?,
            _ => return None,
        };
        (number.unsigned_abs() <= MOST as u64).then_some(number)
    }

    /// Reads an index such as `[2]`.
    fn index(&mut self) {
        if self.here() != Some(b'[') {
            self.indexed = false;
            return;
        }
        self.reordered = true;
        let rest = self.format.get(self.at..).unwrap_or(&[]);
        let Some(end) = memchr::memchr(b']', rest).filter(|_| rest.len() >= 3) else {
            (self.at, self.good, self.indexed) = (self.at + 1, false, false);
            return;
        };
        let digits = rest.get(1..end).unwrap_or(&[]);
        let number = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|digits| digits.parse::<usize>().ok()).filter(|number| *number <= MOST);
        self.at += end + 1;
        self.indexed = number.is_some();
        match number.and_then(|number| number.checked_sub(1)).filter(|index| *index < self.operands.len()) {
            Some(index) => self.next = index,
            None => self.good = false,
        }
    }
}
