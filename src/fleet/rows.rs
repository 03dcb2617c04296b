//! Stamping the rows of Arrow record batches: each row is a cluster.
//!
//! Outputs have the paths and bytes that `stamp` writes for the same clusters. Each batch is on its own: paths are
//! compared within it, and a run over many batches has to keep the names of its clusters unique.

use std::collections::HashSet;
use std::ops::Range;

use arrow_array::RecordBatch;

use super::cluster::Cluster;
use super::job::Options;
use super::output_path::{check_path, check_value};
use super::pieces::{Piece, in_document, with_files};
use super::plan::Output;
use super::row_names::{name_of, name_paths};
use super::run::Run;
use super::splitter::{Content, Splitter};
use super::stamper::{converted, inputs_of, over};
use super::templates::not_found;
use super::view::View;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_engine::{OutputCheck, Template};
use dropforge_machine::vm::Session;
use dropforge_value::{Arena, ArrowRows, InputBuilder, Inputs, ReadPaths, Shapes, Value};

/// A result of [`RowStamper::stamp`].
#[derive(Debug)]
pub enum RowOutput<'r> {
    /// An output of a cluster.
    File {
        /// The name of the cluster.
        cluster: &'r str,
        /// The path of the output.
        path: &'r str,
        /// The content of the output.
        content: &'r str,
    },
    /// An error of a cluster, which has no outputs.
    Failed {
        /// The name of the cluster, if it has one.
        cluster: Option<&'r str>,
        /// The error.
        error: Box<Diagnostic>,
    },
}

/// Stamps templates for the rows of record batches. Shared between threads.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use dropforge::bulk::{DEFAULT_LAYOUT, Layout, Options, RowOutput, RowStamper, Run, Templates};
/// use dropforge::{Dialect, Engine};
///
/// let build = Engine::builder().template("app.yaml.tera", "image: {{ image }}\n").build();
/// let bytes = build.bundle([(Dialect::Tera, "app.yaml.tera")])?.encode()?;
/// let templates = Templates::of_artifact(&Engine::new().open(bytes)?)?;
/// let outputs = templates.outputs(vec!["app.yaml.tera".to_owned()], None, false)?;
/// let run = Run::new(Box::new(templates), outputs, Layout::parse(DEFAULT_LAYOUT)?)?;
/// let stamper = RowStamper::new(run, Options::default())?;
///
/// let column = |texts: [&str; 2]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
/// let columns = [("name", column(["eu-1", "us-1"])), ("image", column(["web:1", "web:2"]))];
/// let mut files = Vec::new();
/// stamper.stamp(&RecordBatch::try_from_iter(columns)?, &mut |output| {
///     if let RowOutput::File { path, content, .. } = output {
///         files.push(format!("{path}: {content}"));
///     }
/// })?;
/// assert_eq!(files, ["eu-1/app.yaml: image: web:1\n", "us-1/app.yaml: image: web:2\n"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RowStamper {
    run: Run,
    /// The document fields in the layout.
    fields: Vec<String>,
    /// The names of outputs, if each document gets its own file.
    names: Vec<String>,
    /// The dotted paths of a cluster's name, in order of precedence.
    name_paths: Vec<String>,
    /// What the templates, the layout and the names read.
    reads: ReadPaths,
    options: Options,
}

impl RowStamper {
    /// Creates a stamper of the templates of a run. Its clusters are left out. Of the options only those about checks and
    /// empty outputs count.
    ///
    /// # Errors
    /// `template.unknown`; `plan.no_templates` without outputs, and for a chart.
    pub fn new(run: Run, options: Options) -> Result<Self> {
        if run.outputs.all.is_empty() || run.set.is_planned_by_values() {
            return Err(Diagnostic::new(Code::NoTemplates, "no template makes an output"));
        }
        let mut reads = ReadPaths::default();
        for Output { template, .. } in &run.outputs.all {
            run.set.template(template).ok_or_else(|| not_found(template))?.program().add_reads(&mut reads);
        }
        let name_paths = name_paths(run.name_key.as_deref());
        let looked_up = name_paths.iter().map(String::as_str).chain(run.layout.inputs());
        looked_up.for_each(|path| reads.add(path.split('.')));
        let fields: Vec<String> = run.layout.placeholders_of_fields().map(str::to_owned).collect();
        let names = run.outputs.all.iter().filter(|_| !fields.is_empty()).map(|output| output.name.clone()).collect();
        Ok(Self { run, fields, names, name_paths, reads, options })
    }

