//! Charts in artifacts: opening them, and finding the program of a plan.

use super::programs::{self, Extent};
use super::template::ChartTemplate;
use crate::{Artifact, Origin, Template};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge_helm::chart::{ChartSource, Plan};
use dropforge_machine::bytecode::{Dialect, Resources};

impl Artifact {
    /// Returns `true` if the artifact holds a chart, with the programs of its templates.
    pub fn holds_chart(&self) -> bool {
        self.resources_of_chart().is_some()
    }

    /// Returns the chart of the artifact. It renders as it does from its files.
    ///
    /// # Errors
    /// `template.unknown` if the artifact holds no chart; the errors of [`Engine::chart`](crate::Engine::chart) for
    /// damaged files.
    pub fn chart(&self) -> Result<ChartTemplate, Diagnostics> {
        let Some(resources) = self.resources_of_chart() else {
            return Err(Diagnostic::new(Code::UnknownTemplate, "the artifact holds no chart").into());
        };
        let source = ChartSource::of_resources(resources)?;
        ChartTemplate::new(&source, self.engine(), Some(self.clone()))
    }

    fn resources_of_chart(&self) -> Option<&Resources> {
        self.bundle().resources().filter(|resources| resources.dialect() == Dialect::Helm)
    }
}

impl ChartTemplate {
    /// Returns the program that the artifact has for a plan, or compiles the sources in it.
    ///
    /// # Errors
    /// `template.unknown` if there are none, or this build has no compiler; errors of linking and compiling.
    pub(super) fn of_artifact(&self, artifact: &Artifact, plan: &Plan) -> Result<Template, Diagnostics> {
        let name = programs::name(plan);
        if artifact.bundle().entry(&name).is_some() {
            return Ok(artifact.template(&name)?);
        }
        match artifact.bundle().stripped() {
            true => Err(no_program(plan, "and no sources to compile one").into()),
            false => self.compiled(plan, Extent::Whole),
        }
    }

    /// Returns lints about the templates of a plan. An artifact's are compiled again, from its sources: a stripped one has
    /// no lints.
    ///
    /// # Errors
    /// Those of [`ChartTemplate::compile`].
    pub fn lints(&self, plan: &Plan) -> Result<Vec<Box<Diagnostic>>, Diagnostics> {
        let template = self.compile(plan)?;
        match template.origin() {
            Origin::Artifact => Ok(self.compiled(plan, Extent::Whole)?.lints().to_vec()),
            _ => Ok(template.lints().to_vec()),
        }
    }
}

/// Returns the error of a set of enabled charts without a program.
#[cold]
fn no_program(plan: &Plan, why: &str) -> Box<Diagnostic> {
    let charts: Vec<_> = plan.charts().iter().map(|chart| format!("`{}`", chart.path())).collect();
    let message = format!("the artifact has no program for the enabled charts ({}), {why}", charts.join(", "));
    Diagnostic::new(Code::UnknownTemplate, message)
        .with_help("compile the chart with the values that enable them: `dropforge compile CHART -f VALUES -o FILE`")
}
