//! Parsing of format strings.

/// A part of a format string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'f> {
    /// Literal text.
    Text(&'f str),
    /// The place of a value.
    Verb(Verb<'f>),
}

/// The place of a value: `%`, flags, width, precision, argument, letter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Verb<'f> {
    /// Source text of the verb.
    pub(super) raw: &'f str,
    /// Byte offset in the format string.
    pub(super) offset: usize,
    /// Number of the argument, from 1.
    pub(super) argument: usize,
    pub(super) letter: char,
    /// `0`: pad with zeros.
    pub(super) zero: bool,
    /// `#`: alternate form.
    pub(super) sharp: bool,
    /// `+`: always write the sign.
    pub(super) plus: bool,
    /// `-`: align to the left.
    pub(super) minus: bool,
    /// Space: write a space in place of `+`.
    pub(super) space: bool,
    /// Minimum number of characters.
    pub(super) width: Option<usize>,
    /// Number after the point.
    pub(super) precision: Option<usize>,
}

/// Iterator over the parts of a format string. An error is the last item.
pub(super) struct Pieces<'f> {
    format: &'f str,
    at: usize,
    next_argument: usize,
}

impl<'f> Pieces<'f> {
    pub(super) const fn of(format: &'f str) -> Self {
        Self { format, at: 0, next_argument: 1 }
    }

    fn rest(&self) -> &'f str {
        self.format.get(self.at..).unwrap_or("")
    }

    /// Skips `c`, if it is next.
    fn eat(&mut self, c: char) -> bool {
        let is_next = self.rest().starts_with(c);
        self.at += if is_next { c.len_utf8() } else { 0 };
        is_next
    }

    /// Parses digits. A number that is too large becomes the largest one.
    fn number(&mut self) -> Option<usize> {
        let rest = self.rest();
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += len;
        let digits = rest.get(..len).filter(|digits| !digits.is_empty())?;
        Some(digits.parse().unwrap_or(usize::MAX))
    }

    /// Parses a number without a leading 0.
    fn positive(&mut self) -> Option<usize> {
        if self.rest().starts_with('0') { None } else { self.number() }
    }

    fn unexpected<T>(&self) -> Result<T, String> {
        Err(match self.rest().chars().next() {
            Some(c) => format!("`{c}` at {} is not valid in a verb", self.at),
            None => "the format ends inside a verb".to_owned(),
        })
    }

    /// Parses the verb at the current `%`.
    fn verb(&mut self) -> Result<Verb<'f>, String> {
        let offset = self.at;
        self.at += 1;
        let mut verb = Verb { offset, ..Verb::default() };
        loop {
            let flag = match self.rest().chars().next() {
                Some('0') => &mut verb.zero,
                Some('#') => &mut verb.sharp,
                Some('+') => &mut verb.plus,
                Some('-') => &mut verb.minus,
                Some(' ') => &mut verb.space,
                _ => break,
            };
            *flag = true;
            self.at += 1;
        }
        verb.width = self.positive();
        if self.eat('.') {
            match self.number() {
                None => return self.unexpected(),
                precision => verb.precision = precision,
            }
        }
        verb.argument = self.next_argument;
        if self.eat('[') {
            match self.positive() {
                Some(argument) if self.eat(']') => verb.argument = argument,
                _ => return self.unexpected(),
            }
        }
        match self.rest().chars().next().filter(char::is_ascii_alphabetic) {
            Some(letter) => verb.letter = letter,
            None => return self.unexpected(),
        }
        self.at += 1;
        self.next_argument = verb.argument.saturating_add(1);
        verb.raw = self.format.get(offset..self.at).unwrap_or("");
        Ok(verb)
    }
}

impl<'f> Iterator for Pieces<'f> {
    type Item = Result<Piece<'f>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        if rest.starts_with("%%") {
            self.at += 2;
            return Some(Ok(Piece::Text("%")));
        }
        if !rest.starts_with('%') {
            let end = rest.find('%').unwrap_or(rest.len());
            self.at += end;
            return rest.get(..end).map(|text| Ok(Piece::Text(text)));
        }
        let verb = self.verb();
        if verb.is_err() {
            self.at = self.format.len();
        }
        Some(verb.map(Piece::Verb))
    }
}
