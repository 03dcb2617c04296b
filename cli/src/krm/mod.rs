//! `dropforge krm`: a function on Kubernetes resources, for kustomize and kpt.

mod resource_list;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;

use dropforge::bulk::{self, Skipped, TemplateFile, TemplateSet, Templates};
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::engine::{DirLoader, OutputCheck, OutputSyntax, Template};
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::yaml::{self, Node};
use dropforge::value::{Arena, Data, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::options::LanguageArgs;
use crate::output::print;
use crate::stderr::Stderr;
use resource_list::{Identity, ResourceList};

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
