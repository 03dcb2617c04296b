//! Translates patterns in the syntax of RE2, as Go's `regexp` reads it, for the crate `regex`.
//!
//! The syntaxes differ in details: in RE2 `\d`, `\w`, `\s` and `\b` are ASCII only, a bracket or `&&` inside a class is
//! literal, so is a brace that starts no repetition, `\Q…\E` quotes, and several groups may have one name. Whatever RE2
//! refuses is refused here, so the engine only sees its own syntax.
//!
//! No crate does this, and the engine itself must stay: it is the one that runs in linear time.

mod classes;

use classes::{bracketed, members, unicode};

/// Maximum count of a repetition, and of the product of nested ones.
const MOST: u32 = 1000;

/// Syntax that RE2 refuses: the part of the pattern and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused<'p> {
    part: &'p str,
    why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// A repeated repetition: `a**`.
    Nested,
    /// A repetition without an operand: `(*`.
    Nothing,
    /// A count that is too large, alone or multiplied by the counts inside: `a{1001}`.
    Count,
    /// An unknown class, or a range that ends before it starts: `[:alfa:]`, `z-a`.
    Class,
    /// An unknown escape: `\C`.
    Escape,
    /// A single backslash at the end.
    Backslash,
    /// A class without its closing bracket.
    Bracket,
    /// A group without its closing parenthesis.
    Open,
    /// A closing parenthesis without a group.
    Close,
    /// A group name that is not made of letters, digits and `_`.
    Name,
    /// Unknown flags, or syntax for looking around: `(?x`, `(?=`.
    Flags,
}

impl std::fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { part, why } = self;
        match why {
            Why::Nested => write!(f, "`{part}` repeats a repetition"),
            Why::Nothing => write!(f, "`{part}` has nothing to repeat; a literal one is `\\{part}`"),
            Why::Count => write!(f, "`{part}` counts further than {MOST}, alone or with the counts inside"),
            Why::Class => write!(f, "`{part}` is no class or range of characters"),
            Why::Escape => write!(f, "`{part}` is no escape sequence; a literal backslash is `\\\\`"),
            Why::Backslash => f.write_str("the last backslash escapes nothing; a literal one is `\\\\`"),
            Why::Bracket => write!(f, "the class `{part}` has no closing `]`"),
            Why::Open => write!(f, "the group `{part}` has no closing `)`"),
            Why::Close => f.write_str("a `)` closes no group; a literal one is `\\)`"),
            Why::Name => {
                write!(f, "`{part}` starts no named group, which is `(?P<name>…)`; there is no looking behind")
            }
            Why::Flags => write!(f, "`{part}` is not supported: the flags are `imsU`, and there is no looking ahead"),
        }
    }
}

impl Refused<'_> {
    /// Returns the message of Go's `regexp/syntax` for a part of `pattern`.
    pub fn reference_message(&self, pattern: &str) -> String {
        let (what, part) = match self.why {
            Why::Nested => ("invalid nested repetition operator", self.part),
            Why::Nothing => ("missing argument to repetition operator", self.part),
            Why::Count => ("invalid repeat count", self.part),
            Why::Class => ("invalid character class range", self.part),
            Why::Escape => ("invalid escape sequence", self.part),
            Why::Backslash => ("trailing backslash at end of expression", ""),
            Why::Bracket => ("missing closing ]", self.part),
            Why::Open => ("missing closing )", pattern),
            Why::Close => ("unexpected )", pattern),
            Why::Name => ("invalid named capture", self.part),
            Why::Flags => ("invalid or unsupported Perl syntax", self.part),
        };
        format!("error parsing regexp: {what}: `{part}`")
    }
}

type Checked<'p, T> = Result<T, Refused<'p>>;

/// A pattern in the syntax of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern<'p> {
    /// The pattern. Its groups have no names.
    pub text: String,
    /// The names of the groups, in order.
    pub names: Vec<Option<&'p str>>,
}

/// Translates a pattern, and returns the names of its groups as well.
///
/// # Errors
/// Syntax that RE2 refuses.
pub fn parsed(pattern: &str) -> Checked<'_, Pattern<'_>> {
    let text = String::with_capacity(pattern.len() + 16);
    let mut parser = Parser {
        rest: pattern,
        pattern: Pattern { text, names: Vec::new() },
        groups: Vec::new(),
        most: 1,
        operand: None,
        repeated: None,
        swapped: false,
        last_named: pattern.rfind(":]").map_or(usize::MAX, |at| pattern.len() - at),
    };
    while let Some(first) = parser.rest.chars().next() {
        parser.step(first)?;
    }
    match parser.groups.last() {
        Some(group) => Err(Refused { part: group.start, why: Why::Open }),
        None => Ok(parser.pattern),
    }
}

