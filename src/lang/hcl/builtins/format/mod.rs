//! `format` and `formatlist`: strings with values in the places of verbs such as `%s` and `%5.2f`.

use super::{length_is_known, string};
use crate::values::json::encode_plain;
use crate::values::{convert, is_wholly_known, number_of, safe_prefix};
use dropforge_base::stdlib::bignum::Layout;
use dropforge_base::stdlib::characters;
use dropforge_machine::function::{Cx, Fault, Outcome, Rest};
use dropforge_machine::functions;
use dropforge_value::{BigNum, Refinement, Type, Value};

functions! {
    /// Functions that format values.
    pub(in crate::builtins) static FORMATS:
    "format" (format: String, ... args: Any [null unknown dynamic]) -> String = format,
        "Formats values by the verbs of a format string: %v %t %b %d %o %x %X %e %f %g %s %q."
        ["format(\"Hello, %s!\", \"you\")" => "\"Hello, you!\"", "format(\"%05.1f|%-4d|\", 3.14159, 7)" => "\"003.1|7   |\""];
    "formatlist" (format: String, ... args: Any [null unknown dynamic]) -> (list String) = format_list,
        "Formats each element of the lists among the arguments."
        ["formatlist(\"%s-%d\", [\"a\", \"b\"], 1)" => "[\"a-1\", \"b-1\"]"];
}

fn format<'v>(cx: &Cx<'v>, format: &str, Rest(values): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    if all_known(cx, values)? {
        return string(cx, &formatted(cx, format, values)?);
    }
    let prefix = safe_prefix(format.split_once('%').map_or("", |(before, _)| before));
    cx.charge(prefix.len())?;
    let prefix = cx.arena().copy_str(&prefix);
    Ok(cx.arena().refined(Type::String, Refinement { prefix, ..Refinement::NOT_NULL }))
}

fn all_known<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<bool> {
    for value in values {
        if !is_wholly_known(cx, *value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn format_list<'v>(cx: &Cx<'v>, format: &str, Rest(values): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let Some((columns, rows)) = columns(cx, values)? else {
        return Ok(cx.arena().unknown(Type::List(&Type::String)));
    };
    let mut texts = Vec::new();
    for row in 0..rows {
        let values: Vec<_> = columns.iter().filter_map(|column| column.get(row)).collect();
        texts.push(if all_known(cx, &values)? {
            let text = formatted(cx, format, &values);
            string(cx, &text.map_err(|fault| fault.prefixed(&format!("text {row}")))?)?
        } else {
            cx.arena().refined(Type::String, Refinement::NOT_NULL)
        });
    }
    Ok(cx.arena().typed(Type::List(&Type::String), cx.list(&texts)?))
}

/// An argument of `formatlist`.
enum Column<'v> {
    /// A list: one element for each row.
    Elements(&'v [Value<'v>]),
    /// The same value in each row.
    Constant(Value<'v>),
}

impl<'v> Column<'v> {
    fn get(&self, row: usize) -> Option<Value<'v>> {
        match self {
            Self::Elements(items) => items.get(row).copied(),
            Self::Constant(value) => Some(*value),
        }
    }
}

/// Returns the arguments and the number of rows, if that is known.
fn columns<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Option<(Vec<Column<'v>>, usize)>> {
    let (mut columns, mut known) = (Vec::new(), true);
    let mut length: Option<(usize, usize)> = None;
    for (at, value) in values.iter().enumerate() {
        let Some(len) = length_of(cx, *value, &mut known)? else {
            columns.push(Column::Constant(*value));
            continue;
        };
        let (first, wanted) = *length.get_or_insert((at, len));
        if len != wanted {
            let why = format!("argument {} has {len} elements, but argument {} has {wanted}", at + 1, first + 1);
            return Err(Fault::argument(at + 1, why));
        }
        columns.push(Column::Elements(value.elements().unwrap_or(&[])));
    }
    Ok(known.then_some((columns, length.map_or(1, |(_, len)| len))))
}

/// Returns the length of a list, set or tuple. Clears `known` if the length is unknown.
fn length_of<'v>(cx: &Cx<'v>, value: Value<'v>, known: &mut bool) -> Outcome<Option<usize>> {
    if let Some(unknown) = value.as_unknown() {
        let is_list = matches!(unknown.ty, Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic);
        *known &= !is_list;
        return Ok(if let Type::Tuple(types) = unknown.ty { Some(types.len()) } else { None });
    }
    let Some(elements) = value.elements() else { return Ok(None) };
    if !length_is_known(cx, value)? {
        *known = false;
        return Ok(None);
    }
    Ok(Some(elements.len()))
}

