//! The encoding of `hcl` rows: values, types and diagnostics, decoded and compared.

use std::borrow::Cow;
use std::sync::LazyLock;

use dropforge::diagnostics::{Diagnostic, Severity};
use dropforge::dialect::hcl::builtins::{EPHEMERAL, SENSITIVE};
use dropforge::dialect::hcl::syntax::lexer::{lex_config, lex_template};
use dropforge::dialect::hcl::syntax::token::PositionIndex;
use dropforge::dialect::hcl::values::access::set_of;
use dropforge::dialect::hcl::values::json::Json;
use dropforge::function::{Caches, Capabilities, Cx};
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::{Arena, Attribute, BigNum, Capsule, CapsuleContent, Extended, Inputs, Refinement, Type, Value};

/// The result of a check, with the reason for a failure.
pub type Check<T = ()> = Result<T, String>;

/// One row as JSON. Numbers keep their spelling.
pub struct Row<'t>(pub Json<'t>);

impl<'t> Row<'t> {
    /// Returns a field. JSON null counts as missing.
    pub fn get(&self, name: &str) -> Option<&Json<'t>> {
        self.0.get(name).filter(|field| **field != Json::Null)
    }

    /// Returns a required field.
    pub fn field(&self, name: &str) -> Check<&Json<'t>> {
        self.0.get(name).ok_or_else(|| format!("the row has no `{name}`"))
    }

    /// Returns a required string field.
    pub fn text(&self, name: &str) -> Check<&str> {
        self.field(name)?.as_text().ok_or_else(|| format!("`{name}` is no text"))
    }

    /// Returns a boolean field, `false` if missing.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name) == Some(&Json::Bool(true))
    }

    /// Returns a list field, empty if missing.
    pub fn list(&self, name: &str) -> &[Json<'t>] {
        self.get(name).and_then(Json::as_list).unwrap_or(&[])
    }

    /// Returns an integer field, 0 if missing.
    pub fn number(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Json::Number(digits)) => digits.parse().unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns the source text: `input`, or its bytes if it is not UTF-8.
    pub fn input(&self) -> Check<Vec<u8>> {
        match self.get("input_b64").and_then(Json::as_text) {
            Some(coded) => base64(coded),
            None => bytes(self.field("input")?),
        }
    }

    /// Decodes a value field. Returns `None` if it is JSON null: no value.
    pub fn value<'v>(&self, arena: &'v Arena, name: &str) -> Check<Option<Value<'v>>> {
        match self.field(name)? {
            Json::Null => Ok(None),
            json => value(arena, json).map(Some),
        }
    }

    /// Decodes a type field.
    pub fn ty<'v>(&self, arena: &'v Arena, name: &str) -> Check<Type<'v>> {
        ty(arena, self.field(name)?)
    }
}

/// Runs `body` with a new arena and a context with full budgets.
pub fn with_cx<T>(body: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, limits, caches) = (Arena::new(), Limits::default(), Caches::default());
    body(&Cx::new(&arena, Inputs::default(), &limits, Capabilities::ALL, &caches))
}

/// Decodes a type: `T`, or `{"cty_type": T}`.
pub fn ty<'v>(arena: &'v Arena, json: &Json<'_>) -> Check<Type<'v>> {
    let json = json.get("cty_type").unwrap_or(json);
    if let Some(name) = json.as_text() {
        return match name {
            "string" => Ok(Type::String),
            "number" => Ok(Type::Number),
            "bool" => Ok(Type::Bool),
            "dynamic" => Ok(Type::Dynamic),
            _ => Err(format!("no type: {name}")),
        };
    }
    let Some([Json::Text(kind), of, rest @ ..]) = json.as_list() else { return Err(format!("no type: {json:?}")) };
    Ok(match (kind.as_ref(), of) {
        ("list", element) => arena.list_type(ty(arena, element)?),
        ("set", element) => arena.set_type(ty(arena, element)?),
        ("map", element) => arena.map_type(ty(arena, element)?),
        ("tuple", Json::List(elements)) => {
            arena.tuple_type(&elements.iter().map(|element| ty(arena, element)).collect::<Check<Vec<_>>>()?)
        }
        ("object", Json::Object(attributes)) => object_type(arena, attributes, rest)?,
        ("capsule", Json::Text(name)) => Type::Capsule(arena.copy_str(name)),
        _ => return Err(format!("no type: {json:?}")),
    })
}

