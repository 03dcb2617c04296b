//! The parts of a format: text, and verbs.

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'f> {
    /// Text that stands for itself.
    Text(&'f str),
    /// The place of a value.
    Verb(Verb<'f>),
}

/// The place of a value: `%`, flags, width, precision, argument, letter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Verb<'f> {
    /// As it is written.
    pub(super) raw: &'f str,
    /// Where in the format, in bytes.
    pub(super) offset: usize,
    /// Which argument, counted from 1.
    pub(super) argument: usize,
    /// The letter.
    pub(super) mode: char,
    /// `0`: zeros in front instead of spaces.
    pub(super) zero: bool,
    /// `#`: the other form.
    pub(super) sharp: bool,
    /// `+`: a sign always.
    pub(super) plus: bool,
    /// `-`: to the left.
    pub(super) minus: bool,
    /// A space where a sign would be.
    pub(super) space: bool,
    /// The least number of characters.
    pub(super) width: Option<usize>,
    /// The number behind the point.
    pub(super) precision: Option<usize>,
}

/// The parts of a format, one after the other; after an error there are no more.
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

    /// Goes over `c`, if it is next.
    fn eat(&mut self, c: char) -> bool {
        let is_next = self.rest().starts_with(c);
        self.at += if is_next { c.len_utf8() } else { 0 };
        is_next
    }

    /// Digits as a number; one that is too large is the largest.
    fn number(&mut self) -> Option<usize> {
        let rest = self.rest();
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += len;
        let digits = rest.get(..len).filter(|digits| !digits.is_empty())?;
        Some(digits.parse().unwrap_or(usize::MAX))
    }

    /// A number that begins with no 0.
    fn positive(&mut self) -> Option<usize> {
        if self.rest().starts_with('0') { None } else { self.number() }
    }

    fn unexpected<T>(&self) -> Result<T, String> {
        Err(match self.rest().chars().next() {
            Some(c) => format!("`{c}` at {} is no part of a verb", self.at),
            None => "the format ends inside a verb".to_owned(),
        })
    }

    /// The verb that begins here.
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
            Some(mode) => verb.mode = mode,
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
