//! `format` and `formatlist`: a text with values in the places of verbs such as `%s` and `%5.2f`.

mod numbers;
mod verb;

use verb::{Piece, Pieces, Verb};

use super::arguments::{answer, text};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::json::encode_plain;
use crate::dialect::hcl::values::refine::safe_prefix;
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known, number_of};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::bignum::Layout;
use crate::stdlib::clusters;
use crate::value::{Refinement, Type, Value};

positional! {
    /// Texts made of values.
    pub(super) static FORMATS:
    "format" (format: String, ... args: Any [null unknown dynamic]) -> String = format,
        "A text with values in the places of its verbs: %v %t %b %d %o %x %X %e %f %g %s %q."
        ["format(\"Hello, %s!\", \"you\")" => "\"Hello, you!\"", "format(\"%05.1f|%-4d|\", 3.14159, 7)" => "\"003.1|7   |\""];
    "formatlist" (format: String, ... args: Any [null unknown dynamic]) -> (list String) = format_list,
        "A text for each element of the lists among the arguments."
        ["formatlist(\"%s-%d\", [\"a\", \"b\"], 1)" => "[\"a-1\", \"b-1\"]"];
}

fn format<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (format, values) = (text(args, 0)?, args.get(1..).unwrap_or(&[]));
    for value in values {
        if !is_wholly_known(cx, *value)? {
            let prefix = safe_prefix(format.split_once('%').map_or("", |(before, _)| before));
            cx.charge(prefix.len())?;
            let prefix = cx.arena().copy_str(&prefix);
            return Ok(cx.arena().refined(Type::String, Refinement { prefix, ..Refinement::NOT_NULL }));
        }
    }
    answer(cx, &formatted(cx, format, values)?)
}

/// What an argument is in each turn.
enum Given<'v> {
    Each(&'v [Value<'v>]),
    Same(Value<'v>),
}

fn format_list<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (format, values) = (text(args, 0)?, args.get(1..).unwrap_or(&[]));
    let Some((given, turns)) = turns(cx, values)? else {
        return Ok(cx.arena().unknown(Type::List(&Type::String)));
    };
    let mut texts = Vec::new();
    for turn in 0..turns {
        let of_turn: Vec<_> = given.iter().filter_map(|given| given.at(turn)).collect();
        texts.push(one_of_list(cx, format, &of_turn, turn)?);
    }
    Ok(cx.arena().typed(Type::List(&Type::String), cx.list(&texts)?))
}

fn one_of_list<'v>(cx: &Cx<'v>, format: &str, values: &[Value<'v>], turn: usize) -> Outcome<Value<'v>> {
    for value in values {
        if !is_wholly_known(cx, *value)? {
            return Ok(cx.arena().refined(Type::String, Refinement::NOT_NULL));
        }
    }
    let text = formatted(cx, format, values).map_err(|fault| match fault {
        Fault::Wrong(wrong) => Fault::wrong(format!("text {turn}: {}", wrong.message)),
        limit => limit,
    })?;
    answer(cx, &text)
}

impl<'v> Given<'v> {
    fn at(&self, turn: usize) -> Option<Value<'v>> {
        match self {
            Self::Each(items) => items.get(turn).copied(),
            Self::Same(value) => Some(*value),
        }
    }
}

/// The arguments and the number of turns; nothing where that is not known yet.
fn turns<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Option<(Vec<Given<'v>>, usize)>> {
    let (mut given, mut known) = (Vec::new(), true);
    let mut length: Option<(usize, usize)> = None;
    for (at, value) in values.iter().enumerate() {
        let Some(len) = length_of(cx, *value, &mut known)? else {
            given.push(Given::Same(*value));
            continue;
        };
        let (first, wanted) = *length.get_or_insert((at, len));
        if len != wanted {
            let why = format!("argument {} has {len} elements, but argument {} has {wanted}", at + 1, first + 1);
            return Err(Fault::argument(at + 1, why));
        }
        given.push(Given::Each(value.elements().unwrap_or(&[])));
    }
    Ok(known.then_some((given, length.map_or(1, |(_, len)| len))))
}

