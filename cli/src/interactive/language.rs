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

/// Returns the text around an expression in a template that gives its value to [`TAKE`].
///
/// `None` for a language whose expressions are evaluated without a template.
pub(super) fn taking(language: Dialect) -> Option<[String; 2]> {
    let [before, after] = match language {
        Dialect::Tera => [format!("{{% set {TAKE}_value = "), format!(" %}}{{{{ {TAKE}(value={TAKE}_value) }}}}")],
        Dialect::Helm => [format!("{{{{ ${TAKE} := "), format!(" }}}}{{{{ {TAKE} ${TAKE} }}}}")],
        _ => return None,
    };
    Some([before, after])
}

/// Returns the text around an expression in a template that writes its value.
pub(super) fn writing(language: Dialect) -> [&'static str; 2] {
    match language {
        Dialect::Tera | Dialect::Helm => ["{{ ", " }}"],
        Dialect::Cel => ["", ""],
        Dialect::CelYaml => ["value: ${", "}"],
        _ => ["${", "}"],
    }
}

/// Returns the text around an expression in a template that has a syntax error if there is anything else.
pub(super) fn alone(language: Dialect) -> [&'static str; 2] {
    match language {
        Dialect::Tera => ["{% set x = ", " %}"],
        Dialect::Helm => ["{{ (", ") }}"],
        _ => writing(language),
    }
}

/// Returns `true` for a line that contains tags of the language. It is a template, unless it is an expression with a string
/// that has them.
pub(super) fn has_tags(language: Dialect, line: &str) -> bool {
    match language {
        Dialect::Tera => ["{{", "{%", "{#"].iter().any(|tag| line.contains(tag)),
        Dialect::Helm => line.contains("{{"),
        Dialect::Tower => line.contains("${"),
        _ => false,
    }
}

/// Returns `true` for a line that declares or assigns a variable without tags: `$x := 1`.
pub(super) fn is_declaration(language: Dialect, line: &str) -> bool {
    let Some(name) = line.strip_prefix('$').filter(|_| language == Dialect::Helm) else { return false };
    let rest = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    rest.len() < name.len() && [":=", "="].iter().any(|sign| rest.trim_start().starts_with(sign))
}

/// Returns the text between lines that stay in force: a comment keeps them apart without writing a line break.
pub(super) fn between(language: Dialect) -> &'static str {
    if language == Dialect::Helm { "{{/*\n*/}}" } else { "{#\n#}" }
}

/// Adds a line that stays in force for later ones.
pub(super) fn keep(language: Dialect, kept: &mut String, line: &str) {
    let end = between(language);
    // Tera takes imports only at the beginning.
    let is_import = line.trim_start_matches(['{', '%', '-', ' ']).starts_with("import ");
    kept.insert_str(if is_import { 0 } else { kept.len() }, &format!("{line}{end}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_go_templates_need_no_tags() {
        let of = |line| is_declaration(Dialect::Helm, line);
        assert!(of("$x := 1") && of("$x = 1"));
        assert!(!of("$x.y") && !of("$") && !of("$ := 1") && !is_declaration(Dialect::Tera, "$x := 1"));
    }

    #[test]
    fn imports_come_first() {
        let mut kept = String::new();
        keep(Dialect::Tera, &mut kept, "{% set a = 1 %}");
        keep(Dialect::Tera, &mut kept, "{%- import \"m.tera\" as m %}");
        assert!(kept.starts_with("{%- import") && kept.contains("%}{#\n#}{% set"), "{kept}");
    }
}
