//! The store trait, implemented with statements that both databases understand. This module is compiled twice, under
//! `sqlite` and under `postgres`. Connections, transactions and locks, which differ, are in the parent module.

mod audit;
mod generators;
pub mod guard;
mod objects;
mod rows;
mod stacks;
mod status;
mod templates;

use async_trait::async_trait;
use chrono::SecondsFormat;
use uuid::Uuid;

use super::{Backend, CREATE_OBJECT, CREATE_OBJECT_ALONE};
use crate::access::AuditEntry;
use crate::fair::Load;
use crate::model::{
    DeploymentObject, Generator, KeyRow, MetadataKind, MetadataOwner, MetadataRow, Provenance, Stack, TemplateVersion,
    Timestamp,
};
use crate::store::{
    Counts, Guard, IdempotencyToken, Instance, InstantiationRows, NewObject, NewVersion, Page, Purged, Store,
    StoreResult, TemplateSearch, Usage,
};
use audit::{AuditEvent, AuditedKind, audited, audited_if, origin_of};

#[async_trait]
impl Store for Backend {
    async fn ready(&self) -> StoreResult<()> {
        self.write(|c| Box::pin(status::ready(c))).await
    }

    async fn counts(&self) -> StoreResult<Counts> {
        self.read(|c| Box::pin(status::counts(c))).await
    }

    async fn usage(&self, generator: Uuid) -> StoreResult<Usage> {
        self.read(move |c| Box::pin(status::usage(c, generator))).await
    }

    async fn purge(&self, before: Timestamp, audit_before: Option<Timestamp>, most: u32) -> StoreResult<Purged> {
        let mut event = AuditEvent::new("catalog.purge", AuditedKind::Catalog, Uuid::nil());
        if let Some(before) = audit_before {
            event = event.with(&format!("audit before {}", before.to_rfc3339_opts(SecondsFormat::Secs, true)));
        }
        let changed = |it: &Purged| it.objects + it.stacks + it.templates + it.audit_entries > 0;
        self.write(audited_if(event, changed, move |c| Box::pin(status::purge(c, before, audit_before, most)))).await
    }

    fn load(&self) -> Load {
        self.connection_load()
    }

    async fn close(&self) {
        self.close_pool().await;
    }

    async fn replayed(&self, token: &IdempotencyToken) -> StoreResult<Uuid> {
        let token = token.clone();
        self.read(move |c| Box::pin(guard::replayed(c, token))).await
    }

    async fn salt(&self, token: &IdempotencyToken) -> StoreResult<Option<String>> {
        let token = token.clone();
        self.read(move |c| Box::pin(guard::salt(c, token))).await
    }

    async fn create_generator(&self, new: &Generator, key: &KeyRow) -> StoreResult<Generator> {
        let (new, key) = (new.clone(), key.clone());
        let event = AuditEvent::new("generator.create", AuditedKind::Generator, new.id);
        self.write(audited(event, move |c| Box::pin(generators::create(c, new, key)))).await
    }

    async fn generator(&self, id: Uuid) -> StoreResult<Generator> {
        self.read(move |c| Box::pin(generators::one(c, id))).await
    }

    async fn generators(&self, page: &Page) -> StoreResult<Vec<Generator>> {
        let page = page.clone();
        self.read(move |c| Box::pin(generators::all(c, page))).await
    }

    async fn update_generator(&self, to: &Generator) -> StoreResult<Generator> {
        let to = to.clone();
        let event = AuditEvent::new("generator.update", AuditedKind::Generator, to.id);
        self.write(audited(event, move |c| Box::pin(generators::update(c, to)))).await
    }

    async fn delete_generator(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        let event = AuditEvent::new("generator.delete", AuditedKind::Generator, id);
        self.write(audited(event, move |c| Box::pin(generators::delete(c, id, at)))).await
    }

    async fn add_key(&self, key: &KeyRow) -> StoreResult<()> {
        let key = key.clone();
        let event = AuditEvent::new("key.create", AuditedKind::Key, key.id);
        self.write(audited(event, move |c| Box::pin(generators::add_key(c, key)))).await
    }

    async fn add_first_key(&self, key: &KeyRow) -> StoreResult<bool> {
        let key = key.clone();
        let event = AuditEvent::new("key.create", AuditedKind::Key, key.id);
        self.write(audited_if(event, |added| *added, move |c| Box::pin(generators::add_first_key(c, key)))).await
    }

