//! Functions that convert to a type or from and to JSON and CSV, functions that pick one of several values, `try` and
//! `can`.

use super::{string, type_name};
use crate::values::json::{decode_implied, encode_plain};
use crate::values::types::has_optional;
use crate::values::{
    constraint_name, conversion_exists, convert, is_wholly_known, mismatch, same_type, shallow_type, type_of, types_of,
    unified_type,
};
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Arguments, Cx, Fault, FromArgument, Note, Noted, Outcome, Rest, fitting};
use dropforge_machine::functions;
use dropforge_value::{Attribute, Refinement, Type, Value};

functions! {
    /// Conversions and `coalesce` of OpenTofu.
    pub(super) static OPENTOFU_CONVERSIONS:
    "tostring" (v: Any [null dynamic marked]) -> {type_to(Type::String)} or null = value_to(Type::String),
        "Converts a value to a string." ["tostring(1.5)" => "\"1.5\"", "tostring(true)" => "\"true\""];
    "tonumber" (v: Any [null dynamic marked]) -> {type_to(Type::Number)} or null = value_to(Type::Number),
        "Converts a value to a number." ["tonumber(\"1.50\")" => "1.5"];
    "tobool" (v: Any [null dynamic marked]) -> {type_to(Type::Bool)} or null = value_to(Type::Bool),
        "Converts a value to a boolean." ["tobool(\"true\")" => "true"];
    "tolist" (v: Any [null dynamic marked]) -> {type_to(Type::List(&Type::Dynamic))} or null
        = value_to(Type::List(&Type::Dynamic)),
        "Converts a tuple or set to a list with one element type." ["tolist([1, \"a\"])" => "[\"1\", \"a\"]"];
    "toset" (v: Any [null dynamic marked]) -> {type_to(Type::Set(&Type::Dynamic))} or null
        = value_to(Type::Set(&Type::Dynamic)),
        "Converts a tuple or list to a set, which drops duplicates." ["toset([\"b\", \"a\", \"b\"])" => "[\"a\", \"b\"]"];
    "tomap" (v: Any [null dynamic marked]) -> {type_to(Type::Map(&Type::Dynamic))} or null
        = value_to(Type::Map(&Type::Dynamic)),
        "Converts an object to a map with one element type." ["tomap({a = 1, b = \"c\"})" => "{a = \"1\", b = \"c\"}"];
    "coalesce" (... vals: Any [null unknown dynamic]) -> Any = coalesce_text,
        "Returns the first value that is neither null nor the empty string." ["coalesce(\"\", null, \"a\")" => "\"a\""];
}

functions! {
    /// `assertnotnull` and `coalesce` of the standard library.
    pub(super) static STANDARD_CONVERSIONS:
    "assertnotnull" (v: Any) -> {type_of} = itself,
        "Returns the value, which must not be null." ["assertnotnull(1)" => "1"];
    "coalesce" (... vals: Any [null unknown dynamic]) -> Any = coalesce,
        "Returns the first value that is not null." ["coalesce(null, \"\")" => "\"\""];
}

/// Returns `wanted` if a conversion from the type of `value` exists.
/// Returns a function for the type of the result of [`value_to`].
fn type_to<'v>(wanted: Type<'v>) -> impl Fn(&Cx<'v>, Value<'v>) -> Outcome<Type<'v>> {
    move |cx, value| {
        let from = type_of(cx, value)?;
        if same_type(cx, &from, &wanted)? || conversion_exists(cx, &from, &wanted, true)? {
            return Ok(wanted);
        }
        Err(Fault::argument(0, mismatch(cx, &from, &wanted)?))
    }
}

/// Returns a body that converts a value to a type.
fn value_to<'v>(wanted: Type<'v>) -> impl Fn(&Cx<'v>, Value<'v>) -> Outcome<Value<'v>> {
    move |cx, value| fitting(convert(cx, value, &wanted))?.map_or_else(|| Err(unconvertible(cx, value, &wanted)?), Ok)
}

