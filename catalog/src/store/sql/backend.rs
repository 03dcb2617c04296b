//! The store's methods. Each runs its statements on a connection.

use async_trait::async_trait;
use chrono::SecondsFormat;
use uuid::Uuid;

use super::super::Backend;
use super::super::dialect::{CREATE_OBJECT, CREATE_OBJECT_ALONE};
use super::audit::{Event, Kind, audited, audited_if, origin_of};
use super::{audit, generators, idempotency, instances, keys, metadata, objects, purge, stacks, status, templates};
use crate::audit::AuditEntry;
use crate::fair::Load;
use crate::model::{
    DeploymentObject, Generator, KeyRow, MetadataKind, MetadataOwner, MetadataRow, Provenance, Stack, TemplateVersion,
    Timestamp,
};
use crate::store::{
    Counts, Guard, IdempotencyToken, Instance, InstantiationRows, NewObject, NewVersion, Page, Purged, Store,
    StoreResult, TemplateSearch, Usage, Visibility,
};

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
        let mut event = Event::new("catalog.purge", Kind::Catalog, Uuid::nil());
        if let Some(before) = audit_before {
            event = event.with(&format!("audit before {}", before.to_rfc3339_opts(SecondsFormat::Secs, true)));
        }
        let changed = |it: &Purged| it.objects + it.stacks + it.templates + it.audit_entries > 0;
        self.write(audited_if(event, changed, move |c| Box::pin(purge::purge(c, before, audit_before, most)))).await
    }

    fn load(&self) -> Load {
        self.connection_load()
    }

    async fn close(&self) {
        self.close_pool().await;
    }

    async fn replayed(&self, token: &IdempotencyToken) -> StoreResult<Uuid> {
        let token = token.clone();
        self.read(move |c| Box::pin(idempotency::replayed(c, token))).await
    }

    async fn salt(&self, token: &IdempotencyToken) -> StoreResult<Option<String>> {
        let token = token.clone();
        self.read(move |c| Box::pin(idempotency::salt(c, token))).await
    }

    async fn create_generator(&self, new: &Generator, key: &KeyRow) -> StoreResult<Generator> {
        let (new, key) = (new.clone(), key.clone());
        let event = Event::new("generator.create", Kind::Generator, new.id);
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
        let event = Event::new("generator.update", Kind::Generator, to.id);
        self.write(audited(event, move |c| Box::pin(generators::update(c, to)))).await
    }

    async fn delete_generator(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        let event = Event::new("generator.delete", Kind::Generator, id);
        self.write(audited(event, move |c| Box::pin(generators::delete(c, id, at)))).await
    }

    async fn add_key(&self, key: &KeyRow) -> StoreResult<()> {
        let key = key.clone();
        let event = Event::new("key.create", Kind::Key, key.id);
        self.write(audited(event, move |c| Box::pin(generators::add_key(c, key)))).await
    }

    async fn add_first_key(&self, key: &KeyRow) -> StoreResult<bool> {
        let key = key.clone();
        let event = Event::new("key.create", Kind::Key, key.id);
        self.write(audited_if(event, |added| *added, move |c| Box::pin(generators::add_first_key(c, key)))).await
    }

    async fn rotate_key(&self, generator: Uuid, key: &KeyRow, at: Timestamp) -> StoreResult<()> {
        let key = key.clone();
        let event = Event::new("key.rotate", Kind::Generator, generator);
        self.write(audited(event, move |c| Box::pin(generators::rotate(c, generator, key, at)))).await
    }

    async fn key(&self, short_token: &str) -> StoreResult<KeyRow> {
        let short_token = short_token.to_owned();
        self.read(move |c| Box::pin(keys::one(c, short_token))).await
    }

    async fn keys(&self) -> StoreResult<Vec<KeyRow>> {
        self.read(|c| Box::pin(keys::all(c))).await
    }

    async fn revoke_key(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        let event = Event::new("key.revoke", Kind::Key, id);
        self.write(audited(event, move |c| Box::pin(generators::revoke(c, id, at)))).await
    }

    async fn touch_generator(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        self.write(move |c| Box::pin(generators::touch(c, id, at))).await
    }

    async fn touch_key(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        self.write(move |c| Box::pin(keys::touch(c, id, at))).await
    }

    async fn audit(&self, object: Option<Uuid>, page: &Page) -> StoreResult<Vec<AuditEntry>> {
        let page = page.clone();
        self.read(move |c| Box::pin(audit::all(c, object, page))).await
    }

    async fn create_version(&self, new: &NewVersion) -> StoreResult<TemplateVersion> {
        let new = new.clone();
        let event = Event::new("template.create", Kind::Template, new.id);
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
        visibility: Visibility,
        name: Option<&str>,
        page: &Page,
    ) -> StoreResult<Vec<TemplateVersion>> {
        let (name, page) = (name.map(str::to_owned), page.clone());
        self.read(move |c| Box::pin(templates::all(c, visibility, name, page))).await
    }

    async fn search_templates(
        &self,
        visibility: Visibility,
        search: &TemplateSearch,
        page: &Page,
    ) -> StoreResult<Vec<TemplateVersion>> {
        let (search, page) = (search.clone(), page.clone());
        self.read(move |c| Box::pin(templates::search(c, visibility, search, page))).await
    }

    async fn delete_template(&self, id: Uuid, at: Timestamp) -> StoreResult<()> {
        let event = Event::new("template.delete", Kind::Template, id);
        self.write(audited(event, move |c| Box::pin(templates::delete(c, id, at)))).await
    }

    async fn create_stack(&self, new: &Stack) -> StoreResult<Stack> {
        let new = new.clone();
        let event = Event::new("stack.create", Kind::Stack, new.id);
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
        let event = Event::new("stack.update", Kind::Stack, to.id);
        self.write(audited(event, move |c| Box::pin(stacks::update(c, to)))).await
    }

    async fn delete_stack(&self, id: Uuid, marker: &NewObject) -> StoreResult<()> {
        let marker = marker.clone();
        let event = Event::new("stack.delete", Kind::Stack, id);
        self.write(audited(event, move |c| Box::pin(stacks::delete(c, id, marker)))).await
    }

    async fn metadata(&self, owner: MetadataOwner, kind: MetadataKind) -> StoreResult<Vec<MetadataRow>> {
        self.read(move |c| Box::pin(metadata::all(c, owner, kind))).await
    }

    async fn add_metadata(&self, new: &MetadataRow) -> StoreResult<()> {
        let new = new.clone();
        let event = Event::of_metadata(new.owner, new.kind(), "add", &new.key);
        self.write(audited(event, move |c| Box::pin(metadata::add(c, new)))).await
    }

    async fn remove_metadata(&self, owner: MetadataOwner, kind: MetadataKind, key: &str) -> StoreResult<()> {
        let key = key.to_owned();
        let event = Event::of_metadata(owner, kind, "remove", &key);
        self.write(audited(event, move |c| Box::pin(metadata::remove(c, owner, kind, key)))).await
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
        self.read(move |c| Box::pin(instances::all(c, owner, name, stacks_of, page))).await
    }
}