fn object_type<'v>(arena: &'v Arena, attributes: &[(Cow<'_, str>, Json<'_>)], rest: &[Json<'_>]) -> Check<Type<'v>> {
    let optional = rest.first().and_then(Json::as_list).unwrap_or(&[]);
    let attribute = |(name, of): &(Cow<'_, str>, Json<'_>)| {
        let optional = optional.iter().any(|optional| optional.as_text() == Some(name));
        Ok(Attribute { name: arena.copy_str(name), ty: ty(arena, of)?, optional })
    };
    Ok(arena.object_type(&attributes.iter().map(attribute).collect::<Check<Vec<_>>>()?))
}

/// Decodes a value: `<V>` in the rows.
pub fn value<'v>(arena: &'v Arena, json: &Json<'_>) -> Check<Value<'v>> {
    let of = ty(arena, json.get("type").ok_or_else(|| format!("a value without a type: {json:?}"))?)?;
    let marks: Vec<&str> = match json.get("marks").and_then(Json::as_list) {
        Some(marks) => marks.iter().filter_map(Json::as_text).map(|mark| arena.copy_str(own_mark(mark))).collect(),
        None => Vec::new(),
    };
    Ok(arena.marked(unmarked(arena, of, json)?, &marks))
}

/// Returns our name of a mark, which differs for OpenTofu's.
fn own_mark(mark: &str) -> &str {
    match mark {
        "marks.Sensitive" => SENSITIVE,
        "marks.Ephemeral" => EPHEMERAL,
        mark => mark,
    }
}

fn unmarked<'v>(arena: &'v Arena, of: Type<'v>, json: &Json<'_>) -> Check<Value<'v>> {
    if json.get("unknown").is_some() {
        let refinement = json.get("refinements").map_or(Ok(Refinement::NONE), |known| refinement(arena, known))?;
        return Ok(arena.refined(of, refinement));
    }
    if let Some(special) = json.get("special").and_then(Json::as_text) {
        return number(arena, special);
    }
    if let Some(capsule) = json.get("capsule") {
        return Ok(self::capsule(arena, of, capsule));
    }
    if let Some(elements) = json.get("elems").and_then(Json::as_list) {
        let elements = elements.iter().map(|element| value(arena, element)).collect::<Check<Vec<_>>>()?;
        return Ok(collected(arena, of, arena.list(&elements)));
    }
    if let Some(Json::Object(entries)) = json.get("entries") {
        let entry = |(key, of): &(Cow<'_, str>, Json<'_>)| Ok((arena.copy_str(key), value(arena, of)?));
        let entries = entries.iter().map(entry).collect::<Check<Vec<_>>>()?;
        return Ok(collected(arena, of, arena.map(&entries)));
    }
    known(arena, of, json.get("value").ok_or_else(|| format!("a value without a value: {json:?}"))?)
}

/// Decodes a capsule. Equal texts are the same capsule.
fn capsule<'v>(arena: &'v Arena, of: Type<'v>, json: &Json<'_>) -> Value<'v> {
    let name = if let Type::Capsule(name) = of { name } else { "" };
    let text = format!("{json:?}");
    let id = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    arena.extended(Extended::Capsule(Capsule { name, id, content: CapsuleContent::Opaque }))
}

/// Collects elements into their collection type. Tuples and objects stay as they are.
fn collected<'v>(arena: &'v Arena, of: Type<'v>, elements: Value<'v>) -> Value<'v> {
    if of.element().is_some() { arena.typed(of, elements) } else { elements }
}

/// Decodes a wholly known value of type `of`.
fn known<'v>(arena: &'v Arena, of: Type<'v>, json: &Json<'_>) -> Check<Value<'v>> {
    match (of, json) {
        (_, Json::Null) => Ok(arena.null(of)),
        (Type::Bool, Json::Bool(b)) => Ok(Value::Bool(*b)),
        (Type::Number, Json::Number(digits)) => number(arena, digits),
        (Type::String, Json::Text(text)) => Ok(arena.text(text)),
        (Type::Dynamic, _) => {
            let inner = ty(arena, json.get("type").ok_or("a dynamic value without its type")?)?;
            known(arena, inner, json.get("value").ok_or("a dynamic value without its value")?)
        }
        (Type::List(element) | Type::Set(element), Json::List(items)) => {
            let items = items.iter().map(|item| known(arena, *element, item)).collect::<Check<Vec<_>>>()?;
            if let Type::Set(element) = of {
                set(arena, *element, &items)
            } else {
                Ok(arena.typed(of, arena.list(&items)))
            }
        }
        (Type::Tuple(types), Json::List(items)) if types.len() == items.len() => {
            let items = types.iter().zip(items).map(|(of, item)| known(arena, *of, item));
            Ok(arena.list(&items.collect::<Check<Vec<_>>>()?))
        }
        (Type::Map(_) | Type::Object(_), Json::Object(entries)) => {
            let entry = |(key, json): &(Cow<'_, str>, Json<'_>)| {
                let of = of.element().or_else(|| of.attribute(key).map(|attribute| &attribute.ty));
                Ok((arena.copy_str(key), known(arena, *of.ok_or("an attribute without a type")?, json)?))
            };
            Ok(collected(arena, of, arena.map(&entries.iter().map(entry).collect::<Check<Vec<_>>>()?)))
        }
        _ => Err(format!("no value of type {of:?}: {json:?}")),
    }
}

