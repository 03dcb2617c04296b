//! String filters: letter case, trimming, truncating, replacing, splitting, lines; escapes for HTML and XML.

use std::borrow::Cow;

use super::{ANY, LETTERS, LINES, WORDS, Written, grown, written, written_in_pieces};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::byte_search;
use dropforge_base::stdlib::markup::{self, Entities, HTML, SLASHES, XML};
use dropforge_base::stdlib::strings::{self, Indent};
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::{Text, Value};

functions! {
    /// String filters.
    pub(super) static STRINGS:
    filter "upper" (value: Str) => upper, total (Str),
        "All letters in upper case."
        [r"{{ 'Straße' | upper }}" => "STRASSE", r"{{ 1 | upper }}" => "E0403"];
    filter "lower" (value: Str) => lower, total (Str),
        "All letters in lower case."
        [r"{{ 'Web-API' | lower }}" => "web-api"];
    filter "capitalize" (value: Str) => capitalize, total (Str),
        "The first letter as a capital, all others as small letters."
        [r"{{ 'hELLO World' | capitalize }}" => "Hello world"];
    filter "trim" (value: Str) = str::trim, total (Str),
        "Without white space at both ends."
        [r"[{{ '  a b ' | trim }}]" => "[a b]"];
    filter "trim_start" (value: Str) = str::trim_start, total (Str),
        "Without white space at the beginning."
        [r"[{{ ' a ' | trim_start }}]" => "[a ]"];
    filter "trim_end" (value: Str) = str::trim_end, total (Str),
        "Without white space at the end."
        [r"[{{ ' a ' | trim_end }}]" => "[ a]"];
    filter "trim_start_matches" (value: Str, pat: Str) = trim_start_matches, total (Str, Str),
        "Without the text `pat` at the beginning, however often it stands there."
        [r"{{ '//a/b//' | trim_start_matches(pat='/') }}" => "a/b//", r"{{ 'a' | trim_start_matches }}" => "E0402"];
    filter "trim_end_matches" (value: Str, pat: Str) = trim_end_matches, total (Str, Str),
        "Without the text `pat` at the end, however often it stands there."
        [r"{{ '//a/b//' | trim_end_matches(pat='/') }}" => "//a/b"];
    filter "truncate" (value: Str, length: Size = int 255, end: Str = str "…") => truncate, total (Str, Size, Str),
        "The first `length` characters as a reader counts them, and `end` if that left any out."
        [r"{{ 'abcdef' | truncate(length=3) }}" => "abc…", r"{{ 'abc' | truncate(length=3, end='!') }}" => "abc"];
    filter "wordcount" (value: Str) = wordcount, total (Str),
        "The number of words, separated by white space."
        [r"{{ ' one  two ' | wordcount }}" => "2"];
    filter "replace" (value: Str, from: Str, to: Str) => replace, total (Str, Str, Str),
        "With every `from` replaced by `to`."
        [r"{{ 'a.b.c' | replace(from='.', to='-') }}" => "a-b-c", r"{{ 'a' | replace(from='a') }}" => "E0402"];
    filter "split" (value: Str, pat: Str) = split, total (Str, Str),
        r"The parts between each `pat`, as a list; `\n` and `\t` in it stand for a line feed and a tab."
        [r"{{ 'a,b' | split(pat=',') | last }}" => "b"];
    filter "indent" (value: Str, prefix: Str = str "    ", first: Bool = false, blank: Bool = false) => indent, total (Str, Str, Bool, Bool),
        "With `prefix` before each line: the first one if `first`, blank ones if `blank`. A final line break is removed."
        ["{{ 'a\nb' | indent(prefix='- ') }}" => "a\n- b", r"{{ 'a' | indent(first=true) }}" => "    a"];
    filter "linebreaksbr" (value: Str) => line_breaks, total (Str),
        "With line ends as `<br>`."
        ["{{ 'a\nb' | linebreaksbr }}" => "a<br>b"];
}

fn upper<'v>(cx: &Cx<'v>, text: &'v Text<'v>, out: &mut String) -> Written<'v> {
    with_case(cx, text, out, str::make_ascii_uppercase, strings::push_uppercase)
}

fn lower<'v>(cx: &Cx<'v>, text: &'v Text<'v>, out: &mut String) -> Written<'v> {
    with_case(cx, text, out, str::make_ascii_lowercase, strings::push_lowercase)
}

/// Appends the text with all letters changed: ASCII in place, any other text by `push`.
#[inline(always)]
fn with_case<'v>(
    cx: &Cx<'v>,
    text: &Text<'v>,
    out: &mut String,
    ascii: impl Fn(&mut str),
    push: impl Fn(&str, &mut String),
) -> Written<'v> {
    if text.is_ascii() {
        let len = Some(text.as_str().len());
        return written_in_pieces(cx, (text.as_str(), LETTERS), len, out, |text, out| {
            strings::push_changed(text, out, &ascii)
        });
    }
    grown(cx, (text.as_str(), LETTERS), out, push)
}

fn capitalize<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    let mut write: fn(&str, &mut String) = strings::capitalize;
    written_in_pieces(cx, (text, LETTERS), Some(strings::any_case_len(text)), out, |piece, out| {
        std::mem::replace(&mut write, strings::push_lowercase)(piece, out)
    })
}

/// Returns a text with `\n` and `\t` replaced by a newline and a tab.
pub(super) fn unescaped<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Cow<'v, str>> {
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    cx.charge(text.len())?;
    Ok(Cow::Owned(strings::control_escapes(text)))
}

fn trim_start_matches<'v>(cx: &Cx<'v>, text: &'v str, pat: &'v str) -> Result<&'v str> {
    Ok(text.trim_start_matches(&*unescaped(cx, pat)?))
}

