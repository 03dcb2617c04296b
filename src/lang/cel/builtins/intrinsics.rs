//! Intrinsics: operations besides operators and functions. Lowering calls them; sources cannot name them.

use crate::values::compare::equal;
use crate::values::written::declared;
use crate::values::{access, as_optional, bad_argument, convert, in_document, noted_since, type_name, undefined_input};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, joined};
use dropforge_base::stdlib::paths;
use dropforge_machine::function::{Cx, Noted, excerpt};
use dropforge_machine::functions;
use dropforge_schema::{Schema, Violation};
use dropforge_value::{Extended, Value};

functions! {
    /// The intrinsics of expressions.
    pub static EXPRESSIONS:
    intrinsic "uint" (bits: Int) = i64::cast_unsigned, "The unsigned integer of a literal." [];
    intrinsic "bytes" (base64: Str) = bytes, "The bytes of a literal." [];
    intrinsic "type" (name: Str) = type_of_name, "A type by its name." [];
    intrinsic "has" (value: Any, field: Str) = access::has, "Returns `true` if a value has a field." [];
    intrinsic "select optional" (value: Any, field: Str) = access::select_optional, "An optional of a field." [];
    intrinsic "index optional" (value: Any, index: Any) = access::index_optional, "An optional of an element." [];
    intrinsic "held field" (value: Any, field: Str) = access::held_field, "The value that an optional of a field holds; undefined for a missing one." [];
    intrinsic "held element" (value: Any, index: Any) = access::held_element, "The value that an optional of an element holds; undefined for a missing one." [];
    intrinsic "held" (value: Any) = held, "The value of an optional; undefined for an empty one, or another value." [];
    intrinsic "empty" (value: Any) = is_empty, "Returns `true` for an empty optional." [];
    intrinsic "list" (elements: List) = list, "A list of elements, each after a boolean: `true` for an optional element." [];
    intrinsic "map" (entries: List) = map, "A map of entries: `true` for an optional entry, key, value." [];
    intrinsic "map of pairs" (pairs: List) = map_of_pairs, "A map of alternating keys and values." [];
    intrinsic "map of maps" (maps: List, from: Int) = map_of_maps, "A map with the entries of several maps, unless an error was noted since `from`." [];
    intrinsic "schema" (text: Str, values: List) = schema, "Checks inputs with their schemas. Returns them with declared numbers." [];
    intrinsic "settled" (answer: Any, from: Int) = settled, "A value, unless an error was noted since `from`." [];
    intrinsic "known" (keys: List, unknown: List) = known, "Fails if the keys are those of an unknown attribute, or one is undefined." [];
    intrinsic "decided" (answer: Any, from: Int) = decided, "A value that makes the errors noted since `from` irrelevant." [];
}

fn bytes<'v>(cx: &Cx<'v>, base64: &'v str) -> Result<Value<'v>> {
    let decoded = dropforge_base::stdlib::encodings::octets_of_base64(base64).ok_or_else(|| cx.arity())?;
    cx.charge(decoded.len())?;
    cx.extended(Extended::Bytes(cx.arena().bump().alloc_slice_copy(&decoded)))
}

fn type_of_name<'v>(cx: &Cx<'v>, name: &'v str) -> Result<Value<'v>> {
    cx.extended(Extended::Named(name))
}