/// Builds a set in its own order.
fn set<'v>(arena: &'v Arena, element: Type<'v>, items: &[Value<'v>]) -> Check<Value<'v>> {
    static LIMITS: LazyLock<Limits> = LazyLock::new(Limits::default);
    let caches: &'static Caches = Box::leak(Box::default());
    let cx = Cx::new(arena, Inputs::default(), &LIMITS, Capabilities::NONE, caches);
    set_of(&cx, element, items).map_err(|fault| format!("no set: {fault:?}"))
}

/// Parses a number with full precision.
fn number<'v>(arena: &'v Arena, digits: &str) -> Check<Value<'v>> {
    big(digits).map(|number| arena.number(number))
}

fn big(digits: &str) -> Check<BigNum> {
    BigNum::parse(digits).ok_or_else(|| format!("no number: {digits}"))
}

fn refinement<'v>(arena: &'v Arena, json: &Json<'_>) -> Check<Refinement<'v>> {
    let bound = |name: &str| match json.get(name).and_then(Json::as_list) {
        Some([Json::Number(digits), Json::Bool(inclusive)]) => Ok(Some(arena.bound(big(digits)?, *inclusive))),
        Some(other) => Err(format!("no bound: {other:?}")),
        None => Ok(None),
    };
    let length = |name: &str| match json.get(name) {
        Some(Json::Number(digits)) => digits.parse().ok(),
        _ => None,
    };
    Ok(Refinement {
        not_null: json.get("not_null") == Some(&Json::Bool(true)),
        prefix: json.get("string_prefix").and_then(Json::as_text).map_or("", |prefix| arena.copy_str(prefix)),
        least: bound("number_min")?,
        most: bound("number_max")?,
        len_least: length("len_min").unwrap_or(0),
        len_most: length("len_max").unwrap_or(u64::MAX),
    })
}

/// Decodes bytes: a string, or `{"b64": …}`.
pub fn bytes(json: &Json<'_>) -> Check<Vec<u8>> {
    match (json.as_text(), json.get("b64").and_then(Json::as_text)) {
        (Some(text), _) => Ok(text.as_bytes().to_vec()),
        (_, Some(coded)) => base64(coded),
        _ => Err(format!("no text: {json:?}")),
    }
}

fn base64(coded: &str) -> Check<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for byte in coded.bytes().filter(|byte| *byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(format!("no base64: {coded}")),
        };
        (bits, count) = (bits << 6 | u32::from(digit), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    Ok(bytes)
}

/// Compares `got` with the row's field `name`. JSON null means no value.
pub fn want<'v>(arena: &'v Arena, row: &Row<'_>, name: &str, got: Option<Value<'v>>) -> Check {
    match (row.value(arena, name)?, got) {
        (None, None) => Ok(()),
        (Some(wanted), Some(got)) => same(arena, wanted, got),
        (wanted, got) => Err(format!("want {}, got {}", shown(wanted), shown(got))),
    }
}

fn shown(value: Option<Value<'_>>) -> String {
    value.map_or("no value".into(), show)
}

/// Checks that `got` equals `wanted` exactly: type, value, refinements and marks.
pub fn same<'v>(arena: &'v Arena, wanted: Value<'v>, got: Value<'v>) -> Check {
    let (want_type, got_type) = (wanted.type_in(arena), got.type_in(arena));
    if want_type != got_type {
        return Err(format!("want {}: {want_type:?}, got {}: {got_type:?}", show(wanted), show(got)));
    }
    if equal(wanted, got) { Ok(()) } else { Err(format!("want {}, got {}", show(wanted), show(got))) }
}

