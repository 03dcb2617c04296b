//! Functions of strings and regular expressions. A character is a grapheme cluster wherever characters are counted.

use super::{string, string_list};
use crate::values::{is_wholly_known, machine_int};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::bignum::FULL;
use dropforge_base::stdlib::characters;
use dropforge_base::stdlib::strings::{lower, occurrences, replaced_len, title_words, upper};
use dropforge_machine::function::{Cut, Cx, Fault, LETTERS, Outcome, PLAIN, Pattern, Rest, WORDS};
use dropforge_machine::functions;
use dropforge_value::{Attribute, BigNum, Refinement, Type, Value};
use regex::Captures;

functions! {
    /// String functions of the standard library and OpenTofu.
    pub(super) static STRINGS:
    "upper" (str: String [dynamic]) -> String = changed(upper, LETTERS), "Converts letters to upper case." ["upper(\"hello\")" => "\"HELLO\""];
    "lower" (str: String [dynamic]) -> String = changed(lower, LETTERS), "Converts letters to lower case." ["lower(\"HELLO\")" => "\"hello\""];
    "title" (str: String) -> String = changed(title_words, WORDS), "Capitalizes the first letter of each word."
        ["title(\"hello world\")" => "\"Hello World\""];
    "substr" (str: String [dynamic], offset: Number [dynamic], length: Number [dynamic]) -> String = substr,
        "Returns a number of characters from an offset. A negative offset counts from the end, a negative length takes the rest."
        ["substr(\"hello world\", 1, 4)" => "\"ello\"", "substr(\"hello\", -2, -1)" => "\"lo\""];
    "join" (separator: String, ... lists: (list String) [unknown]) -> String = join,
        "Joins the elements of lists with a separator." ["join(\", \", [\"a\", \"b\"])" => "\"a, b\""];
    "split" (separator: String, str: String) -> (list String) = split,
        "Splits a string at a separator." ["split(\",\", \"a,b\")" => "[\"a\", \"b\"]"];
    "chomp" (str: String) -> String = chomp, "Removes line breaks at the end of a string."
        ["chomp(\"a\\r\\n\\n\")" => "\"a\""];
    "indent" (spaces: Number, str: String) -> String = indent,
        "Indents each line but the first by a number of spaces." ["indent(2, \"a\\nb\")" => "\"a\\n  b\""];
    "trimspace" (str: String) -> String = trim_space, "Removes white space at both ends of a string."
        ["trimspace(\"  a \\n\")" => "\"a\""];
    "trim" (str: String, cutset: String) -> String = trim, "Removes the given characters at both ends of a string."
        ["trim(\"?!hello?!\", \"!?\")" => "\"hello\""];
    "trimprefix" (str: String, prefix: String) -> String = trim_prefix, "Removes a prefix."
        ["trimprefix(\"hello\", \"he\")" => "\"llo\""];
    "trimsuffix" (str: String, suffix: String) -> String = trim_suffix, "Removes a suffix."
        ["trimsuffix(\"hello\", \"lo\")" => "\"hel\""];
}

functions! {
    /// String functions of the standard library.
    pub(super) static STANDARD_STRINGS:
    "strlen" (str: String [unknown dynamic]) -> Number = strlen, "Returns the number of characters of a string."
        ["strlen(\"hello\")" => "5"];
    "reverse" (str: String [dynamic]) -> String = reverse, "Reverses the characters of a string."
        ["reverse(\"abc\")" => "\"cba\""];
    "replace" (str: String, substr: String, replace: String) -> String = replaced,
        "Replaces all occurrences of a string." ["replace(\"hello\", \"l\", \"L\")" => "\"heLLo\""];
}

functions! {
    /// String functions of OpenTofu.
    pub(super) static OPENTOFU_STRINGS:
    "strrev" (str: String [dynamic]) -> String = reverse, "Reverses the characters of a string."
        ["strrev(\"abc\")" => "\"cba\""];
    "startswith" (str: String [unknown], prefix: String) -> Bool = starts_with, "Returns `true` if a string starts with a prefix."
        ["startswith(\"hello\", \"he\")" => "true"];
    "endswith" (str: String, suffix: String) -> Bool = ends_with, "Returns `true` if a string ends with a suffix."
        ["endswith(\"hello\", \"lo\")" => "true"];
    "strcontains" (str: String, substr: String) -> Bool or null = contains, "Returns `true` if a string contains another."
        ["strcontains(\"hello\", \"ell\")" => "true"];
    "basename" (path: String) -> String = base_name, "Returns the last part of a path."
        ["basename(\"a/b.txt\")" => "\"b.txt\""];
    "dirname" (path: String) -> String = dir_name, "Removes the last part of a path." ["dirname(\"a/b.txt\")" => "\"a\""];
}