fn held(value: Value<'_>) -> Value<'_> {
    as_optional(value).unwrap_or_default()
}

fn is_empty(value: Value<'_>) -> bool {
    as_optional(value).is_some_and(|held| held.is_undefined())
}

/// Returns the value of an element or entry: what it holds if it `is_optional`. Returns `None` for an empty optional.
fn element<'v>(is_optional: Value<'v>, value: Value<'v>) -> Result<Option<Value<'v>>> {
    match (is_optional, as_optional(value)) {
        (Value::Bool(true), Some(held)) => Ok(Some(held).filter(|held| !held.is_undefined())),
        (Value::Bool(true), None) => {
            Err(bad_argument("cannot initialize optional entry from a value that is not optional"))
        }
        _ => Ok(Some(value)),
    }
}

fn list<'v>(elements: &'v [Value<'v>]) -> Result<Vec<Value<'v>>> {
    let elements = elements.as_chunks::<2>().0.iter();
    elements.filter_map(|&[is_optional, value]| element(is_optional, value).transpose()).collect()
}

fn map<'v>(cx: &Cx<'v>, entries: &'v [Value<'v>]) -> Result<Value<'v>> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for &[is_optional, key, value] in entries.as_chunks::<3>().0 {
        if let Some(value) = element(is_optional, value)? {
            keys.push(key);
            values.push(value);
        }
    }
    access::map(cx, &keys, &values)
}

fn map_of_pairs<'v>(cx: &Cx<'v>, pairs: &'v [Value<'v>]) -> Result<Value<'v>> {
    let (keys, values): (Vec<_>, Vec<_>) = pairs.as_chunks::<2>().0.iter().map(|[key, value]| (*key, *value)).unzip();
    access::map(cx, &keys, &values)
}

/// Joins the maps before the first undefined one, whose error was noted. An error of joining them comes first.
fn map_of_maps<'v>(cx: &Cx<'v>, all: &'v [Value<'v>], from: Value<'v>) -> Result<Value<'v>> {
    let noted = if cx.notes().count() == 0 { None } else { noted_since(cx, from) };
    let made = all.split(Value::is_undefined).next().unwrap_or_default();
    let joined =
        access::joined(cx, made)?.ok_or_else(|| bad_argument("an entry of transformMapEntry must be a map"))?;
    noted.map_or(Ok(joined), Err)
}

/// Checks inputs with their schemas. `text` is made by [`Schemas::text`](dropforge_schema::Schemas::text); `values` are the
/// inputs in its order, undefined for missing ones.
///
/// Each violation is an error at its part of the call, with the fields `pointer` (a JSON pointer), `keyword`, `limit` and
/// `value` (the last two as JSON). The compiled schemas are cached with the space.
fn schema<'v>(cx: &Cx<'v>, text: &'v str, values: &'v [Value<'v>]) -> Result<Value<'v>> {
    let violations = cx.schemas(text)?.validate(values, cx.limits().diagnostics, &mut |steps| cx.spend(steps))?;
    match joined(violations.into_iter().map(|violation| unfit(cx, violation))) {
        Some(error) => Err(error),
        None => with_declared_numbers(cx, text, values),
    }
}

/// Returns the list of valid inputs with the numbers that their schemas declare.
fn with_declared_numbers<'v>(cx: &Cx<'v>, text: &'v str, values: &'v [Value<'v>]) -> Result<Value<'v>> {
    let schemas = cx.schemas(text)?;
    let mut changed: Option<Vec<Value<'v>>> = None;
    for (at, ((_, schema), value)) in
        schemas.iter().zip(values).enumerate().filter(|(_, ((_, of), _))| of.has_numbers())
    {
        if let Some(new) = declared(cx, schema, Schema::ROOT, *value)?
            && let Some(slot) = changed.get_or_insert_with(|| values.to_vec()).get_mut(at)
        {
            *slot = new;
        }
    }
    match changed {
        Some(values) => cx.list(&values),
        None => {
            cx.charge(size_of::<Value>())?;
            Ok(cx.arena().borrowed_list(values))
        }
    }
}

/// Returns the error of an input that does not fit its schema.
#[cold]
fn unfit(cx: &Cx<'_>, violation: Violation) -> Box<Diagnostic> {
    let code = if violation.keyword == "type" { Code::InputType } else { Code::InputStructure };
    let message = format!("`{}` does not fit its `$schema`: {}", violation.path, violation.what());
    let mut error = cx.fault(code, message);
    error.part = u32::try_from(violation.nth).ok();
    let Violation { pointer, keyword, limit, value, help, .. } = violation;
    error.help = help;
    error.fields.extend([("pointer", pointer), ("keyword", keyword.to_owned()), ("limit", limit)]);
    error.fields.extend(value.map(|value| ("value", value)));
    error
}

fn settled<'v>(cx: &Cx<'v>, answer: Value<'v>, from: Value<'v>) -> Result<Value<'v>> {
    if cx.notes().count() == 0 {
        return Ok(answer);
    }
    noted_since(cx, from).map_or(Ok(answer), Err)
}

