//! A chart that is ready to render.

use std::sync::Arc;

use super::programs::Programs;
use crate::bytecode::Dialect;
use crate::compiler::{NoLoader, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use crate::dialect::helm;
use crate::dialect::helm::chart::{Capabilities, Chart, ChartSource, Output, Plan, Release, UserValues};
use crate::engine::template::{Callees, Findings};
use crate::engine::{Engine, Origin, Template, instance};
use crate::text::Source;
use crate::value::{Arena, InputBuilder, Inputs, Shapes, Value};
use crate::vm::{NoHooks, Session};

/// A chart with the charts in it. Cheap to clone, shared between threads.
///
/// Its templates are compiled when they are first rendered: once for each set of enabled charts. A render with other values
/// compiles nothing.
#[derive(Debug, Clone)]
pub struct ChartTemplate {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    chart: Chart,
    engine: Engine,
    programs: Programs,
}

/// The rendered templates of a chart.
#[derive(Debug, Clone)]
pub struct ChartRender {
    plan: Plan,
    files: Vec<(String, String)>,
}

impl Engine {
    /// Parses the metadata, values and schemas of a chart and of the charts in it.
    ///
    /// # Errors
    /// All errors of all files: `input.syntax`, `input.structure`, `syntax.not_utf8`, `limit.*`.
    pub fn chart(&self, source: &ChartSource) -> std::result::Result<ChartTemplate, Diagnostics> {
        let (chart, engine) = (Chart::load(source)?, self.clone());
        Ok(ChartTemplate { shared: Arc::new(Shared { chart, engine, programs: Programs::default() }) })
    }
}

impl ChartTemplate {
    /// Returns the parsed chart.
    pub fn chart(&self) -> &Chart {
        &self.shared.chart
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
        let plan = self.shared.chart.plan(values, release, capabilities)?;
        self.render_in(&mut Session::new(), plan)
    }

    /// Renders a plan of this chart in a session that keeps its memory.
    ///
    /// # Errors
    /// The errors of [`ChartTemplate::compile`]; the first error of the templates.
    pub fn render_in(&self, session: &mut Session, plan: Plan) -> std::result::Result<ChartRender, Diagnostics> {
        let template = self.compile(&plan)?;
        let texts = run(session, &template, &plan)?;
        let names = plan.templates().iter().filter(|template| !template.is_partial());
        let files = names.map(|template| template.name().to_owned()).zip(texts).collect();
        Ok(ChartRender { plan, files })
    }

    /// Compiles the templates of a plan of this chart, or returns the program that was compiled before.
    ///
    /// # Errors
    /// Every syntax error of every template, or a limit.
    pub fn compile(&self, plan: &Plan) -> std::result::Result<Template, Diagnostics> {
        self.shared.programs.get(plan, || self.compiled(plan))
    }

    fn compiled(&self, plan: &Plan) -> std::result::Result<Template, Diagnostics> {
        let engine = &self.shared.engine;
        let sources: Vec<Arc<Source>> =
            plan.templates().iter().map(|template| Source::new(template.name(), &**template.text())).collect();
        let entry = Source::new(plan.charts().first().map_or("", |chart| chart.path()), "");
        let unit = Unit { together: &sources, ..engine.unit(Dialect::Helm, &entry, &NoLoader, None) };
        let compiled = helm::compile_chart(&unit, plan).map_err(helm::parse_errors)?;
        let found =
            Findings { origin: Origin::Source, lints: compiled.lints, reaches: compiled.reaches, escape: false };
        Ok(Template::link(compiled.program, found, engine, Callees::new())?)
    }
}

/// Runs the program of a plan and returns its texts.
fn run(session: &mut Session, template: &Template, plan: &Plan) -> Result<Vec<String>> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let builder = InputBuilder::new(&arena, &shapes);
    let inputs = Inputs::new(plan.inputs(&builder, template.program().start().mutable)?);
    let answer = instance::answer(session, template.run(inputs), &mut NoHooks);
    texts(answer.map_err(|error| helm::explain(template.program(), error))?)
}

/// Returns the texts of an answer.
pub(super) fn texts(answer: Value<'_>) -> Result<Vec<String>> {
    let text = |item: &Value<'_>| item.as_str().unwrap_or("").to_owned();
    let items = answer.as_list().map(|items| items.iter().map(text).collect());
    items.ok_or_else(|| Diagnostic::new(Code::CorruptProgram, "the result of the program is not a list of texts"))
}

impl ChartRender {
    /// Returns the names of the rendered templates and their texts, in the order of rendering.
    pub fn files(&self) -> &[(String, String)] {
        &self.files
    }

    /// Returns the plan that was rendered.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the documents in the order of installation, the hooks and the notes.
    ///
    /// # Errors
    /// `file.invalid_output` for a document that is not a YAML map.
    pub fn output(&self) -> Result<Output> {
        self.plan.assemble(self.files.iter().cloned())
    }
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
        let file = |name: &str, text: &str| (format!("app/{name}"), text.to_owned());
        let sub = file("charts/sub/templates/b.yaml", "b: release-name\n");
        for n in 1..4 {
            let own = file("templates/a.yaml", &format!("n: {n}\n"));
            assert_eq!(files(&format!("n={n}")), [sub.clone(), own]);
        }
        assert_eq!(chart.shared.programs.len(), 1);
        assert_eq!(files("n=5,sub.on=false"), [file("templates/a.yaml", "n: 5\n")]);
        assert_eq!(chart.shared.programs.len(), 2);
    }
}