    async fn rotate_key(&self, generator: Uuid, key: &KeyRow, at: Timestamp) -> StoreResult<()> {
        let key = key.clone();
        let event = AuditEvent::new("key.rotate", AuditedKind::Generator, generator);
        self.write(audited(event, move |c| Box::pin(generators::rotate(c, generator, key, at)))).await
    }

    async fn key(&self, short_token: &str) -> StoreResult<KeyRow> {
        let short_token = short_token.to_owned();
        self.read(move |c| Box::pin(generators::key(c, short_token))).await
    }

    async fn keys(&self) -> StoreResult<Vec<KeyRow>> {
        self.read(|c| Box::pin(generators::all_keys(c))).await
    }

    async fn revoke_key(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        let event = AuditEvent::new("key.revoke", AuditedKind::Key, id);
        self.write(audited(event, move |c| Box::pin(generators::revoke(c, id, at)))).await
    }

    async fn touch_generator(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        self.write(move |c| Box::pin(generators::touch(c, id, at))).await
    }

    async fn touch_key(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        self.write(move |c| Box::pin(generators::touch_key(c, id, at))).await
    }

    async fn audit(&self, object: Option<Uuid>, page: &Page) -> StoreResult<Vec<AuditEntry>> {
        let page = page.clone();
        self.read(move |c| Box::pin(audit::all(c, object, page))).await
    }

    async fn create_version(&self, new: &NewVersion) -> StoreResult<TemplateVersion> {
        let new = new.clone();
        let event = AuditEvent::new("template.create", AuditedKind::Template, new.id);
        self.write(audited(event, move |c| Box::pin(templates::create(c, new)))).await
    }

    async fn template(&self, id: Uuid) -> StoreResult<TemplateVersion> {
        self.read(move |c| Box::pin(templates::one(c, id))).await
    }

    async fn template_including_deleted(&self, id: Uuid) -> StoreResult<TemplateVersion> {
        self.read(move |c| Box::pin(templates::including_deleted(c, id))).await
    }

    async fn newest(&self, owner: Option<Uuid>, name: &str) -> StoreResult<TemplateVersion> {
        let name = name.to_owned();
        self.read(move |c| Box::pin(templates::newest(c, owner, name))).await
    }

    async fn versions(&self, owner: Option<Uuid>, name: &str, page: &Page) -> StoreResult<Vec<TemplateVersion>> {
        let (name, page) = (name.to_owned(), page.clone());
        self.read(move |c| Box::pin(templates::versions(c, owner, name, page))).await
    }

    async fn templates(
        &self,
        visible: Option<Uuid>,
        name: Option<&str>,
        page: &Page,
    ) -> StoreResult<Vec<TemplateVersion>> {
        let (name, page) = (name.map(str::to_owned), page.clone());
        self.read(move |c| Box::pin(templates::all(c, visible, name, page))).await
    }

    async fn search_templates(
        &self,
        visible: Option<Uuid>,
        search: &TemplateSearch,
        page: &Page,
    ) -> StoreResult<Vec<TemplateVersion>> {
        let (search, page) = (search.clone(), page.clone());
        self.read(move |c| Box::pin(templates::search(c, visible, search, page))).await
    }

    async fn delete_template(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        let event = AuditEvent::new("template.delete", AuditedKind::Template, id);
        self.write(audited(event, move |c| Box::pin(templates::delete(c, id, at)))).await
    }

    async fn create_stack(&self, new: &Stack) -> StoreResult<Stack> {
        let new = new.clone();
        let event = AuditEvent::new("stack.create", AuditedKind::Stack, new.id);
        self.write(audited(event, move |c| Box::pin(stacks::create(c, new)))).await
    }

    async fn stack(&self, id: Uuid) -> StoreResult<Stack> {
        self.read(move |c| Box::pin(stacks::one(c, id))).await
    }

    async fn stacks(&self, generator: Option<Uuid>, page: &Page) -> StoreResult<Vec<Stack>> {
        let page = page.clone();
        self.read(move |c| Box::pin(stacks::all(c, generator, page))).await
    }

    async fn update_stack(&self, to: &Stack) -> StoreResult<Stack> {
        let to = to.clone();
        let event = AuditEvent::new("stack.update", AuditedKind::Stack, to.id);
        self.write(audited(event, move |c| Box::pin(stacks::update(c, to)))).await
    }

