//! Hints for habits from other template languages: the name or the text in an error, and what to write instead.

use dropforge_base::diagnostics::{Diagnostic, counted, nearest};
use dropforge_machine::language::{InvalidOutput, indent_below};

/// The place of an error to which a hint applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// An unknown filter, test or function, or the first word of a tag with a syntax error.
    Function,
    /// The first word of a `{{` tag with a syntax error.
    Tag,
    /// The name of an unknown `{%` tag.
    Statement,
    /// The root of a missing variable.
    Root,
    /// A missing variable.
    Path,
}

use Place::{Function, Path, Root, Statement, Tag};

/// The hints. `{}` stands for the path in a hint of a root, without that root.
pub(super) const HINTS: &[(Place, &str, &str)] = &[
    (Function, "toYaml", "write `x | to_yaml`"),
    (Function, "toJson", "write `x | to_json`"),
    (Function, "toPrettyJson", "write `x | to_json(pretty=true)`"),
    (Function, "fromYaml", "write `x | from_yaml`"),
    (Function, "fromJson", "write `x | from_json`"),
    (Function, "b64enc", "write `x | b64encode`"),
    (Function, "b64dec", "write `x | b64decode`"),
    (Function, "sha256sum", "write `x | sha256`"),
    (Function, "sha1sum", "write `x | sha1`"),
    (Function, "semverCompare", "write `version | semver_compare(constraint='>=1.27')`"),
    (Function, "regexMatch", "write `x | regex_match(pattern='…')`"),
    (Function, "mustRegexMatch", "write `x | regex_match(pattern='…')`"),
    (Function, "regexReplaceAll", "write `x | regex_replace(pattern='…', to='…')`"),
    (Function, "mergeOverwrite", "write `x | merge_deep(with=y)`"),
    (Function, "trimSuffix", "write `x | trim_end_matches(pat='…')`"),
    (Function, "trimPrefix", "write `x | trim_start_matches(pat='…')`"),
    (Function, "hasKey", "write `'key' in map`"),
    (Function, "contains", "write `x is containing('…')`"),
    (Function, "hasPrefix", "write `x is starting_with('…')`"),
    (Function, "hasSuffix", "write `x is ending_with('…')`"),
    (Function, "len", "write `x | length`"),
    (Function, "printf", "join text with `~`: `'a-' ~ name`"),
    (Function, "print", "write `{{ x }}`"),
    (Function, "dict", "there are no map literals: give a map as a value, or write `'{\"a\": 1}' | from_json`"),
    (Function, "list", "write `[a, b]`"),
    (Function, "eq", "write `a == b`"),
    (Function, "ne", "write `a != b`"),
    (Function, "tpl", "templates in values are not rendered: include a template file"),
    (Function, "lookup", "templates do not read clusters: give the object as a value"),
    (Function, "none", "`null` counts as false: write `not x`, or `x is undefined`"),
    (Function, "null", "`null` counts as false: write `not x`, or `x is undefined`"),
    (Function, "mapping", "write `x is object`"),
    (Function, "sequence", "write `x is iterable`"),
    (Function, "boolean", "write `x == true or x == false`"),
    (Function, "items", "write `{% for key, value in map %}`"),
    (Function, "count", "write `x | length`"),
    (Function, "toString", "write `x | as_str`"),
    (Function, "d", "write `x | default(value=…)`"),
    (Function, "selectattr", "write `list | filter(attribute='…', value=…)`"),
    (Function, "rejectattr", "write `{% for x in list %}{% if not x.key %}…{% endif %}{% endfor %}`"),
    (Function, "format", "join text with `~`: `'a-' ~ name`"),
    (Function, "enumerate", "write `loop.index0`"),
    (Tag, "include", "write `{% include \"file\" %}`: the included file sees all values"),
    (Tag, "template", "write `{% include \"file\" %}`: the included file sees all values"),
    (Tag, "with", "there is no `with`: write `{% set x = … %}`, or the whole path"),
    (Tag, "if", "write `{% if … %}` … `{% endif %}`"),
    (Tag, "range", "write `{% for item in list %}` … `{% endfor %}`"),
    (Tag, "define", "write `{% macro name() %}` … `{% endmacro %}`, or include a file"),
    (Tag, "block", "write `{% block name %}` … `{% endblock %}`"),
    (Statement, "end", "write `{% endif %}` or `{% endfor %}`"),
    (Statement, "with", "there is no `with`: write `{% set x = … %}`, or the whole path"),
    (Statement, "endwith", "there is no `with`: write `{% set x = … %}`, or the whole path"),
    (Statement, "do", "there is no `do`, as values do not change: write `{% set x = … %}`"),
    (Statement, "from", "write `{% import \"file\" as name %}`, then `name::macro(argument=value)`"),
    (Statement, "call", "write `{{ name::macro(argument=value) }}`"),
    (Statement, "unless", "write `{% if not … %}`"),
    (Statement, "while", "there is no `while`: write `{% for i in range(end=…) %}`"),
    (Statement, "switch", "write `{% if … %}` and `{% elif … %}`"),
    (Statement, "case", "write `{% if … %}` and `{% elif … %}`"),
    (Statement, "when", "write `{% elif … %}`"),
    (Statement, "range", "write `{% for item in list %}` … `{% endfor %}`"),
    (Statement, "define", "write `{% macro name() %}` … `{% endmacro %}`, or include a file"),
    (Statement, "template", "write `{% include \"file\" %}`: the included file sees all values"),
    (Statement, "render", "write `{% include \"file\" %}`: the included file sees all values"),
    (Statement, "assign", "write `{% set x = … %}`"),
    (Statement, "capture", "write `{% set x = … %}`"),
    (Statement, "comment", "write `{# … #}`"),
    (Statement, "verbatim", "write `{% raw %}` … `{% endraw %}`"),
    (Statement, "autoescape", "whether text is escaped follows from the file's name: `x | safe` leaves it as it is"),
    (Root, "None", "`null` counts as false: write `not x`, or `x is undefined`"),
    (Root, "null", "`null` counts as false: write `not x`, or `x is undefined`"),
    (Root, "nil", "`null` counts as false: write `not x`, or `x is undefined`"),
    (Root, "Values", "values have no prefix: write `{}`"),
    (Root, "Release", "Helm's `Release` does not exist here: give it as a value"),
    (Root, "Chart", "Helm's `Chart` does not exist here: give it as a value"),
    (Root, "Capabilities", "Helm's `Capabilities` does not exist here: give it as a value"),
    (Root, "end", "write `{% endif %}` or `{% endfor %}`"),
    (Root, "else", "write `{% else %}`"),
    (Path, "loop.length", "write `list | length` with the list of the loop"),
    (Path, "loop.revindex", "write `list | length` and `loop.index0`"),
];