/// Returns `format` with `values` in the places of its verbs.
fn formatted<'v>(cx: &Cx<'v>, format: &str, values: &[Value<'v>]) -> Outcome<String> {
    let (mut out, mut used, mut verbs) = (String::new(), 0, 0_usize);
    for piece in Pieces::of(format) {
        match piece.map_err(Fault::wrong)? {
            FormatPiece::Text(text) => {
                cx.charge(text.len())?;
                out.push_str(text);
            }
            FormatPiece::Verb(verb) => {
                verbs += 1;
                used = used.max(verb.argument);
                let value = values.get(verb.argument - 1).ok_or_else(|| {
                    let (raw, count) = (verb.raw, values.len());
                    Fault::wrong(format!("`{raw}` needs argument {}, but there are {count}", verb.argument))
                })?;
                let text = format_value(cx, &verb, *value);
                let text = text.map_err(|fault| fault.prefixed(&format!("`{}` at {}", verb.raw, verb.offset)))?;
                cx.charge(text.len())?;
                out.push_str(&text);
            }
        }
    }
    if used < values.len() {
        let why =
            if verbs == 0 { "the format has no verbs".to_owned() } else { format!("the format uses only {used}") };
        return Err(Fault::argument(used + 1, format!("too many arguments: {why}")));
    }
    Ok(out)
}

fn format_value<'v>(cx: &Cx<'v>, verb: &Verb<'_>, value: Value<'v>) -> Outcome<String> {
    if value.is_null() && verb.letter != 'v' {
        return Err(Fault::wrong("null cannot be formatted"));
    }
    match verb.letter {
        'v' => default_format(cx, verb, value),
        't' => Ok(matches!(convert(cx, value, &Type::Bool)?, Value::Bool(true)).to_string()),
        'b' | 'd' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G' => {
            let number = number_of(convert(cx, value, &Type::Number)?);
            format_number(cx, verb, &number.ok_or_else(|| Fault::wrong("a number is required"))?)
        }
        's' | 'q' => {
            let value = convert(cx, value, &Type::String)?;
            let text = first_characters(value.as_str().unwrap_or(""), verb.precision);
            if verb.letter == 's' {
                padded(cx, verb, text)
            } else {
                padded(cx, verb, &encode_plain(cx, cx.text(text)?)?)
            }
        }
        letter => Err(Fault::wrong(format!("unknown verb `{letter}`"))),
    }
}

/// Formats strings and numbers as they are, and all other values as JSON.
fn default_format<'v>(cx: &Cx<'v>, verb: &Verb<'_>, value: Value<'v>) -> Outcome<String> {
    if !verb.sharp && !value.is_null() {
        if let Some(text) = value.as_str() {
            return padded(cx, verb, text);
        }
        if let Some(number) = number_of(value) {
            cx.spend(number.digit_steps())?;
            return padded(cx, verb, &number.format(Layout::General, None));
        }
    }
    padded(cx, verb, &encode_plain(cx, value)?)
}

/// Returns the first `count` characters, or all of them if `count` is 0 or absent.
fn first_characters(text: &str, count: Option<usize>) -> &str {
    let count = count.filter(|count| *count > 0);
    let end = count.and_then(|count| characters::indices(text).nth(count));
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Pads a text to the width of the verb in characters.
fn padded(cx: &Cx<'_>, verb: &Verb<'_>, text: &str) -> Outcome<String> {
    let Some(width) = verb.width else { return Ok(text.to_owned()) };
    cx.spend(text.len() as u64 / 8)?;
    let missing = width.saturating_sub(characters::count(text));
    cx.charge(missing)?;
    let padding = if verb.zero { "0" } else { " " }.repeat(missing);
    Ok(if verb.minus { format!("{text}{padding}") } else { format!("{padding}{text}") })
}

fn format_number(cx: &Cx<'_>, verb: &Verb<'_>, number: &BigNum) -> Outcome<String> {
    cx.spend(number.digit_steps())?;
    cx.charge(number.text_len())?;
    match verb.letter {
        'b' => whole(cx, verb, number, 2, "0b"),
        'd' => whole(cx, verb, number, 10, ""),
        'o' => whole(cx, verb, number, 8, "0"),
        'x' => whole(cx, verb, number, 16, "0x"),
        'X' => whole(cx, verb, number, 16, "0X"),
        _ => float(cx, verb, number),
    }
}

/// Splits the sign off a number's text and replaces it as the flags say.
fn signed<'t>(verb: &Verb<'_>, text: &'t str) -> (&'static str, &'t str) {
    let plain = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = match () {
        () if text.starts_with('-') => "-",
        () if verb.plus => "+",
        () if verb.space => " ",
        () if text.starts_with('+') => "+",
        () => "",
    };
    (sign, plain)
}