/// Translates a pattern.
///
/// # Errors
/// Syntax that RE2 refuses.
pub fn translated(pattern: &str) -> Checked<'_, String> {
    parsed(pattern).map(|pattern| pattern.text)
}

/// Maximum number of bytes of a pattern that [`compiled`] takes, and of its compiled form.
const PATTERN: usize = 4 << 10;
const COMPILED: usize = 1 << 20;

/// Compiles a pattern in the syntax of RE2.
///
/// ```
/// use dropforge::stdlib::re2;
/// assert!(re2::compiled(r"^v\d+$").unwrap().is_match("v12"));
/// assert!(re2::compiled("(?=a)").is_err());
/// ```
///
/// # Errors
/// The reason why it is not a pattern.
pub fn compiled(pattern: &str) -> Result<regex::Regex, String> {
    if pattern.len() > PATTERN {
        return Err(format!("it is longer than {PATTERN} bytes"));
    }
    let translated = translated(pattern).map_err(|refused| refused.to_string())?;
    let mut builder = regex::RegexBuilder::new(&translated);
    let built = builder.size_limit(COMPILED).dfa_size_limit(COMPILED).nest_limit(50).build();
    // The reason is the last line, below a drawing of the position.
    built.map_err(|error| error.to_string().lines().last().unwrap_or("").replace("error: ", ""))
}

/// An open group.
struct Group<'p> {
    /// The pattern from its parenthesis on.
    start: &'p str,
    /// The largest product of nested counts before it, in the enclosing group.
    most: u32,
    /// The start of its translation.
    from: usize,
    /// The flag `U` of the enclosing group.
    swapped: bool,
}

/// A translated part that a repetition may follow.
#[derive(Clone, Copy)]
struct Operand {
    /// The product of nested counts.
    counts: u32,
    /// The start and the end of the translation. Flags may follow the end.
    from: usize,
    to: usize,
    /// The flag `U` at its end.
    swapped: bool,
}

struct Parser<'p> {
    rest: &'p str,
    pattern: Pattern<'p>,
    groups: Vec<Group<'p>>,
    /// The largest product of nested counts in the innermost group.
    most: u32,
    /// The last operand, if a repetition may follow.
    operand: Option<Operand>,
    /// The pattern from the repetition on that was read last.
    repeated: Option<&'p str>,
    /// The flag `U`, which swaps greedy and lazy repetitions.
    swapped: bool,
    /// The number of bytes from the last `:]` on, so that no class searches for one in vain.
    last_named: usize,
}

