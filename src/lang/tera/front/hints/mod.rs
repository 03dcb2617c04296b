//! Hints for errors of the compiler: what other template languages write in place of what Tera has.

mod habits;

use crate::builtins::{marks, plus_tables, tables};
use crate::hints::Place::{Function, Statement, Tag};
use crate::hints::hint;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Builtin, Params};

/// Adds the hint for an unknown filter, test or function to its error.
pub(crate) fn unknown(error: Box<Diagnostic>, kind: ImportKind, name: &str) -> Box<Diagnostic> {
    if plus_tables().into_iter().flatten().any(|builtin| builtin.kind == kind && builtin.name == name) {
        let kind = kind.name();
        return error
            .with_note(format!("`{name}` is a {kind} beyond Tera, and this template is plain Tera"))
            .with_help("use `--tera plus`; in a catalog, begin the template with `{# dialect: tera+ #}`");
    }
    match hint(Function, name) {
        Some(hint) => error.with_help(hint),
        None => error,
    }
}

/// Returns the hint for an unknown `{%` tag.
pub(crate) fn statement(name: &str) -> Option<&'static str> {
    hint(Statement, name)
}

/// Returns the hint for a syntax error at `at` in `source`.
pub(crate) fn syntax(source: &str, at: usize) -> Option<String> {
    let before = source.get(..at)?;
    let behind = source.get(at..)?;
    if let Some(hint) = habits::hint(before, behind).or_else(|| jinja(before, behind)) {
        return Some(hint);
    }
    let start = before.rfind("{{").filter(|start| before.rfind("{%").is_none_or(|statement| statement < *start))?;
    if before.get(start..)?.contains("}}") {
        return None;
    }
    let tag = source.get(start..)?.trim_start_matches(['{', '-']).trim_start();
    let word = word_at_start(tag);
    let habit = hint(Tag, word).or_else(|| if is_call(tag, word) { hint(Function, word) } else { None });
    habit.map(str::to_owned).or_else(|| dotted(source, at)).or_else(|| named_arguments(before))
}

/// Returns the hint for calls and operators of Jinja and Python: `x.split(",")`, `m.tag(x.name)`, `a || b`.
fn jinja(before: &str, behind: &str) -> Option<String> {
    if before.ends_with('|') && behind.starts_with('|') {
        return Some("write `or`".to_owned());
    }
    let path = word(behind);
    if path.contains('.') && behind.get(path.len()..)?.starts_with('(') {
        return if path.starts_with('.') { method("x", path.trim_start_matches('.')) } else { call(path) };
    }
    if behind.starts_with('.') && before.ends_with(['"', '\'', '`', ')', ']']) {
        return Some("only a variable has a path: write `{% set x = … %}`, then `x.name`".to_owned());
    }
    let (head, arguments) = before.rsplit_once('(')?;
    if arguments.contains([')', '}', '%', '=']) {
        return None;
    }
    let start = head.rfind(|c| !is_in_path(c)).map_or(0, |at| at + 1);
    let callee = word(head.get(start..)?);
    let is_path = behind.starts_with('.') && before.ends_with(is_in_path);
    call(callee).or_else(|| (is_path && !callee.is_empty()).then(|| NAMED.to_owned()))
}

const NAMED: &str = "arguments are given by name: `f(name=value)`";

/// Returns the hint for the call of a path: a filter as a method, or a macro.
fn call(path: &str) -> Option<String> {
    let (value, name) = path.rsplit_once('.')?;
    method(value, name).or_else(|| {
        let path = path.replace('.', "::");
        Some(format!("write a macro as `{path}(name=value)`, with the names of its arguments"))
    })
}

/// Returns the hint for a filter that is called as a method.
fn method(value: &str, name: &str) -> Option<String> {
    if name == "items" {
        return Some(format!("write `{{% for key, value in {value} %}}`"));
    }
    let arguments = match filter(name)?.params {
        Params::Named([_, param, ..]) => format!("({}=…)", param.name),
        _ => String::new(),
    };
    Some(format!("values have no methods: write the filter `{value} | {name}{arguments}`"))
}

fn is_in_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

