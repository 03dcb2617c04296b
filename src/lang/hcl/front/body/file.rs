//! Parsed sources and their compiled expressions.

use std::sync::Arc;

use super::json::{JsonBody, JsonFile};
use super::native::{NativeBody, NativeFile};
use super::{Body, Expression};
use crate::compile::Compiler;
use crate::json;
use crate::json::{parse_expression, parse_file};
use crate::syntax::parse_config;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::function::Registry;

/// A parsed configuration. Its expressions are compiled when the first of them is evaluated.
#[derive(Debug)]
pub struct File {
    syntax: Syntax,
    diagnostics: Vec<Box<Diagnostic>>,
}

#[derive(Debug)]
enum Syntax {
    Native(NativeFile),
    Json(JsonFile),
}

impl File {
    /// Parses a configuration, in the JSON syntax if the name of the source ends in `.json`. Its expressions call the
    /// functions of `registry`.
    ///
    /// The syntax errors are in [`File::diagnostics`]. The body has everything that could be parsed.
    pub fn parse(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Self {
        let parse = if source.name().ends_with(".json") { Self::json } else { Self::native };
        parse(source, registry, limits)
    }

    /// Parses a configuration in the native syntax.
    pub fn native(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Self {
        let parsed = parse_config(source, limits);
        let file = NativeFile::new(parsed.tree, parsed.root, Compiler::new(registry, limits));
        Self { syntax: Syntax::Native(file), diagnostics: parsed.diagnostics }
    }

    /// Parses a configuration in the JSON syntax.
    pub fn json(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Self {
        Self::of_json(parse_file(source, limits), registry, limits)
    }

    /// Parses a JSON value, which is [`File::expression`].
    pub fn json_expression(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Self {
        Self::of_json(parse_expression(source, limits), registry, limits)
    }

    fn of_json(parsed: json::Parsed, registry: &Registry, limits: &Limits) -> Self {
        let file = JsonFile::new(parsed.document, Compiler::new(registry, limits));
        Self { syntax: Syntax::Json(file), diagnostics: parsed.diagnostics }
    }

    /// The value of a JSON file. A file of the native syntax has none.
    pub fn expression(&self) -> Option<Expression<'_>> {
        match &self.syntax {
            Syntax::Native(_) => None,
            Syntax::Json(file) => Some(Expression::json(file, file.document().root())),
        }
    }

    /// The syntax errors.
    pub fn diagnostics(&self) -> &[Box<Diagnostic>] {
        &self.diagnostics
    }

    /// The source.
    pub fn source(&self) -> &Arc<Source> {
        match &self.syntax {
            Syntax::Native(file) => file.source(),
            Syntax::Json(file) => file.document().source(),
        }
    }

    /// The root body.
    pub fn body(&self) -> Body<'_> {
        match &self.syntax {
            Syntax::Native(file) => Body::of(NativeBody::new(file, file.root())),
            Syntax::Json(file) => Body::of(JsonBody::new(file, file.document().root())),
        }
    }

    /// The parsed file of the native syntax.
    pub(crate) fn as_native(&self) -> Option<&NativeFile> {
        match &self.syntax {
            Syntax::Native(file) => Some(file),
            Syntax::Json(_) => None,
        }
    }
}
