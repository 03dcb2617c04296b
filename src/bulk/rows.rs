//! Stamping the rows of Arrow record batches: each row is a cluster.
//!
//! Outputs have the paths and bytes that `stamp` writes for the same clusters. Each batch is on its own: paths are
//! compared within it, and a run over many batches has to keep the names of its clusters unique.

use std::borrow::Cow;
use std::collections::HashSet;

use arrow_array::RecordBatch;

use super::cluster::Cluster;
use super::forge::Forge;
use super::layers::{Layers, Merge, Overlay};
use super::layout::Layout;
use super::output_names::{document_name, output_name};
use super::output_path::{check_path, check_value};
use super::pieces::{Piece, in_document};
use super::plan::Output;
use super::selector::scalar_text;
use super::splitter::{Content, Splitter};
use super::view::View;
use crate::diagnostics::{Code, Diagnostic, Result, thousands};
use crate::engine::{OutputCheck, OutputSyntax, Template, language_extensions};
use crate::value::{Arena, ArrowRows, InputBuilder, Inputs, ReadPaths, Shapes, Value};
use crate::vm::Session;

/// Options of a [`RowStamper`].
#[derive(Debug, Clone, Default)]
pub struct RowOptions {
    /// The dotted path of a cluster's name, for rows without `name` and `cluster.name`.
    pub name_key: Option<String>,
    /// Fail clusters with outputs named `*.yaml`, `*.yml` or `*.json` that are not valid YAML or JSON.
    pub check_outputs: bool,
    /// Write outputs of nothing but white space.
    pub keep_empty: bool,
}

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
/// use dropforge::bulk::{DEFAULT_LAYOUT, Forge, Layers, Layout, RowOptions, RowOutput, RowStamper};
/// use dropforge::{Dialect, Engine};
///
/// let build = Engine::builder().template("app.yaml.tera", "image: {{ image }}\n").build();
/// let bytes = build.bundle([(Dialect::Tera, "app.yaml.tera")])?.encode()?;
/// let forge = Forge::of_artifact(&Engine::new().open(bytes)?)?;
/// let (names, layout) = (vec!["app.yaml.tera".to_owned()], Layout::parse(DEFAULT_LAYOUT)?);
/// let stamper = RowStamper::new(forge, names, Layers::default(), layout, RowOptions::default())?;
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
    forge: Forge,
    outputs: Vec<Output>,
    layers: Layers,
    layout: Layout,
    /// The document fields in the layout.
    fields: Vec<String>,
    /// The names of outputs, if each document gets its own file.
    names: Vec<String>,
    /// The dotted paths of a cluster's name, in order of precedence.
    name_paths: Vec<String>,
    /// What the templates, the layout and the names read.
    reads: ReadPaths,
    options: RowOptions,
}

impl RowStamper {
    /// Creates a stamper of the templates `names` of `forge`.
    ///
    /// # Errors
    /// `template.unknown`; `plan.no_templates` without names; `plan.bad_layout` if the layout does not fit the templates.
    pub fn new(forge: Forge, names: Vec<String>, layers: Layers, layout: Layout, options: RowOptions) -> Result<Self> {
        if names.is_empty() {
            return Err(Diagnostic::new(Code::NoTemplates, "no template makes an output"));
        }
        let mut reads = ReadPaths::default();
        for name in &names {
            forge.references(name)?;
            forge.get(name).iter().for_each(|template| reads.add_program(template.program()));
        }
        let outputs: Vec<Output> = names.into_iter().map(|name| output_of(&forge, name)).collect();
        let layout = layout_of(&forge, &outputs, layout)?;
        let name_paths = name_paths(options.name_key.as_deref());
        let looked_up = name_paths.iter().map(String::as_str).chain(layout.inputs());
        looked_up.for_each(|path| reads.add(path.split('.')));
        let fields: Vec<String> = layout.fields().map(str::to_owned).collect();
        let names = outputs.iter().filter(|_| !fields.is_empty()).map(|output| output.name.clone()).collect();
        Ok(Self { forge, outputs, layers, layout, fields, names, name_paths, reads, options })
    }

