//! A chart that is ready to render.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use super::bundle::{Extent, Programs};
use super::render::ChartRender;
use crate::coverage::{Coverage, during};
use crate::template::{Callees, Findings};
use crate::{Artifact, Engine, Origin, Template};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_base::text::{Source, Text};
use dropforge_helm::chart::{Capabilities, Chart, ChartSource, Plan, Release, UserValues};
use dropforge_machine::bytecode::{Dialect, Program};
use dropforge_machine::compiler::{NoLoader, Unit};
use dropforge_machine::vm::{Observer, Session};
use dropforge_value::{InputSpace, Inputs, Value};

use dropforge_helm as helm;

/// A chart with the charts in it. Cheap to clone, shared between threads.
///
/// Its templates are compiled when they are first rendered: once for each set of enabled charts, without the branches that
/// the values do not seem to take. A render that reaches one of those compiles everything and starts again. Any later
/// render compiles nothing.
#[derive(Debug, Clone)]
pub struct ChartTemplate {
    shared: Arc<SharedChart>,
}

#[derive(Debug)]
struct SharedChart {
    chart: Arc<Chart>,
    engine: Engine,
    programs: Programs,
    /// The artifact that the chart comes from.
    artifact: Option<Artifact>,
}

impl Engine {
    /// Parses the metadata, values and schemas of a chart and of the charts in it.
    ///
    /// # Errors
    /// All errors of all files: `input.syntax`, `input.structure`, `syntax.not_utf8`, `limit.*`.
    pub fn chart(&self, source: &ChartSource) -> std::result::Result<ChartTemplate, Diagnostics> {
        ChartTemplate::new(source, self, None)
    }
}

impl ChartTemplate {
    pub(super) fn new(
        source: &ChartSource,
        engine: &Engine,
        artifact: Option<Artifact>,
    ) -> std::result::Result<Self, Diagnostics> {
        let (chart, engine) = (Arc::new(Chart::load(source)?), engine.clone());
        Ok(Self { shared: Arc::new(SharedChart { chart, engine, programs: Programs::default(), artifact }) })
    }

    /// Returns the same chart with programs of its own, for plans that leave out some of its templates.
    #[doc(hidden)]
    pub fn apart(&self) -> Self {
        let SharedChart { chart, engine, artifact, .. } = &*self.shared;
        let (chart, engine, artifact) = (chart.clone(), engine.clone(), artifact.clone());
        Self { shared: Arc::new(SharedChart { chart, engine, programs: Programs::default(), artifact }) }
    }

    /// Returns the parsed chart.
    #[doc(hidden)]
    pub fn chart(&self) -> &Chart {
        &self.shared.chart
    }

    /// Returns the engine that renders the chart.
    #[doc(hidden)]
    pub fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    /// Renders the templates.
    ///
    /// # Errors
    /// The errors of [`Chart::plan`] and [`ChartTemplate::compile`]; the first error of the templates with these values.
    pub fn render(
        &self,
        values: &UserValues,
        release: &Release,
        capabilities: &Capabilities,
    ) -> std::result::Result<ChartRender, Diagnostics> {
        let mut session = Session::new();
        let plan = self.plan(&session, values, release, capabilities)?;
        self.render_in(&mut session, plan)
    }

    /// Returns the plan of a release, within the limits of the engine and the deadline of the session.
    ///
    /// # Errors
    /// Those of [`Chart::plan_within`].
    #[doc(hidden)]
    pub fn plan(
        &self,
        session: &Session,
        values: &UserValues,
        release: &Release,
        capabilities: &Capabilities,
    ) -> std::result::Result<Plan, Diagnostics> {
        let cx = session.context(self.shared.engine.limits());
        self.shared.chart.plan_within(&cx, values, release, capabilities)
    }

    /// Returns the plan of the charts that values enable, to compile and not to render.
    ///
    /// # Errors
    /// Those of [`Chart::outline`].
    #[doc(hidden)]
    pub fn outline(&self, values: &UserValues) -> std::result::Result<Plan, Diagnostics> {
        let session = Session::new();
        self.shared.chart.outline(&session.context(self.shared.engine.limits()), values)
    }

