//! `dropforge krm`: a function on Kubernetes resources, for kustomize and kpt.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use dropforge::bulk::{self, Skipped, TemplateFile, TemplateSet, Templates};
use dropforge::diagnostics::{Code, Diagnostic, parts};
use dropforge::engine::{DirLoader, OutputCheck, OutputSyntax, Template};
use dropforge::files::Files;
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::{Arena, Data, InputBuilder, Inputs, Shapes};
use dropforge::value::{
    DataMap,
    yaml::{self, Entry, Kind, Node},
};
use dropforge::vm::Session;

use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, is_below, outside};
use crate::options::LanguageArgs;
use crate::output::print;
use crate::stderr::Stderr;

/// Render templates as a KRM function
///
///     kpt fn eval --exec 'dropforge krm' --fn-config dropforge.yaml
///
/// The `functionConfig` of the list has the templates and the values. Templates see
/// the values at the top level, and the resources as `items`. What they render is
/// added to the resources, or replaces those with the same kind, namespace and name.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct KrmArgs {
    #[command(flatten)]
    language: LanguageArgs,
}

type Errors = Vec<Box<Diagnostic>>;

/// Runs the command.
pub(crate) fn run(args: &KrmArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let mut list = ResourceList::read(&files.read(Path::new("-"), "-")?)?;
    let mut warnings = Vec::new();
    let made = make(args, &list, &mut warnings);
    let (exit, found) = match made {
        Ok(made) => {
            made.into_iter().for_each(|(identity, item)| list.put(&identity, item));
            (Exit::Ok, warnings)
        }
        Err(errors) => (Exit::Error, warnings.into_iter().chain(errors).collect()),
    };
    print(list.finish(&found))?;
    stderr.diagnostics(found);
    Ok(exit)
}

/// Renders all templates of the list's configuration.
fn make(args: &KrmArgs, list: &ResourceList, warnings: &mut Errors) -> Result<Vec<(Identity, Data)>, Errors> {
    let config = list.config()?;
    list.check_paths(&config.paths, args.language.include_root.as_deref())?;
    let (set, templates) = compile(args, config.templates, &config.paths)?;
    warnings.extend(set.skipped.warnings().chain(templates.lints()));
    let names = bulk::outputs(&set.files, &mut |name| templates.references(name)).map_err(one)?;
    let (arena, keys) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&keys);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data_map(&config.inputs).map_err(one)?);
    let (mut made, mut errors) = (Vec::<(Identity, Data)>::new(), Vec::new());
    for template in names.iter().filter_map(|name| templates.get(name)) {
        match resources(template, inputs) {
            Ok(found) => made.extend(found),
            Err(found) => errors.extend(found),
        }
    }
    let mut seen = HashSet::new();
    let twice = made.iter().filter(|(identity, _)| !seen.insert(identity));
    errors.extend(twice.map(|(identity, _)| {
        Diagnostic::new(Code::DuplicateOutput, format!("two documents are {identity}"))
            .with_help("a resource has one `apiVersion`, kind, namespace and name")
    }));
    if errors.is_empty() { Ok(made) } else { Err(errors) }
}

fn one(error: Box<Diagnostic>) -> Errors {
    vec![error]
}

/// Compiles the templates of the configuration, and those of files and folders.
fn compile(
    args: &KrmArgs,
    templates: Vec<(String, String)>,
    paths: &[(PathBuf, Span)],
) -> Result<(TemplateSet, Templates), Errors> {
    let paths: Vec<PathBuf> = paths.iter().map(|(path, _)| path.clone()).collect();
    let root = args.language.include_root.clone().unwrap_or_else(|| ".".into());
    let mut set = match &paths[..] {
        [] => TemplateSet { root, files: Vec::new(), skipped: Skipped::default() },
        paths => args.language.discover(paths, &NamedFiles::default()).map_err(one)?,
    };
    let mut engine = args.language.engine();
    for (name, text) in templates {
        set.files.retain(|file| file.name != name);
        set.files.push(TemplateFile { name: name.clone(), explicit: false, executable: false });
        engine = engine.template(name, text);
    }
    let loader = loader(args, &set, &paths, engine.max_source_bytes()).map_err(one)?;
    let (templates, mut errors) = Templates::compile_from(loader, &set, args.language.lang, engine);
    for error in errors.iter_mut().filter(|error| error.code == Code::UnknownTemplate && error.help.is_none()) {
        error.help = Some("templates include one another and files of `paths`, nothing else beside them".to_owned());
    }
    if errors.is_empty() { Ok((set, templates)) } else { Err(errors) }
}

