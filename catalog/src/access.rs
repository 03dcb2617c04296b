//! Permissions, and the audit trail: who changed what, when, and from where. It holds no parameters, no rendered text and no
//! secrets. Stores write an entry in the transaction of its change. The [`Origin`] of a request reaches them as a task-local:
//! every operation would have to pass it on otherwise, and one that forgot would leave no trace.
//!
//! | | system template | own template | other template | own stack | other stack |
//! |---|---|---|---|---|---|
//! | admin | read, change | | read, change | | read, change |
//! | read-only | read | | read | | read |
//! | generator | read | read, change | – | read, change | – |
//! | agent | – | | – | | – |

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::{CatalogError, Result};
use super::model::{Role, Stack, TemplateVersion};
use crate::store::{Page, StoreResult};
use crate::{Catalog, KeyRow};

/// The caller of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// Reads and changes everything.
    Admin,
    /// Reads everything.
    Readonly,
    /// Has no access to templates.
    Agent,
    /// Reads system templates. Reads and changes its own templates and stacks.
    Generator(Uuid),
}

impl Actor {
    /// The role of its key.
    pub fn role(self) -> Role {
        match self {
            Actor::Admin => Role::Admin,
            Actor::Readonly => Role::Readonly,
            Actor::Agent => Role::Agent,
            Actor::Generator(_) => Role::Generator,
        }
    }

    /// Returns `true` if it can read everything.
    pub fn reads_all(self) -> bool {
        matches!(self, Actor::Admin | Actor::Readonly)
    }

    /// Its ID, if it is a generator.
    pub fn generator(self) -> Option<Uuid> {
        match self {
            Actor::Generator(id) => Some(id),
            _ => None,
        }
    }

    fn owns(self, owner: Option<Uuid>) -> bool {
        self == Actor::Admin || (owner.is_some() && self.generator() == owner)
    }

    /// The generator whose templates its lists contain, beside those of the system. `None` stands for all templates.
    pub(super) fn visibility(self) -> Result<Option<Uuid>> {
        match self {
            Actor::Admin | Actor::Readonly => Ok(None),
            Actor::Generator(id) => Ok(Some(id)),
            Actor::Agent => {
                Err(CatalogError::forbidden("templates_not_accessible", "not authorized to access templates"))
            }
        }
    }

    /// The owner of templates that it creates.
    pub(super) fn owner(self) -> Result<Option<Uuid>> {
        match self {
            Actor::Admin => Ok(None),
            Actor::Generator(id) => Ok(Some(id)),
            _ => Err(CatalogError::forbidden("template_create_denied", "not authorized to create templates")),
        }
    }

    /// Requires permission to read a template.
    pub(super) fn require_read(self, template: &TemplateVersion) -> Result<()> {
        let owner = template.generator_id;
        let allowed = match self {
            Actor::Generator(id) => owner.is_none_or(|owner| owner == id),
            Actor::Agent => false,
            Actor::Admin | Actor::Readonly => true,
        };
        allow(allowed, "template_not_accessible", "not authorized to access this template")
    }

    /// Requires permission to change a template. `what` is the verb of the message: "modify", "delete".
    pub(super) fn require_change(self, template: &TemplateVersion, what: &str) -> Result<()> {
        let is_owner = self.owns(template.generator_id);
        allow(is_owner, "template_not_owned", &format!("not authorized to {what} this template"))
    }

    /// Requires permission to change a stack and its contents.
    pub(super) fn require_stack_change(self, stack: &Stack) -> Result<()> {
        allow(self.owns(Some(stack.generator_id)), "stack_not_owned", "not authorized to access this stack")
    }

    /// Requires permission to read a stack and its contents.
    pub(super) fn require_stack_read(self, stack: &Stack) -> Result<()> {
        if self == Actor::Readonly { Ok(()) } else { self.require_stack_change(stack) }
    }

    /// Requires an administrator.
    pub(super) fn require_admin(self) -> Result<()> {
        allow(self == Actor::Admin, "admin_required", "admin access required")
    }

    /// Requires an administrator or a read-only key.
    pub(super) fn require_read_all(self) -> Result<()> {
        if self == Actor::Readonly { Ok(()) } else { self.require_admin() }
    }
}

fn allow(is_allowed: bool, code: &str, message: &str) -> Result<()> {
    if is_allowed { Ok(()) } else { Err(CatalogError::forbidden(code, message)) }
}

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