    /// Renders all outputs for every row of `batch`, and calls `each` with every output and error, in the order of the
    /// rows.
    ///
    /// # Errors
    /// Errors of [`ArrowRows::new`].
    pub fn stamp(&self, batch: &RecordBatch, each: &mut dyn FnMut(RowOutput<'_>)) -> Result<()> {
        let rows = ArrowRows::new(batch)?;
        let is_plain = self.layers.spares(rows.names());
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = if is_plain { Shapes::reading(&names, &self.reads) } else { Shapes::new(&names) };
        let shared = InputBuilder::new(&arena, &shapes).data_map(self.layers.shared())?;
        let mut worker = Worker {
            stamper: self,
            contents: self.outputs.iter().filter_map(|output| self.forge.get(&output.template)).collect(),
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
        (0..rows.len()).for_each(|at| worker.row(&rows, at, each));
        Ok(())
    }

    fn name_of<'v>(&self, own: Value<'v>, at: usize) -> Result<Cow<'v, str>> {
        name_of(&self.name_paths, own, at)
    }
}

/// Returns the names of the clusters in the rows of `batch`, by the same rules as for other fleets: `name`, else
/// `cluster.name`, else the value at `name_key`.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
/// let names = dropforge::bulk::row_names(&RecordBatch::try_from_iter([("id", ids)])?, Some("id"))?;
/// assert_eq!(names[0].as_deref().ok(), Some("7"));
/// assert_eq!(names[1].as_ref().unwrap_err().message, "row 2 has no name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of [`ArrowRows::new`]. A row without a name is an error of its own: `plan.unnamed_cluster`.
pub fn row_names(batch: &RecordBatch, name_key: Option<&str>) -> Result<Vec<Result<String>>> {
    let (rows, paths) = (ArrowRows::new(batch)?, name_paths(name_key));
    let mut reads = ReadPaths::default();
    paths.iter().for_each(|path| reads.add(path.split('.')));
    let (names, mut arena) = (Arena::new(), Arena::new());
    let shapes = Shapes::reading(&names, &reads);
    let mut name = |at| {
        arena.reset();
        let row = InputBuilder::new(&arena, &shapes).arrow_row(&rows, at)?;
        name_of(&paths, row, at).map(Cow::into_owned)
    };
    Ok((0..rows.len()).map(&mut name).collect())
}

/// Returns the dotted paths of a cluster's name, in order of precedence.
fn name_paths(name_key: Option<&str>) -> Vec<String> {
    ["name", "cluster.name"].into_iter().chain(name_key).map(str::to_owned).collect()
}

/// Returns the name of the cluster in the row at `at`.
fn name_of<'v>(paths: &[String], own: Value<'v>, at: usize) -> Result<Cow<'v, str>> {
    let find = |path: &String| path.split('.').try_fold(own, |value, key| value.as_map()?.get(key));
    let name = paths.iter().filter_map(find).find_map(|value| match value {
        Value::Str(text) if !text.as_str().is_empty() => Some(text.as_str().into()),
        Value::Int(_) | Value::Uint(_) => Some(scalar_text(&value.to_data()).into()),
        _ => None,
    });
    name.ok_or_else(|| {
        let paths: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
        Diagnostic::new(Code::UnnamedCluster, format!("row {} has no name", thousands(at + 1)))
            .with_note(format!("expected a string or an integer at {}", paths.join(" or ")))
    })
}

/// Returns the output of the template `name`, with the name that `stamp` gives it.
fn output_of(forge: &Forge, name: String) -> Output {
    let extensions = language_extensions();
    let format = forge.get(&name).filter(|template| template.gives_documents()).map(Template::format);
    let output = match format {
        Some(format) => document_name(&name, &extensions, format, false),
        None => output_name(&name, &extensions),
    };
    Output { name: output, executable: forge.is_executable(&name), template: name, bytes: None }
}