/// Returns the loader of the files that the configuration names, or of those below `--include-root`.
fn loader(args: &KrmArgs, set: &TemplateSet, paths: &[PathBuf], max: usize) -> Result<DirLoader, Box<Diagnostic>> {
    let loader = DirLoader::jailed(&set.root)?.paths_from_here().source_bytes(max);
    if args.language.include_root.is_some() {
        return Ok(loader);
    }
    let below = |path: &PathBuf| Some(path.canonicalize().ok()?.strip_prefix(&set.root).ok()?.to_owned());
    Ok(loader.only(paths.iter().filter_map(below)))
}

/// Renders the resources of one template.
fn resources(template: &Template, inputs: Inputs<'_>) -> Result<Vec<(Identity, Data)>, Errors> {
    let (mut text, mut session) = (String::new(), Session::new());
    template.render_inputs(&mut session, inputs, &mut text).map_err(|mut error| {
        template.explain(inputs, &mut error);
        one(error)
    })?;
    let name = bulk::output_name(template.name(), &bulk::language_extensions());
    let mut errors = OutputCheck::default().errors(OutputSyntax::Yaml, &name, &text);
    if !errors.is_empty() {
        template.show_writer(&mut session, inputs, &text, &mut errors);
        return Err(errors);
    }
    let source = Source::new(name, text);
    let documents = yaml::read(&source, &Limits { source_bytes: usize::MAX, ..Limits::default() })?;
    let documents = documents.iter().filter(|document| document.kind != yaml::Kind::Null);
    let resource = |document: &Node| match Identity::of(&document.to_data()) {
        Ok(identity) => Ok((identity, document.to_data())),
        Err(missing) => {
            let message = format!("a document of `{}` is not a resource: {missing}", template.name());
            Err(one(Diagnostic::new(Code::InputStructure, message).at(&source, document.span, "")))
        }
    };
    documents.map(resource).collect()
}

/// The kind of the list, and of its configuration.
const KINDS: [(&str, &str); 2] = [("ResourceList", "config.kubernetes.io/"), ("Dropforge", "dropforge.dev/")];
/// The keys of the configuration's `spec`.
const KEYS: [&str; 3] = ["templates", "paths", "values"];

/// A ResourceList.
struct ResourceList {
    source: Arc<Source>,
    root: Node,
    items: Vec<Data>,
    /// The place of each resource. The first of several with one identity counts.
    places: HashMap<Identity, usize>,
}

/// The configuration of the function.
struct Config {
    /// Names and texts of templates.
    templates: Vec<(String, String)>,
    /// Template files and folders, with their places.
    paths: Vec<(PathBuf, Span)>,
    /// The values, and the resources as `items`.
    inputs: DataMap,
}

