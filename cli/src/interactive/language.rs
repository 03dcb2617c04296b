//! The syntax of template languages, as far as the console writes it itself.

use dropforge::engine::Dialect;

/// The name of the function that takes the value of an expression.
pub(super) const TAKE: &str = "dropforge_console";

/// Returns the language's name in prompts and messages.
pub(super) fn title(language: Dialect) -> &'static str {
    match language {
        Dialect::Tera => "Tera",
        Dialect::Helm => "Helm",
        Dialect::Hcl => "HCL",
        Dialect::Cel => "CEL",
        Dialect::CelYaml => "CEL in YAML",
        other => other.id(),
    }
}

/// Returns a template that gives the value of `expression` to [`TAKE`]. The expression has lines of its own, so that
/// excerpts of errors show nothing else.
///
/// `None` for a language whose expressions are evaluated without a template.
pub(super) fn taking(language: Dialect, expression: &str) -> Option<String> {
    match language {
        Dialect::Tera => Some(format!("{{% set {TAKE}_value =\n{expression}\n%}}{{{{ {TAKE}(value={TAKE}_value) }}}}")),
        Dialect::Helm => Some(format!("{{{{ ${TAKE} :=\n{expression}\n}}}}{{{{ {TAKE} ${TAKE} }}}}")),
        _ => None,
    }
}

/// Returns a template that writes the value of `expression`.
pub(super) fn writing(language: Dialect, expression: &str) -> String {
    match language {
        Dialect::Tera | Dialect::Helm => format!("{{{{ {expression} }}}}"),
        Dialect::Cel => expression.to_owned(),
        Dialect::CelYaml => format!("value: ${{{expression}}}"),
        _ => format!("${{{expression}}}"),
    }
}

/// Returns `true` for a line that is a template: it contains tags of the language.
pub(super) fn has_tags(language: Dialect, line: &str) -> bool {
    match language {
        Dialect::Tera => ["{{", "{%", "{#"].iter().any(|tag| line.contains(tag)),
        Dialect::Helm => line.contains("{{"),
        Dialect::Tower => line.contains("${"),
        _ => false,
    }
}

/// Returns the template of a line that declares or assigns a variable without tags: `$x := 1`.
pub(super) fn declaration(language: Dialect, line: &str) -> Option<String> {
    let name = line.strip_prefix('$').filter(|_| language == Dialect::Helm)?;
    let rest = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let assigns = rest.len() < name.len() && [":=", "="].iter().any(|sign| rest.trim_start().starts_with(sign));
    assigns.then(|| format!("{{{{ {line} }}}}"))
}

/// Adds a line that stays in force for later ones. A comment keeps the lines apart without writing a line break.
pub(super) fn keep(language: Dialect, kept: &mut String, line: &str) {
    let end = if language == Dialect::Helm { "{{/*\n*/}}" } else { "{#\n#}" };
    // Tera takes imports only at the beginning.
    let is_import = line.trim_start_matches(['{', '%', '-', ' ']).starts_with("import ");
    kept.insert_str(if is_import { 0 } else { kept.len() }, &format!("{line}{end}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_go_templates_need_no_tags() {
        let of = |line| declaration(Dialect::Helm, line);
        assert_eq!(of("$x := 1").as_deref(), Some("{{ $x := 1 }}"));
        assert_eq!(of("$x = 1").as_deref(), Some("{{ $x = 1 }}"));
        assert_eq!(
            (of("$x.y"), of("$"), of("$ := 1"), declaration(Dialect::Tera, "$x := 1")),
            (None, None, None, None)
        );
    }

    #[test]
    fn imports_come_first() {
        let mut kept = String::new();
        keep(Dialect::Tera, &mut kept, "{% set a = 1 %}");
        keep(Dialect::Tera, &mut kept, "{%- import \"m.tera\" as m %}");
        assert!(kept.starts_with("{%- import") && kept.contains("%}{#\n#}{% set"), "{kept}");
    }
}