fn equal(a: Value<'_>, b: Value<'_>) -> bool {
    let ((a, marks), (b, others)) = (a.unmarked(), b.unmarked());
    if marks != others || a.is_null() != b.is_null() {
        return false;
    }
    if a.is_null() {
        return null_type(a) == null_type(b);
    }
    match (a.as_unknown(), b.as_unknown()) {
        (Some(a), Some(b)) => return a.ty == b.ty && same_refinement(&a.refinement, &b.refinement),
        (None, None) => {}
        _ => return false,
    }
    if let (Some(items), Some(others)) = (a.elements(), b.elements()) {
        return same_kind(a, b) && (equal_items(items, others) || unordered(a) && equal_unordered(items, others));
    }
    if let (Some(map), Some(other)) = (a.entries(), b.entries()) {
        let same = |(key, value)| other.get(key).is_some_and(|other| equal(value, other));
        return same_kind(a, b) && map.len() == other.len() && map.iter().all(same);
    }
    equal_scalars(a, b)
}

fn null_type<'v>(value: Value<'v>) -> Type<'v> {
    if let Some(Extended::Null(of)) = value.extended() { *of } else { Type::Dynamic }
}

/// Returns `true` if both are typed collections of one type, or neither is one.
fn same_kind(a: Value<'_>, b: Value<'_>) -> bool {
    match (a.extended(), b.extended()) {
        (Some(Extended::Typed(a, _)), Some(Extended::Typed(b, _))) => a == b,
        (None, None) => true,
        _ => false,
    }
}

/// Returns `true` if the order of a set's elements is undefined: its element type is not primitive.
fn unordered(set: Value<'_>) -> bool {
    matches!(set.extended(), Some(Extended::Typed(Type::Set(element), _)) if !element.is_primitive())
}

fn equal_items(a: &[Value<'_>], b: &[Value<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(*a, *b))
}

fn equal_unordered(a: &[Value<'_>], b: &[Value<'_>]) -> bool {
    let mut left = b.to_vec();
    let mut take = |a: &Value<'_>| left.iter().position(|b| equal(*a, *b)).map(|at| left.swap_remove(at)).is_some();
    a.iter().all(&mut take) && left.is_empty()
}

fn equal_scalars(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a.as_str() == b.as_str(),
        _ => match (as_number(a), as_number(b)) {
            (Some(a), Some(b)) => a.compare(&b).is_eq(),
            _ => {
                matches!((a.extended(), b.extended()), (Some(Extended::Capsule(a)), Some(Extended::Capsule(b))) if a == b)
            }
        },
    }
}

/// Returns a value as a number.
pub fn as_number(value: Value<'_>) -> Option<BigNum> {
    match (value, value.extended()) {
        (Value::Int(n), _) => Some(BigNum::of_int(n, 512)),
        (Value::Uint(n), _) => Some(BigNum::of_uint(n, 512)),
        (_, Some(Extended::Number(number))) => Some(*number),
        _ => None,
    }
}

fn same_refinement(a: &Refinement<'_>, b: &Refinement<'_>) -> bool {
    let bound = |a: Option<&(BigNum, bool)>, b: Option<&(BigNum, bool)>| match (a, b) {
        (Some((a, closed)), Some((b, other))) => closed == other && a.compare(b).is_eq(),
        (None, None) => true,
        _ => false,
    };
    (a.not_null, a.prefix, a.len_least, a.len_most) == (b.not_null, b.prefix, b.len_least, b.len_most)
        && bound(a.least, b.least)
        && bound(a.most, b.most)
}

/// Formats a value for failure messages: type, value, refinements and marks.
pub fn show(value: Value<'_>) -> String {
    let (plain, marks) = value.unmarked();
    let mut text = match plain.as_unknown() {
        Some(unknown) => format!("unknown {:?}{}", unknown.ty, show_refinement(&unknown.refinement)),
        None if plain.is_null() => format!("null {:?}", null_type(plain)),
        None => show_known(plain),
    };
    if !marks.is_empty() {
        text += &format!(" marked {marks:?}");
    }
    text
}

