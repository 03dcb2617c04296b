//! Lints of a well-formed field: expressions that shell quoting does not protect, environment variables, and the syntax
//! of other template languages.

mod command;
mod shell;

pub use shell::{Hazard, hazards};

use std::sync::Arc;

use self::command::uses;
use crate::error::abridged;
use crate::syntax::{ParsedField, Part};
use crate::{RenderMode, Scope};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};

/// A lint of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lint {
    /// The kind of lint.
    pub code: Code,
    /// The span in the field.
    pub span: Span,
    /// The hazard, if the lint is one. Strict validation rejects hazards.
    pub hazard: Option<Hazard>,
}

impl Lint {
    /// Returns the warning of this lint at `place` in `source`.
    pub fn warning(self, text: &str, source: &Arc<Source>, place: Span) -> Box<Diagnostic> {
        let shown = abridged(text.get(self.span.range()).unwrap_or(""));
        let (message, help) = match (self.hazard, self.code) {
            (Some(Hazard::Code), _) => (format!("the value of '{shown}' is run as code"), Hazard::Code.help()),
            (Some(hazard), _) => (format!("'{shown}' stands where quoting does not protect it"), hazard.help()),
            (_, Code::EnvironmentReference) => (
                format!("'{shown}' is left to the shell; the environment is not read here"),
                "write ${params.name} or ${context.name} for a value of the intent",
            ),
            (_, Code::ShellExpressionMayBeOption) => (
                format!("a value of '{shown}' that begins with '-' would be taken for an option"),
                "put `--` before the arguments",
            ),
            (_, Code::ControlCharacter) => {
                ("the text has a control character".to_owned(), "write it without; nothing is encoded here")
            }
            _ => (format!("'{shown}' is not an expression and stays as it is"), "write ${scope.name}"),
        };
        Diagnostic::warning(self.code, message).with_help(help).at(source, place, "")
    }
}

/// Returns the lints of a field in order of position.
pub fn lint(text: &str, field: &ParsedField<'_, '_>, mode: RenderMode) -> Vec<Lint> {
    let mut found = Vec::new();
    for part in field.parts {
        if let Part::Text(span) = part {
            lint_text(text, *span, &mut found);
        }
    }
    let expressions: Vec<Span> = field.references().map(|reference| reference.span).collect();
    match mode {
        RenderMode::Shell => shell_lints(text, &expressions, &mut found),
        RenderMode::Literal => control_characters(text, &mut found),
    }
    found.small_sort_by_key(|lint| (lint.span, lint.code));
    found
}

fn shell_lints(text: &str, expressions: &[Span], found: &mut Vec<Lint>) {
    for ((&span, hazard), used) in expressions.iter().zip(hazards(text, expressions)).zip(uses(text, expressions)) {
        match hazard.or_else(|| used.is_code.then_some(Hazard::Code)) {
            Some(hazard) => found.push(Lint { code: hazard.code(), span, hazard: Some(hazard) }),
            None if used.may_be_option => {
                found.push(Lint { code: Code::ShellExpressionMayBeOption, span, hazard: None });
            }
            None => {}
        }
    }
}

fn control_characters(text: &str, found: &mut Vec<Lint>) {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if let Some((at, c)) = text.char_indices().find(|&(_, c)| control(c)) {
        found.push(Lint { code: Code::ControlCharacter, span: Span::of(at..at + c.len_utf8()), hazard: None });
    }
}

/// Finds `$NAME`, `$params.app` and `{{ name }}` in the text at `span`.
fn lint_text(text: &str, span: Span, found: &mut Vec<Lint>) {
    let piece = text.get(span.range()).unwrap_or("");
    let base = span.start as usize;
    let mut at = 0;
    while let Some(next) = piece.get(at..).and_then(|rest| memchr::memchr3(b'$', b'{', b'\\', rest.as_bytes())) {
        at += next;
        let rest = piece.get(at..).unwrap_or("");
        let (code, length) = if let Some(name) = rest.strip_prefix('$') {
            dollar(name)
        } else if rest.starts_with('\\') {
            (None, 1 + rest.chars().nth(1).map_or(0, char::len_utf8))
        } else {
            braces(rest)
        };
        if let Some(code) = code {
            found.push(Lint { code, span: Span::of(base + at..base + at + length), hazard: None });
        }
        at += length.max(1);
    }
}

