//! Templates in a catalog: with schemas, versions, matching rules, owners, and a record of what was rendered from what.
//!
//! A [`Catalog`] is a [`store`] and a [`render::Renderer`]. Its operations take who asks, check what they may
//! ([`Actor`]), and answer with rows or with a [`Refusal`], which has the code and the status of the wire. A template is
//! compiled, and its schema built, once for each version; rendering never parses.
//!
//! | room | what is there |
//! |---|---|
//! | `model` | the rows, which are the objects of the wire |
//! | `access`, `keys` | who asks, and what they may |
//! | `names`, `matching`, `parameters`, `review` | the rules: bounds, labels and annotations, schemas, templates held against their schemas |
//! | [`render`] | compiled templates, and the threads that render them |
//! | [`store`] | SQLite and PostgreSQL |
//! | `generators`, `templates`, `stacks`, `objects`, `provenance` | the operations |

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

/// How many generators are remembered to have been seen.
const SEEN: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// A catalog: a store, and what renders. Clones are the same catalog.
#[derive(Debug, Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Arc<dyn Store>,
    renderer: Renderer,
    /// When the use of a generator's key was written down last.
    seen: Mutex<LruCache<Uuid, Instant>>,
}

impl Catalog {
    /// A catalog in this store.
    pub fn over(store: Arc<dyn Store>, renderer: Renderer) -> Self {
        Self { shared: Arc::new(Shared { store, renderer, seen: Mutex::new(LruCache::new(SEEN)) }) }
    }

    /// The catalog in this file or at this `postgres://` address; a file that is not there is made.
    pub async fn open(db: &str, options: &render::Options) -> Result<Self> {
        Ok(Self::over(store::open(db).await.map_err(Refusal::of_store)?, Renderer::new(options)))
    }

    /// Where it is kept.
    pub fn store(&self) -> &dyn Store {
        &*self.shared.store
    }

    /// What renders.
    pub fn renderer(&self) -> &Renderer {
        &self.shared.renderer
    }

    /// Whether a generator was not seen within this time; it is seen now.
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

/// The SHA-256 of these bytes, in lower-case hexadecimal digits.
///
/// ```
/// let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// assert_eq!(dropforge_catalog::checksum(""), empty);
/// ```
pub fn checksum(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The moment it is, as stores and the wire keep it: in whole microseconds.
pub fn now() -> Moment {
    Utc::now().trunc_subsecs(6)
}