/// Returns a body that changes each piece of a text to one of at most three times its length.
fn changed<'v>(change: fn(&str) -> String, cut: Cut) -> impl Fn(&Cx<'v>, &'v str) -> Outcome<Value<'v>> {
    move |cx, text| {
        cx.charge(text.len() * 3)?;
        let changed: Result<String> = cx.pieces(text, cut).map(|piece| Ok(change(piece?))).collect();
        string(cx, &changed?)
    }
}

pub(super) fn strlen<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if let Some(unknown) = value.as_unknown() {
        let least = cx.arena().bound(BigNum::of_int(characters(cx, unknown.refinement.prefix)?, FULL), true);
        return Ok(cx.arena().refined(Type::Number, Refinement { least: Some(least), ..Refinement::NOT_NULL }));
    }
    let text = value.as_str().ok_or_else(|| Fault::argument(0, "a string is required"))?;
    cx.spend(text.len() as u64 / 8)?;
    machine_int(cx, characters(cx, text)?)
}

fn characters(cx: &Cx<'_>, text: &str) -> Result<i64> {
    cx.pieces(text, PLAIN).map(|piece| Ok(characters::count(piece?) as i64)).sum()
}

fn reverse<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    cx.charge(text.len())?;
    cx.spend(text.len() as u64 / 8)?;
    string(cx, &characters::clusters(text).rev().collect::<String>())
}

fn substr<'v>(cx: &Cx<'v>, text: &str, mut offset: i64, length: i64) -> Outcome<Value<'v>> {
    cx.spend(text.len() as u64 / 4)?;
    if offset < 0 {
        offset = offset.saturating_add(characters(cx, text)?);
    } else if length == 0 {
        return string(cx, "");
    }
    let rest = from_character(text, usize::try_from(offset).unwrap_or(0));
    // Like the reference, takes the rest for a length of 0 after a negative offset.
    let taken = match usize::try_from(length) {
        Ok(length @ 1..) => rest.get(..rest.len() - from_character(rest, length).len()).unwrap_or(rest),
        _ => rest,
    };
    string(cx, taken)
}

/// Returns the text from character `at`.
fn from_character(text: &str, at: usize) -> &str {
    characters::indices(text).nth(at).and_then(|(at, _)| text.get(at..)).unwrap_or("")
}

fn join<'v>(cx: &Cx<'v>, separator: &str, Rest(lists): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    if lists.is_empty() {
        return Err(Fault::wrong("at least one list is required"));
    }
    for list in lists {
        if !is_wholly_known(cx, *list)? {
            return Ok(cx.arena().unknown(Type::String));
        }
    }
    let mut joined = String::new();
    let mut first = true;
    for (at, list) in (1..).zip(lists) {
        for (index, item) in list.elements().unwrap_or(&[]).iter().enumerate() {
            let Some(item) = item.as_str() else {
                return Err(Fault::argument(at, format!("element {index} is null and cannot be joined")));
            };
            let separator = if first { "" } else { separator };
            cx.charge(separator.len() + item.len())?;
            joined.push_str(separator);
            joined.push_str(item);
            first = false;
        }
    }
    string(cx, &joined)
}

fn split<'v>(cx: &Cx<'v>, separator: &str, text: &str) -> Outcome<Value<'v>> {
    if separator.is_empty() {
        return string_list(cx, text.char_indices().filter_map(|(at, c)| text.get(at..at + c.len_utf8())));
    }
    cx.charge(text.matches(separator).count() * size_of::<Value>())?;
    string_list(cx, text.split(separator))
}

fn chomp<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    string(cx, text.trim_end_matches(['\r', '\n']))
}

fn indent<'v>(cx: &Cx<'v>, spaces: i64, text: &str) -> Outcome<Value<'v>> {
    let Ok(spaces) = usize::try_from(spaces) else {
        return Err(Fault::argument(0, "must not be negative"));
    };
    let lines = occurrences(text, "\n");
    cx.charge(lines.saturating_mul(spaces).saturating_add(text.len()))?;
    if lines == 0 {
        return string(cx, text);
    }
    string(cx, &text.replace('\n', &format!("\n{}", " ".repeat(spaces))))
}