fn whole(cx: &Cx<'_>, verb: &Verb<'_>, number: &BigNum, base: u32, prefix: &str) -> Outcome<String> {
    let text = number.whole_text(base).ok_or_else(|| Fault::wrong("a whole number is required"))?;
    let (sign, digits) = signed(verb, &text);
    let digits = if verb.letter == 'X' { digits.to_ascii_uppercase() } else { digits.to_owned() };
    let prefix = if verb.sharp { prefix } else { "" };
    if verb.precision == Some(0) && digits == "0" {
        return Ok(String::new());
    }
    let mut zeros = verb.precision.map_or(0, |precision| precision.saturating_sub(digits.len()));
    let length = sign.len() + prefix.len() + zeros.saturating_add(digits.len());
    let missing = verb.width.unwrap_or(0).saturating_sub(length);
    cx.charge(zeros.saturating_add(missing))?;
    let (mut left, mut right) = (0, 0);
    match () {
        () if verb.minus => right = missing,
        () if verb.zero && verb.precision.is_none() => zeros = missing,
        () => left = missing,
    }
    let (left, zeros, right) = (" ".repeat(left), "0".repeat(zeros), " ".repeat(right));
    Ok(format!("{left}{sign}{prefix}{zeros}{digits}{right}"))
}

fn float(cx: &Cx<'_>, verb: &Verb<'_>, number: &BigNum) -> Outcome<String> {
    let general = matches!(verb.letter, 'g' | 'G');
    let layout = match verb.letter {
        'f' => Layout::Fixed,
        'e' | 'E' => Layout::Exponent,
        _ => Layout::General,
    };
    let digits = verb.precision.or(if general { None } else { Some(6) });
    cx.charge(digits.unwrap_or(0))?;
    let mut text = number.format(layout, digits);
    if matches!(verb.letter, 'E' | 'G') {
        text = text.replace('e', "E");
    }
    let (sign, digits) = signed(verb, &text);
    let missing = verb.width.unwrap_or(0).saturating_sub(sign.len() + digits.len());
    cx.charge(missing)?;
    Ok(match () {
        () if verb.zero && !verb.minus && number.is_finite() => format!("{sign}{}{digits}", "0".repeat(missing)),
        () if verb.minus => format!("{sign}{digits}{}", " ".repeat(missing)),
        () => format!("{}{sign}{digits}", " ".repeat(missing)),
    })
}

/// A part of a format string.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FormatPiece<'f> {
    /// Literal text.
    Text(&'f str),
    /// The place of a value.
    Verb(Verb<'f>),
}

/// The place of a value: `%`, flags, width, precision, argument, letter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Verb<'f> {
    /// Source text of the verb.
    raw: &'f str,
    /// Byte offset in the format string.
    offset: usize,
    /// Number of the argument, from 1.
    argument: usize,
    letter: char,
    /// `0`: pad with zeros.
    zero: bool,
    /// `#`: alternate form.
    sharp: bool,
    /// `+`: always write the sign.
    plus: bool,
    /// `-`: align to the left.
    minus: bool,
    /// Space: write a space in place of `+`.
    space: bool,
    /// Minimum number of characters.
    width: Option<usize>,
    /// Number after the point.
    precision: Option<usize>,
}

/// Iterator over the parts of a format string. An error is the last item.
struct Pieces<'f> {
    format: &'f str,
    at: usize,
    next_argument: usize,
}

impl<'f> Pieces<'f> {
    const fn of(format: &'f str) -> Self {
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
    type Item = Result<FormatPiece<'f>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        if rest.starts_with("%%") {
            self.at += 2;
            return Some(Ok(FormatPiece::Text("%")));
        }
        if !rest.starts_with('%') {
            let end = rest.find('%').unwrap_or(rest.len());
            self.at += end;
            return rest.get(..end).map(|text| Ok(FormatPiece::Text(text)));
        }
        let verb = self.verb();
        if verb.is_err() {
            self.at = self.format.len();
        }
        Some(verb.map(FormatPiece::Verb))
    }
}

#[cfg(test)]
mod tests;
