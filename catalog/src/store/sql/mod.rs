//! The store trait, implemented with statements that both databases understand. This module is compiled twice, under
//! `sqlite` and under `postgres`. Connections, transactions and locks, which differ, are in the parent module.

mod generators;
mod marks;
mod objects;
mod rows;
mod stacks;
mod templates;
mod tokens;

use async_trait::async_trait;
use uuid::Uuid;

use super::{Connection, Here};
use crate::model::{
    DeploymentObject, Generator, KeyRow, Moment, Provenance, Stack, StackAnnotation, StackLabel, TemplateAnnotation,
    TemplateLabel, TemplateVersion,
};
use crate::store::{Counts, Instance, Instantiable, NewObject, NewVersion, Page, Sight, Store, Stored, Token};

/// The ID after which a page begins. No row has the nil ID.
fn after(page: &Page) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}

fn at_most(page: &Page) -> i64 {
    page.limit.map_or(i64::MAX, i64::from)
}

async fn counts(c: &mut Connection) -> Stored<Counts> {
    let select = rows::rows(
        "SELECT (SELECT COUNT(*) FROM generators WHERE deleted_at IS NULL) AS generators,
        (SELECT COUNT(*) FROM stack_templates WHERE deleted_at IS NULL) AS templates,
        (SELECT COUNT(*) FROM stacks WHERE deleted_at IS NULL) AS stacks,
        (SELECT COUNT(*) FROM deployment_objects WHERE deleted_at IS NULL) AS objects",
    );
    Ok(select.fetch_one(c).await?)
}

async fn ready(c: &mut Connection) -> Stored<()> {
    rows::run("SELECT 1").fetch_one(c).await?;
    Ok(())
}

#[async_trait]
impl Store for Here {
    async fn ready(&self) -> Stored<()> {
        self.read(|c| Box::pin(ready(c))).await
    }

    async fn counts(&self) -> Stored<Counts> {
        self.read(|c| Box::pin(counts(c))).await
    }

    async fn close(&self) {
        self.end().await;
    }

    async fn made(&self, token: &Token) -> Stored<Uuid> {
        let token = token.clone();
        self.read(move |c| Box::pin(tokens::made(c, token))).await
    }

    async fn create_generator(&self, new: &Generator, key: &KeyRow, token: Option<&Token>) -> Stored<Generator> {
        let (new, key, token) = (new.clone(), key.clone(), token.cloned());
        self.write(move |c| Box::pin(generators::create(c, new, key, token))).await
    }

    async fn generator(&self, id: Uuid) -> Stored<Generator> {
        self.read(move |c| Box::pin(generators::one(c, id))).await
    }

    async fn generators(&self, page: &Page) -> Stored<Vec<Generator>> {
        let page = page.clone();
        self.read(move |c| Box::pin(generators::all(c, page))).await
    }

    async fn update_generator(&self, to: &Generator) -> Stored<Generator> {
        let to = to.clone();
        self.write(move |c| Box::pin(generators::update(c, to))).await
    }

    async fn delete_generator(&self, id: Uuid, at: Moment) -> Stored<()> {
        self.write(move |c| Box::pin(generators::delete(c, id, at))).await
    }

    async fn add_key(&self, key: &KeyRow) -> Stored<()> {
        let key = key.clone();
        self.write(move |c| Box::pin(generators::add_key(c, key))).await
    }

    async fn add_first_key(&self, key: &KeyRow) -> Stored<bool> {
        let key = key.clone();
        self.write(move |c| Box::pin(generators::add_first_key(c, key))).await
    }

    async fn rotate_key(&self, generator: Uuid, key: &KeyRow, at: Moment) -> Stored<()> {
        let key = key.clone();
        self.write(move |c| Box::pin(generators::rotate(c, generator, key, at))).await
    }

    async fn key(&self, short_token: &str) -> Stored<KeyRow> {
        let short_token = short_token.to_owned();
        self.read(move |c| Box::pin(generators::key(c, short_token))).await
    }

    async fn keys(&self) -> Stored<Vec<KeyRow>> {
        self.read(|c| Box::pin(generators::keys(c))).await
    }

    async fn revoke_key(&self, id: Uuid, at: Moment) -> Stored<()> {
        self.write(move |c| Box::pin(generators::revoke(c, id, at))).await
    }

    async fn touch_generator(&self, id: Uuid, at: Moment) -> Stored<()> {
        self.write(move |c| Box::pin(generators::touch(c, id, at))).await
    }

    async fn create_version(&self, new: &NewVersion, token: Option<&Token>) -> Stored<TemplateVersion> {
        let (new, token) = (new.clone(), token.cloned());
        self.write(move |c| Box::pin(templates::create(c, new, token))).await
    }

    async fn template(&self, id: Uuid) -> Stored<TemplateVersion> {
        self.read(move |c| Box::pin(templates::one(c, id))).await
    }

    async fn template_ever(&self, id: Uuid) -> Stored<TemplateVersion> {
        self.read(move |c| Box::pin(templates::ever(c, id))).await
    }

    async fn newest(&self, owner: Option<Uuid>, name: &str) -> Stored<TemplateVersion> {
        let name = name.to_owned();
        self.read(move |c| Box::pin(templates::newest(c, owner, name))).await
    }

    async fn versions(&self, owner: Option<Uuid>, name: &str, page: &Page) -> Stored<Vec<TemplateVersion>> {
        let (name, page) = (name.to_owned(), page.clone());
        self.read(move |c| Box::pin(templates::versions(c, owner, name, page))).await
    }

