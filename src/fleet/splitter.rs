//! The content of outputs, whole or split into documents.

use super::documents::documents_of;
use super::pieces::{Piece, fields_of, fields_of_text, in_document};
use dropforge_base::diagnostics::{Result, joined};
use dropforge_engine::{OutputCheck, Template};
use dropforge_machine::vm::Session;
use dropforge_value::{Inputs, OutputFormat, Value, write_documents};

/// The content of an output.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content<'f> {
    Template(&'f Template),
    /// The text of a file that is copied.
    File(&'f str),
}

impl Content<'_> {
    /// Returns the template.
    pub(super) fn template(&self) -> Option<&Template> {
        match self {
            Self::Template(template) => Some(*template),
            Self::File(_) => None,
        }
    }

    /// Returns the template if it gives documents, which our own writer writes.
    pub(super) fn documents(&self) -> Option<&Template> {
        self.template().filter(|template| template.gives_documents())
    }

    /// Appends the whole text to `out`.
    pub(super) fn write(&self, session: &mut Session, inputs: Inputs<'_>, out: &mut String) -> Result<()> {
        match self {
            Self::Template(template) => template.render_inputs(session, inputs, out),
            Self::File(text) => {
                out.push_str(text);
                Ok(())
            }
        }
    }
}

/// Splits outputs into documents.
pub(super) struct Splitter<'t> {
    /// The names of the outputs.
    names: &'t [String],
    /// The document fields in the layout.
    pub(super) fields: &'t [String],
    /// The documents of a cluster.
    pub(super) pieces: Vec<Piece>,
    /// A buffer for one document.
    text: String,
}

impl<'t> Splitter<'t> {
    /// Creates a splitter for a layout with these document fields. Without fields it splits nothing.
    pub(super) fn new(names: &'t [String], fields: &'t [String]) -> Self {
        Self { names, fields, pieces: Vec::new(), text: String::new() }
    }
}

impl Splitter<'_> {
    /// Renders the template of an output and appends its documents to `out`.
    pub(super) fn documents(
        &mut self,
        template: &Template,
        session: &mut Session,
        inputs: Inputs<'_>,
        output: usize,
        out: &mut String,
    ) -> Result<()> {
        let before = (out.len(), self.pieces.len());
        for (at, document) in (1..).zip(template.documents(session, inputs)?) {
            let left = template.limits().output_bytes.saturating_sub(out.len() - before.0);
            let written = template.check_writable(*document);
            let written = written.and_then(|()| self.document(*document, (output, at), template.format(), left, out));
            if let Err(error) = written {
                out.truncate(before.0);
                self.pieces.truncate(before.1);
                return Err(in_document(error, at));
            }
        }
        Ok(())
    }

    /// Renders a text by `faster` and appends its documents to `out`, each with its bytes as they are. Errors are those of
    /// `content`.
    pub(super) fn split(
        &mut self,
        (content, faster): (Content<'_>, Content<'_>),
        (session, check): (&mut Session, &mut OutputCheck),
        inputs: Inputs<'_>,
        output: usize,
        out: &mut String,
    ) -> Result<()> {
        let (name, before) = (self.names.get(output).map_or("", String::as_str), (out.len(), self.pieces.len()));
        self.text.clear();
        faster.write(session, inputs, &mut self.text)?;
        let mut errors = check.errors_of_file(name, &self.text);
        if let (Content::Template(template), false) = (content, errors.is_empty()) {
            template.show_writer(session, inputs, &self.text, &mut errors);
        }
        if let Some(error) = joined(errors) {
            return Err(error);
        }
        for (document, text) in (1..).zip(documents_of(name, &self.text).into_iter().flatten()) {
            let fields = fields_of_text(text, self.fields.iter().map(String::as_str)).map_err(|error| {
                out.truncate(before.0);
                self.pieces.truncate(before.1);
                in_document(error, document)
            })?;
            out.push_str(text);
            self.pieces.push(Piece { output, end: out.len(), document, fields, ..Piece::default() });
        }
        Ok(())
    }

    fn document(
        &mut self,
        value: Value<'_>,
        (output, document): (usize, usize),
        format: OutputFormat,
        limit: usize,
        out: &mut String,
    ) -> Result<()> {
        let fields = fields_of(value, self.fields.iter().map(String::as_str))?;
        self.text.clear();
        write_documents([value], format, limit, &mut self.text)?;
        out.push_str(&self.text);
        self.pieces.push(Piece { output, end: out.len(), document, fields, ..Piece::default() });
        Ok(())
    }
}
