//! Formatting of configurations in HCL, as `dropforge hcl fmt` does. Other languages have no formatter.

use dropforge::dialect::hcl::format::format as formatted;
use dropforge::dialect::hcl::syntax::parse_config;
use dropforge::text::Source;
use lsp_types::{DocumentFormattingParams, TextEdit};

use super::content::path_of;
use super::home::Language;
use super::world::World;
use crate::options::limits;

/// Answers the request. A text with syntax errors stays as it is.
pub(super) fn format(world: &mut World, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
    let path = path_of(&params.text_document.uri)?;
    let content = world.documents.get(&path)?.content.clone();
    let is_native = world.home(&path).language(&path) == Language::Configuration
        && path.extension().is_none_or(|extension| extension != "json");
    let source = Source::new(path.display().to_string(), content.text());
    if !is_native || !parse_config(&source, &limits()).diagnostics.is_empty() {
        return None;
    }
    let new = formatted(content.text());
    let is_changed = new != content.text();
    Some(is_changed.then(|| TextEdit::new(content.whole(), new)).into_iter().collect())
}