pub(super) fn hint(place: Place, name: &str) -> Option<&'static str> {
    HINTS.iter().find(|(at, word, _)| *at == place && *word == name).map(|(.., hint)| *hint)
}

/// The fields of a loop.
const LOOP: [&str; 4] = ["loop.index", "loop.index0", "loop.first", "loop.last"];

/// Adds the hint for a missing variable to its error. `until` is the part of the path that has no value, and `names` are
/// those that exist in its place.
pub(super) fn missing<'n>(
    error: Box<Diagnostic>,
    (path, until): (&str, &str),
    name: &str,
    names: impl Iterator<Item = &'n str>,
) -> Box<Diagnostic> {
    let (root, rest) = path.split_once('.').unwrap_or((path, ""));
    if let Some(hint) = hint(Path, path).or_else(|| hint(Root, root)) {
        return error.with_help(hint.replace("{}", if rest.is_empty() { "name" } else { rest }));
    }
    if root == "loop" {
        return match nearest(path, LOOP) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")).with_replacement(path, near),
            None => error.with_help(format!("inside `{{% for … %}}`, there are `{}`", LOOP.join("`, `"))),
        };
    }
    let mut hyphened = names.filter(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')));
    match (hyphened.next(), until.strip_suffix(name).and_then(|parent| parent.strip_suffix('.'))) {
        (Some(other), Some(parent)) => error.with_help(format!("`-` subtracts: write `{parent}[\"{other}\"]`")),
        (Some(other), None) => error.with_help(format!(
            "`-` subtracts, so no template can read `{other}`: rename it to `{}`",
            other.replace('-', "_")
        )),
        (None, _) if error.help.is_none() => {
            error.with_help(format!("give `{until}` a value, or write `{path} | default(value=…)`"))
        }
        (None, _) => error,
    }
}

/// Returns the part of a path up to the step `name`, which has no value.
pub(super) fn until<'p>(path: &'p str, name: &str) -> &'p str {
    let ends = |end: &usize| path.get(*end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let steps = path.match_indices(name).filter(|(at, _)| path.get(..*at).is_some_and(|before| before.ends_with('.')));
    let end = steps.map(|(at, _)| at + name.len()).find(ends);
    path.get(..end.unwrap_or(path.len())).unwrap_or(path)
}

/// Adds the hint for an item that a list of `len` items does not have.
pub(super) fn no_item(error: Box<Diagnostic>, path: &str, until: &str, len: usize) -> Box<Diagnostic> {
    let list = until.rsplit_once(['.', '[']).map_or(until, |(list, _)| list);
    let error = error.with_note(format!("the list has {}, counted from 0", counted(len, "item")));
    match until.get(list.len() + 1..).map(|step| step.trim_end_matches(']')) {
        Some(step) if step.bytes().all(|byte| byte.is_ascii_digit()) => {
            error.with_help(format!("write `{path} | default(value=…)`, or test `{list} | length` first"))
        }
        _ => error.with_help(format!("write the number of an item, `{list}.0`, or loop over the list")),
    }
}

/// Adds the hint for a field of a value without fields.
pub(super) fn no_fields(error: Box<Diagnostic>, until: &str, name: &str) -> Box<Diagnostic> {
    let parent = until.strip_suffix(name).and_then(|parent| parent.strip_suffix('.')).unwrap_or("it");
    error.with_help(format!("give `{parent}` a map with the key `{name}`, or write `{parent}` alone"))
}

/// Returns the fix for the code that wrote a part of an output that is not YAML or JSON.
pub(super) fn output(invalid: &InvalidOutput<'_>) -> Option<String> {
    if invalid.is_joined() {
        return Some("a `-` in a tag removes the line break before it: write `%}` in place of `-%}`".to_owned());
    }
    let (lead, code) = (invalid.lead("{{")?, invalid.code);
    if code.contains("json_encode") || code.contains("to_json") {
        return None;
    }
    if code.contains("nindent") {
        let wanted = invalid.wanted_indent()?;
        let is_it = code.replace(' ', "").contains(&format!("nindent(n={wanted})"));
        return (!is_it).then(|| format!("write `nindent(n={wanted})`, as the line before is indented"));
    }
    if code.contains("to_yaml") || code.contains("indent") {
        let plain = code.rsplit_once('|').filter(|(_, last)| last.contains("indent")).map_or(code, |(plain, _)| plain);
        let by = indent_below(lead);
        return Some(format!("indent all of its lines: `{{{{- {} | nindent(n={by}) }}}}`", plain.trim_end()));
    }
    Some(format!("put the value in quotes: `{{{{ {code} | json_encode }}}}`"))
}