/// Converts a layout for these outputs.
fn layout_of(forge: &Forge, outputs: &[Output], layout: Layout) -> Result<Layout> {
    let gives_documents = |output: &Output| forge.get(&output.template).is_some_and(Template::gives_documents);
    let is_text = |output: &&Output| !gives_documents(output) && OutputSyntax::of_file(&output.name).is_none();
    match (outputs.iter().find(is_text), layout.names_field()) {
        (None, _) => layout.of_documents(),
        (Some(text), Some(field)) if !outputs.iter().all(|output| is_text(&output)) => {
            let message = format!("`{{{field}}}` in the layout does not apply to `{}`: it renders text", text.template);
            Err(Diagnostic::new(Code::BadLayout, message).with_help("stamp text templates separately"))
        }
        _ => Ok(layout),
    }
}

/// Renders the rows of one batch.
struct Worker<'t, 'w> {
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

/// The paths of the outputs of a cluster, and their ends in its text.
type Files = Vec<(String, usize)>;

/// A result of a cluster. It may fail with several errors.
type OfCluster<T> = std::result::Result<T, Vec<Box<Diagnostic>>>;

fn one(error: Box<Diagnostic>) -> Vec<Box<Diagnostic>> {
    vec![error]
}

impl Worker<'_, '_> {
    fn row(&mut self, rows: &ArrowRows<'_>, at: usize, each: &mut dyn FnMut(RowOutput<'_>)) {
        self.text.clear();
        self.splitter.pieces.clear();
        let mut own = std::mem::take(&mut self.own);
        own.reset();
        let builder = InputBuilder::new(&own, self.shapes);
        match builder.arrow_row(rows, at).and_then(|row| Ok((row, self.stamper.name_of(row, at)?))) {
            Err(error) => each(RowOutput::Failed { cluster: None, error }),
            Ok((row, name)) => match self.files(row, &name, &builder) {
                Ok(files) => self.emit(&name, &files, each),
                Err(errors) => errors.into_iter().for_each(|error| {
                    each(RowOutput::Failed { cluster: Some(&name), error: error.for_cluster(&*name) });
                }),
            },
        }
        self.own = own;
    }

    fn emit(&self, cluster: &str, files: &[(String, usize)], each: &mut dyn FnMut(RowOutput<'_>)) {
        let mut start = 0;
        for (path, end) in files {
            if !path.is_empty() {
                each(RowOutput::File { cluster, path, content: self.text.get(start..*end).unwrap_or("") });
            }
            start = *end;
        }
    }

    /// Renders the outputs of a cluster.
    fn files<'v, 'w: 'v>(&mut self, row: Value<'v>, name: &str, builder: &InputBuilder<'v, 'w>) -> OfCluster<Files>
    where
        Self: 'v,
    {
        check_value(name, "cluster name").map_err(one)?;
        let RowStamper { layers, layout, .. } = self.stamper;
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
        let RowStamper { layers, layout, .. } = self.stamper;
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
        let inputs = match &overlay {
            Overlay::Whole { all, .. } => Inputs::new(builder.data_map(all).map_err(one)?),
            Overlay::Map(own) => over(self.shared, builder.data_map(own).map_err(one)?, layers.merge(), &builder),
            Overlay::Json(own) => over(self.shared, builder.json(own).map_err(one)?, layers.merge(), &builder),
        };
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

    /// Returns the paths of the pieces of a cluster. Pieces that make no file have none.
    fn paths(&mut self, pieces: &[Piece], cluster: &str, values: &[String]) -> OfCluster<Files> {
        let (mut files, mut errors) = (Vec::with_capacity(pieces.len()), Vec::new());
        for piece in pieces {
            let mut path = String::new();
            if !piece.blank {
                let name = self.stamper.outputs.get(piece.output).map_or("", |output| &output.name);
                self.stamper.layout.fill(cluster, name, values, &piece.fields, &mut path);
                let sound = check_path(&path).and_then(|()| match self.seen.insert(path.to_ascii_lowercase()) {
                    true => Ok(()),
                    false => Err(Diagnostic::new(Code::DuplicateOutput, format!("two outputs have the path `{path}`"))
                        .with_note("upper and lower case are not told apart")),
                });
                errors.extend(sound.err().map(|error| self.of_template(of_document(error, piece), piece.output)));
            }
            files.push((path, piece.end));
        }
        if errors.is_empty() { Ok(files) } else { Err(errors) }
    }

    /// Checks outputs that are YAML or JSON by their paths. Texts that were split, and documents, are valid.
    fn check(&mut self, pieces: &[Piece], files: &Files, inputs: Inputs<'_>) -> OfCluster<()> {
        let (mut all, mut start) = (Vec::new(), 0);
        let is_checked = self.stamper.options.check_outputs && self.splitter.fields.is_empty();
        for (piece, (path, end)) in pieces.iter().zip(files).filter(|_| is_checked) {
            let text = self.text.get(start..*end).unwrap_or("");
            start = *end;
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
            error.template = self.stamper.outputs.get(output).map(|output| output.template.clone());
        }
        error
    }
}

/// Returns the inputs of a cluster over the shared ones.
fn over<'v, 'w: 'v>(shared: Value<'v>, own: Value<'v>, merge: Merge, builder: &InputBuilder<'v, 'w>) -> Inputs<'v> {
    match merge {
        Merge::Deep => builder.merged(shared, own),
        Merge::Replace => Inputs::layered(shared, own),
    }
}

fn of_document(error: Box<Diagnostic>, piece: &Piece) -> Box<Diagnostic> {
    if piece.document > 0 { in_document(error, piece.document) } else { error }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, StringArray, StructArray};
    use arrow_schema::{DataType, Field};