    async fn delete_stack(&self, id: Uuid, marker: &NewObject) -> StoreResult<()> {
        let marker = marker.clone();
        let event = AuditEvent::new("stack.delete", AuditedKind::Stack, id);
        self.write(audited(event, move |c| Box::pin(stacks::delete(c, id, marker)))).await
    }

    async fn metadata(&self, owner: MetadataOwner, kind: MetadataKind) -> StoreResult<Vec<MetadataRow>> {
        self.read(move |c| Box::pin(stacks::metadata(c, owner, kind))).await
    }

    async fn add_metadata(&self, new: &MetadataRow) -> StoreResult<()> {
        let new = new.clone();
        let event = AuditEvent::of_metadata(new.owner, new.kind(), "add", &new.key);
        self.write(audited(event, move |c| Box::pin(stacks::add_metadata(c, new)))).await
    }

    async fn remove_metadata(&self, owner: MetadataOwner, kind: MetadataKind, key: &str) -> StoreResult<()> {
        let key = key.to_owned();
        let event = AuditEvent::of_metadata(owner, kind, "remove", &key);
        self.write(audited(event, move |c| Box::pin(stacks::remove_metadata(c, owner, kind, key)))).await
    }

    async fn instantiation_rows(&self, stack: Uuid, template: Uuid) -> StoreResult<InstantiationRows> {
        self.read(move |c| Box::pin(objects::instantiation_rows(c, stack, template))).await
    }

    async fn create_object(&self, new: &NewObject) -> StoreResult<DeploymentObject> {
        let (new, origin) = (new.clone(), origin_of(new.id));
        if Guard::is_set() {
            return self.write(move |c| Box::pin(objects::create(c, CREATE_OBJECT, new, origin))).await;
        }
        self.write_whole(move |c, alone| {
            let sql = if alone { CREATE_OBJECT_ALONE } else { CREATE_OBJECT };
            Box::pin(objects::create(c, sql, new, origin))
        })
        .await
    }

    async fn object(&self, id: Uuid) -> StoreResult<DeploymentObject> {
        self.read(move |c| Box::pin(objects::one(c, id))).await
    }

    async fn objects(&self, stack: Uuid, page: &Page) -> StoreResult<Vec<DeploymentObject>> {
        let page = page.clone();
        self.read(move |c| Box::pin(objects::all(c, stack, page))).await
    }

    async fn provenance(&self, object: Uuid) -> StoreResult<Provenance> {
        self.read(move |c| Box::pin(objects::provenance(c, object))).await
    }

    async fn instances(
        &self,
        owner: Option<Uuid>,
        name: &str,
        stacks_of: Option<Uuid>,
        page: &Page,
    ) -> StoreResult<Vec<Instance>> {
        let (name, page) = (name.to_owned(), page.clone());
        self.read(move |c| Box::pin(objects::instances(c, owner, name, stacks_of, page))).await
    }
}

/// A statement: its name, the types of its parameters in PostgreSQL, and its text.
type Listed = (&'static str, &'static str, &'static str);

const LIST: &str = "uuid, bigint, uuid, text, text, boolean";
const OF_NAME: &str = "uuid, text, uuid, bigint, uuid, uuid";

pub const STATEMENTS: &[Listed] = &[
    ("generators", LIST, generators::ALL),
    ("templates", LIST, templates::ALL),
    ("templates of a name", LIST, templates::ALL_NAMED),
    ("templates of an owner", LIST, templates::OF_OWNER),
    ("templates of an owner and a name", LIST, templates::OF_OWNER_NAMED),
    ("search", LIST, templates::FOUND),
    ("search of an owner", LIST, templates::FOUND_OF_OWNER),
    ("newest version", OF_NAME, templates::NEWEST),
    ("versions", OF_NAME, templates::VERSIONS),
    ("stacks", LIST, stacks::ALL),
    ("stacks of a generator", LIST, stacks::OF_GENERATOR),
    ("objects of a stack", "uuid, uuid, bigint", objects::OF_STACK),
    ("instances", OF_NAME, objects::INSTANCES),
    ("instances in stacks of a generator", OF_NAME, objects::INSTANCES_OF_GENERATOR),
    ("counts", "", status::COUNTS),
    ("usage", "uuid", status::USAGE),
];
