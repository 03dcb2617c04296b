//! Functions of text. A character is a grapheme cluster wherever characters are counted.

use super::arguments::{answer, answers, count, text, whole};
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::bignum::FULL;
use crate::stdlib::clusters;
use crate::stdlib::strings::{lower, occurrences, replaced_len, title_words, upper};
use crate::value::{BigNum, Refinement, Type, Value};

positional! {
    /// Functions of text.
    pub(super) static STRINGS:
    "upper" (str: String [dynamic]) -> String = to_upper, "The text in capitals." ["upper(\"hello\")" => "\"HELLO\""];
    "lower" (str: String [dynamic]) -> String = to_lower, "The text in small letters." ["lower(\"HELLO\")" => "\"hello\""];
    "title" (str: String) -> String = to_title, "The first letter of each word a capital."
        ["title(\"hello world\")" => "\"Hello World\""];
    "substr" (str: String [dynamic], offset: Number [dynamic], length: Number [dynamic]) -> String = substr,
        "So many characters from an offset on; a negative offset counts from the end, a negative length takes the rest."
        ["substr(\"hello world\", 1, 4)" => "\"ello\"", "substr(\"hello\", -2, -1)" => "\"lo\""];
    "join" (separator: String, ... lists: (list String) [unknown]) -> String = join,
        "The elements of lists with a separator between them." ["join(\", \", [\"a\", \"b\"])" => "\"a, b\""];
    "split" (separator: String, str: String) -> (list String) = split,
        "The parts of a text between separators." ["split(\",\", \"a,b\")" => "[\"a\", \"b\"]"];
    "chomp" (str: String) -> String = chomp, "The text without line ends at its end."
        ["chomp(\"a\\r\\n\\n\")" => "\"a\""];
    "indent" (spaces: Number, str: String) -> String = indent,
        "So many spaces in front of each line but the first." ["indent(2, \"a\\nb\")" => "\"a\\n  b\""];
    "trimspace" (str: String) -> String = trim_space, "The text without white space around it."
        ["trimspace(\"  a \\n\")" => "\"a\""];
    "trim" (str: String, cutset: String) -> String = trim, "The text without these characters around it."
        ["trim(\"?!hello?!\", \"!?\")" => "\"hello\""];
    "trimprefix" (str: String, prefix: String) -> String = trim_prefix, "The text without this beginning."
        ["trimprefix(\"hello\", \"he\")" => "\"llo\""];
    "trimsuffix" (str: String, suffix: String) -> String = trim_suffix, "The text without this end."
        ["trimsuffix(\"hello\", \"lo\")" => "\"hel\""];
}

positional! {
    /// Functions of text under the names of the standard library.
    pub(super) static STANDARD_STRINGS:
    "strlen" (str: String [unknown dynamic]) -> Number = strlen, "How many characters a text has."
        ["strlen(\"hello\")" => "5"];
    "reverse" (str: String [dynamic]) -> String = reverse, "The characters from last to first."
        ["reverse(\"abc\")" => "\"cba\""];
    "replace" (str: String, substr: String, replace: String) -> String = replace,
        "Each occurrence of a text replaced." ["replace(\"hello\", \"l\", \"L\")" => "\"heLLo\""];
}

positional! {
    /// Functions of text that OpenTofu adds.
    pub(super) static OPENTOFU_STRINGS:
    "strrev" (str: String [dynamic]) -> String = reverse, "The characters from last to first."
        ["strrev(\"abc\")" => "\"cba\""];
    "startswith" (str: String [unknown], prefix: String) -> Bool = starts_with, "Whether a text begins with another."
        ["startswith(\"hello\", \"he\")" => "true"];
    "endswith" (str: String, suffix: String) -> Bool = ends_with, "Whether a text ends with another."
        ["endswith(\"hello\", \"lo\")" => "true"];
    "strcontains" (str: String, substr: String) -> Bool or null = contains, "Whether a text is in another."
        ["strcontains(\"hello\", \"ell\")" => "true"];
    "basename" (path: String) -> String = base_name, "The last part of a path."
        ["basename(\"a/b.txt\")" => "\"b.txt\""];
    "dirname" (path: String) -> String = dir_name, "A path without its last part." ["dirname(\"a/b.txt\")" => "\"a\""];
}

fn to_upper<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    mapped(cx, args, upper)
}

fn to_lower<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    mapped(cx, args, lower)
}

fn to_title<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    mapped(cx, args, title_words)
}

/// A text changed letter by letter: it becomes at most three times as long.
fn mapped<'v>(cx: &Cx<'v>, args: &[Value<'v>], change: fn(&str) -> String) -> Outcome<Value<'v>> {
    let text = text(args, 0)?;
    cx.charge(text.len() * 3)?;
    answer(cx, &change(text))
}

pub(super) fn strlen<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let Some(unknown) = args.first().and_then(Value::as_unknown) else {
        let text = text(args, 0)?;
        cx.spend(text.len() as u64 / 8)?;
        return count(cx, characters(text));
    };
    let least = cx.arena().bound(BigNum::of_int(characters(unknown.refinement.prefix), FULL), true);
    Ok(cx.arena().refined(Type::Number, Refinement { least: Some(least), ..Refinement::NOT_NULL }))
}

fn characters(text: &str) -> i64 {
    i64::try_from(clusters::count(text)).unwrap_or(i64::MAX)
}