/// Classifies the text after a `$`. Returns the length including the `$`.
fn dollar(name: &str) -> (Option<Code>, usize) {
    if name.starts_with('$') {
        return (None, 2);
    }
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = name.find(|c: char| !of_name(c)).unwrap_or(name.len());
    let (word, rest) = name.split_at(length);
    if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
        return (None, 1 + length);
    }
    let path = rest.strip_prefix('.').filter(|path| path.starts_with(of_name));
    if let Some(path) = path.filter(|_| Scope::from_name(word).is_some()) {
        let more = path.find(|c: char| !of_name(c) && c != '.').unwrap_or(path.len());
        return (Some(Code::LookalikeExpression), 1 + length + 1 + more);
    }
    (Some(Code::EnvironmentReference), 1 + length)
}

/// Recognises `{{ name … }}` on one line, within the first 256 bytes. Returns its length.
fn braces(rest: &str) -> (Option<Code>, usize) {
    const LONGEST: usize = 256;
    let Some(body) = rest.strip_prefix("{{") else { return (None, 1) };
    let body = body.as_bytes();
    let beginning = body.get(..LONGEST.min(body.len())).unwrap_or(&[]);
    let line = beginning.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
    let named = first.is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_');
    match memchr::memmem::find(line, b"}}") {
        Some(end) if named => (Some(Code::LookalikeExpression), end + 4),
        _ => (None, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    fn names(text: &str, mode: RenderMode) -> Vec<(&'static str, String)> {
        let arena = bumpalo::Bump::new();
        let field = parse(text, &arena).unwrap();
        let found = lint(text, &field, mode);
        found.iter().map(|lint| (lint.code.name(), text[lint.span.range()].to_owned())).collect()
    }

    #[test]
    fn lookalikes_and_environment_variables_are_found() {
        let table = [
            ("$HOME/x", "environment_reference", "$HOME"),
            ("a $params.app b", "lookalike_expression", "$params.app"),
            ("$params", "environment_reference", "$params"),
            ("{{ params.app }}", "lookalike_expression", "{{ params.app }}"),
            ("\u{1}", "control_character", "\u{1}"),
        ];
        for (text, name, place) in table {
            assert_eq!(names(text, RenderMode::Literal), [(name, place.to_owned())], "{text}");
        }
        for text in ["$(params.app)", "$1 $? $$x", "\\$HOME", "{{.Names}}", "{{", "{ {a} }", "100%"] {
            assert!(names(text, RenderMode::Literal).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_value_that_may_be_an_option_is_found() {
        let count = |text| names(text, RenderMode::Shell).len();
        assert_eq!(count("rm ${params.a}"), 1);
        assert_eq!(count("rm a ${params.a} ${params.b}"), 2);
        for text in ["rm -- ${params.a}", "x -t ${params.a}", "x a/${params.a}", "${params.a} b", "a; ${params.a}"] {
            assert_eq!(count(text), 0, "{text}");
        }
    }

    #[test]
    fn a_value_that_is_run_as_code_is_found() {
        let codes = |text| {
            let found = names(text, RenderMode::Shell);
            found.iter().filter(|(name, _)| *name == "shell_expression_run_as_code").count()
        };
        for text in [
            "sh -c ${params.a}",
            "/bin/sh -c ${params.a} ${params.b}",
            "bash -lc ${params.a}",
            "bash -x -c ${params.a}",
            "sudo -u me sh -ec ${params.a}",
            "kubectl exec pod -- sh -c ${params.a}",
            "a; X=1 exec sh -c 'echo '${params.a}",
            "eval ${params.a}",
            "eval -- ${params.a}",
            "if eval x=${params.a}; then y; fi",
            "trap ${params.a} EXIT",
            "python3 -c ${params.a}",
            "find . | xargs sh \\\n -c ${params.a}",
            "su - u -c ${params.a}",
            "su -c${params.a} u",
            "sudo su u --command=${params.a}",
            "runuser -l u -c ${params.a}",
            "bash -euo pipefail -c ${params.a}",
            "bash --rcfile x -c ${params.a}",
            "sh -cx ${params.a}",
            "python3.11 -c ${params.a}",
            "perl -pe ${params.a}",
            "node --eval=${params.a}",
            "ssh host ${params.a}",
            "ssh -p 22 -i key u@host 'cat '${params.a}",
            "sudo -u u timeout -k 5 10 ssh host -- ls -l ${params.a}",
            "sshpass -p x ssh host ${params.a}",
            "kubectl exec pod -c web -- ssh host ${params.a}",
            "watch -n 5 ls ${params.a}",
            "command eval ${params.a}",
            "env -i A=1 ssh host ${params.a}",
            "env -S ${params.a}",
            "flock -n /tmp/l -c ${params.a}",
            "flock /tmp/l ssh host ${params.a}",
            "script -qc ${params.a} /dev/null",
            "parallel -j 4 ${params.a} ::: a b",
            "parallel ::: ${params.a}",
            "find . -exec sh -c ${params.a} \\;",
            "strace -f sh -c ${params.a}",
            "time -p nice -n 5 sh -c ${params.a}",
            "docker exec web su - u -c ${params.a}",
            "x=$(sh -c ${params.a})",
            "echo \"$(ssh host ${params.a})\"",
            "ssh host $(date) ${params.a}",
            "a >x 2>&1 && sh -c ${params.a}",
            "sh -c 2>&1 ${params.a}",
            "case a in b) eval ${params.a};; esac",
            "echo ${params.a} | sh",
            "printf '%s' ${params.a} | sudo bash -s",
            "printf '%s' ${params.a} | ssh host",
            "bash <<< ${params.a}",
            "# it's\nsh -c ${params.a}",
        ] {
            assert_eq!(codes(text), 1, "{text}");
        }
        assert_eq!(codes("eval ${params.a} ${params.b}"), 2);
        for text in [
            "sh -c 'echo \"$1\"' - ${params.a}",
            "sh script.sh -c ${params.a}",
            "sh -- ${params.a}",
            "cue eval -- ${params.a}",
            "echo eval; x -- ${params.a}",
            "tar -c ${params.a}",
            "sh -x ${params.a}",
            "eval 'true'; x -- ${params.a}",
            "trap 'rm x' ${params.a}",
            "bash -c 'x \"$@\"' bash -c ${params.a}",
            "su - ${params.a} -c ls",
            "su -c ls ${params.a}",
            "su -cls ${params.a}",
            "ssh ${params.a} ls",
            "ssh -i ${params.a} host ls",
            "ssh host ls > ${params.a}",
            "systemctl restart ssh ${params.a}",
            "npm run watch ${params.a}",
            "watch -n ${params.a} ls",
            "watch -x ls ${params.a}",
            "timeout ${params.a} ls",
            "timeout 5 ls ${params.a}",
            "env A=${params.a} ls",
            "chroot /mnt ls ${params.a}",
            "runuser -u u -- ls ${params.a}",
            "flock -w ${params.a} /tmp/l ls",
            "flock /tmp/l wc -c ${params.a}",
            "script ${params.a}",
            "parallel echo ::: ${params.a}",
            "find ${params.a} -exec sh -c 'x \"$1\"' _ {} \\;",
            "kubectl exec pod -c ${params.a} -- ls",
            "kubectl patch node -p ${params.a} n",
            "kubectl exec pod -- wc -c ${params.a}",
            "grep -c ${params.a} file",
            "echo sh -c ${params.a}",
            "apt-get install python3 -c ${params.a}",
            "printf '%s' ${params.a} | ssh host cat",
            "printf '%s' ${params.a} | python3 -m json.tool",
            "cat ${params.a} | sh -c 'cat'",
            "echo ${params.a} || sh",
            "perl -i -pe s/x/y/ ${params.a}",
            "ssh host uptime; echo ${params.a}",
            "x \"$(eval y)\" ${params.a}",
        ] {
            assert_eq!(codes(text), 0, "{text}");
        }
    }

    #[test]
    fn long_fields_end() {
        let commands = ["su ", "$(", "<", "sh -c ${params.a} ", "find -exec ", "env -S", "echo ${params.a}|", "ssh a "];
        for unit in ["{{ a ", "$a", "x ${params.a} ", "\"${params.a}\\", "é{{"].into_iter().chain(commands) {
            let text = unit.repeat((1 << 20) / unit.len());
            let arena = bumpalo::Bump::new();
            let field = parse(&text, &arena).unwrap();
            let _ = lint(&text, &field, RenderMode::Shell);
        }
    }
}