fn trim_space<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    string(cx, text.trim())
}

fn trim<'v>(cx: &Cx<'v>, text: &str, cut: &str) -> Outcome<Value<'v>> {
    cx.spend((text.len() as u64).saturating_mul(cut.len() as u64) / 16)?;
    string(cx, text.trim_matches(|c| cut.contains(c)))
}

fn trim_prefix<'v>(cx: &Cx<'v>, text: &str, prefix: &str) -> Outcome<Value<'v>> {
    string(cx, text.strip_prefix(prefix).unwrap_or(text))
}

fn trim_suffix<'v>(cx: &Cx<'v>, text: &str, suffix: &str) -> Outcome<Value<'v>> {
    string(cx, text.strip_suffix(suffix).unwrap_or(text))
}

/// Replaces `from` by `to`. An empty `from` stands before each character and at the end.
fn replaced<'v>(cx: &Cx<'v>, text: &str, from: &str, to: &str) -> Outcome<Value<'v>> {
    cx.charge(replaced_len(text, from, to, occurrences(text, from)).unwrap_or(usize::MAX))?;
    string(cx, &text.replace(from, to))
}

fn starts_with<'v>(cx: &Cx<'v>, value: Value<'v>, prefix: &str) -> Outcome<Value<'v>> {
    let known = match value.as_unknown() {
        None => return Ok(Value::Bool(value.as_str().is_some_and(|text| text.starts_with(prefix)))),
        Some(unknown) => unknown.refinement.prefix,
    };
    Ok(match () {
        () if known.starts_with(prefix) => Value::Bool(true),
        () if !known.is_empty() && known.len() >= prefix.len() => Value::Bool(false),
        () => cx.arena().unknown(Type::Bool),
    })
}

fn ends_with<'v>(_: &Cx<'v>, text: &str, suffix: &str) -> Outcome<Value<'v>> {
    Ok(Value::Bool(text.ends_with(suffix)))
}

fn contains<'v>(cx: &Cx<'v>, text: &str, part: &str) -> Outcome<Value<'v>> {
    cx.spend(text.len() as u64 / 64)?;
    Ok(Value::Bool(text.contains(part)))
}

fn base_name<'v>(cx: &Cx<'v>, path: &str) -> Outcome<Value<'v>> {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    string(
        cx,
        match (last, path) {
            ("", "") => ".",
            ("", _) => "/",
            (last, _) => last,
        },
    )
}

fn dir_name<'v>(cx: &Cx<'v>, path: &str) -> Outcome<Value<'v>> {
    cx.charge(path.len() * 8)?;
    let dir = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("");
    string(cx, &cleaned(dir))
}

/// Removes empty parts and `.` from a path, and resolves `..` after a name.
pub(super) fn cleaned(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            ("..", None) if rooted => {}
            _ => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

functions! {
    /// Regular expression functions of the standard library and OpenTofu.
    pub(super) static PATTERNS:
    "regex" (pattern: String, string: String) -> {match_type} = first_match,
        "Returns the first match of a regular expression: a string, a tuple of its groups, or an object of its named groups."
        ["regex(\"[a-z]+\", \"53abc345\")" => "\"abc\"", "regex(\"(\\\\d)(\\\\d)\", \"a12\")" => "[\"1\", \"2\"]"];
    "regexall" (pattern: String, string: String) -> {matches_type} = all_matches,
        "Returns all matches of a regular expression, each in the form of `regex`."
        ["regexall(\"[a-z]+\", \"1ab2c\")" => "[\"ab\", \"c\"]"];
}

functions! {
    /// Regular expression functions of the standard library.
    pub(super) static STANDARD_PATTERNS:
    "regexreplace" (str: String, pattern: String, replace: String) -> String = matches_replaced,
        "Replaces all matches of a regular expression. `$1` or `${name}` in the replacement stands for a group."
        ["regexreplace(\"-ab-\", \"a(b)\", \"<$1>\")" => "\"-<b>-\""];
}

functions! {
    /// Regular expression functions of OpenTofu.
    pub(super) static OPENTOFU_PATTERNS:
    "replace" (str: String, substr: String, replace: String) -> String = text_or_matches_replaced,
        "Replaces all occurrences of a string, or all matches of a regular expression between slashes."
        ["replace(\"hello\", \"l\", \"L\")" => "\"heLLo\"", "replace(\"helo\", \"/(l)/\", \"$1$1\")" => "\"hello\""];
}

/// Compiles a pattern that is the first argument.
fn first_pattern<'c>(cx: &'c Cx<'_>, pattern: &str) -> Outcome<Pattern<'c>> {
    cx.pattern(pattern).map_err(|fault| fault.of_argument(0))
}

fn match_type<'v>(cx: &Cx<'v>, pattern: Value<'v>, _: Value<'v>) -> Outcome<Type<'v>> {
    pattern.as_str().map_or(Ok(Type::Dynamic), |pattern| type_of_match(cx, &first_pattern(cx, pattern)?))
}

