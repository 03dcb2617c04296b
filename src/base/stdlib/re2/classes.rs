//! Character classes: bracketed ones, `[:alpha:]`, `\d` and `\p{Greek}`.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{Checked, Refused, Why, character, push_literal};

/// Returns the members of an ASCII class by its letter.
pub(super) fn members(letter: char) -> Option<&'static str> {
    Some(match letter {
        'd' | 'D' => "0-9",
        'w' | 'W' => "0-9A-Za-z_",
        's' | 'S' => "\\t\\n\\x0C\\r ",
        _ => return None,
    })
}

/// Translates a bracketed class, and returns the text after it. The last `:]` of the pattern is
/// `last_named` bytes before its end.
pub(super) fn bracketed<'p>(whole: &'p str, last_named: usize, out: &mut String) -> Checked<'p, &'p str> {
    let (mut rest, not) = match whole.strip_prefix("[^") {
        Some(rest) => (rest, true),
        None => (whole.get(1..).unwrap_or(""), false),
    };
    let (mut inside, mut first) = (String::new(), true);
    while first || !rest.starts_with(']') {
        if rest.is_empty() {
            return Err(Refused { part: whole, why: Why::Bracket });
        }
        first = false;
        rest = member(rest, last_named, &mut inside)?;
    }
    // Surrogates alone leave nothing inside.
    let (inside, not) = if inside.is_empty() { ("\\s\\S", !not) } else { (&*inside, not) };
    out.push_str(if not { "[^" } else { "[" });
    out.push_str(inside);
    out.push(']');
    Ok(rest.get(1..).unwrap_or(""))
}

/// Translates a class or a range inside brackets.
fn member<'p>(rest: &'p str, last_named: usize, out: &mut String) -> Checked<'p, &'p str> {
    if let Some(inside) = rest.strip_prefix("[:").filter(|inside| inside.len() >= last_named)
        && let Some((name, _)) = inside.split_once(":]")
    {
        return posix(rest, name, out);
    }
    if rest.starts_with("\\p") || rest.starts_with("\\P") {
        return unicode(rest, out);
    }
    if let Some(letter) = rest.strip_prefix('\\').and_then(|behind| behind.chars().next())
        && let Some(members) = members(letter)
    {
        out.push_str(&if letter.is_ascii_uppercase() { format!("[^{members}]") } else { members.to_owned() });
        return Ok(rest.get(2..).unwrap_or(""));
    }
    let (low, behind) = one(rest)?;
    // A minus before the closing bracket is a literal.
    let (high, behind) = match behind.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']')) {
        Some(after) => one(after)?,
        None => (low, behind),
    };
    if high < low {
        return Err(Refused { part: rest.get(..rest.len() - behind.len()).unwrap_or(rest), why: Why::Class });
    }
    push_range(low, high, out);
    Ok(behind)
}

/// Reads one character of a class.
fn one(rest: &str) -> Checked<'_, (u32, &str)> {
    if rest.starts_with('\\') {
        return character(rest);
    }
    let mut chars = rest.chars();
    let c = chars.next().map_or(0, u32::from);
    Ok((c, chars.as_str()))
}

/// Writes a range without the surrogates, which occur in no text.
fn push_range(low: u32, high: u32, out: &mut String) {
    let low = if char::from_u32(low).is_some() { low } else { 0xE000 };
    let high = if char::from_u32(high).is_some() { high } else { 0xD7FF };
    if low <= high {
        push_literal(low, out);
    }
    if low < high {
        out.push('-');
        push_literal(high, out);
    }
}

/// The named classes.
const NAMED: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// Copies a class such as `[:alpha:]` or `[:^alpha:]`.
fn posix<'p>(rest: &'p str, name: &str, out: &mut String) -> Checked<'p, &'p str> {
    let (class, behind) = rest.split_at(name.len() + "[::]".len());
    if !NAMED.contains(&name.strip_prefix('^').unwrap_or(name)) {
        return Err(Refused { part: class, why: Why::Class });
    }
    out.push_str(class);
    Ok(behind)
}

/// Scripts whose names are no longer than abbreviations of other names.
const SHORT: [&str; 14] =
    ["ahom", "cham", "han", "kawi", "lao", "lisu", "modi", "mro", "newa", "nko", "thai", "toto", "vai", "yi"];

/// Translates `\pL`, `\p{Greek}` or `\P{Greek}`: categories and scripts of Unicode, `Any`, `ASCII` and `Assigned`.
pub(super) fn unicode<'p>(rest: &'p str, out: &mut String) -> Checked<'p, &'p str> {
    let behind = rest.get(2..).unwrap_or("");
    let (name, after) = match behind.strip_prefix('{') {
        Some(inside) => inside.split_once('}').ok_or(Refused { part: rest, why: Why::Class })?,
        None => behind.split_at(behind.chars().next().map_or(0, char::len_utf8)),
    };
    let class = rest.get(..rest.len() - after.len()).unwrap_or(rest);
    let (name, swapped) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
    let letter = if rest.starts_with("\\P") != swapped { 'P' } else { 'p' };
    let property = property(name).ok_or(Refused { part: class, why: Why::Class })?;
    out.push_str(&format!("\\{letter}{{{property}}}"));
    Ok(after)
}

/// Returns the engine's name of a category or script. Case, spaces, `_` and `-` do not matter.
fn property(name: &str) -> Option<String> {
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-')) {
        return None;
    }
    let name = name.replace([' ', '_', '-'], "").to_ascii_lowercase();
    if matches!(&*name, "any" | "ascii" | "assigned") {
        return Some(name);
    }
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&name).cloned()) {
        return Some(known);
    }
    let (category, script) = (format!("gc={name}"), format!("sc={name}"));
    let is_script = || (name.len() > 4 || SHORT.contains(&&*name)) && exists(&script);
    let property = if exists(&category) { Some(category) } else { is_script().then_some(script) }?;
    KNOWN.with_borrow_mut(|known| known.insert(name, property.clone()));
    Some(property)
}

thread_local! {
    /// The properties that were found so far, because asking the engine takes long. There are a few hundred.
    static KNOWN: RefCell<HashMap<String, String>> = RefCell::default();
}

/// Returns `true` if the engine knows a property. With this size, it compiles none.
fn exists(property: &str) -> bool {
    let built = regex::RegexBuilder::new(&format!("\\p{{{property}}}")).size_limit(0).build();
    !matches!(built, Err(regex::Error::Syntax(_)))
}
