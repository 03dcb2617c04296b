//! Hints for what Jinja, Liquid and Python allow in a tag.

use super::{builtin, is_in_path, word, word_at_start};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Builtin, Default, Params};

/// Maximum length of a tag to write anew in a hint.
const SHOWN: usize = 100;

/// A tag with a syntax error, cut at the error.
struct Tag<'s> {
    /// `{{` or `{%`.
    mark: &'s str,
    before: &'s str,
    /// The rest of the tag, without its end.
    behind: &'s str,
}

/// Returns the hint for an error in a tag. `before` and `behind` are the file up to the error and from there on.
pub(super) fn hint(before: &str, behind: &str) -> Option<String> {
    let start = before.rfind("{{").max(before.rfind("{%"))?;
    let mark = before.get(start..start + 2)?;
    let end = if mark == "{{" { "}}" } else { "%}" };
    let inside = before.get(start + 2..)?;
    if inside.contains(end) {
        return None;
    }
    let inside = inside.strip_prefix('-').unwrap_or(inside).trim_start();
    let rest = behind.get(..behind.find(end).unwrap_or(0))?;
    let rest = rest.strip_suffix('-').unwrap_or(rest).trim_end();
    let tag = Tag { mark, before: inside, behind: rest };
    HABITS.iter().find_map(|habit| habit(&tag))
}

/// The habits, each with its hint.
const HABITS: [fn(&Tag<'_>) -> Option<String>; 13] = [
    tag_in_tag,
    else_if,
    inline_if,
    test_argument,
    slice,
    f_string,
    positional,
    tuple,
    colon,
    equals,
    import,
    include,
    for_or_set,
];

impl<'s> Tag<'s> {
    /// Returns the whole tag if it is short and in one line.
    fn is_short(&self) -> bool {
        let len = self.before.len() + self.behind.len();
        len <= SHOWN && !self.before.contains('\n') && !self.behind.contains('\n')
    }

    fn head(&self) -> &'s str {
        word_at_start(self.before)
    }

    /// Returns the first word, number or quoted text at the error.
    fn value(&self) -> Option<&'s str> {
        let end = match self.behind.chars().next()? {
            quote @ ('"' | '\'' | '`') => 2 + self.behind.get(1..)?.find(quote)?,
            _ => word(self.behind).len(),
        };
        self.behind.get(..end).filter(|value| !value.is_empty())
    }
}

/// `{% if {{ name }} %}`
fn tag_in_tag(tag: &Tag<'_>) -> Option<String> {
    let name = tag.behind.strip_prefix("{{")?;
    let name = name.get(..name.find("}}").unwrap_or(name.len()))?.trim();
    Some(format!("a tag has no braces in it: write `{}`", if name.is_empty() { "name" } else { name }))
}

/// `{% else if a %}`
fn else_if(tag: &Tag<'_>) -> Option<String> {
    let condition = tag.behind.strip_prefix("if").filter(|_| tag.before.trim_end() == "else")?;
    let condition = if tag.is_short() { condition.trim() } else { "…" };
    Some(format!("write `{{% elif {condition} %}}`"))
}

/// `{{ a if b else c }}`, `{% set x = a if b else c %}`
fn inline_if(tag: &Tag<'_>) -> Option<String> {
    let rest = tag.behind.strip_prefix("if").filter(|rest| rest.starts_with(char::is_whitespace))?;
    let value = tag.before.trim_end();
    if value.is_empty() {
        return None;
    }
    let (name, value) = match value.strip_prefix("set ") {
        Some(set) => set.split_once('=').map(|(name, value)| (Some(name.trim()), value.trim()))?,
        None => (None, value),
    };
    let (condition, other) = match rest.split_once(" else ") {
        Some((condition, other)) => (condition.trim(), Some(other.trim())),
        None => (rest.trim(), None),
    };
    let is_whole = value.matches('(').count() == value.matches(')').count() && (name.is_some() || tag.mark == "{{");
    if !is_whole || !tag.is_short() {
        return Some("there is no inline `if`: write `{% if … %}` … `{% else %}` … `{% endif %}`".to_owned());
    }
    let written = |value: &str| match name {
        Some(name) => format!("{{% set {name} = {value} %}}"),
        None => format!("{{{{ {value} }}}}"),
    };
    let other = other.map_or_else(String::new, |other| format!("{{% else %}}{}", written(other)));
    Some(format!("there is no inline `if`: write `{{% if {condition} %}}{}{other}{{% endif %}}`", written(value)))
}

/// `{% if name is starting_with "x" %}`
fn test_argument(tag: &Tag<'_>) -> Option<String> {
    let words: Vec<&str> = tag.before.split_whitespace().collect();
    let ([.., "is", test] | [.., "is", "not", test]) = words.as_slice() else { return None };
    let value = tag.value().filter(|value| value.starts_with(|c: char| c.is_ascii_digit() || "\"'`".contains(c)))?;
    Some(format!("the argument of a test is in parentheses: write `is {test}({value})`"))
}

/// `l[1:]`
fn slice(tag: &Tag<'_>) -> Option<String> {
    let inside = tag.behind.strip_prefix('[')?;
    let (start, end) = inside.get(..inside.find(']')?)?.split_once(':')?;
    let list = tag.before.get(tag.before.rfind(|c| !is_in_path(c)).map_or(0, |at| at + 1)..)?;
    let argument = |name: &str, value: &str| match value.trim() {
        "" => None,
        value => Some(format!("{name}={value}")),
    };
    let arguments: Vec<_> = [argument("start", start), argument("end", end)].into_iter().flatten().collect();
    Some(format!("there are no slices: write the filter `{list} | slice({})`", arguments.join(", ")))
}