fn trim_end_matches<'v>(cx: &Cx<'v>, text: &'v str, pat: &'v str) -> Result<&'v str> {
    Ok(text.trim_end_matches(&*unescaped(cx, pat)?))
}

fn truncate<'v>(cx: &Cx<'v>, value: &'v Text<'v>, length: usize, end: &'v str, out: &mut String) -> Written<'v> {
    let Some(kept) = strings::truncated(value.as_str(), length) else { return Ok(Some(Value::Str(value))) };
    written(cx, kept.len().checked_add(end.len()), out, |out| out.extend([kept, end]))
}

fn wordcount<'v>(cx: &Cx<'v>, text: &'v str) -> Result<i64> {
    cx.spend(text.len() as u64 / 64)?;
    cx.pieces(text, WORDS).map(|piece| Ok(strings::word_count(piece?) as i64)).sum()
}

fn replace<'v>(cx: &Cx<'v>, value: &'v Text<'v>, from: &'v str, to: &'v str, out: &mut String) -> Written<'v> {
    let text = value.as_str();
    cx.spend(text.len() as u64 / 64)?;
    let found = strings::occurrences(text, from);
    if found == 0 {
        return Ok(Some(Value::Str(value)));
    }
    let len = strings::replaced_len(text, from, to, found);
    written(cx, len, out, |out| strings::push_replaced(text, from, to, found, out))
}

fn split<'v>(cx: &Cx<'v>, text: &'v str, pat: &'v str) -> Result<Value<'v>> {
    let pat = unescaped(cx, pat)?;
    let count = match pat.as_bytes() {
        [_] => strings::occurrences(text, &pat) + 1,
        _ => text.split(&*pat).count(),
    };
    cx.spend(count as u64 + text.len() as u64 / 64)?;
    cx.charge(count.saturating_mul(2 * size_of::<Value>()))?;
    cx.charge((count + 2) * size_of::<Value>())?;
    match pat.as_bytes() {
        [byte] => parts(cx, text, count, pat.len(), byte_search::places(text.as_bytes(), *byte)),
        _ => parts(cx, text, count, pat.len(), text.match_indices(&*pat).map(|(at, _)| at)),
    }
}

/// Returns the list of the `count` parts of `text` between separators of `len` bytes.
fn parts<'v>(
    cx: &Cx<'v>,
    text: &'v str,
    count: usize,
    len: usize,
    mut separators: impl Iterator<Item = usize>,
) -> Result<Value<'v>> {
    let mut start = 0;
    let texts = (0..count).map(|at| {
        cx.at_item(at)?;
        let end = separators.next().unwrap_or(text.len());
        let rest = text.get(start..).unwrap_or("");
        let part = Text::prefix_of(rest, end.saturating_sub(start));
        start = end.saturating_add(len);
        Ok(part)
    });
    let texts: &[Text<'v>] = cx.arena().bump().alloc_slice_try_fill_iter::<_, _, Box<Diagnostic>>(texts)?;
    let items = cx.arena().bump().alloc_slice_fill_iter(texts.iter().map(Value::Str));
    cx.within_depth(cx.arena().borrowed_list(items))
}

fn indent<'v>(cx: &Cx<'v>, text: &'v str, prefix: &'v str, first: bool, blank: bool, out: &mut String) -> Written<'v> {
    let indent = Indent { prefix, first, blank };
    written(cx, indent.len(text), out, |out| indent.apply(text, out))
}

fn line_breaks<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    written_in_pieces(cx, (text, LINES), strings::line_breaks_to_br_len(text), out, strings::line_breaks_to_br)
}

functions! {
    /// Filters that escape text for HTML and XML.
    pub(super) static MARKUP:
    filter "escape" (value: Str) => with_entities(&HTML), total (Str),
        "For HTML: `& < > \" ' /` as entities."
        [r"{{ '<b>a/b</b>' | escape }}" => "&lt;b&gt;a&#x2F;b&lt;&#x2F;b&gt;", r"{{ 1 | escape }}" => "E0403"];
    filter "escape_xml" (value: Str) => with_entities(&XML), total (Str),
        "For XML: `& < > \" '` as entities."
        [r#"{{ "<a b='c'/>" | escape_xml }}"# => "&lt;a b=&apos;c&apos;/&gt;"];
    filter "addslashes" (value: Str) => with_entities(&SLASHES), total (Str),
        "With a backslash before each backslash and quote."
        [r#"{{ "it's" | addslashes }}"# => r"it\'s"];
    filter "striptags" (value: Str) => strip_tags, total (Str),
        "Without HTML tags and comments."
        [r"{{ '<p>a <b>b</b><!-- c --></p>' | striptags }}" => "a b"];
    filter "spaceless" (value: Str) => spaceless, total (Str),
        "Without white space between tags."
        [r"{{ '<p> <b>a b</b> </p>' | spaceless }}" => "<p><b>a b</b></p>"];
}

/// Returns a body that replaces characters by entities.
fn with_entities<'a, 'v>(entities: &'static Entities) -> impl Fn(&Cx<'v>, &'v Text<'v>, &'a mut String) -> Written<'v> {
    move |cx, value, out| {
        let text = value.as_str();
        let len = entities.escaped_len(text);
        if len == text.len() {
            cx.spend(text.len() as u64 / 64)?;
            cx.charge(size_of::<Value>())?;
            return Ok(Some(Value::Str(value)));
        }
        written_in_pieces(cx, (text, ANY), Some(len), out, |text, out| entities.escape_into(text, out))
    }
}

fn strip_tags<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    written(cx, Some(text.len()), out, |out| markup::strip_tags(text, out))
}

fn spaceless<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    written(cx, Some(text.len()), out, |out| markup::spaceless(text, out))
}
