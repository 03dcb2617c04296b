//! Removing deleted rows for good.

use chrono::TimeDelta;

use super::store::Purged;
use super::{Actor, Catalog, CatalogError, Result, Timestamp, now};

/// Number of rows that one transaction removes, so that other writers wait only a moment.
const BATCH: u32 = 500;
/// Number of batches of one call.
const BATCHES: usize = 20;

impl Catalog {
    /// Removes what was deleted longer than `older_than` ago: stacks with their objects, and template versions. A
    /// version that was deleted stays while the provenance of an object names it, so that the object can be verified.
    /// Generators and keys stay. So does the audit trail, but for entries from longer than `audit_older_than` ago, if that
    /// is given. Call it again while [`Purged::more`] is set.
    ///
    /// # Errors
    /// `admin_required`, `invalid_age`.
    pub async fn purge(
        &self,
        actor: Actor,
        older_than: TimeDelta,
        audit_older_than: Option<TimeDelta>,
    ) -> Result<Purged> {
        actor.require_admin()?;
        let (before, audit_before) = (ago(older_than)?, audit_older_than.map(ago).transpose()?);
        let mut all = Purged::default();
        for _ in 0..BATCHES {
            let batch = self.store().purge(before, audit_before, BATCH).await?;
            all.objects += batch.objects;
            all.stacks += batch.stacks;
            all.templates += batch.templates;
            all.audit_entries += batch.audit_entries;
            (all.kept_templates, all.more) = (batch.kept_templates, batch.more);
            if !batch.more {
                break;
            }
        }
        Ok(all)
    }
}

/// The time of this age.
fn ago(age: TimeDelta) -> Result<Timestamp> {
    let then = now().checked_sub_signed(age).filter(|_| age >= TimeDelta::zero());
    then.ok_or_else(|| CatalogError::invalid("invalid_age", "the age is out of range"))
}