    /// Renders a plan of this chart in a session that keeps its memory.
    ///
    /// # Errors
    /// The errors of [`ChartTemplate::compile`]; the first error of the templates.
    #[doc(hidden)]
    pub fn render_in(&self, session: &mut Session, plan: Plan) -> std::result::Result<ChartRender, Diagnostics> {
        let (template, extent) = self.program(&plan, Extent::Partial)?;
        let mut texts = match run(session, &template, &plan, None) {
            Err(error) if extent == Extent::Partial && error.code == Code::UnknownTemplate => {
                run(session, &self.compile(&plan)?, &plan, None)?
            }
            texts => texts?,
        };
        texts.finish(&template);
        Ok(self.rendered(plan, texts))
    }

    /// Works like [`ChartTemplate::render_in`] for a plan whose result depends on nothing else, such as the time or random
    /// numbers. Returns `None` for others, and if rendering fails.
    #[doc(hidden)]
    pub fn render_constant(&self, session: &mut Session, plan: Plan) -> Option<ChartRender> {
        let (template, _) = self.program(&plan, Extent::Partial).ok()?;
        let mut texts = run_as(session, &template, &plan, How::Probe).ok()?;
        texts.finish(&template);
        Some(self.rendered(plan, texts))
    }

    /// Works like [`ChartTemplate::render_in`] with the whole program, and adds to `coverage` what runs.
    ///
    /// # Errors
    /// Same as [`ChartTemplate::render_in`].
    #[doc(hidden)]
    pub fn render_covered(
        &self,
        session: &mut Session,
        plan: Plan,
        coverage: &Coverage,
    ) -> std::result::Result<ChartRender, Diagnostics> {
        let template = self.compile(&plan)?;
        coverage.add(&template);
        let mut texts = during(coverage, |watch| run(session, &template, &plan, Some(watch)))?;
        texts.finish(&template);
        Ok(self.rendered(plan, texts))
    }

    /// Returns the result of a render.
    fn rendered(&self, plan: Plan, texts: Texts) -> ChartRender {
        let names = plan.templates().iter().filter(|template| !template.is_partial());
        let files = names.map(|template| template.name().to_owned()).zip(texts.shared()).collect();
        ChartRender { template: self.clone(), plan, files }
    }

    /// Compiles the templates of a plan of this chart, or returns the program that was compiled before.
    ///
    /// # Errors
    /// Every syntax error of every template, or a limit; `template.unknown` for an artifact that has neither the program
    /// nor sources to compile.
    #[doc(hidden)]
    pub fn compile(&self, plan: &Plan) -> std::result::Result<Template, Diagnostics> {
        self.program(plan, Extent::Whole).map(|(template, _)| template)
    }

    /// Compiles the templates of a plan as far as a render with its values seems to need them, which is all that
    /// [`ChartTemplate::render_in`] compiles first. The branches that are left out still have no syntax errors.
    ///
    /// # Errors
    /// Those of [`ChartTemplate::compile`].
    #[doc(hidden)]
    pub fn compile_for(&self, plan: &Plan) -> std::result::Result<Template, Diagnostics> {
        self.program(plan, Extent::Partial).map(|(template, _)| template)
    }

    /// Returns the program of a plan, of at least this extent.
    fn program(&self, plan: &Plan, extent: Extent) -> std::result::Result<(Template, Extent), Diagnostics> {
        // Artifacts have whole programs.
        let extent = if self.shared.artifact.is_some() { Extent::Whole } else { extent };
        self.shared.programs.get(plan, extent, || match &self.shared.artifact {
            Some(artifact) => self.of_artifact(artifact, plan),
            None => self.compiled(plan, extent),
        })
    }

    /// Compiles the templates of a plan.
    ///
    /// # Errors
    /// Every syntax error of every template, or a limit.
    pub(super) fn compiled(&self, plan: &Plan, extent: Extent) -> std::result::Result<Template, Diagnostics> {
        let engine = &self.shared.engine;
        let sources: Vec<Arc<Source>> = plan.templates().iter().map(|template| plan.source(template)).collect();
        let entry = Source::new(plan.charts().first().map_or("", |chart| chart.path()), "");
        let unit = Unit { together: &sources, ..engine.unit(Dialect::Helm, &entry, &NoLoader, None) };
        let compiled = helm::compile_chart(&unit, plan, extent == Extent::Partial).map_err(helm::parse_errors)?;
        let found = Findings {
            origin: Origin::Source,
            lints: compiled.lints,
            reaches: compiled.reaches,
            escape: false,
            tree: None,
        };
        Ok(Template::link(compiled.program, found, engine, Callees::new())?)
    }
}

thread_local! {
    /// What renders keep of their inputs, so that a program finds values again where they were.
    static KEPT: RefCell<InputSpace> = RefCell::default();
}