impl ResourceList {
    /// Reads a list.
    ///
    /// # Errors
    /// Errors of reading YAML; `input.structure` for anything but a ResourceList.
    fn read(source: &Arc<Source>) -> Result<Self, Errors> {
        let root = yaml::read_one(source, &Limits { source_bytes: usize::MAX, ..Limits::default() })?;
        let list = Self { source: source.clone(), root, items: Vec::new(), places: HashMap::new() };
        list.check_kind(&list.root, KINDS[0])?;
        let wrong = |node: &Node| vec![list.error(format!("`items` must be a list, found {}", node.kind_name()), node)];
        let items: Vec<Data> = match list.root.get("items").filter(|items| items.kind != Kind::Null) {
            Some(items) => items.as_list().ok_or_else(|| wrong(items))?.iter().map(Node::to_data).collect(),
            None => Vec::new(),
        };
        let mut places = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            if let Ok(identity) = Identity::of(item) {
                places.entry(identity).or_insert(at);
            }
        }
        Ok(Self { items, places, ..list })
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// All of `input.structure` for what is missing, unknown or of another type.
    fn config(&self) -> Result<Config, Errors> {
        let none = || vec![self.error("the list has no `functionConfig`".to_owned(), &self.root)];
        let config = self.root.get("functionConfig").ok_or_else(none)?;
        self.check_kind(config, KINDS[1])?;
        let spec =
            config.get("spec").ok_or_else(|| vec![self.error("`functionConfig` has no `spec`".into(), config)])?;
        let mut found = Config { templates: Vec::new(), paths: Vec::new(), inputs: DataMap::default() };
        let mut errors = Vec::new();
        for entry in spec.as_map().unwrap_or_default() {
            errors.extend(self.read_entry(entry, &mut found).err().into_iter().flatten());
        }
        if found.templates.is_empty() && found.paths.is_empty() && errors.is_empty() {
            errors.push(self.error("`spec` has neither `templates` nor `paths`".to_owned(), spec));
        }
        found.inputs.insert("items".to_owned(), Data::List(self.items.clone()));
        if errors.is_empty() { Ok(found) } else { Err(errors) }
    }

    fn read_entry(&self, entry: &Entry, to: &mut Config) -> Result<(), Errors> {
        let wrong = |wanted: &str, node: &Node| {
            vec![self.error(format!("`{}` must be {wanted}, found {}", entry.name, node.kind_name()), node)]
        };
        match (&*entry.name, &entry.value) {
            ("templates", node) => {
                for Entry { name, value, .. } in
                    node.as_map().ok_or_else(|| wrong("a map from names to texts", node))?
                {
                    let text = value.as_str().ok_or_else(|| wrong("a map from names to texts", value))?;
                    to.templates.push((name.to_string(), text.to_owned()));
                }
            }
            ("paths", node) => {
                for item in node.as_list().ok_or_else(|| wrong("a list of paths", node))? {
                    let path = item.as_str().ok_or_else(|| wrong("a list of paths", item))?;
                    to.paths.push((path.into(), item.span));
                }
            }
            ("values", node) => {
                to.inputs = node.to_data().try_into_map().map_err(|_| wrong("a map", node))?;
                if let Some(items) = node.entry("items") {
                    return Err(vec![self.error("`items` stands for the resources of the list".into(), &items.key)]);
                }
            }
            (name, _) => {
                let error = self.error(format!("unknown key `{name}` in `spec`"), &entry.key);
                return Err(vec![error.with_suggestion(name, KEYS).with_available(KEYS)]);
            }
        }
        Ok(())
    }