/// How many elements a list, set or tuple has; what nothing is known of makes `known` false.
fn length_of<'v>(cx: &Cx<'v>, value: Value<'v>, known: &mut bool) -> Outcome<Option<usize>> {
    if let Some(unknown) = value.as_unknown() {
        let is_list = matches!(unknown.ty, Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic);
        *known &= !is_list;
        return Ok(if let Type::Tuple(types) = unknown.ty { Some(types.len()) } else { None });
    }
    let Some(elements) = value.elements() else { return Ok(None) };
    let is_set = matches!(value.extended(), Some(crate::value::Extended::Typed(Type::Set(_), _)));
    if is_set && elements.len() > 1 && !is_wholly_known(cx, value)? {
        *known = false;
        return Ok(None);
    }
    Ok(Some(elements.len()))
}

/// `format` with `values` in the places of its verbs.
fn formatted<'v>(cx: &Cx<'v>, format: &str, values: &[Value<'v>]) -> Outcome<String> {
    let (mut out, mut used, mut verbs) = (String::new(), 0, 0_usize);
    for piece in Pieces::of(format) {
        match piece.map_err(Fault::wrong)? {
            Piece::Text(text) => {
                cx.charge(text.len())?;
                out.push_str(text);
            }
            Piece::Verb(verb) => {
                verbs += 1;
                used = used.max(verb.argument);
                let value = values.get(verb.argument - 1).ok_or_else(|| {
                    let (raw, count) = (verb.raw, values.len());
                    Fault::wrong(format!("`{raw}` needs argument {}, but there are {count}", verb.argument))
                })?;
                let text = shown(cx, &verb, *value).map_err(|fault| in_verb(&verb, fault))?;
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

fn in_verb(verb: &Verb<'_>, fault: Fault) -> Fault {
    match fault {
        Fault::Wrong(wrong) => Fault::wrong(format!("`{}` at {}: {}", verb.raw, verb.offset, wrong.message)),
        limit => limit,
    }
}

/// A value as a verb shows it.
fn shown<'v>(cx: &Cx<'v>, verb: &Verb<'_>, value: Value<'v>) -> Outcome<String> {
    if value.is_null() && verb.mode != 'v' {
        return Err(Fault::wrong("null cannot be formatted"));
    }
    match verb.mode {
        'v' => as_is(cx, verb, value),
        't' => {
            Ok(if matches!(convert(cx, value, &Type::Bool)?, Value::Bool(true)) { "true" } else { "false" }.to_owned())
        }
        'b' | 'd' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G' => {
            let number = convert(cx, value, &Type::Number)?;
            let number = number_of(number).ok_or_else(|| Fault::wrong("a number is required"))?;
            numbers::shown(cx, verb, &number)
        }
        's' | 'q' => {
            let value = convert(cx, value, &Type::String)?;
            let text = first_characters(value.as_str().unwrap_or(""), verb.precision);
            if verb.mode == 's' { padded(cx, verb, text) } else { padded(cx, verb, &encode_plain(cx, cx.text(text)?)?) }
        }
        mode => Err(Fault::wrong(format!("there is no verb `{mode}`"))),
    }
}

/// As the value is: texts and numbers plain, all else as JSON.
fn as_is<'v>(cx: &Cx<'v>, verb: &Verb<'_>, value: Value<'v>) -> Outcome<String> {
    if !verb.sharp && !value.is_null() {
        if let Some(text) = value.as_str() {
            return padded(cx, verb, text);
        }
        if let Some(number) = number_of(value) {
            cx.spend(number.digit_steps())?;
            return padded(cx, verb, &number.format(Layout::General, None));
        }
    }
    let json = encode_plain(cx, value)?;
    padded(cx, verb, &json)
}

/// The first so many characters, where a number is given and not 0.
fn first_characters(text: &str, count: Option<usize>) -> &str {
    let count = count.filter(|count| *count > 0);
    let end = count.and_then(|count| clusters::indices(text).nth(count));
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// A text made as wide as the verb says, in characters.
fn padded(cx: &Cx<'_>, verb: &Verb<'_>, text: &str) -> Outcome<String> {
    let Some(width) = verb.width else { return Ok(text.to_owned()) };
    cx.spend(text.len() as u64 / 8)?;
    let missing = width.saturating_sub(clusters::count(text));
    cx.charge(missing)?;
    let filling = if verb.zero { "0" } else { " " }.repeat(missing);
    Ok(if verb.minus { format!("{text}{filling}") } else { format!("{filling}{text}") })
}

#[cfg(test)]
mod tests;
