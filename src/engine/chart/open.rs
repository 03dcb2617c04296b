//! Runs of a chart's program for releases of one form.

use super::template::{Texts, ends};
use crate::Template;
use dropforge_base::diagnostics::Result;
use dropforge_helm::Rules;
use dropforge_helm::chart::{OpenBase, OpenInputs};
use dropforge_machine::function::Cx;
use dropforge_machine::vm::{self, Probing, Session};
use dropforge_value::{InputBuilder, Inputs, Value};

/// A chart's program with the inputs that releases of one form share.
#[derive(Debug)]
pub struct OpenChart<'v> {
    /// The program.
    pub program: Template,
    /// The shared inputs.
    pub base: OpenBase<'v>,
}

/// A run of the program for one release.
#[derive(Debug, Clone, Copy)]
pub struct OpenRun<'i, 'r> {
    /// The inputs.
    pub inputs: &'i OpenInputs<'r>,
    /// The templates to leave out.
    pub skips: &'i [bool],
    /// `true` if the open values are not known, and nothing may depend on them.
    pub probes: bool,
}

/// The result of a run.
#[derive(Debug)]
pub struct OpenTexts {
    /// The texts of the templates, in the order of rendering. Those left out are empty.
    pub texts: Vec<String>,
    /// The keys that the run has added to the maps of charts and that were not known to be added. `None` if it has changed
    /// other values of the release.
    pub added: Option<Vec<String>>,
    /// `true` if it has changed any value of the release.
    pub changes: bool,
}

impl<'v> OpenChart<'v> {
    /// Runs the program.
    ///
    /// # Errors
    /// The first error of the templates; `internal` if something depends on a value that is not known.
    pub fn run<'r, 'w: 'r>(
        &self,
        session: &mut Session,
        builder: &InputBuilder<'r, 'w>,
        run: OpenRun<'_, 'r>,
    ) -> Result<OpenTexts>
    where
        'v: 'r,
    {
        let inputs = Inputs::new(self.base.inputs(builder, run.inputs, run.skips));
        let (mut added, mut changes) = (None, false);
        let mut texts = Texts::of(session, self.program.program(), |session, whole| {
            let end = |cx: &Cx<'_>, answer: Value<'_>| {
                added = self.base.added(cx, run.inputs);
                changes = added.is_none() || self.base.adds(cx, run.inputs);
                ends(answer)
            };
            match run.probes {
                true => vm::ended::<Probing<Rules>, _>(session, self.program.run(inputs), whole, end)?,
                false => vm::ended::<Rules, _>(session, self.program.run(inputs), whole, end)?,
            }
        })?;
        texts.finish(&self.program);
        let all = texts.ranges().map(|range| texts.whole.get(range).unwrap_or("").to_owned()).collect();
        session.text = texts.whole;
        Ok(OpenTexts { texts: all, added, changes })
    }
}