fn show_known(value: Value<'_>) -> String {
    let kind = match value.extended() {
        Some(Extended::Typed(of, _)) => format!("{of:?}"),
        Some(Extended::Capsule(capsule)) => return format!("{capsule:?}"),
        _ => String::new(),
    };
    if let Some(items) = value.elements() {
        let items: Vec<_> = items.iter().map(|item| show(*item)).collect();
        return format!("{kind}[{}]", items.join(", "));
    }
    if let Some(map) = value.entries() {
        let entries: Vec<_> = map.iter_sorted().map(|(key, value)| format!("{key:?}: {}", show(value))).collect();
        return format!("{kind}{{{}}}", entries.join(", "));
    }
    match (value, as_number(value)) {
        (Value::Str(text), _) => format!("{:?}", text.as_str()),
        (_, Some(number)) => number.to_text(),
        _ => format!("{value:?}"),
    }
}

fn show_refinement(known: &Refinement<'_>) -> String {
    let mut text = String::new();
    if known.not_null {
        text += ", not null";
    }
    for (sign, bound) in [(">", known.least), ("<", known.most)] {
        if let Some((number, inclusive)) = bound {
            text += &format!(", {sign}{} {}", if *inclusive { "=" } else { "" }, number.to_text());
        }
    }
    if !known.prefix.is_empty() {
        text += &format!(", begins with {:?}", known.prefix);
    }
    if known.len_least > 0 || known.len_most < u64::MAX {
        text += &format!(", length {} to {}", known.len_least, known.len_most);
    }
    text
}

/// Compares diagnostics with a row's `error_count` and, if present, its `diags`: severities and subjects in any order.
/// If the row's input does not parse (`parse_error_count`), only the count is compared.
pub fn diagnostics<'d>(row: &Row<'_>, got: impl IntoIterator<Item = &'d Diagnostic>) -> Check {
    let got: Vec<&Diagnostic> = got.into_iter().collect();
    let errors = got.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    if errors as i64 != row.number("error_count") {
        return Err(format!("want {} errors {:?}, got {}", row.number("error_count"), row.get("errors"), listed(&got)));
    }
    let Some(wanted) = row.get("diags").and_then(Json::as_list) else { return Ok(()) };
    if row.number("parse_error_count") > 0 {
        return Ok(());
    }
    let mut wanted: Vec<(&str, Vec<i64>)> = wanted.iter().map(wanted_place).collect();
    let mut places: Vec<(&str, Vec<i64>)> = got.iter().map(|diagnostic| place(diagnostic)).collect();
    for ((_, wanted), (_, got)) in wanted.iter_mut().zip(&places) {
        // The original has no position for the end of an unclosed call.
        if wanted.ends_with(&[0, 0, 0]) && wanted.get(..3) == got.get(..3) {
            wanted.clone_from(got);
        }
    }
    wanted.sort();
    places.sort();
    let texts = row.get("errors");
    if wanted == places { Ok(()) } else { Err(format!("want {wanted:?} {texts:?}, got {places:?} {}", listed(&got))) }
}

fn listed(diagnostics: &[&Diagnostic]) -> String {
    let text = |d: &&Diagnostic| format!("{}: {}: {}", d.code.name(), d.message, d.detail.as_deref().unwrap_or(""));
    format!("{:?}", diagnostics.iter().map(text).collect::<Vec<_>>())
}

fn wanted_place<'r>(json: &'r Json<'_>) -> (&'r str, Vec<i64>) {
    (json.get("severity").and_then(Json::as_text).unwrap_or(""), numbers(json.get("subject")))
}

/// Returns the integers of a list. A row's range has six.
pub fn numbers(json: Option<&Json<'_>>) -> Vec<i64> {
    let number = |item: &Json<'_>| if let Json::Number(digits) = item { digits.parse().ok() } else { None };
    json.and_then(Json::as_list).unwrap_or(&[]).iter().filter_map(number).collect()
}

fn place(diagnostic: &Diagnostic) -> (&'static str, Vec<i64>) {
    let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
    (severity, diagnostic.primary().map_or(Vec::new(), |label| range(&label.source, label.span)))
}

/// Encodes a span like a row's range: line, column and byte of its start, then of its end. Columns count the grapheme
/// clusters of each token. The name of the source tells its kind.
pub fn range(source: &Source, span: Span) -> Vec<i64> {
    let (name, text) = (source.name(), source.text());
    let places = match name {
        _ if name.ends_with(".json") => PositionIndex::of_text(text),
        _ if name.ends_with(".template") => PositionIndex::new(text.as_bytes(), &lex_template(text.as_bytes())),
        _ => PositionIndex::new(text.as_bytes(), &lex_config(text.as_bytes())),
    };
    let ends = places.of(span);
    [ends.start, ends.end].into_iter().flat_map(|at| [at.line, at.column, at.byte]).map(i64::from).collect()
}