/// The texts of the templates of a chart, one after the other.
#[derive(Debug)]
pub(super) struct Texts {
    pub whole: String,
    ends: Vec<usize>,
}

impl Texts {
    /// Takes the buffer of a session for the texts of `program`, which `run` runs, with its answer: the ends of the texts.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn of(
        session: &mut Session,
        program: &Program,
        run: impl FnOnce(&mut Session, &mut String) -> Result<Vec<usize>>,
    ) -> Result<Self> {
        let mut whole = std::mem::take(&mut session.text);
        whole.clear();
        // Most of a text is constant, and most constants are written once.
        whole.reserve(program.text_bytes());
        match run(session, &mut whole) {
            Ok(ends) => Ok(Self { whole, ends }),
            Err(error) => {
                session.text = whole;
                Err(error)
            }
        }
    }

    /// Removes the texts of missing values.
    pub fn finish(&mut self, template: &Template) {
        helm::finish_all(template.program(), &mut self.whole, &mut self.ends);
    }

    /// Returns the place of each text.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| start..*end)
    }

    /// Returns the texts, which share the buffer.
    fn shared(mut self) -> impl Iterator<Item = Text> {
        self.whole.shrink_to_fit();
        let (whole, mut start) = (Arc::new(self.whole), 0);
        self.ends.into_iter().map(move |end| Text::Shared(whole.clone(), std::mem::replace(&mut start, end)..end))
    }
}

/// Returns the ends of the texts of an answer.
pub(super) fn ends(answer: Value<'_>) -> Result<Vec<usize>> {
    let end = |item: &Value<'_>| match item {
        Value::Int(end) => usize::try_from(*end).ok(),
        _ => None,
    };
    let ends = answer.as_list().and_then(|items| items.iter().map(end).collect());
    ends.ok_or_else(|| Diagnostic::new(Code::CorruptProgram, "the result of the program is not a list of lengths"))
}

/// Runs the program of a plan and returns its texts, with those of missing values.
pub(super) fn run(
    session: &mut Session,
    template: &Template,
    plan: &Plan,
    observer: Option<&mut dyn Observer>,
) -> Result<Texts> {
    run_as(session, template, plan, How::Run(observer))
}

/// The way to run a program.
enum How<'h> {
    Run(Option<&'h mut dyn Observer>),
    /// Fail if something depends on other things than the plan.
    Probe,
}

fn run_as(session: &mut Session, template: &Template, plan: &Plan, how: How<'_>) -> Result<Texts> {
    KEPT.with(|kept| match kept.try_borrow_mut() {
        Ok(mut kept) => run_with(&mut kept, session, template, plan, how),
        // In use: a registered function is rendering a chart of its own.
        Err(_) => run_with(&mut InputSpace::default(), session, template, plan, how),
    })
}

fn run_with(
    space: &mut InputSpace,
    session: &mut Session,
    template: &Template,
    plan: &Plan,
    how: How<'_>,
) -> Result<Texts> {
    space.with(|builder| {
        let inputs = Inputs::new(plan.inputs(builder, template.program().start().mutable)?);
        Texts::of(session, template.program(), |session, whole| {
            let machine = template.shared.language.machine();
            let run = template.run(inputs);
            let ended = match how {
                How::Run(observer) => machine.answer(session, run, Some(whole), observer).map(ends),
                How::Probe => {
                    let mut found = None;
                    let ended = machine.end(session, run, true, whole, &mut |_, answer| found = Some(ends(answer)));
                    ended.map(|()| found.unwrap_or_else(|| ends(Value::Undefined)))
                }
            };
            ended.map_err(|error| explained(template, plan, error))?
        })
    })
}