fn matches_type<'v>(cx: &Cx<'v>, pattern: Value<'v>, text: Value<'v>) -> Outcome<Type<'v>> {
    Ok(cx.arena().list_type(match_type(cx, pattern, text)?))
}

/// Returns the type of a match, which depends on the groups of the pattern.
fn type_of_match<'v>(cx: &Cx<'v>, pattern: &Pattern<'_>) -> Outcome<Type<'v>> {
    let groups = pattern.names().len();
    let names: Vec<&str> = pattern.names().flatten().collect();
    if !names.is_empty() && names.len() != groups {
        return Err(Fault::argument(0, "either all groups must have names or none"));
    }
    cx.charge(groups * size_of::<Attribute>())?;
    let attribute = |name: &&str| Attribute { name: cx.arena().copy_str(name), ty: Type::String, optional: false };
    Ok(match (groups, names.is_empty()) {
        (0, _) => Type::String,
        (_, true) => cx.arena().tuple_type(&vec![Type::String; groups]),
        (_, false) => cx.arena().object_type(&names.iter().map(attribute).collect::<Vec<_>>()),
    })
}

/// Converts a match to a value. Of groups with one name, the last one counts.
fn value_of<'v>(cx: &Cx<'v>, pattern: &Pattern<'_>, captures: &Captures<'_>) -> Outcome<Value<'v>> {
    let group = |at: usize| match captures.get(at) {
        Some(group) => string(cx, group.as_str()),
        None => Ok(cx.arena().null(Type::String)),
    };
    if captures.len() == 1 {
        return group(0);
    }
    let groups: Vec<_> = (1..captures.len()).map(group).collect::<Outcome<_>>()?;
    if pattern.names().next().flatten().is_none() {
        return Ok(cx.list(&groups)?);
    }
    let entries = pattern.names().flatten().zip(groups).map(|(name, group)| {
        cx.charge(name.len())?;
        Ok((cx.arena().copy_str(name), group))
    });
    Ok(cx.map(&entries.collect::<Outcome<Vec<_>>>()?)?)
}

fn first_match<'v>(cx: &Cx<'v>, pattern: &str, text: &str) -> Outcome<Value<'v>> {
    let compiled = first_pattern(cx, pattern)?;
    type_of_match(cx, &compiled)?;
    compiled.charge_search(cx, text)?;
    let captures = compiled.captures(text);
    value_of(cx, &compiled, &captures.ok_or_else(|| Fault::wrong("the pattern does not match the string"))?)
}

fn all_matches<'v>(cx: &Cx<'v>, pattern: &str, text: &str) -> Outcome<Value<'v>> {
    let compiled = first_pattern(cx, pattern)?;
    compiled.charge_search(cx, text)?;
    let matches = compiled.captures_iter(text).map(|captures| value_of(cx, &compiled, &captures));
    let list = cx.list(&matches.collect::<Outcome<Vec<_>>>()?)?;
    Ok(cx.arena().typed(cx.arena().list_type(type_of_match(cx, &compiled)?), list))
}

fn text_or_matches_replaced<'v>(cx: &Cx<'v>, text: &str, from: &str, to: &str) -> Outcome<Value<'v>> {
    match from.strip_prefix('/').and_then(|from| from.strip_suffix('/')) {
        Some(pattern) => matches_replaced(cx, text, pattern, to),
        None => replaced(cx, text, from, to),
    }
}

fn matches_replaced<'v>(cx: &Cx<'v>, text: &str, pattern: &str, template: &str) -> Outcome<Value<'v>> {
    string(cx, &cx.pattern(pattern)?.replaced(cx, text, template)?)
}
