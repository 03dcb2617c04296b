//! A catalog of templates with schemas, versions, matching rules, owners, and a provenance record of every render.
//!
//! A [`Catalog`] combines a [`store`] and a [`render::Renderer`]. Each operation takes the [`Actor`] that calls it,
//! checks the actor's permissions, and returns rows or a [`Refusal`], which carries the HTTP status and error code.
//! Templates are compiled, and their schemas built, once per version. Rendering never parses.
//!
//! | module | contents |
//! |---|---|
//! | `model` | rows, which are also the objects of the REST API |
//! | `access`, `keys` | actors, permissions and keys |
//! | [`names`], [`matching`], [`parameters`], [`review`] | rules: lengths, labels and annotations, schemas, templates checked against their schemas |
//! | [`render`] | compiled templates and the threads that render them |
//! | [`store`] | SQLite and PostgreSQL |
//! | `generators`, `templates`, `stacks`, `objects`, `provenance` | operations |
//! | [`server`] | the HTTP service and its page |

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod access;
mod generators;
mod keys;
pub mod matching;
mod model;
pub mod names;
mod objects;
pub mod parameters;
mod provenance;
mod refusal;
pub mod render;
pub mod review;
pub mod server;
mod stacks;
pub mod store;
mod templates;
mod told;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chrono::{SubsecRound, Utc};
use lru::LruCache;
use uuid::Uuid;

pub use access::Actor;
pub use generators::{GeneratorChange, GeneratorInput};
pub use model::{
    DeploymentObject, Generator, KeyRow, Moment, Provenance, Role, Stack, StackAnnotation, StackLabel,
    TemplateAnnotation, TemplateLabel, TemplateVersion,
};
pub use objects::{Instantiated, Instantiation, Order, ParameterSet, Stamped, Stamping, Which};
pub use provenance::{Change, Changed, Changes, Verification};
pub use refusal::{Class, Refusal, Result};
pub use stacks::StackInput;
pub use templates::{Created, Owner, TemplateChange, TemplateInput};
pub use told::{diagnostic, finding};

use render::Renderer;
use store::Store;

use sha2::{Digest as _, Sha256};

/// Number of generators whose last recorded activity is kept in memory.
const SEEN: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// A catalog: a store and a renderer. Clones share both.
#[derive(Debug, Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Arc<dyn Store>,
    renderer: Renderer,
    /// The time of each generator's last recorded activity.
    seen: Mutex<LruCache<Uuid, Instant>>,
}

impl Catalog {
    /// Creates a catalog on a store.
    pub fn over(store: Arc<dyn Store>, renderer: Renderer) -> Self {
        Self { shared: Arc::new(Shared { store, renderer, seen: Mutex::new(LruCache::new(SEEN)) }) }
    }

    /// Opens the catalog in a file or at a `postgres://` address. Creates a missing file.
    pub async fn open(db: &str, options: &render::Options) -> Result<Self> {
        Ok(Self::over(store::open(db).await.map_err(Refusal::of_store)?, Renderer::new(options)))
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.shared.store
    }

    /// The renderer.
    pub fn renderer(&self) -> &Renderer {
        &self.shared.renderer
    }

    /// Returns `true`, and restarts the interval, if no activity of the generator was recorded within `within`.
    fn is_news(&self, id: Uuid, within: Duration) -> bool {
        let now = Instant::now();
        let Ok(mut seen) = self.shared.seen.lock() else { return false };
        let news = seen.get(&id).is_none_or(|last| now.duration_since(*last) >= within);
        if news {
            seen.put(id, now);
        }
        news
    }
}

/// The SHA-256 digest in lower-case hexadecimal.
///
/// ```
/// let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// assert_eq!(dropforge_catalog::checksum(""), empty);
/// ```
pub fn checksum(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The current time in whole microseconds, the precision of the stores and the wire format.
pub fn now() -> Moment {
    Utc::now().trunc_subsecs(6)
}