    /// Checks that the templates are below the include root, or else the working directory.
    ///
    /// # Errors
    /// `template.outside_root` for each that is not; `file.read_failed` if the directory cannot be read.
    fn check_paths(&self, paths: &[(PathBuf, Span)], root: Option<&Path>) -> Result<(), Errors> {
        let root = Files::below(root.unwrap_or(Path::new("."))).map_err(|error| vec![error])?;
        let outside = paths.iter().filter(|(path, _)| !is_below(&root, path)).map(|(path, span)| {
            let error = outside(path, &root).at(&self.source, *span, "");
            error.with_help("name files below the working directory, or run with `--include-root DIR`")
        });
        let errors: Errors = outside.collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn check_kind(&self, node: &Node, (kind, group): (&str, &str)) -> Result<(), Errors> {
        let text = |key| node.get(key).and_then(Node::as_str).unwrap_or("");
        if text("kind") == kind && text("apiVersion").starts_with(group) {
            return Ok(());
        }
        let message = format!("expected `kind: {kind}` and `apiVersion: {group}v1`");
        Err(vec![self.error(message, node)])
    }

    fn error(&self, message: String, node: &Node) -> Box<Diagnostic> {
        Diagnostic::new(Code::InputStructure, message).at(&self.source, node.span, "")
    }

    /// Adds a resource in place of the one with its identity, whose file and position it keeps, or at the end.
    fn put(&mut self, identity: &Identity, mut item: Data) {
        match self.places.get(identity).and_then(|at| self.items.get_mut(*at)) {
            Some(old) => {
                keep_annotations(old, &mut item);
                *old = item;
            }
            None => self.items.push(item),
        }
    }

    /// Returns the list as YAML, with the diagnostics as results.
    fn finish(self, found: &[Box<Diagnostic>]) -> String {
        let mut list = self.root.to_data().into_map().unwrap_or_default();
        list.insert("items".to_owned(), Data::List(self.items));
        list.shift_remove("results");
        if !found.is_empty() {
            let all = found.iter().flat_map(|error| std::iter::once(error).chain(&error.also));
            list.insert("results".to_owned(), Data::List(all.map(|error| result(error)).collect()));
        }
        yaml::to_string(&Data::Map(list))
    }
}

/// Copies the annotations of `old` that say which file it comes from, as other functions may not lose them.
fn keep_annotations(old: &Data, new: &mut Data) {
    let is_kept = |key: &str| {
        let domain = key.split('/').next().unwrap_or("");
        domain.ends_with("config.kubernetes.io") || domain.ends_with("config.k8s.io")
    };
    let Some(annotations) = old.at_path("metadata.annotations").and_then(Data::as_map) else { return };
    let kept: Vec<_> = annotations.iter().filter(|(key, _)| is_kept(key)).collect();
    if kept.is_empty() {
        return;
    }
    let own = map_in(new, "metadata").and_then(|metadata| {
        let own = metadata.entry("annotations".to_owned()).or_insert_with(|| Data::Map(DataMap::default()));
        if let Data::Map(own) = own { Some(own) } else { None }
    });
    if let Some(own) = own {
        kept.into_iter().for_each(|(key, value)| {
            own.entry(key.clone()).or_insert_with(|| value.clone());
        });
    }
}

fn map_in<'d>(data: &'d mut Data, key: &str) -> Option<&'d mut DataMap> {
    match data {
        Data::Map(map) => match map.get_mut(key) {
            Some(Data::Map(inner)) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a diagnostic as a result of the function.
fn result(found: &Diagnostic) -> Data {
    let text = |text: String| Data::Str(text);
    let mut result = DataMap::from_iter([
        ("message".to_owned(), text(found.written(parts::KRM, ""))),
        ("severity".to_owned(), text(found.severity.name().to_owned())),
        ("tags".to_owned(), Data::Map(DataMap::from_iter([("code".to_owned(), text(found.code.id().to_owned()))]))),
    ]);
    if let Some(label) = found.primary() {
        let at = label.position();
        result.insert("field".to_owned(), {
            Data::Map(DataMap::from_iter([(
                "path".to_owned(),
                text(format!("line {}, column {}", at.line, at.column)),
            )]))
        });
        let file = DataMap::from_iter([("path".to_owned(), text(label.source.path().to_owned()))]);
        result.insert("file".to_owned(), Data::Map(file));
    }
    Data::Map(result)
}

/// The identity of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Identity {
    api_version: String,
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl Identity {
    /// Returns the identity of `item`.
    ///
    /// # Errors
    /// A message about what is missing.
    fn of(item: &Data) -> Result<Self, String> {
        let text = |path: &str| item.at_path(path).and_then(Data::as_str).map(str::to_owned);
        let needed = |path: &str| text(path).ok_or_else(|| format!("it has no text at `{path}`"));
        Ok(Self {
            api_version: needed("apiVersion")?,
            kind: needed("kind")?,
            namespace: text("metadata.namespace"),
            name: needed("metadata.name")?,
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = self.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
        write!(f, "`{} {namespace}{}` of `{}`", self.kind, self.name, self.api_version)
    }
}