impl<'p> Parser<'p> {
    fn step(&mut self, first: char) -> Checked<'p, ()> {
        let from = self.pattern.text.len();
        match first {
            '(' => return self.open(),
            ')' => return self.close(),
            '|' => {
                self.copy(1);
                (self.operand, self.repeated) = (None, None);
                return Ok(());
            }
            '*' | '+' | '?' => return self.repetition(1, None),
            '\\' => return self.escape(),
            '[' => self.rest = bracketed(self.rest, self.last_named, &mut self.pattern.text)?,
            '^' | '$' | '.' => self.copy(1),
            _ => match counts(self.rest) {
                Some((len, counts)) => return self.repetition(len, Some(counts)),
                None => {
                    self.rest = self.rest.get(first.len_utf8()..).unwrap_or("");
                    push_literal(u32::from(first), &mut self.pattern.text);
                }
            },
        }
        self.operand(1, from);
        Ok(())
    }

    /// Copies `len` bytes.
    fn copy(&mut self, len: usize) {
        let (copied, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.pattern.text.push_str(copied);
        self.rest = rest;
    }

    /// Notes an operand whose translation begins at `from`.
    fn operand(&mut self, counts: u32, from: usize) {
        let operand = Operand { counts, from, to: self.pattern.text.len(), swapped: self.swapped };
        (self.operand, self.repeated) = (Some(operand), None);
        self.most = self.most.max(counts);
    }

    /// Starts a group, or sets flags.
    fn open(&mut self) -> Checked<'p, ()> {
        let start = self.rest;
        let (opening, rest) = match start.strip_prefix("(?") {
            None => {
                self.pattern.names.push(None);
                ("(".to_owned(), start.get(1..).unwrap_or(""))
            }
            Some(inside) => match inside.strip_prefix("P<").or_else(|| inside.strip_prefix('<')) {
                Some(named) => {
                    let (name, rest) = group_name(start, named)?;
                    self.pattern.names.push(Some(name));
                    ("(".to_owned(), rest)
                }
                None => flags(start, inside)?,
            },
        };
        self.rest = rest;
        let (from, swapped) = (self.pattern.text.len(), self.swapped);
        self.pattern.text.push_str(&opening);
        let (on, off) = opening.split_once('-').unwrap_or((&opening, ""));
        self.swapped = on.contains('U') || (swapped && !off.contains('U'));
        self.repeated = None;
        if !opening.ends_with(')') && !opening.is_empty() {
            self.groups.push(Group { start, most: self.most, from, swapped });
            (self.most, self.operand) = (1, None);
        }
        Ok(())
    }

    fn close(&mut self) -> Checked<'p, ()> {
        let Some(group) = self.groups.pop() else { return Err(Refused { part: self.rest, why: Why::Close }) };
        self.copy(1);
        self.swapped = group.swapped;
        let inside = std::mem::replace(&mut self.most, group.most);
        self.operand(inside, group.from);
        Ok(())
    }

    /// Copies a repetition operator of `len` bytes, and a lazy `?` after it. Flags between the operand and its operator
    /// (`a(?i)*`) move after the operator.
    fn repetition(&mut self, len: usize, counts: Option<Counts>) -> Checked<'p, ()> {
        let before = self.rest;
        let too_many = Refused { part: before.get(..len).unwrap_or(before), why: Why::Count };
        if counts.is_some_and(|(least, most)| least > MOST || most.is_some_and(|most| most > MOST || most < least)) {
            return Err(too_many);
        }
        let lazy = before.get(len..).is_some_and(|behind| behind.starts_with('?'));
        let (operator, behind) = before.split_at(len + usize::from(lazy));
        if let Some(last) = self.repeated {
            let part = last.get(..last.len() - behind.len()).unwrap_or(last);
            return Err(Refused { part, why: Why::Nested });
        }
        let Some(of) = self.operand else { return Err(Refused { part: operator, why: Why::Nothing }) };
        let product = match counts {
            Some((_, Some(0))) => 1,
            Some((least, most)) => of.counts * most.unwrap_or(least).max(1),
            None => of.counts,
        };
        if product > MOST {
            return Err(too_many);
        }
        let flags = self.pattern.text.split_off(of.to);
        if flags.is_empty() {
            self.pattern.text.push_str(operator);
        } else {
            self.pattern.text.insert_str(of.from, "(?:");
            let lazy = if lazy == (of.swapped == self.swapped) { "?" } else { "" };
            self.pattern.text.extend([")", operator.get(..len).unwrap_or(operator), lazy]);
        }
        self.rest = behind;
        self.operand(product, of.from);
        self.operand = self.operand.map(|made| Operand { swapped: of.swapped, ..made });
        self.pattern.text.push_str(&flags);
        self.repeated = Some(before);
        Ok(())
    }

    /// Translates an escape outside a class.
    fn escape(&mut self) -> Checked<'p, ()> {
        let mut from = self.pattern.text.len();
        let (rest, out) = (self.rest, &mut self.pattern.text);
        let letter = rest.get(1..).and_then(|behind| behind.chars().next());
        let behind = rest.get(2..).unwrap_or("");
        self.rest = match letter {
            Some('Q') => {
                let (inside, behind) = behind.split_once("\\E").unwrap_or((behind, ""));
                self.rest = behind;
                for c in inside.chars() {
                    from = out.len();
                    push_literal(u32::from(c), out);
                }
                match inside.is_empty() {
                    true => self.repeated = None,
                    false => self.operand(1, from),
                }
                return Ok(());
            }
            Some(end @ ('A' | 'z')) => {
                out.extend(['\\', end]);
                behind
            }
            Some(bound @ ('b' | 'B')) => {
                out.push_str(&format!("(?-u:\\{bound})"));
                behind
            }
            Some('p' | 'P') => unicode(rest, out)?,
            _ => match letter.and_then(members) {
                Some(members) => {
                    let not = if letter.is_some_and(|letter| letter.is_ascii_uppercase()) { "^" } else { "" };
                    out.push_str(&format!("[{not}{members}]"));
                    behind
                }
                None => {
                    let (c, behind) = character(rest)?;
                    push_literal(c, out);
                    behind
                }
            },
        };
        self.operand(1, from);
        Ok(())
    }
}

