//! Quotas of generators: how many rows and bytes each may have.
//!
//! A generator's rows are counted when it first writes, and again every minute. In between, writes of this process are
//! added, also while they are under way, so the quota holds exactly within a process. Other processes on the same
//! database are up to a minute behind.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use serde_json::json;
use uuid::Uuid;

use super::error::{CatalogError, Result};
use super::store::{NewObject, NewVersion, Store, Usage};

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
    known: Arc<Shared>,
    /// Counts of some generators, one at a time: requests that come together wait for the first count.
    counting: Arc<[tokio::sync::Mutex<()>; COUNTS]>,
}

/// The usage of a generator.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Usage when it was counted, and what was written since.
    used: Usage,
    /// Writes under way.
    pending: Usage,
    /// All that was written through this entry.
    written: Usage,
    counted: Instant,
    /// `true` if no write ran during the count. Otherwise the usage may have a write twice, until it is counted again.
    exact: bool,
}

/// Number of counts at a time, each of other generators.
const COUNTS: usize = 64;
/// Maximum number of counts for one request.
const MOST_COUNTS: usize = 3;

/// What is known of generators.
type Shared = Mutex<LruCache<Uuid, Known>>;

/// Usage that a write under way holds. It is free again when this is dropped, unless the write was carried out.
#[derive(Debug)]
#[must_use]
pub(super) struct Reserved(Option<(Arc<Shared>, Uuid, Usage)>);

impl Ledger {
    pub(super) fn new(quotas: Quotas) -> Self {
        let counting = Arc::new(std::array::from_fn(|_| tokio::sync::Mutex::default()));
        Self { quotas, known: Arc::new(Mutex::new(LruCache::new(KNOWN))), counting }
    }

    /// Reserves usage of a generator. The system has no quota.
    ///
    /// # Errors
    /// `quota_exceeded`.
    pub(super) async fn reserve(&self, store: &dyn Store, generator: Option<Uuid>, more: Usage) -> Result<Reserved> {
        let Some(generator) = generator.filter(|_| self.quotas != Quotas::default()) else { return Ok(Reserved(None)) };
        if let Some(result) = self.try_reserve(generator, more, true) {
            return result;
        }
        let _turn = match self.counting.get(usize::from(generator.as_bytes()[15]) % COUNTS) {
            Some(counting) => Some(counting.lock().await),
            None => None,
        };
        for _ in 0..MOST_COUNTS {
            if let Some(result) = self.try_reserve(generator, more, true) {
                return result;
            }
            let before = lock(&self.known).get(&generator).map(|known| (known.written, known.pending));
            let used = store.usage(generator).await?;
            self.counted(generator, used, before.unwrap_or_default());
        }
        // What was counted a moment ago is not counted again.
        self.try_reserve(generator, more, false).unwrap_or_else(|| Ok(Reserved(None)))
    }

    /// Reserves usage, or refuses to. Returns `None` if the rows have to be counted first. `exactly` does not refuse by a
    /// count that can be made exact.
    fn try_reserve(&self, generator: Uuid, more: Usage, exactly: bool) -> Option<Result<Reserved>> {
        let mut all = lock(&self.known);
        let known = all.get_mut(&generator).filter(|known| known.counted.elapsed() < RECOUNT)?;
        if let Some(error) = self.exceeded(known.used + known.pending, more) {
            let can_be_exact = exactly && !known.exact && known.pending == Usage::default();
            return (!can_be_exact && known.counted.elapsed() < RECOUNT_FULL).then_some(Err(error));
        }
        known.pending = known.pending + more;
        Some(Ok(Reserved(Some((self.known.clone(), generator, more)))))
    }

    /// Records a count. What was written while it ran is added, even if the count includes it.
    fn counted(&self, generator: Uuid, used: Usage, (before, held): (Usage, Usage)) {
        let mut all = lock(&self.known);
        let old = all.get(&generator).copied();
        let (pending, written) = old.map_or_else(Default::default, |old| (old.pending, old.written));
        let exact = held == Usage::default() && pending == held && written == before;
        let used = used + (written - before);
        all.put(generator, Known { used, pending, written, counted: Instant::now(), exact });
    }

    /// Counts the rows of a generator again before the next write, because some were deleted.
    pub(super) fn forget(&self, generator: Option<Uuid>) {
        let mut all = lock(&self.known);
        let Some(known) = generator.and_then(|generator| all.get_mut(&generator)) else { return };
        let long_ago = Instant::now().checked_sub(RECOUNT);
        known.counted = long_ago.unwrap_or(known.counted);
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
fn settle(known: &Shared, generator: Uuid, more: Usage, written: Usage) {
    if let Some(known) = lock(known).get_mut(&generator) {
        known.pending = known.pending - more;
        known.used = known.used + written;
        known.written = known.written + written;
    }
}

fn lock(known: &Shared) -> MutexGuard<'_, LruCache<Uuid, Known>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Usage {
    /// The usage of a version.
    pub(super) fn of_version(new: &NewVersion) -> Self {
        Self { templates: 1, objects: 0, bytes: (new.template_content.len() + new.parameters_schema.len()) as u64 }
    }

    /// The usage of an object.
    pub(super) fn of_object(new: &NewObject) -> Self {
        Self { templates: 0, objects: 1, bytes: new.yaml_content.len() as u64 }
    }
}