    use super::*;
    use crate::bulk::forge::tests::forge;
    use crate::bulk::schema::{Schemas, ValuesSchema};
    use crate::bulk::values::{SetKind, parse_set};
    use crate::bulk::{Fleet, FleetOptions, Format, Job, Options, Plan, Selector, Watch, stream};
    use crate::engine::Engine;
    use crate::text::Source;
    use crate::value::{Data, DataMap};

    fn map(text: &str) -> DataMap {
        serde_json::from_str::<Data>(text).unwrap().into_map().unwrap()
    }

    /// Returns a table of clusters: `name` and `image.tag`.
    fn table(clusters: &[(&str, Option<&str>)]) -> RecordBatch {
        let tags: ArrayRef = Arc::new(clusters.iter().map(|(_, tag)| *tag).collect::<StringArray>());
        let image = StructArray::from(vec![(Arc::new(Field::new("tag", DataType::Utf8, true)), tags)]);
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(clusters.iter().map(|(name, _)| *name)));
        RecordBatch::try_from_iter([("name", names), ("image", Arc::new(image) as ArrayRef)]).unwrap()
    }

    /// Returns the outputs of rows, and the codes of errors.
    fn rows(stamper: &RowStamper, batch: &RecordBatch) -> Vec<String> {
        let mut found = Vec::new();
        let add = &mut |output: RowOutput<'_>| match output {
            RowOutput::File { path, content, .. } => found.push(format!("{path}: {content}")),
            RowOutput::Failed { cluster, error } => found.push(format!("{cluster:?} {}", error.code.id())),
        };
        stamper.stamp(batch, add).unwrap();
        found
    }

    #[test]
    fn outputs_are_those_of_a_run() {
        let clusters = [("eu", Some("v1")), ("us", None), ("ap", Some("v3"))];
        let line = |(name, tag): &(&str, Option<&str>)| match tag {
            Some(tag) => format!("{{\"name\":\"{name}\",\"image\":{{\"tag\":\"{tag}\"}}}}\n"),
            None => format!("{{\"name\":\"{name}\",\"image\":{{}}}}\n"),
        };
        let text = Source::new("fleet.ndjson", clusters.iter().map(line).collect::<String>());
        let fleet = Fleet::read(&text, Format::Ndjson, &FleetOptions::default()).unwrap();
        let (_temp, set) =
            forge(&[("a.tera", "{{ name }} {{ image.tag }} {{ image.repo }}\n"), ("b.tera", "{{ name }}")]);
        for (sets, merge) in [("", Merge::Deep), ("image.tag=v9", Merge::Deep), ("image.repo=x", Merge::Replace)] {
            let sets = parse_set(SetKind::Typed, sets, &mut |_| Ok(String::new())).unwrap();
            let layers = Layers::new([map(r#"{"image":{"tag":"v0","repo":"web"}}"#)], sets, merge);
            let forge = || Forge::compile(&set, None, Engine::builder()).unwrap();
            let names = ["a.tera", "b.tera"].map(str::to_owned).to_vec();
            let layout = || Layout::parse("{image.tag}/{cluster}/{template}").unwrap();
            let outputs = names.iter().map(|name| Output::new(name.clone(), &language_extensions())).collect();
            let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, layout());
            let stamper = RowStamper::new(forge(), names, layers.clone(), layout(), RowOptions::default()).unwrap();
            let found = rows(&stamper, &table(&clusters));
            let Ok(plan) = plan else {
                assert_eq!((merge, found[2].as_str()), (Merge::Replace, "Some(\"us\") E0913"), "{found:?}");
                continue;
            };
            let mut expected = Vec::new();
            let forge = forge();
            let run = forge.stamper(["a.tera", "b.tera"], &layers).unwrap();
            let options = Options { threads: 1, ..Options::default() };
            let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
            stream(&run, &job, &mut expected).unwrap();
            let shown = |output: &String| {
                let (path, content) = output.split_once(": ").unwrap();
                format!("---\n# Source: {path}\n{}\n", content.trim_end())
            };
            assert_eq!(found.iter().map(shown).collect::<String>(), String::from_utf8(expected).unwrap());
        }
    }

    #[test]
    fn a_cluster_fails_alone() {
        let (_temp, set) = forge(&[("a.yaml.tera", "a: {{ image.tag }}\n")]);
        let forge = Forge::compile(&set, None, Engine::builder()).unwrap();
        let options = RowOptions { check_outputs: true, ..RowOptions::default() };
        let layout = Layout::parse("{cluster}/{template}").unwrap();
        let layers = Layers::default();
        let stamper = RowStamper::new(forge, vec!["a.yaml.tera".to_owned()], layers, layout, options).unwrap();
        let clusters = [
            ("a", Some("1")),
            ("b", None),
            ("", Some("2")),
            ("..", Some("3")),
            ("A", Some("4")),
            ("c", Some("[")),
            ("d", Some("5")),
        ];
        let expected =
            ["a/a.yaml: a: 1\n", "Some(\"b\") E0201", "None E0918", "Some(\"..\") E0912", "Some(\"A\") E0914"];
        let found = rows(&stamper, &table(&clusters));
        assert_eq!(found[..5], expected);
        assert_eq!(found[5..], ["Some(\"c\") E0906", "d/a.yaml: a: 5\n"]);
    }

    #[test]
    fn schemas_concern_rows_too() {
        let (_temp, set) = forge(&[("a.tera", "{{ image.tag }}")]);
        let forge = Forge::compile(&set, None, Engine::builder()).unwrap();
        let schema = Source::new("s.json", r#"{"properties":{"image":{"properties":{"tag":{"maxLength":2}}}}}"#);
        let schemas = Schemas { schemas: vec![ValuesSchema::read(&schema).unwrap()], ..Schemas::default() };
        let layers = Layers::default().with_schemas(schemas).unwrap();
        let layout = Layout::parse("{cluster}").unwrap();
        let stamper = RowStamper::new(forge, vec!["a.tera".to_owned()], layers, layout, RowOptions::default()).unwrap();
        assert_eq!(rows(&stamper, &table(&[("a", Some("long")), ("b", Some("v1"))])), ["Some(\"a\") E0808", "b: v1"]);
    }
}
