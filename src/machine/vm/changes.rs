//! Reads of maps that the run has changed.
//!
//! Inline caches know maps by their shapes. When the first map of a shape is changed, the caches flag the shape. Reads of
//! its maps look for changes from then on. So programs that change nothing pay nothing.

use super::access::Access;
use super::machine::Machine;
use dropforge_base::diagnostics::Result;

impl<A: Access> Machine<'_, '_, A> {
    /// Makes the inline caches flag the shapes whose maps were changed since the last call.
    #[inline(never)]
    pub(super) fn flag_changed(&mut self) -> Result<()> {
        let shapes = self.cx.changed_shapes(self.flagged);
        if shapes.is_empty() {
            return Ok(());
        }
        self.flagged += shapes.len();
        let others = self.units.iter().flat_map(|units| units.feedbacks());
        for feedback in others.chain([self.feedback]) {
            // Whatever earlier runs have flagged.
            self.cx.spend(feedback.caches.len() as u64 / 4)?;
            feedback.flag(&shapes);
        }
        Ok(())
    }
}