    /// Renders all outputs for every row of `batch`, and calls `each` with every output and error, in the order of the
    /// rows.
    ///
    /// # Errors
    /// Errors of [`ArrowRows::new`].
    pub fn stamp(&self, batch: &RecordBatch, each: &mut dyn FnMut(RowOutput<'_>)) -> Result<()> {
        let rows = ArrowRows::new(batch)?;
        let is_plain = self.run.values.of_one(None).spares(rows.names());
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = if is_plain { Shapes::reading(&names, &self.reads) } else { Shapes::new(&names) };
        let shared = InputBuilder::new(&arena, &shapes).data_map(self.run.values.shared())?;
        let mut worker = RowWorker {
            stamper: self,
            contents: self
                .run
                .outputs
                .all
                .iter()
                .filter_map(|output| self.run.set.template(&output.template))
                .collect(),
            is_plain,
            shared,
            shapes: &shapes,
            own: Arena::new(),
            session: Session::new(),
            check: OutputCheck::default(),
            splitter: Splitter::new(&self.names, &self.fields),
            text: String::new(),
            seen: HashSet::new(),
        };
        if rows.len() > 1 {
            worker.check.remember();
        }
        (0..rows.len()).for_each(|at| worker.row(&rows, at, each));
        Ok(())
    }
}

/// Renders the rows of one batch.
struct RowWorker<'t, 'w> {
    stamper: &'t RowStamper,
    contents: Vec<&'t Template>,
    /// `true` if rows lie over the shared inputs as they are.
    is_plain: bool,
    shared: Value<'t>,
    shapes: &'t Shapes<'w>,
    /// The inputs of the current row.
    own: Arena,
    session: Session,
    check: OutputCheck,
    splitter: Splitter<'t>,
    text: String,
    /// The paths of the batch, in lower case.
    seen: HashSet<String>,
}

/// The paths of the outputs of a cluster that make files, and their ranges in its text.
type Files = Vec<(String, Range<usize>)>;

/// A result of a cluster. It may fail with several errors.
type OfCluster<T> = std::result::Result<T, Vec<Box<Diagnostic>>>;

fn one(error: Box<Diagnostic>) -> Vec<Box<Diagnostic>> {
    vec![error]
}

impl RowWorker<'_, '_> {
    fn row(&mut self, rows: &ArrowRows<'_>, at: usize, each: &mut dyn FnMut(RowOutput<'_>)) {
        self.text.clear();
        self.splitter.pieces.clear();
        let mut own = std::mem::take(&mut self.own);
        own.reset();
        let builder = InputBuilder::new(&own, self.shapes);
        match builder.arrow_row(rows, at).and_then(|row| Ok((row, name_of(&self.stamper.name_paths, row, at)?))) {
            Err(error) => each(RowOutput::Failed { cluster: None, error }),
            Ok((row, name)) => match self.files(row, &name, &builder) {
                Ok(files) => self.emit(&name, files, each),
                Err(mut errors) => {
                    let own = row.to_data().into_map().unwrap_or_default();
                    let mask = self.stamper.run.values.mask(Some(&Cluster::new(&*name, own)));
                    mask.hide_in_all(&mut errors);
                    errors.into_iter().for_each(|error| {
                        each(RowOutput::Failed { cluster: Some(&name), error: error.for_cluster(&*name) });
                    });
                }
            },
        }
        self.own = own;
    }

    fn emit(&self, cluster: &str, files: Files, each: &mut dyn FnMut(RowOutput<'_>)) {
        for (path, range) in files {
            each(RowOutput::File { cluster, path: &path, content: self.text.get(range).unwrap_or("") });
        }
    }

    /// Renders the outputs of a cluster.
    fn files<'v, 'w: 'v>(&mut self, row: Value<'v>, name: &str, builder: &InputBuilder<'v, 'w>) -> OfCluster<Files>
    where
        Self: 'v,
    {
        check_value(name, "cluster name").map_err(one)?;
        let Run { values: layers, layout, .. } = &self.stamper.run;
        if !self.is_plain {
            return self.changed_files(row, name);
        }
        let mut values = Vec::new();
        if layout.inputs().next().is_some() {
            let own = row.to_data().into_map().unwrap_or_default();
            values = layout.values(name, &View::new(layers.shared(), &own, layers.merge())).map_err(one)?;
        }
        let inputs = over(self.shared, row, layers.merge(), builder);
        self.render(inputs, name, &values)
    }