/// Splits a group's name off the text after its `<`.
fn group_name<'p>(start: &'p str, named: &'p str) -> Checked<'p, (&'p str, &'p str)> {
    let (name, rest) = named.split_once('>').ok_or(Refused { part: start, why: Why::Name })?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        let part = start.get(..start.len() - rest.len()).unwrap_or(start);
        return Err(Refused { part, why: Why::Name });
    }
    Ok((name, rest))
}

/// Reads flags up to `:` or `)`. Returns the opening of the group, or the setting of the flags, and the text after it.
fn flags<'p>(start: &'p str, inside: &'p str) -> Checked<'p, (String, &'p str)> {
    let (mut on, mut off, mut negative, mut seen) = (String::new(), String::new(), false, false);
    let mut chars = inside.chars();
    loop {
        let flag = chars.next();
        let rest = chars.as_str();
        match flag {
            Some(flag @ ('i' | 'm' | 's' | 'U')) => {
                on.retain(|own| own != flag);
                off.retain(|own| own != flag);
                if negative { &mut off } else { &mut on }.push(flag);
                seen = true;
            }
            Some('-') if !negative => (negative, seen) = (true, false),
            Some(end @ (':' | ')')) if seen || !negative => {
                let minus = if off.is_empty() { "" } else { "-" };
                let empty = on.is_empty() && off.is_empty() && end == ')';
                return Ok((if empty { String::new() } else { format!("(?{on}{minus}{off}{end}") }, rest));
            }
            _ => {
                let part = start.get(..start.len() - rest.len()).unwrap_or(start);
                return Err(Refused { part, why: Why::Flags });
            }
        }
    }
}

/// The least and the greatest count of a repetition.
type Counts = (u32, Option<u32>);

/// Reads `{2}`, `{2,}` or `{2,3}`: its length and its counts. Any other brace is a literal.
fn counts(rest: &str) -> Option<(usize, Counts)> {
    let inside = rest.strip_prefix('{')?;
    let (inside, behind) = inside.split_at(inside.find(|c: char| !c.is_ascii_digit() && c != ',')?);
    if !behind.starts_with('}') {
        return None;
    }
    let number = |text: &str| {
        let is_number = text == "0" || !text.starts_with('0') && !text.is_empty();
        (is_number && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().unwrap_or(u32::MAX))
    };
    let counts = match inside.split_once(',') {
        None => (number(inside)?, Some(number(inside)?)),
        Some((least, "")) => (number(least)?, None),
        Some((least, most)) => (number(least)?, Some(number(most)?)),
    };
    Some((inside.len() + 2, counts))
}

/// Reads an escape that stands for one character, and returns its code point.
fn character(rest: &str) -> Checked<'_, (u32, &str)> {
    let mut chars = rest.chars();
    chars.next();
    let letter = chars.next().ok_or(Refused { part: rest, why: Why::Backslash })?;
    let behind = chars.as_str();
    let refused =
        |behind: &str| Refused { part: rest.get(..rest.len() - behind.len()).unwrap_or(rest), why: Why::Escape };
    let octal = |count: usize| behind.bytes().take(count).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let code = match letter {
        'a' => 7,
        'f' => 12,
        't' => 9,
        'n' => 10,
        'r' => 13,
        'v' => 11,
        'x' => return hexadecimal(behind).ok_or_else(|| refused(behind)),
        '0'..='7' if letter == '0' || octal(1) == 1 => {
            let (digits, after) = behind.split_at(octal(2));
            let code = format!("{letter}{digits}");
            return Ok((u32::from_str_radix(&code, 8).unwrap_or(0), after));
        }
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => u32::from(c),
        _ => return Err(refused(behind)),
    };
    Ok((code, behind))
}

/// Reads the digits after `\x`: two of them, or any number in braces.
fn hexadecimal(behind: &str) -> Option<(u32, &str)> {
    let (digits, rest) = match behind.strip_prefix('{') {
        Some(inside) => inside.split_once('}')?,
        None => behind.split_at_checked(2)?,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = if is_number { digits.trim_start_matches('0') } else { return None };
    let code = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).ok()? };
    (code <= u32::from(char::MAX)).then_some((code, rest))
}

/// Writes a character as a literal. No text contains a surrogate.
fn push_literal(code: u32, out: &mut String) {
    match char::from_u32(code) {
        Some(c) => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        None => out.push_str("[^\\s\\S]"),
    }
}

#[cfg(test)]
mod tests;