/// Explains why `value` does not convert, without revealing a marked value.
fn unconvertible<'v>(cx: &Cx<'v>, value: Value<'v>, wanted: &Type<'v>) -> Outcome<Fault> {
    let hint = match (shallow_type(cx, value), wanted) {
        (Type::String, Type::Bool) => "; only \"true\" and \"false\" are allowed",
        (Type::String, Type::Number) => "; expected the decimal digits of a number",
        _ => "",
    };
    let what = match value.as_str() {
        Some(text) if text.len() <= 64 => format!("{text:?}"),
        _ => format!("this {}", type_name(cx, value)?),
    };
    Ok(Fault::argument(0, format!("cannot convert {what} to {}{hint}", constraint_name(wanted))))
}

fn coalesce_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let common = unified_type(cx, &types_of(cx, args)?, true)?;
    common.ok_or_else(|| Fault::wrong("the arguments have no common type"))
}

fn coalesce<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let ty = coalesce_type(cx, args)?;
    match args.iter().find(|arg| !arg.is_null()) {
        Some(arg) if !arg.is_known() => Ok(cx.arena().unknown(ty)),
        Some(arg) => convert(cx, *arg, &ty),
        None => Err(Fault::wrong("all arguments are null")),
    }
}

fn coalesce_text<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let ty = coalesce_type(cx, args)?;
    for arg in args {
        // Like the reference, skips a value that does not convert.
        let Some(value) = fitting(convert(cx, *arg, &ty))? else { continue };
        if !value.is_known() {
            return Ok(cx.arena().unknown(ty));
        }
        if !value.is_null() && value.as_str() != Some("") {
            return Ok(value);
        }
    }
    Err(Fault::wrong("all arguments are null or empty strings"))
}

fn itself<'v>(_: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    Ok(value)
}

functions! {
    /// Functions of expressions that can fail, and conversion to any type.
    pub(super) static ATTEMPTS:
    "try" (... expressions: Any [null unknown dynamic marked errors]) -> Any or null = first_that_succeeds,
        "Returns the value of the first expression without an error." ["try({}.baz, \"fallback\")" => "\"fallback\""];
    "can" (expression: Any [null unknown dynamic marked errors]) -> Bool or null = succeeds,
        "Returns `true` if the expression has no error." ["can({}.baz)" => "false"];
    "convert" (value: Any [null dynamic], type: Any [constraint]) -> {converted_type} or null = converted,
        "Converts a value to a type, which is written as in a declaration." ["convert(\"1\", number)" => "1"];
}

/// The value of an expression and what its evaluation noted.
struct Attempt<'v> {
    value: Value<'v>,
    notes: Vec<Note<'v>>,
}

impl<'v> Attempt<'v> {
    /// Takes the notes of the last argument off the run. `before` is the number of notes before its evaluation.
    fn of(cx: &Cx<'v>, before: Value<'v>, value: Value<'v>) -> Outcome<Self> {
        let Value::Int(before) = before else { return Err(cx.arity().into()) };
        let before = usize::try_from(before).map_err(|_| cx.arity())?;
        Ok(Self { value, notes: cx.notes().take(before) })
    }

    fn failed(&self) -> bool {
        self.notes.iter().any(|note| matches!(note.what, Noted::Error(..)))
    }
}

impl<'v> FromArgument<'_, 'v> for Attempt<'v> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let (before, value) = (arguments.value()?, arguments.value()?);
        Self::of(arguments.cx(), before, value)
    }
}

fn first_that_succeeds<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let last_first = args.as_chunks::<2>().0.iter().rev();
    let attempts = last_first.map(|[before, value]| Attempt::of(cx, *before, *value)).collect::<Outcome<Vec<_>>>()?;
    if let Some(Attempt { value, .. }) = attempts.iter().rev().find(|attempt| !attempt.failed()) {
        // An unknown value may still fail, or turn out to have another type.
        return Ok(if is_wholly_known(cx, *value)? { *value } else { cx.arena().unknown(Type::Dynamic) });
    }
    if attempts.is_empty() {
        return Err(Fault::wrong("at least one argument is required"));
    }
    let mut why = String::from("no expression succeeds");
    for note in attempts.iter().rev().flat_map(|attempt| &attempt.notes) {
        let Noted::Error(error, _) = &note.what else { continue };
        let detail = error.detail.as_ref().or(error.help.as_ref());
        let parts = [Some(("; ", &error.message)), detail.map(|detail| (": ", detail))];
        for (before, part) in parts.into_iter().flatten() {
            cx.charge(before.len() + part.len())?;
            why.push_str(before);
            why.push_str(part);
        }
    }
    Err(Fault::wrong(why))
}

