//! The page of all functions in the documentation.

use dropforge::engine::Dialect;
use dropforge::function::Builtin;

use super::{is_beyond_tera, signatures};

/// Returns the page of these functions, a section for each language.
pub(super) fn page(all: &[(Dialect, &Builtin)]) -> String {
    let mut page = "# Functions\n\n\
        The functions, filters and tests of all languages, each with an example and its result. A result `E0…` is the \
        code of an [error](errors.md). `dropforge help NAME` prints one of them, and `dropforge functions --json` all. \
        This page is generated: `dropforge functions --markdown`.\n"
        .to_owned();
    let mut last = None;
    for (lang, builtin) in all {
        let section = (*lang, builtin.kind);
        if last != Some(section) {
            page.push_str(&heading(*lang, builtin));
            last = Some(section);
        }
        page.push_str(&entry(*lang, builtin));
    }
    page
}

/// The text below the heading of CEL.
const CEL: &str = "\nMacros such as `has`, `all` and `math.greatest` are not listed: the compiler writes them with other functions, some \
    of which have signs in their names, such as `math.@max`. `_+_` is the operator `+`.\n";

fn heading(lang: Dialect, builtin: &Builtin) -> String {
    let name = match lang {
        Dialect::Tera => "Tera",
        Dialect::Helm => "Helm charts and Go templates",
        Dialect::Hcl => "HCL",
        // Those of CEL in YAML are those of CEL, and intents have none.
        _ => "CEL and CEL in YAML",
    };
    format!("\n## {name}: {}s\n{}", builtin.kind.name(), if name.starts_with("CEL") { CEL } else { "" })
}

fn entry(lang: Dialect, builtin: &Builtin) -> String {
    let mut entry = format!("\n### {}\n\n", code(&builtin.name));
    let signatures: Vec<String> = signatures(builtin).iter().map(|signature| code(signature)).collect();
    entry.push_str(&format!("{}\n\n{}\n", signatures.join("<br>\n"), prose(&builtin.doc)));
    let needs: Vec<String> = builtin.needs.names().map(|name| code(&format!("--allow {name}"))).collect();
    if !needs.is_empty() {
        entry.push_str(&format!("Needs {}.\n", needs.join(" and ")));
    }
    if is_beyond_tera(lang, builtin) {
        entry.push_str("Not in Tera itself.\n");
    }
    let examples = builtin.examples.iter().map(|(source, result)| format!("{source}\n→ {result}\n"));
    let examples = examples.collect::<Vec<_>>().join("\n");
    if !examples.is_empty() {
        let fence = if examples.contains("```") { "````" } else { "```" };
        entry.push_str(&format!("\n{fence}text\n{examples}{fence}\n"));
    }
    entry
}

/// Returns a text as code of Markdown.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Returns a sentence without marks of HTML outside code.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let escaped = parts.map(|(at, part)| if at % 2 == 0 { part.replace('<', "&lt;") } else { part.to_owned() });
    escaped.collect::<Vec<_>>().join("`")
}
