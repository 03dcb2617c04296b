//! The files of a program under construction.

use std::sync::Arc;

use crate::lower::FoldingBudget;
use crate::yaml::load::Templates;
use crate::yaml::syntax::tree::FileId;
use dropforge_base::text::Span;
use dropforge_machine::compiler::Emitter;
use dropforge_machine::function::Registry;

/// Templates on the way into a program.
pub(super) struct Files<'t> {
    pub templates: &'t Templates,
    pub registry: &'t Registry,
    pub emitter: Emitter<'t>,
    /// `true` if presence tests find nothing in values without members.
    pub lenient: bool,
    /// The chunk of each included file.
    pub chunks: Vec<Option<u32>>,
    /// The files without code so far.
    pub waiting: Vec<(FileId, u32)>,
    /// The parameters of each file.
    pub params: Vec<Vec<Arc<str>>>,
    /// The budget for constant folding.
    pub budget: FoldingBudget,
    /// Memory for the text of a step.
    pub step: String,
}

impl Files<'_> {
    /// Returns the chunk of an included file.
    pub fn chunk(&mut self, id: FileId) -> u32 {
        if let Some(Some(chunk)) = self.chunks.get(id.index()) {
            return *chunk;
        }
        let name = self.templates.file(id).map_or("", |file| file.source.name());
        let params = self.params.get(id.index()).map_or(0, Vec::len);
        let chunk = self.emitter.declare_chunk(name, Span::of(0..params).end);
        if let Some(slot) = self.chunks.get_mut(id.index()) {
            *slot = Some(chunk);
        }
        self.waiting.push((id, chunk));
        chunk
    }
}