    async fn templates(&self, sight: Sight, name: Option<&str>, page: &Page) -> Stored<Vec<TemplateVersion>> {
        let (name, page) = (name.map(str::to_owned), page.clone());
        self.read(move |c| Box::pin(templates::all(c, sight, name, page))).await
    }

    async fn delete_template(&self, id: Uuid, at: Moment) -> Stored<()> {
        self.write(move |c| Box::pin(templates::delete(c, id, at))).await
    }

    async fn template_labels(&self, id: Uuid) -> Stored<Vec<TemplateLabel>> {
        self.read(move |c| Box::pin(marks::template_labels(c, id))).await
    }

    async fn add_template_label(&self, new: &TemplateLabel) -> Stored<()> {
        let new = new.clone();
        self.write(move |c| Box::pin(marks::add_template_label(c, new))).await
    }

    async fn remove_template_label(&self, id: Uuid, label: &str) -> Stored<()> {
        let label = label.to_owned();
        self.write(move |c| Box::pin(marks::remove_template_label(c, id, label))).await
    }

    async fn template_annotations(&self, id: Uuid) -> Stored<Vec<TemplateAnnotation>> {
        self.read(move |c| Box::pin(marks::template_annotations(c, id))).await
    }

    async fn add_template_annotation(&self, new: &TemplateAnnotation) -> Stored<()> {
        let new = new.clone();
        self.write(move |c| Box::pin(marks::add_template_annotation(c, new))).await
    }

    async fn remove_template_annotation(&self, id: Uuid, key: &str) -> Stored<()> {
        let key = key.to_owned();
        self.write(move |c| Box::pin(marks::remove_template_annotation(c, id, key))).await
    }

    async fn create_stack(&self, new: &Stack, token: Option<&Token>) -> Stored<Stack> {
        let (new, token) = (new.clone(), token.cloned());
        self.write(move |c| Box::pin(stacks::create(c, new, token))).await
    }

    async fn stack(&self, id: Uuid) -> Stored<Stack> {
        self.read(move |c| Box::pin(stacks::one(c, id))).await
    }

    async fn stacks(&self, generator: Option<Uuid>, page: &Page) -> Stored<Vec<Stack>> {
        let page = page.clone();
        self.read(move |c| Box::pin(stacks::all(c, generator, page))).await
    }

    async fn update_stack(&self, to: &Stack, expected: Option<Moment>) -> Stored<Stack> {
        let to = to.clone();
        self.write(move |c| Box::pin(stacks::update(c, to, expected))).await
    }

    async fn delete_stack(&self, id: Uuid, marker: &NewObject) -> Stored<()> {
        let marker = marker.clone();
        self.write(move |c| Box::pin(stacks::delete(c, id, marker))).await
    }

    async fn stack_labels(&self, id: Uuid) -> Stored<Vec<StackLabel>> {
        self.read(move |c| Box::pin(marks::stack_labels(c, id))).await
    }

    async fn add_stack_label(&self, new: &StackLabel) -> Stored<()> {
        let new = new.clone();
        self.write(move |c| Box::pin(marks::add_stack_label(c, new))).await
    }

    async fn remove_stack_label(&self, id: Uuid, label: &str) -> Stored<()> {
        let label = label.to_owned();
        self.write(move |c| Box::pin(marks::remove_stack_label(c, id, label))).await
    }

    async fn stack_annotations(&self, id: Uuid) -> Stored<Vec<StackAnnotation>> {
        self.read(move |c| Box::pin(marks::stack_annotations(c, id))).await
    }

    async fn add_stack_annotation(&self, new: &StackAnnotation) -> Stored<()> {
        let new = new.clone();
        self.write(move |c| Box::pin(marks::add_stack_annotation(c, new))).await
    }

    async fn remove_stack_annotation(&self, id: Uuid, key: &str) -> Stored<()> {
        let key = key.to_owned();
        self.write(move |c| Box::pin(marks::remove_stack_annotation(c, id, key))).await
    }

    async fn instantiable(&self, stack: Uuid, template: Uuid) -> Stored<Instantiable> {
        self.read(move |c| Box::pin(objects::instantiable(c, stack, template))).await
    }

    async fn create_object(&self, new: &NewObject, token: Option<&Token>) -> Stored<DeploymentObject> {
        let (new, token) = (new.clone(), token.cloned());
        self.write(move |c| Box::pin(objects::create(c, new, token))).await
    }

    async fn object(&self, id: Uuid) -> Stored<DeploymentObject> {
        self.read(move |c| Box::pin(objects::one(c, id))).await
    }

    async fn objects(&self, stack: Uuid, page: &Page) -> Stored<Vec<DeploymentObject>> {
        let page = page.clone();
        self.read(move |c| Box::pin(objects::all(c, stack, page))).await
    }

    async fn provenance(&self, object: Uuid) -> Stored<Provenance> {
        self.read(move |c| Box::pin(objects::provenance(c, object))).await
    }

    async fn instances(
        &self,
        owner: Option<Uuid>,
        name: &str,
        stacks_of: Option<Uuid>,
        page: &Page,
    ) -> Stored<Vec<Instance>> {
        let (name, page) = (name.to_owned(), page.clone());
        self.read(move |c| Box::pin(objects::instances(c, owner, name, stacks_of, page))).await
    }
}