fn decided<'v>(cx: &Cx<'v>, answer: Value<'v>, from: Value<'v>) -> Value<'v> {
    if cx.notes().count() > 0 {
        let _ = noted_since(cx, from);
    }
    answer
}

fn known<'v>(cx: &Cx<'v>, keys: &'v [Value<'v>], unknown: &'v [Value<'v>]) -> Result<Value<'v>> {
    let failed = keys.iter().any(|key| matches!(key, Value::Undefined));
    for alternative in unknown {
        cx.spend(keys.len() as u64)?;
        let mut fits = true;
        for (key, wanted) in keys.iter().zip(alternative.as_list().unwrap_or(&[])) {
            fits = fits && (failed || matches!(wanted, Value::Null) || equal(cx, *key, *wanted)?);
        }
        if fits {
            return Err(Diagnostic::new(Code::UnknownAttribute, "the attribute is not known"));
        }
    }
    Ok(Value::Null)
}

functions! {
    /// The intrinsics of YAML templates.
    pub static DOCUMENTS:
    intrinsic "spelled" (number: Any, spelling: Str) = spelled, "A number with its spelling in a document." [];
    intrinsic "tagged" (value: Any, tag: Str) = tagged, "A value with a tag." [];
    intrinsic "entry of null" (value: Any) = entry_of_null, "A map with one entry, whose key is null." [];
    intrinsic "condition" (value: Any) = condition, "A boolean; fails for another value." [];
    intrinsic "assertion" (message: Any, values: List) = assertion, "Fails with the error of an assertion." [];
    intrinsic "path of file" (path: Any, folder: Str) = path_of_file, "The name of a file, relative to the root." [];
    intrinsic "no such file" (name: Str, names: List) = no_such_file, "Fails with the error of a missing file." [];
    intrinsic "missing inputs" (names: List, values: List) = missing_inputs, reads Notes, "Fails with the noted error, and those of missing inputs." [];
    intrinsic "one by one" (value: Any) = one_by_one, "The elements for a loop with one variable." [];
    intrinsic "in pairs" (value: Any) = in_pairs, "The entries for a loop with two variables." [];
}

fn spelled<'v>(cx: &Cx<'v>, number: Value<'v>, spelling: &'v str) -> Result<Value<'v>> {
    cx.charge(size_of::<Extended>())?;
    Ok(cx.arena().spelled(number, spelling))
}

fn tagged<'v>(cx: &Cx<'v>, value: Value<'v>, tag: &'v str) -> Result<Value<'v>> {
    let value = in_document(value);
    cx.charge(size_of::<Extended>())?;
    let at = u32::try_from(cx.at()).unwrap_or(u32::MAX);
    Ok(if value.is_undefined() { value } else { cx.arena().tagged(value, tag, at) })
}

fn entry_of_null<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if value.is_undefined() {
        return Ok(value);
    }
    cx.entries(&[Value::Null], &[value])?.map_err(|_| cx.arity())
}

fn condition<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if let truth @ Value::Bool(_) = value.unwritten() {
        return Ok(truth);
    }
    let message = format!("a condition is a bool, true or false, and not of type '{}'", type_name(value));
    let error = cx.fault(Code::TypeMismatch, message);
    Err(error.with_help("compare it with something: no other value is true or false"))
}

