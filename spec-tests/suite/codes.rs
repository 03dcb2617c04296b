//! Provokes every diagnostic code through the public interface.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use dropforge::bulk::schema::ValuesSchema;
use dropforge::bulk::{
    Cluster, Failure, Fleet, FleetOptions, Format, Job, KubeSchemas, Layers, Layout, Merge, MissingNames, Options,
    Origins, Output, OutputDir, Overlay, Patch, PatchContent, PatchForm, PatchTarget, Patches, Plan, ReadValues,
    Renderer, Selection, Selector, Stamp, Watch, discover, finish_shards, input, schema, stamp, stream, values,
};
use dropforge::bytecode::{BinaryOp, EscapeMode, Op};
use dropforge::compiler::{Constant, Emitter, Fold, Loader as _, NoLoader};
use dropforge::diagnostics::{Code, Diagnostic, Result, Severity};
use dropforge::dialect::cel::{self, yaml};
use dropforge::dialect::hcl::body::{BodySchema, File};
use dropforge::dialect::tower::intent;
use dropforge::engine::{Dialect, DirLoader, Engine, OutputCheck};
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::{DataMap, Inputs, Value, from_value};
use dropforge::vm::Space;
use dropforge_catalog::CatalogError;
use dropforge_catalog::store::StoreError;
use serde_json::json;

use crate::{artifacts, store_codes};