fn succeeds<'v>(cx: &Cx<'v>, attempt: Attempt<'v>) -> Outcome<Value<'v>> {
    Ok(match () {
        () if attempt.failed() => Value::Bool(false),
        () if is_wholly_known(cx, attempt.value)? => Value::Bool(true),
        () => cx.arena().unknown(Type::Bool),
    })
}

fn converted_type<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Type<'v>) -> Outcome<Type<'v>> {
    type_of(cx, converted(cx, value, ty)?)
}

/// Converts a value. Like the reference, converts it again to the type of the result, in which every attribute is
/// required: so a missing one is an error even if it is optional.
fn converted<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Type<'v>) -> Outcome<Value<'v>> {
    let converted = convert(cx, value, &ty).and_then(|converted| match has_optional(&ty) {
        true => convert(cx, value, &type_of(cx, converted)?),
        false => Ok(converted),
    });
    converted.map_err(|fault| fault.of_argument(0))
}

functions! {
    /// Functions that encode and decode documents.
    pub(super) static DOCUMENTS:
    "jsonencode" (val: Any [null unknown dynamic]) -> String = encode_json, "Encodes a value as JSON."
        ["jsonencode({a = [1, true]})" => "\"{\\\"a\\\":[1,true]}\""];
    "jsondecode" (str: String) -> {json_type} or null = decode_implied, "Decodes JSON."
        ["jsondecode(\"{\\\"a\\\":[1,true]}\")" => "{a = [1, true]}"];
    "csvdecode" (str: String) -> Any = decode_csv,
        "Decodes comma-separated values to a list of objects. The first line has the attribute names."
        ["csvdecode(\"a,b\\n1,2\\n\")" => "[{a = \"1\", b = \"2\"}]"];
}

fn encode_json<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if !is_wholly_known(cx, value)? {
        let prefix = json_prefix(cx, value)?;
        return Ok(cx.arena().refined(Type::String, Refinement { prefix, ..Refinement::NOT_NULL }));
    }
    string(cx, &encode_plain(cx, value)?)
}

/// Returns the first character of the JSON text of a value that is not wholly known, if its type determines it.
fn json_prefix<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<&'static str> {
    if value.as_unknown().is_some_and(|unknown| !unknown.refinement.not_null) {
        return Ok("");
    }
    Ok(match type_of(cx, value)? {
        Type::String => "\"",
        Type::Object(_) | Type::Map(_) => "{",
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => "[",
        _ => "",
    })
}

/// Returns the type of a JSON text of which at most the beginning is known.
fn json_type<'v>(_: &Cx<'v>, text: Value<'v>) -> Outcome<Type<'v>> {
    let Some(unknown) = text.as_unknown() else { return Ok(Type::Dynamic) };
    Ok(match unknown.refinement.prefix.trim_start_matches([' ', '\t', '\r', '\n']).chars().next() {
        Some('"') => Type::String,
        Some('t' | 'f') => Type::Bool,
        Some('-' | '.' | '0'..='9') => Type::Number,
        None | Some('{' | '[' | 'n') => Type::Dynamic,
        Some(c) => return Err(Fault::argument(0, format!("a JSON text cannot start with `{c}`"))),
    })
}

/// The memory of a field of a record, in a list that doubles when it grows, besides its text.
const FIELD: usize = 4 * size_of::<String>();