/// Fails with `message`, and a note for each name and value of `values`, which alternate.
fn assertion<'v>(cx: &Cx<'v>, message: Value<'v>, values: &'v [Value<'v>]) -> Result<Value<'v>> {
    let text = match convert::plain(message)? {
        Some(text) => text.into_owned(),
        None => excerpt(message),
    };
    let mut error = cx.fault(Code::Assertion, format!("assertion failed: {text}"));
    let named = values.as_chunks::<2>().0.iter().filter(|[_, value]| !value.is_undefined());
    error.notes =
        named.map(|[name, value]| format!("`{}` is {}", name.as_str().unwrap_or(""), excerpt(*value))).collect();
    Err(error)
}

fn one_by_one<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if access::is_map(value.unwritten()) {
        let message = "`$for` over a map has two variables, the key and the value";
        return Err(cx.fault(Code::NotIterable, message).with_help("write `key, value in …`"));
    }
    in_pairs(cx, value)
}

fn in_pairs<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let value = value.unwritten();
    if matches!(value, Value::List(_)) || access::is_map(value) { Ok(value) } else { Err(not_iterable(cx, value)) }
}

#[cold]
fn not_iterable(cx: &Cx<'_>, value: Value<'_>) -> Box<Diagnostic> {
    let message = format!("`$for` goes over a list or a map, not over a value of type '{}'", type_name(value));
    let help = match value {
        Value::Null => "for none where it is null: `x == null ? [] : x`",
        Value::Int(_) | Value::Uint(_) => "for a number of iterations: `lists.range(n)`",
        Value::Str(_) => "for the parts of a text: `x.split(',')`",
        _ if as_optional(value).is_some() => "for none where it is not there: `x.orValue([])`",
        _ => return cx.fault(Code::NotIterable, message),
    };
    cx.fault(Code::NotIterable, message).with_help(help)
}

fn path_of_file<'v>(cx: &Cx<'v>, path: Value<'v>, folder: &'v str) -> Result<Value<'v>> {
    let Some(path) = in_document(path).unwritten().as_str() else {
        let message = format!("the path of `$include` is text, and not of type '{}'", type_name(path));
        return Err(cx.fault(Code::TypeMismatch, message));
    };
    match paths::within(folder, path) {
        Some(name) => cx.text(&name),
        None => {
            let message = format!("`{path}` leads out of the include root");
            Err(cx.fault(Code::OutsideRoot, message).with_help("paths are relative to the file they stand in"))
        }
    }
}

fn no_such_file<'v>(cx: &Cx<'v>, name: &'v str, names: &'v [Value<'v>]) -> Result<Value<'v>> {
    let names = || names.iter().filter_map(Value::as_str);
    let error = cx.fault(Code::UnknownTemplate, format!("template `{name}` not found"));
    Err(error.with_suggestion(name, names()).with_available(names()))
}

/// Fails with the last error that was noted. If an input of `names` (each followed by a path) was missing, the errors of the
/// others whose `values` are undefined follow.
fn missing_inputs<'v>(cx: &Cx<'v>, names: &'v [Value<'v>], values: &'v [Value<'v>]) -> Result<Value<'v>> {
    let errors = cx.notes().take(0).into_iter().filter_map(|note| match note.what {
        Noted::Error(error, _) => Some(error),
        Noted::Unanswered | Noted::Marks(_) => None,
    });
    let Some(mut error) = errors.last() else { return Ok(Value::Null) };
    let missing =
        names.as_chunks::<2>().0.iter().zip(values).enumerate().filter(|(_, (_, value))| value.is_undefined());
    let others = missing.filter_map(|(at, ([name, path], _))| {
        let mut other = undefined_input(cx, name.as_str()?).with_field("path", path.as_str()?);
        other.part = u32::try_from(at).ok();
        Some(other)
    });
    let (same, others): (Vec<_>, Vec<_>) = others.partition(|other| other.message == error.message);
    if !same.is_empty() && error.code == Code::UndefinedVariable {
        error.also.extend(others);
    }
    Err(error)
}