/// A way to provoke a code.
enum Provoked {
    /// A Tera template.
    Tera(&'static str),
    /// Templates. The first one is rendered.
    Files(&'static [(&'static str, &'static str)]),
    /// A template with one tightened limit.
    Within(fn(&mut Limits), &'static str),
    /// An intent, and the inputs to resolve it with.
    Intent(&'static str, &'static str),
    /// A command of a non-strict intent, with `${params.x}` in it.
    Command(&'static str),
    /// Any other code.
    By(fn() -> Vec<Code>),
}

use Provoked::{By, Command, Files, Intent, Tera, Within};

const PROVOKED: &[(Code, Provoked)] = &[
    (Code::UnexpectedToken, Tera("{{ 1 + }}")),
    (Code::UnknownCharacter, Tera("{{ a ? b }}")),
    (Code::Unterminated, Tera("{{ 'a }}")),
    (Code::NumberOutOfRange, Tera("{{ 99999999999999999999 }}")),
    (Code::MisplacedTag, Tera("{% break %}")),
    (Code::DuplicateDefinition, Tera("{% block a %}{% endblock %}{% block a %}{% endblock %}")),
    (Code::NotUtf8, By(|| loaded("latin1"))),
    (Code::UnknownDirective, By(|| cel_yaml("$fi: 1"))),
    (Code::BadDirective, By(|| cel_yaml("$then: 1"))),
    (Code::MaybeExpression, By(|| cel_yaml("$let: {a: acme.com}"))),
    (Code::MaybeText, By(|| cel_yaml("$let: {a: '1.10'}"))),
    (Code::LineEndBehind, By(|| cel_yaml("a: |\n  ${x}\n"))),
    (Code::UndefinedVariable, Tera("{{ nothing }}")),
    (Code::BadIndex, Tera("{% set l = [1] %}{{ l[l] }}")),
    (Code::UnknownAttribute, By(crate::cel_partial::waiting)),
    (Code::UngivenCondition, By(ungiven)),
    (Code::ReadElsewhere, By(read_elsewhere)),
    (Code::TypeMismatch, Tera("{% set s = 'a' %}{{ s * 2 }}")),
    (Code::Arithmetic, Tera("{{ 1 % 0 }}")),
    (Code::NotIterable, Tera("{% set n = 1 %}{% for x in n %}{% endfor %}")),
    (Code::Unfit, By(|| vec![from_value::<bool>(Value::Null).unwrap_err().code])),
    (Code::Assertion, By(|| crate::cel_yaml::codes("$assert: 1 > 2"))),
    (Code::UnknownFunction, Tera("{{ 'a' | shout }}")),
    (Code::MissingArgument, Tera("{{ 'a' | split }}")),
    (Code::BadArgument, Tera("{{ 1 | upper }}")),
    (Code::FunctionFailed, Tera("{{ throw(message='m') }}")),
    (Code::CapabilityOff, Tera("{{ now() }}")),
    (Code::UnknownTemplate, Tera("{% include 'x' %}")),
    (Code::UnknownMacro, Tera("{{ self::m() }}")),
    (Code::InheritanceCycle, Tera("{% extends 't' %}")),
    (Code::BadInheritance, Files(&[("t", "{% include 'i' %}"), ("i", "{% extends 'b' %}"), ("b", "")])),
    (Code::OutsideRoot, By(|| loaded("../secret"))),
    (Code::IncludeCycle, By(|| cel_yaml("$include: t.yaml"))),
    (Code::LimitSourceBytes, Within(|limits| limits.source_bytes = 3, "four")),
    (Code::LimitDepth, Within(|limits| limits.nesting = 3, "{{ ((((1)))) }}")),
    (Code::LimitFuel, Within(|limits| limits.fuel = 9, "{% for i in range(end=10) %}{% endfor %}")),
    (Code::LimitMemory, Within(|limits| limits.memory = 99, "{{ range(end=10) }}")),
    (Code::LimitOutputBytes, Within(|limits| limits.output_bytes = 3, "four")),
    (Code::LimitRecursion, Tera("{% macro m() %}{{ self::m() }}{% endmacro %}{{ self::m() }}")),
    (Code::LimitTemplates, Within(|limits| limits.templates = 1, "{% include 't' ignore missing %}{% include 'u' %}")),
    (Code::LimitCode, Within(|limits| limits.code_words = 3, "a{{ b }}c{{ d }}")),
    (Code::LimitRegex, Within(|limits| limits.regex_bytes = 3, "{% set s = '' %}{{ s is matching('four') }}")),
    (Code::LimitCost, By(costly)),
    (Code::LimitTime, Within(|limits| limits.time = Some(Duration::ZERO), "{{ range(end=20000) }}")),
    (Code::CorruptProgram, By(corrupt)),
    (Code::TemplateMissingVariable, Intent("spec: {controls: {lock: '${context.gone}'}}", "{}")),
    (Code::TemplateInvalidSyntax, Intent("spec: {controls: {lock: '${params.x y}'}}", "{}")),
    (Code::TemplateNestedExpression, Intent("spec: {controls: {lock: '${params.${params.a}}'}}", "{}")),
    (Code::TemplateInvalidIdentifier, Intent("spec: {controls: {lock: '${params.A-b}'}}", "{}")),
    (Code::TemplateDisallowedField, Intent("metadata: {name: '${params.a}'}", "{}")),
    (Code::TemplateUnsafeShellContext, Intent("spec: {runbook: [{exec: {command: 'a \"${params.x}\"'}}]}", "{}")),
    (Code::IntentStructure, Intent("spec: {runbook: 5}", "{}")),
    (Code::IntentRenderMode, Intent("spec: {controls: {lock: 'x', render_mode: loud}}", "{}")),
    (Code::IntentUnknownStep, By(unknown_step)),
    (Code::ParameterDeclaration, Intent("spec: {parameters: [{name: a, type: colour}]}", "{}")),
    (Code::ParameterMissing, Intent("spec: {parameters: [{name: a, type: string, required: true}]}", "{}")),
    (Code::ParameterType, Intent("spec: {parameters: [{name: a, type: string}]}", "params: {a: 1}")),
    (Code::ParameterNotAllowed, Intent("spec: {parameters: [{name: a, type: enum, values: [b]}]}", "params: {a: c}")),
    (Code::ParameterUndeclared, Intent("spec: {parameters: [{name: a, type: string}]}", "params: {b: c}")),
    (Code::EnvironmentReference, Command("echo $HOME")),
    (Code::LookalikeExpression, Command("echo $params.x")),
    (Code::ShellExpressionInDoubleQuotes, Command("a \"${params.x}\"")),
    (Code::ShellExpressionInSingleQuotes, Command("a '${params.x}'")),
    (Code::ShellExpressionAfterBackslash, Command("a \\${params.x}")),
    (Code::ShellExpressionInBackticks, Command("a `${params.x}`")),
    (Code::ShellExpressionInHeredoc, Command("cat <<END\n${params.x}\nEND\n")),
    (Code::ShellExpressionInComment, Command("a # ${params.x}")),
    (Code::ShellExpressionInArithmetic, Command("a $((1 + ${params.x}))")),
    (Code::ShellExpressionRunAsCode, Command("sh -c ${params.x}")),
    (Code::ShellExpressionMayBeOption, Command("rm ${params.x}")),
    (Code::LiteralCommand, Intent("spec: {runbook: [{exec: {command: 'a ${params.x}', render_mode: literal}}]}", "{}")),
    (Code::ControlCharacter, Intent(r#"spec: {controls: {lock: "a \a"}}"#, "{}")),
    (Code::UnreferenceableName, Intent("spec: {runbook: [{name: a-b, exec: {command: x}}]}", "{}")),
    (
        Code::DuplicateStep,
        Intent("spec: {runbook: [{name: a, exec: {command: x}}, {name: a, exec: {command: x}}]}", "{}"),
    ),
    (Code::InputSyntax, By(|| code(input::map(&source("[1]"), Format::Json)))),
    (Code::BadSet, By(|| code(values::parse_set(values::SetKind::Typed, "a", &mut no_file)))),
    (Code::SetConflict, By(set_conflict)),
    (Code::BadFleet, By(|| code(fleet("- 5")))),
    (Code::DuplicateKey, By(|| code(input::map(&source("a: 1\na: 2"), Format::Yaml)))),
    (Code::InputStructure, By(|| body("a = 1\n", &BodySchema::new()))),
    (Code::InputType, By(in_json)),
    (Code::UnfitValues, By(unfit_values)),
    (Code::UnreadValue, By(unread)),
    (Code::KindChange, By(kind_change)),
    (Code::EncryptedInput, By(|| code(input::map(&source("a: ENC[x]\nsops: {mac: x}"), Format::Yaml)))),
    (Code::ReadFailed, By(|| code(DirLoader::jailed("/nowhere/at/all")))),
    (Code::WriteFailed, By(|| in_dir(|dir| code(OutputDir::create(&dir.join("latin1/x")))))),
    (Code::SymbolicLink, By(|| in_dir(|dir| code(OutputDir::create(&dir.join("link")))))),
    (Code::OutputLocked, By(locked)),
    (Code::ClosedPipe, By(|| planned(&["a"], &["x"], "{cluster}", |job| code(stream(&Empty, job, &mut Closed))))),
    (Code::InvalidOutput, By(|| codes(&OutputCheck::default().errors_of_file("a.yaml", "a: b: c")))),
    (Code::UnfitOutput, By(unfit_output)),
    (Code::UnfitPatch, By(unfit_patch)),
    (Code::NoTemplates, By(|| in_dir(|dir| code(discover(&[dir.to_owned()], None, &|_| false))))),
    (Code::BadOutputName, By(|| planned(&["a/b"], &["x"], "{cluster}", |_| Vec::new()))),
    (Code::BadLayout, By(|| code(Layout::parse("{cluster")))),
    (Code::DuplicateOutput, By(|| planned(&["a", "b"], &["x"], "{template}", |_| Vec::new()))),
    (Code::CaseCollision, By(|| planned(&["a", "A"], &["x"], "{cluster}", |_| Vec::new()))),
    (Code::PrefixCollision, By(|| planned(&["a"], &["x", "x/y"], "{template}", |_| Vec::new()))),
    (Code::DuplicateCluster, By(|| code(fleet("[{name: a}, {name: a}]")))),
    (Code::UnnamedCluster, By(|| code(fleet("[{region: a}]")))),
    (Code::MassDelete, By(mass_delete)),
    (Code::MissingPart, By(missing_part)),
    (Code::BadManifest, By(bad_manifest)),
    (Code::ForeignFile, By(foreign_file)),
    (Code::Usage, By(|| code(Selector::parse("env in")))),
    (Code::NotAnArtifact, By(|| artifacts::opened(b"{}".to_vec()))),
    (Code::ArtifactVersion, By(|| artifacts::opened(artifacts::changed("format", 0)))),
    (Code::ArtifactDigest, By(|| artifacts::opened(artifacts::changed("digest", 2)))),
    (Code::ArtifactEncoding, By(|| artifacts::opened(artifacts::cut()))),
    (Code::ArtifactName, By(|| artifacts::misnamed("../t"))),
    (Code::Internal, By(internal)),
    (
        Code::CatalogRefused,
        By(|| codes(&CatalogError::not_found("stack_not_found", "stack not found").diagnostics(None))),
    ),
    (Code::CatalogUnreachable, By(|| codes(&CatalogError::from(StoreError::Failed("gone".into())).diagnostics(None)))),
    (Code::CatalogFinding, By(reviewed)),
    (Code::StoreUnreachable, By(store_codes::unreachable)),
    (Code::StoreDenied, By(store_codes::denied)),
    (Code::StoreMissing, By(store_codes::missing)),
    (Code::StoreChanged, By(store_codes::changed)),
    (Code::StoreFailed, By(store_codes::failed)),
    (Code::StoreLocked, By(store_codes::locked)),
    (Code::LockLost, By(store_codes::lock_lost)),
    (Code::NoConditions, By(store_codes::no_conditions)),
    (Code::BadUrl, By(store_codes::bad_url)),
    (Code::WrongDigest, By(store_codes::wrong_digest)),
    (Code::NoChartVersion, By(by_command)),
    (Code::StaleLock, By(by_command)),
    (Code::MissingChart, By(by_command)),
    (Code::UnknownRepository, By(by_command)),
    (Code::TestStructure, By(by_command)),
    (Code::TestFailed, By(by_command)),
    (Code::SnapshotMissing, By(by_command)),
    (Code::SnapshotObsolete, By(by_command)),
    (Code::LowCoverage, By(by_command)),
    (Code::NotTranslated, By(by_command)),
];

/// Reviews a template that reads an input missing from its schema.
fn reviewed() -> Vec<Code> {
    let renderer = dropforge_catalog::render::Renderer::new(&dropforge_catalog::render::Options::default());
    let review = renderer.review("{{ nmae }}", "{\"properties\": {\"name\": {}}}").expect("a review");
    let found = |finding| dropforge_catalog::diagnostic(&json!(finding), &source("{{ nmae }}"), Severity::Warning).code;
    review.findings.iter().map(found).collect()
}

fn code<T>(result: Result<T>) -> Vec<Code> {
    result.err().into_iter().map(|error| error.code).collect()
}

fn codes<'d>(diagnostics: impl IntoIterator<Item = &'d Box<Diagnostic>>) -> Vec<Code> {
    diagnostics.into_iter().map(|diagnostic| diagnostic.code).collect()
}

fn source(text: &str) -> std::sync::Arc<Source> {
    Source::new("input", text)
}

/// Returns the codes of all errors and warnings of a CEL-YAML template.
/// Returns the codes of a condition that is misspelled.
fn ungiven() -> Vec<Code> {
    let template = Engine::new().compile(Dialect::Tera, "t", "{% if ingress.enabld %}{% endif %}").unwrap();
    let source = Source::new("v.yaml", "ingress: {enabled: true}");
    let mut found = MissingNames::of([&template]);
    found.look_at(0, &input::map(&source, Format::Yaml).unwrap());
    found.into_failures(None).iter().map(|failure| failure.diagnostic.code).collect()
}

/// Returns the codes of an item without a field that an input of the loop variable's name has.
fn read_elsewhere() -> Vec<Code> {
    let text = "{% for svc in services %}{{ svc.port }}{% endfor %}";
    let template = Engine::new().compile(Dialect::Tera, "t", text).unwrap();
    let source = Source::new("v.yaml", "svc: {port: 80}\nservices: [{port: 1}, {}]");
    let mut found = MissingNames::of([&template]);
    found.look_at(0, &input::map(&source, Format::Yaml).unwrap());
    found.into_failures(None).iter().map(|failure| failure.diagnostic.code).collect()
}

/// Returns the codes of a value that no template reads.
fn unread() -> Vec<Code> {
    let set = values::parse_set(values::SetKind::Typed, "a=1", &mut |_| unreachable!()).unwrap();
    let layers = Layers::new([], set, Merge::Deep);
    ReadValues::default().unread(&layers).iter().map(|warning| warning.code).collect()
}

/// Returns the codes of a cluster's value that replaces a shared map.
fn kind_change() -> Vec<Code> {
    let shared = input::map(&Source::new("v.yaml", "env: {name: prod}"), Format::Yaml).unwrap();
    let layers = Layers::new([shared], Vec::new(), Merge::Deep);
    let source = Source::new("f.yaml", "- {name: a, env: prod}");
    let fleet = Fleet::read(&source, Format::Yaml, &FleetOptions::default()).unwrap();
    let clusters = Selection::of(&fleet, &layers, &Selector::default()).unwrap();
    layers.kind_changes(&clusters).unwrap().iter().map(|failure| failure.diagnostic.code).collect()
}

fn cel_yaml(text: &str) -> Vec<Code> {
    let (source, limits) = (Source::new("t.yaml", text), Limits::default());
    let found = match yaml::read(&source, &NoLoader, &limits, &yaml::Options::default()) {
        Ok(templates) => templates.lints,
        Err(errors) => errors,
    };
    found.iter().map(|diagnostic| diagnostic.code).collect()
}

/// Returns the codes of reading a configuration by `schema`.
fn body(text: &str, schema: &BodySchema) -> Vec<Code> {
    let mut faults = Vec::new();
    let file = File::native(&source(text), &Default::default(), &Limits::default());
    file.body().content(schema, &mut faults);
    codes(file.diagnostics().iter().chain(&faults))
}

/// Reads a number where a JSON body should have blocks.
fn unfit_values() -> Vec<Code> {
    let schema = ValuesSchema::read(&Source::new("values.schema.json", r#"{"required": ["a"]}"#)).unwrap();
    codes(&schema::validate(&[schema], &DataMap::default(), &Origins::default()))
}

fn unfit_output() -> Vec<Code> {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("service-v1.json");
    std::fs::write(&path, r#"{"required": ["spec"]}"#).unwrap();
    let kinds = KubeSchemas::read(&[path]).unwrap();
    codes(&kinds.errors_of_file("a.yaml", "apiVersion: v1\nkind: Service\n"))
}

fn unfit_patch() -> Vec<Code> {
    let (content, place) = (PatchContent::Text(source("- a")), (source(""), Span::default()));
    let patch = Patch { target: Some(PatchTarget::default()), form: PatchForm::Merge, content, place };
    codes(&Patches::new(vec![patch]).unwrap_err().into_vec())
}

fn in_json() -> Vec<Code> {
    let mut faults = Vec::new();
    let file = File::json(&source("{\"b\": 1}"), &Default::default(), &Limits::default());
    file.body().content(&BodySchema::new().block("b", &[]), &mut faults);
    codes(&faults)
}

fn no_file(_: &str) -> Result<String> {
    Ok(String::new())
}

fn render(files: &[(&str, &str)], limits: Limits) -> Vec<Code> {
    let builder =
        files.iter().fold(Engine::builder().limits(limits), |builder, (name, text)| builder.template(*name, *text));
    match builder.build().load(Dialect::Tera, files[0].0) {
        Ok(template) => code(template.render(&())),
        Err(errors) => errors.iter().map(|error| error.code).collect(),
    }
}

/// Returns every code from reading, checking and resolving an intent.
fn resolve(text: &str, given: &str, strict: bool) -> Vec<Code> {
    let read = match intent::Intent::parse(&source(text)) {
        Ok(read) => read,
        Err(errors) => return codes(&errors),
    };
    let options = intent::ValidateOptions { strict, ..intent::ValidateOptions::default() };
    let report = read.validate(&options);
    let inputs = intent::Inputs::from_yaml(&source(given), &Limits::default()).expect("inputs");
    let failed = read.resolve_with(&inputs, &options, &mut |_| {}).err().unwrap_or_default();
    codes(report.errors.iter().chain(&report.warnings).chain(&failed))
}

fn unknown_step() -> Vec<Code> {
    let mut read = intent::Intent::parse(&source("spec: {}")).expect("an intent");
    code(read.step_completed("gone", DataMap::default()))
}

fn set_conflict() -> Vec<Code> {
    let set = values::parse_set(values::SetKind::Typed, "a.b=1", &mut no_file).expect("an assignment").remove(0);
    code(set.apply(&mut input::map(&source("a: text"), Format::Yaml).expect("a map"), &mut values::Gaps::default()))
}

fn fleet(yaml: &str) -> Result<Fleet> {
    Fleet::read(&source(yaml), Format::Yaml, &FleetOptions::default())
}

/// Calls `what` with a directory that contains a file `latin1` and a link that leads out of it.
fn in_dir(what: impl Fn(&Path) -> Vec<Code>) -> Vec<Code> {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("latin1"), b"gr\xFC\xDFe").expect("a file");
    std::os::unix::fs::symlink("/tmp", dir.path().join("link")).expect("a link");
    what(dir.path())
}

fn loaded(name: &str) -> Vec<Code> {
    in_dir(|dir| code(DirLoader::jailed(dir).expect("a loader").load(name)))
}

fn locked() -> Vec<Code> {
    in_dir(|dir| {
        let (one, two) = (OutputDir::create(dir).expect("open"), OutputDir::create(dir).expect("open"));
        one.lock(true).expect("the first one has it");
        code(two.lock(true))
    })
}

fn missing_part() -> Vec<Code> {
    in_dir(|dir| planned(&["a"], &["x"], "{cluster}", |job| code(finish_shards(job, "none", 2, &dir.join("out")))))
}

fn bad_manifest() -> Vec<Code> {
    in_dir(|dir| {
        let own = dir.join(dropforge::bulk::STATE);
        std::fs::create_dir(&own).expect("a directory");
        std::fs::write(own.join("runs"), "not ours").expect("a file");
        code(dropforge::bulk::State::read(Some(&OutputDir::create(dir).expect("open"))))
    })
}

/// Renders every output as the empty string.
struct Empty;

impl Stamp for Empty {
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        body(&mut Empty);
    }
}

impl Renderer for Empty {
    fn render(
        &mut self,
        _: Option<usize>,
        _: &Cluster,
        _: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> Result<()> {
        results.push(Ok(text.len()));
        Ok(())
    }
}

/// Panics while it renders.
struct Panics;

impl Stamp for Panics {
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        body(&mut Panics);
    }
}

impl Renderer for Panics {
    fn render(
        &mut self,
        _: Option<usize>,
        _: &Cluster,
        _: &Overlay<'_>,
        _: &mut String,
        _: &mut Vec<Result<usize>>,
    ) -> Result<()> {
        panic!("on purpose");
    }
}

/// A writer whose reader is gone.
struct Closed;

impl io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

/// Plans these clusters and templates. Returns the codes of planning, or those from `then`.
fn planned(clusters: &[&str], names: &[&str], layout: &str, then: impl Fn(&Job<'_>) -> Vec<Code>) -> Vec<Code> {
    let clusters = clusters.iter().map(|name| dropforge::bulk::Cluster::new(*name, DataMap::default())).collect();
    let (fleet, layers) = (Fleet::new(clusters).expect("a fleet"), Layers::default());
    let outputs = names
        .iter()
        .map(|name| Output {
            template: (*name).to_owned(),
            name: (*name).to_owned(),
            executable: false,
            bytes: None,
            release: None,
        })
        .collect();
    let layout = Layout::parse(layout).expect("a layout");
    let plan = match Plan::new(&fleet, &layers, &Selector::default(), outputs, layout) {
        Ok(plan) => plan,
        Err(failures) => return codes(&Failure::diagnostics(failures).into_vec()),
    };
    let options = Options { threads: 1, prune: true, keep_empty: true, ..Options::default() };
    then(&Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() })
}

fn mass_delete() -> Vec<Code> {
    in_dir(|dir| {
        let out = dir.join("out");
        let ten: Vec<String> = (0..10).map(|n| format!("c{n}")).collect();
        let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
        planned(&ten, &["x"], "{cluster}", |job| code(stamp(&Empty, job, &out)));
        planned(&["c0"], &["x"], "{cluster}", |job| code(stamp(&Empty, job, &out)))
    })
}

fn foreign_file() -> Vec<Code> {
    in_dir(|dir| {
        std::fs::write(dir.join("c0"), "not ours").expect("a file");
        planned(&["c0"], &["x"], "{cluster}", |job| code(stamp(&Empty, job, dir)))
    })
}

fn internal() -> Vec<Code> {
    in_dir(|dir| {
        planned(&["a"], &["x"], "{cluster}", |job| {
            let report = stamp(&Panics, job, &dir.join("out")).expect("a report");
            report.failures.iter().map(|failure| failure.diagnostic.code).collect()
        })
    })
}

/// Folds no constants.
struct NoFold;

impl Fold for NoFold {
    fn binary(&self, _: BinaryOp, _: &Constant<'_>, _: &Constant<'_>) -> Option<Constant<'static>> {
        None
    }

    fn text<'c>(&self, _: &Constant<'c>, _: EscapeMode) -> Option<Cow<'c, str>> {
        None
    }
}

/// Evaluates an expression that costs more than the limit.
fn costly() -> Vec<Code> {
    let (limits, space) = (Limits { cost: 9, ..Limits::default() }, Space::new());
    let settings = cel::Settings { cost: true, ..cel::Settings::default() };
    let expression = cel::Expression::with(&Source::new("e", "[1]"), &settings, &cel::registry(), &limits);
    let expression = expression.expect("an expression");
    code(expression.evaluate(&space, Inputs::default(), &limits))
}

/// Loads a program that calls a missing chunk.
fn corrupt() -> Vec<Code> {
    let mut emitter = Emitter::new(Dialect::Tower, &NoFold, 100);
    let main = emitter.declare_chunk("main", 0);
    emitter.begin_chunk(main);
    emitter.op(Op::CallChunk, &[99, 0]);
    emitter.end_chunk();
    code(emitter.finish())
}

impl Provoked {
    fn codes(&self) -> Vec<Code> {
        match self {
            Tera(text) => render(&[("t", text)], Limits::default()),
            Files(files) => render(files, Limits::default()),
            Within(tighten, text) => {
                let mut limits = Limits::default();
                tighten(&mut limits);
                render(&[("t", text), ("u", "")], limits)
            }
            Intent(text, inputs) => resolve(text, inputs, true),
            Command(command) => {
                let step = json!({"name": "s", "exec": {"command": command}});
                resolve(&json!({"spec": {"runbook": [step]}}).to_string(), "params: {x: y}", false)
            }
            By(what) => what(),
        }
    }
}

/// Returns the codes that the tests of `dropforge test`, of imports and of fetched charts expect.
fn by_command() -> Vec<Code> {
    let tests = [
        include_str!("../cli/template_tests.rs"),
        include_str!("../migrate/helmfile.rs"),
        include_str!("../remote/charts.rs"),
    ];
    Code::ALL.iter().copied().filter(|code| tests.iter().any(|text| text.contains(code.id()))).collect()
}

#[test]
fn every_code_is_provoked() {
    let rows: Vec<Code> = PROVOKED.iter().map(|(code, _)| *code).collect();
    let left: Vec<_> = Code::ALL.iter().filter(|code| !rows.contains(code)).collect();
    assert!(left.is_empty(), "codes without a row: {left:?}");
    let mut wrong = Vec::new();
    for (code, provoked) in PROVOKED {
        let got = provoked.codes();
        if !got.contains(code) {
            wrong.push(format!("{code:?}: {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ids_of_codes_are_those_of_their_ranges() {
    let ranges: BTreeSet<&str> = Code::ALL.iter().map(|code| &code.id()[..3]).collect();
    assert_eq!(ranges.into_iter().collect::<Vec<_>>().join(" "), "E01 E02 E03 E04 E05 E06 E07 E08 E09 E10 E11");
}
