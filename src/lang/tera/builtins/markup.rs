//! Filters that escape text for HTML and XML.

use super::arguments::{Written, subject, written};
use dropforge_base::stdlib::markup::{self, Entities, HTML, SLASHES, XML};
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

builtins! {
    /// Filters that escape text for HTML and XML.
    pub(super) static MARKUP:
    filter "escape" (value: Str) => escape, total (Str),
        "For HTML: `& < > \" ' /` as entities."
        [r"{{ '<b>a/b</b>' | escape }}" => "&lt;b&gt;a&#x2F;b&lt;&#x2F;b&gt;", r"{{ 1 | escape }}" => "E0403"];
    filter "escape_xml" (value: Str) => escape_xml, total (Str),
        "For XML: `& < > \" '` as entities."
        [r#"{{ "<a b='c'/>" | escape_xml }}"# => "&lt;a b=&apos;c&apos;/&gt;"];
    filter "addslashes" (value: Str) => add_slashes, total (Str),
        "With a backslash before each backslash and quote."
        [r#"{{ "it's" | addslashes }}"# => r"it\'s"];
    filter "striptags" (value: Str) => strip_tags, total (Str),
        "Without HTML tags and comments."
        [r"{{ '<p>a <b>b</b><!-- c --></p>' | striptags }}" => "a b"];
    filter "spaceless" (value: Str) => spaceless, total (Str),
        "Without white space between tags."
        [r"{{ '<p> <b>a b</b> </p>' | spaceless }}" => "<p><b>a b</b></p>"];
}

fn escape<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    with_entities(cx, args, &HTML, out)
}

fn escape_xml<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    with_entities(cx, args, &XML, out)
}

fn add_slashes<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    with_entities(cx, args, &SLASHES, out)
}

fn with_entities<'v>(cx: &Cx<'v>, args: &[Value<'v>], entities: &'static Entities, out: &mut String) -> Written<'v> {
    let text = subject(cx, args)?;
    let len = entities.escaped_len(text);
    if len == text.len() {
        cx.spend(text.len() as u64 / 64)?;
        cx.charge(size_of::<Value>())?;
        return Ok(args.first().copied());
    }
    written(cx, Some(len), out, |out| entities.escape_into(text, out))
}

fn strip_tags<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let text = subject(cx, args)?;
    written(cx, Some(text.len()), out, |out| markup::strip_tags(text, out))
}

fn spaceless<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let text = subject(cx, args)?;
    written(cx, Some(text.len()), out, |out| markup::spaceless(text, out))
}