functions! {
    /// The intrinsic of included text.
    pub static INCLUDED_YAML:
    intrinsic "yaml" (text: Str, name: Str) = yaml, "The YAML document in the text that the template `name` rendered." [];
}

/// The bytes that parsing charges for each byte of text, in addition to the value.
const NODES: usize = 8;

fn yaml<'v>(cx: &Cx<'v>, text: &'v str, name: &'v str) -> Result<Value<'v>> {
    cx.charge(text.len().saturating_mul(NODES))?;
    let source = dropforge_base::text::Source::new(format!("{name} (rendered)"), text);
    let document =
        read::document(&source, cx.limits()).map_err(|error| error.with_note(format!("it is what `{name}` gave")))?;
    document.map_or(Ok(Value::Null), |node| read::value(cx, &node))
}

mod read {
    use std::sync::Arc;

    use crate::values::access;
    use dropforge_base::diagnostics::{Code, Diagnostic, Result};
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;
    use dropforge_machine::function::Cx;
    use dropforge_value::Value;
    use dropforge_value::yaml::{Entry, Kind, Node, Tags, read_with};

    /// Parses the only document of a source. Empty documents do not count.
    pub(super) fn document(source: &Arc<Source>, limits: &Limits) -> Result<Option<Node>> {
        let documents = read_with(source, limits, Tags::Kept).map_err(|errors| {
            let mut errors = errors.into_iter();
            let first = errors.next().unwrap_or_else(|| Diagnostic::new(Code::InputSyntax, "this is not YAML"));
            Box::new(Diagnostic { also: errors.collect(), ..*first })
        })?;
        let something = |node: &Node| !matches!(node.kind, Kind::Null) || !node.span.range().is_empty();
        let mut documents = documents.into_iter().filter(something);
        let first = documents.next();
        match documents.next() {
            None => Ok(first),
            Some(second) => Err(Diagnostic::new(
                Code::InputSyntax,
                "what is included is one document, and this is more",
            )
            .at(source, second.span, "the second begins here")),
        }
    }

    /// Converts a node to a value, which keeps the tag.
    pub(super) fn value<'v>(cx: &Cx<'v>, node: &Node) -> Result<Value<'v>> {
        let value = match &node.kind {
            Kind::Str => cx.text(&node.text)?,
            Kind::List(items) => {
                let items = items.iter().map(|item| value(cx, item)).collect::<Result<Vec<_>>>()?;
                cx.list(&items)?
            }
            Kind::Map(entries) => map(cx, entries)?,
            scalar => plain(scalar),
        };
        let Some(tag) = node.tag.as_ref().filter(|_| !node.is_marked_text()) else { return Ok(value) };
        cx.charge(tag.len() + 2 * size_of::<Value>())?;
        let at = u32::try_from(cx.at()).unwrap_or(u32::MAX);
        Ok(cx.arena().tagged(value, cx.arena().copy_str(tag), at))
    }

    fn plain<'v>(kind: &Kind) -> Value<'v> {
        match kind {
            Kind::Bool(truth) => Value::Bool(*truth),
            Kind::Int(n) => Value::Int(*n),
            Kind::Uint(n) => Value::Uint(*n),
            Kind::Float(n) => Value::Float(*n),
            _ => Value::Null,
        }
    }

    fn map<'v>(cx: &Cx<'v>, entries: &[Entry]) -> Result<Value<'v>> {
        let (mut keys, mut values) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        for Entry { name, key, value: node } in entries {
            keys.push(match &key.kind {
                kind @ (Kind::Bool(_) | Kind::Int(_) | Kind::Uint(_)) => plain(kind),
                // The language has no such keys.
                _ => cx.text(name)?,
            });
            values.push(value(cx, node)?);
        }
        access::map(cx, &keys, &values)
    }
}
