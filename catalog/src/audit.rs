//! The audit trail: who changed what, when, and from where. It holds no parameters, no rendered text and no secrets.
//!
//! Stores write an entry in the transaction of its change. The [`Origin`] of a request reaches them
//! as a task-local: every operation would have to pass it on otherwise, and one that forgot would leave no trace.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::model::Role;
use super::store::{Page, StoreResult};
use super::{Actor, Catalog, KeyRow, Result};

tokio::task_local! {
    static ORIGIN: Arc<Origin>;
}

/// The caller of a request: the key that it used, and where it came from.
#[derive(Debug, Default)]
pub struct Origin {
    /// Role of the key. Unknown if the catalog is used as a library.
    pub role: Option<Role>,
    /// ID of the key. A local store needs none.
    pub key_id: Option<Uuid>,
    /// Name of the key.
    pub key_name: Option<String>,
    /// Generator that owns the key.
    pub generator_id: Option<Uuid>,
    /// Address of the client.
    pub address: Option<IpAddr>,
    /// ID of the request.
    pub request_id: Option<String>,
    /// ID of the first object that was changed.
    pub changed: OnceLock<Uuid>,
}

impl Origin {
    /// An origin with the role and names of a key.
    pub fn of_key(key: &KeyRow) -> Self {
        let (role, key_id) = (Some(key.role), Some(key.id));
        Self { role, key_id, key_name: key.name.clone(), generator_id: key.generator_id, ..Self::default() }
    }

    /// Runs `future` on behalf of this origin.
    pub async fn scope<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> T {
        ORIGIN.scope(self.clone(), future).await
    }

    /// The origin of the current task, or an unknown one.
    pub(crate) fn current() -> Arc<Self> {
        ORIGIN.try_with(Arc::clone).unwrap_or_default()
    }
}

/// A change, as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditEntry {
    /// ID of the entry. Later entries have greater ones.
    pub id: Uuid,
    /// Time of the change.
    pub at: DateTime<Utc>,
    /// The change, such as `template.create`, `stack.label.add` or `key.revoke`.
    pub action: String,
    /// Kind of the changed object: `template`, `stack`, `object`, `generator`, `key` or `catalog`.
    pub object_kind: String,
    /// ID of the changed object.
    pub object_id: Uuid,
    /// Name of the changed object at that time: `NAME@VERSION` for templates, the stack's name for objects.
    pub object_name: Option<String>,
    /// The label, or the key of the annotation. For `catalog.purge`, the age of the entries that were removed, if any.
    pub detail: Option<String>,
    /// Role of the caller's key.
    pub role: Option<String>,
    /// ID of the caller's key. Commands on a local store use none.
    pub key_id: Option<Uuid>,
    /// Name of the caller's key, or of the generator that owns it.
    pub key_name: Option<String>,
    /// Generator that owns the caller's key.
    pub generator_id: Option<Uuid>,
    /// Address of the client.
    pub address: Option<String>,
    /// ID of the request, as in the header `X-Request-Id` and in the logs.
    pub request_id: Option<String>,
}

impl Catalog {
    /// Lists the recorded changes, newest first, optionally those of one object.
    pub async fn audit(&self, actor: Actor, object: Option<Uuid>, page: &Page) -> Result<Vec<AuditEntry>> {
        actor.require_admin()?;
        let entries: StoreResult<_> = self.store().audit(object, page).await;
        Ok(entries?)
    }
}