/// `f"a{name}"`
fn f_string(tag: &Tag<'_>) -> Option<String> {
    let before = tag.before.strip_suffix('f').filter(|before| !before.ends_with(is_in_path))?;
    let begins = tag.behind.starts_with(['"', '\'']);
    (begins && !before.trim_end().ends_with("is"))
        .then(|| "there are no f-strings: join text with `~`: `\"a\" ~ name`".to_owned())
}

/// `default("x")`, `range(3)`
fn positional(tag: &Tag<'_>) -> Option<String> {
    let before = tag.before.trim_end().strip_suffix('(')?;
    let name = before.get(before.rfind(|c| !is_in_path(c)).map_or(0, |at| at + 1)..)?;
    let is_filter = before.strip_suffix(name)?.trim_end().ends_with('|');
    let value = tag.value()?;
    let kind = if is_filter { ImportKind::Filter } else { ImportKind::Function };
    let argument = first_argument(builtin(kind, name)?)?;
    Some(format!("arguments are given by name: `{name}({argument}={value})`"))
}

/// Returns the name of the first parameter that a call has to name.
fn first_argument(builtin: &'static Builtin) -> Option<&'static str> {
    let Params::Named(params) = builtin.params else { return None };
    let given = params.get(usize::from(builtin.kind != ImportKind::Function)..)?;
    let required = given.iter().find(|param| param.default == Default::Required);
    required.or_else(|| given.first()).map(|param| param.name)
}

/// `("a", "b")`
fn tuple(tag: &Tag<'_>) -> Option<String> {
    let rest = tag.behind.strip_prefix(',')?;
    let mut closed = 0_usize;
    let open = tag.before.char_indices().rev().find_map(|(at, c)| match c {
        ')' => {
            closed += 1;
            None
        }
        '(' if closed > 0 => {
            closed -= 1;
            None
        }
        '(' => Some(at),
        _ => None,
    })?;
    if tag.before.get(..open)?.ends_with(is_in_path) {
        return None;
    }
    let (first, rest) = (tag.before.get(open + 1..)?, rest.get(..rest.find(')')?)?);
    let items = if tag.is_short() { format!("{},{rest}", first.trim_end()) } else { "…".to_owned() };
    Some(format!("a list has brackets: write `[{items}]`"))
}

/// `x | default: "y"`
fn colon(tag: &Tag<'_>) -> Option<String> {
    let value = tag.behind.strip_prefix(':')?.trim();
    let (_, name) = tag.before.rsplit_once('|')?;
    let argument = builtin(ImportKind::Filter, name.trim()).and_then(first_argument)?;
    let value = if tag.is_short() && !value.is_empty() && !value.contains('|') { value } else { "…" };
    Some(format!("the arguments of a filter are in parentheses: write `{}({argument}={value})`", name.trim()))
}

/// `{% if a = 1 %}`, `{{ a = 1 }}`
fn equals(tag: &Tag<'_>) -> Option<String> {
    let value = tag.behind.strip_prefix('=').filter(|rest| !rest.starts_with('='))?.trim();
    if matches!(tag.head(), "if" | "elif") {
        return Some("write `==` to compare".to_owned());
    }
    let name = tag.before.trim_end();
    let is_set = tag.mark == "{{" && !name.is_empty() && name.chars().all(is_in_path) && tag.is_short();
    is_set.then(|| format!("write `{{% set {name} = {value} %}}`"))
}

/// `{% import "m.tera" %}`
fn import(tag: &Tag<'_>) -> Option<String> {
    let file = tag.before.strip_prefix("import")?.trim();
    let stem = file.trim_matches(['"', '\'', '`']).rsplit('/').next()?;
    let stem: String = stem.split('.').next()?.chars().map(|c| if c == '-' { '_' } else { c }).collect();
    (!stem.is_empty() && !file.contains(" as")).then(|| format!("write `{{% import {file} as {stem} %}}`"))
}

/// `{% include name %}`, `{% include "a" with context %}`
fn include(tag: &Tag<'_>) -> Option<String> {
    let file = tag.before.strip_prefix("include")?;
    let word = word_at_start(tag.behind);
    match (file.trim().is_empty(), word) {
        (false, "with" | "without" | "only") => {
            Some(format!("write `{{% include {} %}}`: the included file sees all values", file.trim()))
        }
        (true, _) if !word.is_empty() => {
            Some("the name of a file is text in quotes; choose between files with `{% if … %}`".to_owned())
        }
        _ => None,
    }
}

/// `{% for x of list %}`, `{% set a %}`
fn for_or_set(tag: &Tag<'_>) -> Option<String> {
    match (tag.head(), tag.behind) {
        ("for", behind) if !tag.before.contains(" in ") => {
            let (name, list) = (tag.before.strip_prefix("for")?.trim(), behind.split(' ').next_back()?);
            let list = if list.is_empty() || !tag.is_short() { "list" } else { list };
            Some(format!("write `{{% for {} in {list} %}}`", if name.is_empty() { "item" } else { name }))
        }
        ("set" | "set_global", "") if !tag.before.contains('=') => {
            Some(format!("write `{{% {} = … %}}`", tag.before.trim()))
        }
        _ => None,
    }
}