fn decode_csv<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    let fields = text.bytes().filter(|byte| matches!(byte, b',' | b'\n')).count() + 1;
    let _records = cx.hold(text.len().saturating_mul(2).saturating_add(fields.saturating_mul(FIELD)))?;
    let records = records(text, &mut || Ok(cx.spend(1)?))?;
    let Some((header, rows)) = records.split_first() else {
        return Err(Fault::wrong("the header line is missing"));
    };
    cx.charge(header.len() * size_of::<Attribute>())?;
    let names: Vec<&'v str> = header.iter().map(|name| cx.arena().copy_str(&nfc(name))).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if let Some((twice, _)) = sorted.iter().zip(sorted.iter().skip(1)).find(|(a, b)| a == b) {
        return Err(Fault::wrong(format!("two columns are named `{twice}`")));
    }
    let object = |row: &Vec<String>| -> Outcome<Value<'v>> {
        let entries = names.iter().zip(row).map(|(name, field)| Ok((*name, string(cx, field)?)));
        Ok(cx.map(&entries.collect::<Outcome<Vec<_>>>()?)?)
    };
    let rows = cx.list(&rows.iter().map(object).collect::<Outcome<Vec<_>>>()?)?;
    let attributes = sorted.into_iter().map(|name| Attribute { name, ty: Type::String, optional: false });
    let ty = cx.arena().list_type(cx.arena().object_type(&attributes.collect::<Vec<_>>()));
    Ok(cx.arena().typed(ty, rows))
}

// This is our own parser because the crate `csv` accepts stray quotes, which the reference refuses.

/// Parses records, and asks before each line. Empty lines are skipped; all records must have as many fields as the first. A
/// quoted field may contain commas, line breaks, and doubled quotes.
///
/// # Errors
/// A message with the line number, or the error of `ask`.
pub fn records(text: &str, ask: &mut dyn FnMut() -> Outcome<()>) -> Outcome<Vec<Vec<String>>> {
    let mut records: Vec<Vec<String>> = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        ask()?;
        if let Some(behind) = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")) {
            (rest, line) = (behind, line + 1);
            continue;
        }
        let start = line;
        let mut record = Vec::new();
        loop {
            let (field, end) = field(&mut rest, &mut line).map_err(Fault::wrong)?;
            record.push(field);
            if end {
                break;
            }
        }
        if let Some(first) = records.first().filter(|first| first.len() != record.len()) {
            let (found, wanted) = (record.len(), first.len());
            return Err(Fault::wrong(format!("line {start} has {found} fields, not {wanted} as the first")));
        }
        records.push(record);
    }
    Ok(records)
}

/// Parses a field. Returns `true` if it is the last of its record.
fn field(rest: &mut &str, line: &mut usize) -> Result<(String, bool), String> {
    let Some(mut inside) = rest.strip_prefix('"') else { return plain(rest, line) };
    let (start, mut out) = (*line, String::new());
    loop {
        let (before, behind) =
            inside.split_once('"').ok_or_else(|| format!("the quotation mark in line {start} is not closed"))?;
        *line += before.matches('\n').count();
        out.push_str(&before.replace("\r\n", "\n"));
        let Some(more) = behind.strip_prefix('"') else {
            let end = after(behind, rest, line);
            return end
                .map(|end| (out, end))
                .ok_or_else(|| format!("something follows a quotation mark in line {line}"));
        };
        out.push('"');
        inside = more;
    }
}

fn plain(rest: &mut &str, line: &mut usize) -> Result<(String, bool), String> {
    let end = rest.find([',', '\n']).unwrap_or(rest.len());
    let (field, behind) = rest.split_at(end);
    let field = if behind.starts_with(',') { field } else { field.strip_suffix('\r').unwrap_or(field) };
    if field.contains('"') {
        return Err(format!("a quotation mark stands inside a field in line {line}"));
    }
    let end = after(behind, rest, line).unwrap_or(true);
    Ok((field.to_owned(), end))
}

