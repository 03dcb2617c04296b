//! Runs of a chart's program for releases of one form.

use super::template::texts;
use crate::diagnostics::Result;
use crate::dialect::helm::chart::{OpenBase, OpenInputs};
use crate::engine::{Template, instance};
use crate::value::{InputBuilder, Inputs};
use crate::vm::Session;

/// A chart's program with the inputs that releases of one form share.
#[derive(Debug)]
pub(crate) struct OpenChart<'v> {
    pub program: Template,
    pub base: OpenBase<'v>,
}

/// A run of the program for one release.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenRun<'i, 'r> {
    /// The inputs.
    pub inputs: &'i OpenInputs<'r>,
    /// The templates to leave out.
    pub skips: &'i [bool],
    /// `true` if the open values are not known, and nothing may depend on them.
    pub probes: bool,
}

impl<'v> OpenChart<'v> {
    /// Returns the texts of the templates, in the order of rendering. Those left out are empty. `None` if the run has
    /// changed values of the release, which templates behind it would see.
    ///
    /// # Errors
    /// The first error of the templates; `internal` if something depends on a value that is not known.
    pub fn run<'r, 'w: 'r>(
        &self,
        session: &mut Session,
        builder: &InputBuilder<'r, 'w>,
        run: OpenRun<'_, 'r>,
    ) -> Result<Option<Vec<String>>>
    where
        'v: 'r,
    {
        let inputs = Inputs::new(self.base.inputs(builder, run.inputs, run.skips));
        instance::ended(session, self.program.run(inputs), run.probes, |cx, answer| {
            if self.base.is_unchanged(cx, run.inputs) { texts(answer).map(Some) } else { Ok(None) }
        })?
    }
}