/// Adds Helm's message and the values that an error is about.
fn explained(template: &Template, plan: &Plan, error: Box<Diagnostic>) -> Box<Diagnostic> {
    let error = helm::explain(template.program(), error);
    let reads = helm::values_read(&error);
    plan.explain(error, &reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_of_enabled_charts_is_compiled_once() {
        let root = "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.0.0, condition: sub.on}\n";
        let source = ChartSource::from_files([
            ("Chart.yaml", root),
            ("templates/a.yaml", "n: {{ .Values.n }}\n"),
            ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
            ("charts/sub/templates/b.yaml", "b: {{ .Release.Name }}\n"),
        ])
        .unwrap();
        let chart = Engine::new().chart(&source).unwrap();
        let files = |set: &str| {
            let mut values = UserValues::default();
            values.set(set).unwrap();
            chart.render(&values, &Release::default(), &Capabilities::default()).unwrap().files().to_vec()
        };
        let file = |name: &str, text: &str| (format!("app/{name}"), Text::from(text));
        let sub = file("charts/sub/templates/b.yaml", "b: release-name\n");
        for n in 1..4 {
            let own = file("templates/a.yaml", &format!("n: {n}\n"));
            assert_eq!(files(&format!("n={n}")), [sub.clone(), own]);
        }
        assert_eq!(chart.shared.programs.len(), 1);
        assert_eq!(files("n=5,sub.on=false"), [file("templates/a.yaml", "n: 5\n")]);
        assert_eq!(chart.shared.programs.len(), 2);
    }

    #[test]
    fn a_branch_that_was_left_out_is_compiled_when_a_render_reaches_it() {
        let template = "{{ if .Values.ready }}on: {{ .Values.size }}{{ else if not .Values.closed }}n: {{ .Values.size }}{{ else }}off: {{ .Values.size }}{{ end }}
{{- range .Values.list }} {{ . }}{{ end }}
{{- with .Values.map }} {{ .key }}{{ end }}
{{- if eq .Values.kind \"a\" }} {{ include (print \"a\" \"b\") . }}{{ end }}
{{- define \"ab\" }}{{ .Values.kind }}{{ end }}";
        let source = ChartSource::from_files([
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
            ("values.yaml", "size: 1\nready: false\nlist: []\nmap: {}\nkind: ''\n"),
            ("templates/a.yaml", template),
        ])
        .unwrap();
        let sets = ["size=2", "ready=true", "closed=true", "list={a,b}", "map.key=k", "kind=a", "size=3"];
        let texts = ["n: 2", "on: 1", "off: 1", "n: 1 a b", "n: 1 k", "n: 1 a", "n: 3"];
        let text = |chart: &ChartTemplate, set: &str| {
            let mut values = UserValues::default();
            values.set(set).unwrap();
            let render = chart.render(&values, &Release::default(), &Capabilities::default()).unwrap();
            render.files()[0].1.as_str().to_owned()
        };
        let kept = Engine::new().chart(&source).unwrap();
        for (set, expected) in sets.into_iter().zip(texts) {
            // First of all renders, and after others.
            assert_eq!(text(&Engine::new().chart(&source).unwrap(), set), expected, "{set}");
            assert_eq!(text(&kept, set), expected, "{set}");
        }
        assert_eq!(kept.shared.programs.len(), 1);
    }

    #[test]
    fn texts_of_missing_values_are_removed_within_each_text() {
        let source = ChartSource::from_files([
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
            ("templates/a.yaml", "a: {{ .Values.none }}b<no value>é<no "),
            ("templates/b.yaml", "value>: {{ .Values.none }}\n"),
            ("templates/c.yaml", "c: 1\n"),
        ])
        .unwrap();
        let chart = Engine::new().chart(&source).unwrap();
        let render = chart.render(&UserValues::default(), &Release::default(), &Capabilities::default()).unwrap();
        let mut texts: Vec<_> = render.files().iter().map(|(_, text)| text.as_str()).collect();
        texts.sort_unstable();
        assert_eq!(texts, ["a: bé<no ", "c: 1\n", "value>: \n"]);
    }

    #[test]
    fn a_partial_program_is_smaller_and_says_what_it_lacks() {
        let source = ChartSource::from_files([
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
            ("templates/a.yaml", "{{ if .Values.on }}{{ .Values.a }}{{ .Values.b }}{{ end }}"),
        ])
        .unwrap();
        let chart = Engine::new().chart(&source).unwrap();
        let plan = |set: &str| {
            let mut values = UserValues::default();
            values.set(set).unwrap();
            chart.chart().plan(&values, &Release::default(), &Capabilities::default()).unwrap()
        };
        let (off, on) = (plan("on=false"), plan("on=true"));
        let partial = chart.compile_for(&off).unwrap();
        let error = run(&mut Session::new(), &partial, &on, None).unwrap_err();
        assert_eq!(error.code, Code::UnknownTemplate);
        let whole = chart.compile(&off).unwrap();
        assert!(whole.program().bytes() > partial.program().bytes());
        // From now on it is the only one.
        assert_eq!(chart.compile_for(&off).unwrap().program().bytes(), whole.program().bytes());
    }
}