fn reverse<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let text = text(args, 0)?;
    cx.charge(text.len())?;
    cx.spend(text.len() as u64 / 8)?;
    answer(cx, &clusters::clusters(text).rev().collect::<String>())
}

fn substr<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (text, mut offset, length) = (text(args, 0)?, whole(args, 1)?, whole(args, 2)?);
    cx.spend(text.len() as u64 / 4)?;
    if offset < 0 {
        offset = offset.saturating_add(characters(text));
    } else if length == 0 {
        return answer(cx, "");
    }
    let rest = from_character(text, usize::try_from(offset).unwrap_or(0));
    // A length of 0 behind a negative offset ends nowhere: the reference takes the rest.
    let taken = match usize::try_from(length) {
        Ok(length @ 1..) => rest.get(..rest.len() - from_character(rest, length).len()).unwrap_or(rest),
        _ => rest,
    };
    answer(cx, taken)
}

/// The text behind its first `at` characters.
fn from_character(text: &str, at: usize) -> &str {
    clusters::indices(text).nth(at).and_then(|(at, _)| text.get(at..)).unwrap_or("")
}

fn join<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let separator = text(args, 0)?;
    let lists = args.get(1..).unwrap_or(&[]);
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
    for (at, list) in lists.iter().enumerate() {
        for (index, item) in list.elements().unwrap_or(&[]).iter().enumerate() {
            let Some(item) = item.as_str() else {
                return Err(Fault::argument(at + 1, format!("element {index} is null and cannot be joined")));
            };
            let separator = if first { "" } else { separator };
            cx.charge(separator.len() + item.len())?;
            joined.push_str(separator);
            joined.push_str(item);
            first = false;
        }
    }
    answer(cx, &joined)
}

fn split<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (separator, text) = (text(args, 0)?, text(args, 1)?);
    if separator.is_empty() {
        return answers(cx, text.char_indices().filter_map(|(at, c)| text.get(at..at + c.len_utf8())));
    }
    cx.charge(text.matches(separator).count() * size_of::<Value>())?;
    answers(cx, text.split(separator))
}

fn chomp<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer(cx, text(args, 0)?.trim_end_matches(['\r', '\n']))
}

fn indent<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (spaces, text) = (whole(args, 0)?, text(args, 1)?);
    let Ok(spaces) = usize::try_from(spaces) else {
        return Err(Fault::argument(0, "must not be negative"));
    };
    let lines = occurrences(text, "\n");
    cx.charge(lines.saturating_mul(spaces).saturating_add(text.len()))?;
    if lines == 0 {
        return answer(cx, text);
    }
    answer(cx, &text.replace('\n', &format!("\n{}", " ".repeat(spaces))))
}

fn trim_space<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer(cx, text(args, 0)?.trim())
}

fn trim<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (text, cut) = (text(args, 0)?, text(args, 1)?);
    cx.spend((text.len() as u64).saturating_mul(cut.len() as u64) / 16)?;
    answer(cx, text.trim_matches(|c| cut.contains(c)))
}

fn trim_prefix<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (text, prefix) = (text(args, 0)?, text(args, 1)?);
    answer(cx, text.strip_prefix(prefix).unwrap_or(text))
}

fn trim_suffix<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (text, suffix) = (text(args, 0)?, text(args, 1)?);
    answer(cx, text.strip_suffix(suffix).unwrap_or(text))
}

fn replace<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    replaced(cx, text(args, 0)?, text(args, 1)?, text(args, 2)?)
}

/// `text` with `from` replaced by `to`; an empty `from` stands before each character and at the end.
pub(super) fn replaced<'v>(cx: &Cx<'v>, text: &str, from: &str, to: &str) -> Outcome<Value<'v>> {
    let len = replaced_len(text, from, to, occurrences(text, from)).unwrap_or(usize::MAX);
    cx.charge(len)?;
    answer(cx, &text.replace(from, to))
}

fn starts_with<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let prefix = text(args, 1)?;
    let Some(unknown) = args.first().and_then(Value::as_unknown) else {
        return Ok(Value::Bool(text(args, 0)?.starts_with(prefix)));
    };
    let known = unknown.refinement.prefix;
    Ok(match () {
        () if known.starts_with(prefix) => Value::Bool(true),
        () if !known.is_empty() && known.len() >= prefix.len() => Value::Bool(false),
        () => cx.arena().unknown(Type::Bool),
    })
}

fn ends_with<'v>(_: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    Ok(Value::Bool(text(args, 0)?.ends_with(text(args, 1)?)))
}

fn contains<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (text, part) = (text(args, 0)?, text(args, 1)?);
    cx.spend(text.len() as u64 / 64)?;
    Ok(Value::Bool(text.contains(part)))
}

fn base_name<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let path = text(args, 0)?;
    let trimmed = path.trim_end_matches('/');
    let last = trimmed.rsplit('/').next().unwrap_or("");
    answer(
        cx,
        if !last.is_empty() {
            last
        } else if path.is_empty() {
            "."
        } else {
            "/"
        },
    )
}

fn dir_name<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let path = text(args, 0)?;
    cx.charge(path.len() * 8)?;
    let dir = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("");
    answer(cx, &cleaned(dir))
}

/// A path without empty parts and `.`, and without `..` behind a name.
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
