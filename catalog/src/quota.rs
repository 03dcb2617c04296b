//! Quotas of generators: how many rows and bytes each may have.
//!
//! A generator's rows are counted when it first writes, and again every minute. In between, writes of this process are
//! added, also while they are under way, so the quota holds exactly within a process. Other processes on the same
//! database are counted with a delay of up to a minute.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use serde_json::json;
use uuid::Uuid;

use super::error::{CatalogError, Result};
use super::store::{NewObject, NewVersion, StoreResult, Usage};

/// Time after which rows are counted again.
const RECOUNT: Duration = Duration::from_secs(60);
/// Time after which rows are counted again before a request is refused.
const RECOUNT_FULL: Duration = Duration::from_secs(1);
/// Number of generators whose usage is kept in memory.
const KNOWN: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Maximum usage of each generator. The default has no limits.
///
/// ```
/// let quotas = dropforge_catalog::Quotas { templates: Some(100), ..Default::default() };
/// assert_eq!(quotas.objects, None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Live template versions.
    pub templates: Option<u64>,
    /// Live deployment objects.
    pub objects: Option<u64>,
    /// Bytes of the texts of both: templates, schemas and YAML.
    pub bytes: Option<u64>,
}

/// The quotas, and the usage of generators as far as it is known.
#[derive(Debug)]
pub(super) struct Ledger {
    quotas: Quotas,
    known: Arc<SharedUsage>,
    /// Counts of some generators, one at a time: requests that come together wait for the first count.
    counting: Arc<[tokio::sync::Mutex<()>; COUNTS]>,
}

/// The usage of a generator.
#[derive(Debug, Clone, Copy)]
struct KnownUsage {
    /// Usage when it was counted, and what was written since.
    used: Usage,
    /// Writes under way.
    pending: Usage,
    /// All that was written through this entry.
    written: Usage,
    /// Time of the count, unless the rows have to be counted again.
    counted: Option<Instant>,
    /// `true` if no write ran during the count. Otherwise the usage may include a write twice, until it is counted again.
    exact: bool,
}

impl KnownUsage {
    /// Returns `true` if the rows were counted within `age`.
    fn counted_within(&self, age: Duration) -> bool {
        self.counted.is_some_and(|counted| counted.elapsed() < age)
    }
}

/// Number of counts at a time, each of other generators.
const COUNTS: usize = 64;
/// Maximum number of counts for one request. The first one may run beside writes, the second one is exact.
const MOST_COUNTS: usize = 2;

/// The known usage of generators.
type SharedUsage = Mutex<LruCache<Uuid, KnownUsage>>;

/// Usage that a write under way holds. It is free again when this is dropped, unless the write was carried out.
#[derive(Debug)]
#[must_use]
pub(super) struct Reserved(Option<(Arc<SharedUsage>, Uuid, Usage)>);

impl Ledger {
    pub(super) fn new(quotas: Quotas) -> Self {
        let counting = Arc::new(std::array::from_fn(|_| tokio::sync::Mutex::default()));
        Self { quotas, known: Arc::new(Mutex::new(LruCache::new(KNOWN))), counting }
    }

    /// Reserves usage of a generator, which `count` counts, at most [`MOST_COUNTS`] times. The system has no quota.
    ///
    /// # Errors
    /// `quota_exceeded`.
    pub(super) async fn reserve<F: Future<Output = StoreResult<Usage>>>(
        &self,
        generator: Option<Uuid>,
        more: Usage,
        count: impl Fn(Uuid) -> F,
    ) -> Result<Reserved> {
        let Some(generator) = generator.filter(|_| self.quotas != Quotas::default()) else { return Ok(Reserved(None)) };
        if let Some(result) = self.try_reserve(generator, more, RECOUNT_FULL) {
            return result;
        }
        let _turn = match self.counting.get(usize::from(generator.as_bytes()[15]) % COUNTS) {
            Some(counting) => Some(counting.lock().await),
            None => None,
        };
        let mut age = RECOUNT_FULL;
        for _ in 0..MOST_COUNTS {
            if let Some(result) = self.try_reserve(generator, more, age) {
                return result;
            }
            let before = lock(&self.known).get(&generator).map(|known| (known.written, known.pending));
            let used = count(generator).await?;
            self.counted(generator, used, before.unwrap_or_default());
            age = Duration::MAX;
        }
        // Without an answer, the generator was forgotten since: there are too many.
        self.try_reserve(generator, more, age).unwrap_or_else(|| Ok(Reserved(None)))
    }

    /// Reserves usage, or refuses to by a count of at most this age. Returns `None` if the rows have to be counted first:
    /// until then no write begins, so the count is exact if none was under way.
    fn try_reserve(&self, generator: Uuid, more: Usage, age: Duration) -> Option<Result<Reserved>> {
        let mut all = lock(&self.known);
        let known = all.get_mut(&generator).filter(|known| known.counted_within(RECOUNT))?;
        if let Some(error) = self.exceeded(known.used + known.pending, more) {
            let can_be_exact = !known.exact && known.pending == Usage::default();
            if !can_be_exact && known.counted_within(age) {
                return Some(Err(error));
            }
            known.counted = None;
            return None;
        }
        known.pending = known.pending + more;
        Some(Ok(Reserved(Some((self.known.clone(), generator, more)))))
    }