    /// Renders the outputs of a cluster that assignments or schemas concern.
    fn changed_files(&mut self, row: Value<'_>, name: &str) -> OfCluster<Files> {
        let Run { values: layers, layout, .. } = &self.stamper.run;
        let cluster = Cluster::new(name, row.to_data().into_map().unwrap_or_default());
        let violations = layers.violations(Some(&cluster));
        if !violations.is_empty() {
            return Err(violations);
        }
        let view = layers.view(&cluster).map_err(one)?;
        let values = layout.values(name, &view).map_err(one)?;
        let overlay = layers.overlay(&cluster).map_err(one)?;
        let arena = Arena::new();
        let builder = InputBuilder::new(&arena, self.shapes);
        let given = converted(&overlay, &builder).map_err(one)?;
        let inputs = inputs_of(self.shared, layers.merge(), &overlay, given, &builder);
        self.render(inputs, name, &values)
    }

    fn render(&mut self, inputs: Inputs<'_>, cluster: &str, values: &[String]) -> OfCluster<Files> {
        let mut errors = Vec::new();
        for (output, template) in self.contents.clone().into_iter().enumerate() {
            if let Err(mut error) = self.render_one(output, template, inputs) {
                template.explain(inputs, &mut error);
                errors.push(self.of_template(error, output));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let pieces = std::mem::take(&mut self.splitter.pieces);
        let files = self.paths(&pieces, cluster, values).and_then(|files| {
            self.check(&pieces, &files, inputs)?;
            Ok(files)
        });
        self.splitter.pieces = pieces;
        files
    }

    /// Appends an output to the text, and its pieces to those of the cluster.
    fn render_one(&mut self, output: usize, template: &Template, inputs: Inputs<'_>) -> Result<()> {
        let Self { splitter, session, text, check, .. } = self;
        if !splitter.fields.is_empty() {
            let content = Content::Template(template);
            return match template.gives_documents() {
                true => splitter.documents(template, session, inputs, output, text),
                false => splitter.split((content, content), (session, check), inputs, output, text),
            };
        }
        let start = text.len();
        template.render_inputs(session, inputs, text)?;
        let is_blank = text.bytes().skip(start).all(|byte| byte.is_ascii_whitespace());
        let blank = is_blank && !self.stamper.options.keep_empty;
        splitter.pieces.push(Piece { output, end: text.len(), blank, ..Piece::default() });
        Ok(())
    }

    /// Returns the files of the pieces of a cluster.
    fn paths(&mut self, pieces: &[Piece], cluster: &str, values: &[String]) -> OfCluster<Files> {
        let (mut files, mut errors) = (Vec::with_capacity(pieces.len()), Vec::new());
        for (piece, range) in with_files(pieces) {
            let mut path = String::new();
            let name = self.stamper.run.outputs.all.get(piece.output).map_or("", |output| &output.name);
            self.stamper.run.layout.fill([cluster, "", name], values, &piece.fields, &mut path);
            let sound = check_path(&path).and_then(|()| match self.seen.insert(path.to_ascii_lowercase()) {
                true => Ok(()),
                false => Err(Diagnostic::new(Code::DuplicateOutput, format!("two outputs have the path `{path}`"))
                    .with_note("names that differ only in case count as the same")),
            });
            errors.extend(sound.err().map(|error| self.of_template(of_document(error, piece), piece.output)));
            files.push((path, range));
        }
        if errors.is_empty() { Ok(files) } else { Err(errors) }
    }

    /// Checks outputs that are YAML or JSON by their paths. Texts that were split, and documents, are valid.
    fn check(&mut self, pieces: &[Piece], files: &Files, inputs: Inputs<'_>) -> OfCluster<()> {
        let mut all = Vec::new();
        let is_checked = self.stamper.options.check_outputs && self.splitter.fields.is_empty();
        for ((piece, range), (path, _)) in with_files(pieces).zip(files).filter(|_| is_checked) {
            let text = self.text.get(range).unwrap_or("");
            let Some(template) = self.contents.get(piece.output).filter(|template| !template.gives_documents()) else {
                continue;
            };
            let mut errors = self.check.errors_of_file(path, text);
            if !errors.is_empty() {
                template.show_writer(&mut self.session, inputs, text, &mut errors);
            }
            all.extend(errors.into_iter().map(|error| (piece.output, error)));
        }
        if all.is_empty() {
            return Ok(());
        }
        Err(all.into_iter().map(|(output, error)| self.of_template(error, output)).collect())
    }

    fn of_template(&self, mut error: Box<Diagnostic>, output: usize) -> Box<Diagnostic> {
        if error.template.is_none() {
            error.template = self.stamper.run.outputs.all.get(output).map(|output| output.template.clone());
        }
        error
    }
}

fn of_document(error: Box<Diagnostic>, piece: &Piece) -> Box<Diagnostic> {
    if piece.document > 0 { in_document(error, piece.document) } else { error }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