/// Returns the path at the start of a text.
fn word(text: &str) -> &str {
    text.get(..text.find(|c| !is_in_path(c)).unwrap_or(text.len())).unwrap_or("")
}

/// Returns the builtin filter of a name.
fn filter(name: &str) -> Option<&'static Builtin> {
    builtin(ImportKind::Filter, name)
}

fn builtin(kind: ImportKind, name: &str) -> Option<&'static Builtin> {
    let known = |builtin: &&Builtin| builtin.kind == kind && builtin.name == name;
    tables().into_iter().chain(plus_tables()).chain([marks()]).flatten().find(known)
}

/// Returns `true` if the word of a tag has arguments after it: `toYaml .x`.
fn is_call(tag: &str, word: &str) -> bool {
    let rest = tag.get(word.len()..).unwrap_or("");
    rest.starts_with([' ', '\t', '('])
}

/// Returns the hint for a path with a leading dot: `.Values.image.tag`.
fn dotted(source: &str, at: usize) -> Option<String> {
    let path = source.get(at..)?.strip_prefix('.')?;
    let path = path.strip_prefix("Values.").unwrap_or(path);
    let end = path.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_')).unwrap_or(path.len());
    let path = path.get(..end).filter(|path| path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
    Some(format!("names have no leading dot: write `{path}`"))
}

/// Returns the hint for an argument without parentheses, after a filter: `x | nindent 4`.
fn named_arguments(before: &str) -> Option<String> {
    let (_, name) = before.rsplit_once('|')?;
    let name = name.trim();
    let Params::Named([_, param, ..]) = filter(name)?.params else { return None };
    Some(format!("arguments have names: `{name}({}=…)`", param.name))
}

fn word_at_start(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::HINTS;
    use crate::hints::Place::{Path, Root};
    use dropforge::engine::{Dialect, Engine, TeraDialect};

    /// Returns the help of the first error of a template, compiled or rendered.
    fn help(template: &str) -> String {
        let error = match Engine::new().compile(Dialect::Tera, "t", template) {
            Ok(compiled) => compiled.render(&()).expect_err(template),
            Err(errors) => errors.into_vec().remove(0),
        };
        error.help.clone().unwrap_or_default()
    }

    #[test]
    fn every_hint_reaches_the_error_it_is_for() {
        for (place, word, hint) in HINTS {
            let template = match place {
                Function => format!("{{{{ 1 | {word} }}}}"),
                Tag => format!("{{{{ {word} \"x\" . }}}}"),
                Root => format!("{{{{ {word}.a.b }}}}"),
                Statement => format!("{{% {word} x %}}"),
                Path => format!("{{% for x in [1] %}}{{{{ {word} }}}}{{% endfor %}}"),
            };
            let wanted = if *place == Root { hint.replace("{}", "a.b") } else { (*hint).to_owned() };
            assert_eq!(help(&template), wanted, "{template}");
        }
    }

    #[test]
    fn the_names_of_hints_do_not_exist() {
        for (_, word, _) in HINTS.iter().filter(|(place, ..)| *place == Function) {
            for kind in ImportKind::FUNCTIONS {
                assert!(crate::registry().get(kind, word).is_none(), "{word}");
            }
        }
    }

    #[test]
    fn go_syntax_is_answered() {
        assert_eq!(help("{{ .Values.image.tag }}"), "names have no leading dot: write `image.tag`");
        assert_eq!(help("a: {{- .name }}"), "names have no leading dot: write `name`");
        assert_eq!(help("{{ toYaml .Values.a | nindent 4 }}"), "write `x | to_yaml`");
        assert_eq!(help("{{ x | nindent 4 }}"), "arguments have names: `nindent(n=…)`");
        assert_eq!(help("{{- with .Values.a }}"), hint(Tag, "with").unwrap());
        assert_eq!(help("{{ Values }}"), "values have no prefix: write `name`");
        assert_eq!(help("{% if x %}{{ end }}{% endif %}{{ end }}"), hint(Root, "end").unwrap());
        for other in ["{{ a . b }}", "{{ .5 }}", "{{ 1 }} {% if .a %}", "{{ include }} {{ 'a }}"] {
            assert!(!help(other).contains("write `"), "{other}: {}", help(other));
        }
        for far in [format!("{{{{ 1 }}}}{}{{% if %}}", ".".repeat(1 << 16)), "{{ .".to_owned(), "{{.}}".to_owned()] {
            let _ = help(&far);
        }
    }

    #[test]
    fn calls_of_jinja_are_answered() {
        for (template, hint) in [
            ("{{ m.tag(s.name) }}", "write a macro as `m::tag(name=value)`, with the names of its arguments"),
            ("{{ m.tag(x=1) }}", "write a macro as `m::tag(name=value)`, with the names of its arguments"),
            ("{{ \"a,b\".split(\",\") }}", "values have no methods: write the filter `x | split(pat=…)`"),
            ("{{ a.split(\",\") }}", "values have no methods: write the filter `a | split(pat=…)`"),
            ("{% set b = a.upper() %}", "values have no methods: write the filter `a | upper`"),
            ("{% for k in a.items() %}{% endfor %}", "write `{% for key, value in a %}`"),
            ("{{ foo(s.name) }}", NAMED),
            ("{{ (a).b }}", "only a variable has a path: write `{% set x = … %}`, then `x.name`"),
            ("{{ a || b }}", "write `or`"),
            ("{% if a || b %}{% endif %}", "write `or`"),
            ("{{ größe }}", "names are made of ASCII letters, digits and `_`"),
        ] {
            assert_eq!(help(template), hint, "{template}");
        }
    }

    #[test]
    fn habits_of_jinja_liquid_and_python_are_answered() {
        for (template, hint) in [
            ("{{ a if b }}", "there is no inline `if`: write `{% if b %}{{ a }}{% endif %}`"),
            ("{{- a if not b else c -}}", "`{% if not b %}{{ a }}{% else %}{{ c }}{% endif %}`"),
            ("{{ f(x=1 if b else 2) }}", "there is no inline `if`: write `{% if … %}` … `{% else %}` … `{% endif %}`"),
            ("{% if a %}{%- else if b -%}{% endif %}", "write `{% elif b %}`"),
            ("{% if a is not divisibleby 3 %}{% endif %}", "write `is divisibleby(3)`"),
            ("{{ a.b[:2] }}", "`a.b | slice(end=2)`"),
            ("{{ (\"a\", \"b\") }}", "write `[\"a\", \"b\"]`"),
            ("{{ x | replace(\"a\") }}", "`replace(from=\"a\")`"),
            ("{{ a = 1 }}", "write `{% set a = 1 %}`"),
            ("{% import \"lib/my-macros.tera\" %}", "as my_macros %}`"),
            ("{% include \"a\" without context %}", "write `{% include \"a\" %}`"),
            ("{% for x of list %}{% endfor %}", "write `{% for x in list %}`"),
            ("{% set a %}", "write `{% set a = … %}`"),
            ("{{ {{ a }} }}", "write `a`"),
            ("{% unless a %}{% endif %}", "write `{% if not … %}`"),
            ("{% for x in [1] %}{{ loop.indx }}{% endfor %}", "did you mean `loop.index`?"),
            ("{{ [1] | nth(1) }}", "`nth(n=1)`"),
        ] {
            assert!(help(template).contains(hint), "{template}: {}", help(template));
        }
    }

    #[test]
    fn a_path_has_a_value_up_to_a_step() {
        for (path, name, until) in
            [("a.b.c", "b", "a.b"), ("a.ab.b.c", "b", "a.ab.b"), ("a[b].c", "c", "a[b].c"), ("a[x]", "x", "a[x]")]
        {
            assert_eq!(crate::hints::until(path, name), until);
        }
    }

    #[test]
    fn plain_tera_names_what_is_beyond_it() {
        let engine = Engine::builder().tera(TeraDialect::Plain).build();
        let errors = engine.compile(Dialect::Tera, "t", "{{ 1 | to_yaml }}{{ fail(message='a') }}").unwrap_err();
        let notes: Vec<&str> = errors.iter().flat_map(|error| &error.notes).map(String::as_str).collect();
        assert_eq!(
            notes,
            [
                "`to_yaml` is a filter beyond Tera, and this template is plain Tera",
                "`fail` is a function beyond Tera, and this template is plain Tera"
            ]
        );
    }
}