/// Skips the end of a field. Returns `true` if the record ends, too, and `None` if something else follows.
fn after<'t>(behind: &'t str, rest: &mut &'t str, line: &mut usize) -> Option<bool> {
    if let Some(more) = behind.strip_prefix(',') {
        *rest = more;
        return Some(false);
    }
    if behind.is_empty() || behind == "\r" {
        *rest = "";
        return Some(true);
    }
    *rest = behind.strip_prefix('\n').or_else(|| behind.strip_prefix("\r\n"))?;
    *line += 1;
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::records;
    use super::*;
    use crate::builtins::tests::with_cx;
    use dropforge_base::diagnostics::Code;
    use dropforge_machine::function::Subject;
    use dropforge_value::{Capsule, CapsuleContent, Extended};

    /// Notes an error and returns the value of an expression that failed.
    fn fail<'v>(cx: &Cx<'v>) -> Value<'v> {
        cx.note_error(cx.fault(Code::UndefinedVariable, "nope"), Subject::Whole);
        cx.arena().faulty(Type::Dynamic)
    }

    fn before<'v>(cx: &Cx<'v>) -> Value<'v> {
        Value::uint(cx.notes().count() as u64)
    }

    fn read(text: &str) -> Outcome<Vec<Vec<String>>> {
        records(text, &mut || Ok(()))
    }

    #[test]
    fn the_first_argument_without_errors_is_the_answer_and_no_error_is_left() {
        with_cx(|cx| {
            fail(cx);
            let args = [before(cx), fail(cx), before(cx), Value::Int(2), before(cx), fail(cx)];
            assert!(matches!(first_that_succeeds(cx, Rest(&args)), Ok(Value::Int(2))));
            assert_eq!(cx.notes().count(), 1);
            let args = [before(cx), fail(cx), before(cx), fail(cx)];
            let Err(Fault::Wrong(wrong)) = first_that_succeeds(cx, Rest(&args)) else { panic!("all fail") };
            assert_eq!(wrong.message, "no expression succeeds; nope; nope");
            assert_eq!((wrong.argument, cx.notes().count()), (None, 1));
            let unknown = cx.arena().list(&[cx.arena().unknown(Type::Bool)]);
            let answer = first_that_succeeds(cx, Rest(&[before(cx), unknown, before(cx), Value::Int(2)])).unwrap();
            assert!(answer.as_unknown().is_some_and(|unknown| unknown.ty == Type::Dynamic && !unknown.faulty));
            assert!(first_that_succeeds(cx, Rest(&[])).is_err());
        });
    }

    fn can<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
        succeeds(cx, Attempt::take(&mut Arguments::new(cx, args))?)
    }

    #[test]
    fn can_says_whether_there_are_errors() {
        with_cx(|cx| {
            assert!(matches!(can(cx, &[before(cx), fail(cx)]), Ok(Value::Bool(false))));
            assert!(matches!(can(cx, &[before(cx), Value::Null]), Ok(Value::Bool(true))));
            let unknown = can(cx, &[before(cx), cx.arena().unknown(Type::String)]).unwrap();
            assert!(!unknown.is_known());
            assert_eq!(cx.notes().count(), 0);
        });
    }

    #[test]
    fn types_are_arguments_of_convert() {
        with_cx(|cx| {
            let content = CapsuleContent::Type(Type::Number);
            let number = cx.arena().extended(Extended::Capsule(Capsule { name: "type", id: 0, content }));
            let convert = |value, ty| converted(cx, value, Type::take(&mut Arguments::new(cx, &[ty]))?);
            assert!(matches!(convert(cx.arena().text("1"), number), Ok(Value::Int(1))));
            assert!(matches!(convert(cx.arena().text("a"), number), Err(Fault::Wrong(_))));
            assert!(matches!(convert(Value::Int(1), Value::Int(2)), Err(Fault::Wrong(_))));
        });
    }

    #[test]
    fn fields_with_and_without_quotation_marks() {
        let found = read("a,b\r\n\n\"x, \"\"y\"\"\r\nz\",\n,\"\"\n").unwrap();
        assert_eq!(found, [["a", "b"], ["x, \"y\"\nz", ""], ["", ""]]);
        assert_eq!(read("").unwrap(), Vec::<Vec<String>>::new());
        assert_eq!(read("a,").unwrap(), [["a", ""]]);
    }

    #[test]
    fn invalid_csv_is_refused() {
        for bad in ["a,b\n1", "a\"b", "\"a", "\"a\"b", "\"a\" ,b"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