    /// Records a count. What was written while it ran is added, even if the count includes it.
    fn counted(&self, generator: Uuid, used: Usage, (before, held): (Usage, Usage)) {
        let mut all = lock(&self.known);
        let old = all.get(&generator).copied();
        let (pending, written) = old.map_or_else(Default::default, |old| (old.pending, old.written));
        let exact = held == Usage::default();
        let used = used + (written - before);
        all.put(generator, KnownUsage { used, pending, written, counted: Some(Instant::now()), exact });
    }

    /// Counts the rows of a generator again before the next write, because some were deleted.
    pub(super) fn forget(&self, generator: Option<Uuid>) {
        let mut all = lock(&self.known);
        if let Some(known) = generator.and_then(|generator| all.get_mut(&generator)) {
            known.counted = None;
        }
    }

    fn exceeded(&self, used: Usage, more: Usage) -> Option<CatalogError> {
        let Quotas { templates, objects, bytes } = self.quotas;
        let all = [
            ("templates", "template versions", templates, used.templates, more.templates),
            ("objects", "deployment objects", objects, used.objects, more.objects),
            ("bytes", "bytes", bytes, used.bytes, more.bytes),
        ];
        all.into_iter().find_map(|(quota, what, limit, used, more)| {
            let limit = limit.filter(|limit| more > 0 && used.saturating_add(more) > *limit)?;
            let message = format!("the generator would have {} {what}, and its quota is {limit}", used + more);
            let details = json!({ "quota": quota, "limit": limit, "used": used, "requested": more });
            Some(CatalogError::forbidden("quota_exceeded", message).with_details(details))
        })
    }
}

impl Reserved {
    /// Counts the write, which was carried out.
    pub(super) fn keep(mut self) {
        if let Some((known, generator, more)) = self.0.take() {
            settle(&known, generator, more, more);
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some((known, generator, more)) = self.0.take() {
            settle(&known, generator, more, Usage::default());
        }
    }
}

/// Ends a write that held `more`, of which `written` was carried out.
fn settle(known: &SharedUsage, generator: Uuid, more: Usage, written: Usage) {
    if let Some(known) = lock(known).get_mut(&generator) {
        known.pending = known.pending - more;
        known.used = known.used + written;
        known.written = known.written + written;
    }
}

fn lock(known: &SharedUsage) -> MutexGuard<'_, LruCache<Uuid, KnownUsage>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Usage {
    /// The usage of a version.
    pub(super) fn of_version(new: &NewVersion) -> Self {
        Self {
            templates: 1,
            objects: 0,
            bytes: (new.language.stored_bytes(&new.template_content) + new.parameters_schema.len()) as u64,
        }
    }

    /// The usage of an object.
    pub(super) fn of_object(new: &NewObject) -> Self {
        Self { templates: 0, objects: 1, bytes: new.yaml_content.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    const GENERATOR: Uuid = Uuid::max();

    fn bytes(bytes: u64) -> Usage {
        Usage { bytes, ..Usage::default() }
    }

    /// Asks for `more` of 100 bytes, of which 85 are used, while a write of 10 of them ends during the first count. Returns
    /// the answer and the number of counts.
    async fn asked_beside_a_write(more: u64) -> (Result<Reserved>, usize) {
        let ledger = Ledger::new(Quotas { bytes: Some(100), ..Quotas::default() });
        let other = ledger.reserve(Some(GENERATOR), bytes(10), |_| async { Ok(bytes(75)) }).await.unwrap();
        let (other, counts) = (RefCell::new(Some(other)), Cell::new(0));
        ledger.forget(Some(GENERATOR));
        let count = |_| {
            counts.set(counts.get() + 1);
            if let Some(other) = other.take() {
                other.keep();
            }
            // No other write begins meanwhile.
            assert!(ledger.try_reserve(GENERATOR, bytes(1), Duration::MAX).is_none());
            async { Ok(bytes(85)) }
        };
        let answer = ledger.reserve(Some(GENERATOR), bytes(more), count).await;
        (answer, counts.get())
    }

    #[tokio::test]
    async fn a_request_counts_at_most_twice_and_then_exactly() {
        // The first count includes the other write, which is added to it, too.
        assert!(matches!(asked_beside_a_write(5).await, (Ok(_), 1)));
        assert!(matches!(asked_beside_a_write(15).await, (Ok(_), 2)));
        let (Err(refusal), 2) = asked_beside_a_write(16).await else { panic!("not refused by the second count") };
        assert_eq!(refusal.details.unwrap()["used"], 85);
    }

    #[tokio::test]
    async fn an_exact_count_is_enough_to_refuse() {
        let ledger = Ledger::new(Quotas { bytes: Some(100), ..Quotas::default() });
        let counts = Cell::new(0);
        let count = |_| {
            counts.set(counts.get() + 1);
            async { Ok(bytes(100)) }
        };
        ledger.reserve(Some(GENERATOR), bytes(1), count).await.unwrap_err();
        assert_eq!(counts.get(), 1);
    }
}
