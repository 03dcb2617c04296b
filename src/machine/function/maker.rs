//! Templates that are made at render time.
//!
//! A language that has them declares one function with the body [`Body::Maker`](super::Body::Maker), which compiles the
//! text of such a template. The machine calls it once for each text, runs the program in frames of its own, and keeps the
//! program for later renders of the session.

use super::linked::Linked;
use super::registry::Registry;
use crate::bytecode::Program;
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;

/// A body that compiles a text. The text may come from inputs, so its syntax errors are errors of the render.
///
/// In a build without the compiler it returns [`Making::AsItIs`] for texts without syntax of the language, and otherwise
/// an error that names the feature.
pub type MakerBody = fn(&Request<'_>) -> Result<Making>;

/// A text to compile.
#[derive(Debug, Clone, Copy)]
pub struct Request<'q> {
    /// The text.
    pub text: &'q str,
    /// The functions that the program which makes the template is linked with. The made program is linked with them, too.
    pub registry: &'q Registry,
    /// The limits of the render.
    pub limits: &'q Limits,
    /// The programs whose named chunks the template sees, the nearest first. Names of its own come before all of them.
    pub visible: &'q [&'q Program],
}

impl Request<'_> {
    /// Returns `true` if the template sees a chunk of this name.
    pub fn sees(&self, name: &str) -> bool {
        self.visible.iter().any(|program| program.named_chunk(name).is_some())
    }

    /// Returns the names of chunks that the template sees.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.visible.iter().flat_map(|program| program.named_chunks()).map(|(name, _)| name)
    }
}

/// The result of compiling a text.
#[derive(Debug, Clone)]
pub enum Making {
    /// The text has no syntax of the language: it is the output.
    AsItIs,
    /// A program. It may have inputs of its own, read from those of the render.
    Made(Made),
}

/// A program that was made at render time.
#[derive(Debug, Clone)]
pub struct Made {
    /// The program.
    pub program: Program,
    /// Its imports, linked.
    pub linked: Linked,
    /// The chunk to run. Its parameters are the arguments of the call.
    pub chunk: u32,
}
