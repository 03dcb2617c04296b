//! The audit trail.

use std::borrow::Cow;
use std::sync::Arc;

use uuid::Uuid;

use super::super::Connection;
use super::rows::{limit, rows, statement};
use crate::access::{AuditEntry, Origin};
use crate::model::{MetadataKind, MetadataOwner, now};
use crate::store::{Page, StoreResult, WorkFuture, new_id};

/// The kind of a changed object.
#[derive(Debug, Clone, Copy)]
pub enum AuditedKind {
    Template,
    Stack,
    Generator,
    Key,
    Catalog,
}

/// Inserts an entry with the name of its object, which this statement looks up.
macro_rules! insert {
    ($kind:literal, $name:literal) => {
        concat!(
            "INSERT INTO audit_log (id, at, action, object_kind, object_id, object_name, detail, role, key_id,
            key_name, generator_id, address, request_id)
            VALUES ($1, $2, $3, '",
            $kind,
            "', $4, (",
            $name,
            " = $4), $5, $6, $7, COALESCE($8, (SELECT name FROM generators WHERE id = $9)), $9, $10, $11)"
        )
    };
}

impl AuditedKind {
    fn insert(self) -> &'static str {
        match self {
            AuditedKind::Template => insert!("template", "SELECT name || '@' || version FROM stack_templates WHERE id"),
            AuditedKind::Stack => insert!("stack", "SELECT name FROM stacks WHERE id"),
            AuditedKind::Generator => insert!("generator", "SELECT name FROM generators WHERE id"),
            AuditedKind::Key => insert!("key", "SELECT name FROM key_details WHERE key_id"),
            AuditedKind::Catalog => insert!("catalog", "SELECT NULL FROM generators WHERE id"),
        }
    }
}

/// A change to record.
#[derive(Debug)]
pub struct AuditEvent {
    action: Cow<'static, str>,
    kind: AuditedKind,
    object: Uuid,
    detail: Option<String>,
}

impl AuditEvent {
    pub fn new(action: &'static str, kind: AuditedKind, object: Uuid) -> Self {
        Self { action: Cow::Borrowed(action), kind, object, detail: None }
    }

    /// A change of a label or an annotation: `add` or `remove`.
    pub fn of_metadata(owner: MetadataOwner, kind: MetadataKind, change: &str, key: &str) -> Self {
        let (of, name) = match owner {
            MetadataOwner::Template(_) => (AuditedKind::Template, "template"),
            MetadataOwner::Stack(_) => (AuditedKind::Stack, "stack"),
        };
        let what = match kind {
            MetadataKind::Label => "label",
            MetadataKind::Annotation => "annotation",
        };
        let action = Cow::Owned(format!("{name}.{what}.{change}"));
        Self { action, kind: of, object: owner.id(), detail: Some(key.to_owned()) }
    }

    /// Adds what else is known.
    pub fn with(self, detail: &str) -> Self {
        Self { detail: Some(detail.to_owned()), ..self }
    }
}

/// Work that records `event` in its transaction if it succeeds. Call it in the task of the request, which knows the
/// origin.
pub fn audited<T, F>(
    event: AuditEvent,
    work: F,
) -> impl for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
{
    audited_if(event, |_| true, work)
}

/// The origin of a change of `object`. Call it in the task of the request.
pub fn origin_of(object: Uuid) -> Arc<Origin> {
    let origin = Origin::current();
    origin.changed.get_or_init(|| object);
    origin
}

/// Work that records `event` if its result shows that something changed.
pub fn audited_if<T, F>(
    event: AuditEvent,
    changed: fn(&T) -> bool,
    work: F,
) -> impl for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
{
    let origin = origin_of(event.object);
    move |c: &mut Connection| {
        Box::pin(async move {
            let done = work(&mut *c).await?;
            if changed(&done) {
                insert(c, event, &origin).await?;
            }
            Ok(done)
        })
    }
}

async fn insert(c: &mut Connection, event: AuditEvent, origin: &Origin) -> StoreResult<()> {
    let insert =
        statement(event.kind.insert()).bind(new_id()).bind(now()).bind(event.action.into_owned()).bind(event.object);
    let insert = insert.bind(event.detail).bind(origin.role.map(|role| role.name())).bind(origin.key_id);
    let insert = insert.bind(origin.key_name.clone()).bind(origin.generator_id);
    let insert = insert.bind(origin.address.map(|address| address.to_string())).bind(origin.request_id.clone());
    insert.execute(c).await?;
    Ok(())
}

/// Lists entries, newest first. A page continues before the last entry seen.
pub async fn all(c: &mut Connection, object: Option<Uuid>, page: Page) -> StoreResult<Vec<AuditEntry>> {
    let before = page.after.unwrap_or(Uuid::max());
    let Some(object) = object else {
        let select = rows("SELECT * FROM audit_log WHERE id < $1 ORDER BY id DESC LIMIT $2");
        return Ok(select.bind(before).bind(limit(&page)).fetch_all(c).await?);
    };
    let select = rows("SELECT * FROM audit_log WHERE object_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3");
    Ok(select.bind(object).bind(before).bind(limit(&page)).fetch_all(c).await?)
}
