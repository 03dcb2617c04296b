//! The program of templates.

use super::body::Body;
use super::files::Files;
use super::includes::parameters;
use crate::lower::FoldingBudget;
use crate::semantics::Rules;
use crate::yaml::load::Templates;
use crate::yaml::syntax::tree::FileId;
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Dialect, Op, Program};
use dropforge_machine::compiler::Emitter;
use dropforge_machine::function::Registry;

/// Compiles templates to a program that answers with the list of documents.
///
/// # Errors
/// Limits of the code's size.
pub fn compile_templates(
    templates: &Templates,
    registry: &Registry,
    lenient: bool,
    limits: &Limits,
) -> Result<Program> {
    let mut files = Files {
        templates,
        registry,
        emitter: Emitter::new(Dialect::CelYaml, &Rules, limits.code_words).lenient(lenient),
        lenient,
        chunks: vec![None; templates.files().len()],
        waiting: Vec::new(),
        params: parameters(templates),
        budget: FoldingBudget::default(),
        step: String::new(),
    };
    let entry = files.emitter.declare_chunk(templates.entry().source.name(), 0);
    files.file(FileId::of(0), entry, true)?;
    while let Some((id, chunk)) = files.waiting.pop() {
        files.file(id, chunk, false)?;
    }
    files.emitter.check_size()?;
    files.emitter.finish()
}

impl<'t> Files<'t> {
    fn file(&mut self, id: FileId, chunk: u32, entry: bool) -> Result<()> {
        let Some(file) = self.templates.file(id) else { return Ok(()) };
        self.emitter.begin_chunk(chunk);
        self.emitter.at(&file.source, Span::default());
        let params = self.params.get(id.index()).cloned().unwrap_or_default(); // the file may include itself
        let mut body = Body { files: self, file, params: &params, entry, slots: vec![None; file.variables.len()] };
        body.documents()?;
        self.emitter.op(Op::Answer, &[]);
        self.emitter.end_chunk();
        Ok(())
    }
}
