//! Removing deleted rows for good.

use chrono::TimeDelta;

use super::store::Purged;
use super::{Actor, Catalog, CatalogError, Result, now};

/// Number of rows that one transaction removes, so that other writers wait only a moment.
const BATCH: u32 = 500;
/// Number of batches of one call.
const BATCHES: usize = 20;

impl Catalog {
    /// Removes what was deleted longer than `older_than` ago: stacks with their objects, and template versions. A
    /// version that was deleted stays while the provenance of an object names it, so that the object can be verified.
    /// Generators and keys stay. Call it again while [`Purged::more`] is set.
    ///
    /// # Errors
    /// `admin_required`, `invalid_age`.
    pub async fn purge(&self, actor: Actor, older_than: TimeDelta) -> Result<Purged> {
        actor.require_admin()?;
        let before = now().checked_sub_signed(older_than).filter(|_| older_than >= TimeDelta::zero());
        let before = before.ok_or_else(|| CatalogError::invalid("invalid_age", "the age is out of range"))?;
        let mut all = Purged::default();
        for _ in 0..BATCHES {
            let batch = self.store().purge(before, BATCH).await?;
            all.objects += batch.objects;
            all.stacks += batch.stacks;
            all.templates += batch.templates;
            (all.kept_templates, all.more) = (batch.kept_templates, batch.more);
            if !batch.more {
                break;
            }
        }
        Ok(all)
    }
}
