//! Rows for tests.

use chrono::{SubsecRound, Utc};
use dropforge_catalog::store::{
    Guard, IdempotencyToken, InitialMetadata, NewObject, NewVersion, Store, StoreResult, new_id,
};
use dropforge_catalog::{
    DeploymentObject, Generator, KeyRow, MetadataOwner, MetadataRow, Provenance, Role, Stack, TemplateVersion,
    Timestamp,
};
use uuid::Uuid;

/// Checks that a result is the expected error.
#[macro_export]
macro_rules! refused {
    ($result:expr, $($error:tt)+) => {
        match $result {
            Err(dropforge_catalog::store::StoreError::$($error)+) => {}
            other => panic!("{}: {other:?}", stringify!($($error)+)),
        }
    };
}

pub fn now() -> Timestamp {
    Utc::now().trunc_subsecs(6)
}

pub fn a_generator(name: &str) -> Generator {
    let at = now();
    Generator {
        id: new_id(),
        created_at: at,
        updated_at: at,
        deleted_at: None,
        name: name.to_owned(),
        description: None,
        last_active_at: None,
        is_active: true,
        is_system: false,
    }
}

pub fn a_key(short_token: &str, generator_id: Option<Uuid>) -> KeyRow {
    let role = if generator_id.is_some() { Role::Generator } else { Role::Admin };
    let (id, short_token, hash) = (new_id(), short_token.to_owned(), "00".repeat(32));
    let (name, expires_at, last_used_at) = (None, None, None);
    let created_at = now();
    KeyRow { id, short_token, hash, role, generator_id, created_at, revoked_at: None, name, expires_at, last_used_at }
}

pub fn a_version(owner: Option<Uuid>, name: &str) -> NewVersion {
    NewVersion {
        id: new_id(),
        at: now(),
        generator_id: owner,
        name: name.to_owned(),
        description: None,
        template_content: "a: {{ b }}".to_owned(),
        parameters_schema: "{}".to_owned(),
        checksum: "11".repeat(32),
        language: dropforge_catalog::Language::Tera,
        metadata: InitialMetadata::CopiedFrom(None),
    }
}

pub fn a_stack(name: &str, generator_id: Uuid) -> Stack {
    let at = now();
    let (id, name) = (new_id(), name.to_owned());
    Stack { id, created_at: at, updated_at: at, deleted_at: None, name, description: None, generator_id }
}

pub fn an_object(stack_id: Uuid, yaml: &str) -> NewObject {
    let yaml_checksum = "22".repeat(32);
    let yaml_content = yaml.to_owned();
    let (id, at) = (new_id(), now());
    NewObject { id, at, stack_id, yaml_content, yaml_checksum, is_deletion_marker: false, provenance: None }
}

pub fn an_instance(stack_id: Uuid, of: &TemplateVersion) -> NewObject {
    let object = an_object(stack_id, "a: 1");
    let provenance = Provenance {
        id: new_id(),
        deployment_object_id: object.id,
        template_id: of.id,
        template_version: of.version,
        template_parameters: r#"{"z":1,"a":1.0}"#.to_owned(),
        defaults: true,
        template_checksum: of.checksum.clone(),
        schema_checksum: "33".repeat(32),
        parameters_checksum: "44".repeat(32),
        output_checksum: object.yaml_checksum.clone(),
        engine: "0.1.0".to_owned(),
        created_at: object.at,
    };
    NewObject { provenance: Some(provenance), ..object }
}

/// A label, or an annotation if there is a value.
fn a_row(owner: MetadataOwner, key: &str, value: Option<&str>) -> MetadataRow {
    // The time is not stored for stacks.
    let created_at = matches!(owner, MetadataOwner::Template(_)).then(now);
    MetadataRow { id: new_id(), owner, key: key.to_owned(), value: value.map(str::to_owned), created_at }
}

pub fn template_label(template: Uuid, label: &str) -> MetadataRow {
    a_row(MetadataOwner::Template(template), label, None)
}

pub fn template_annotation(template: Uuid, key: &str, value: &str) -> MetadataRow {
    a_row(MetadataOwner::Template(template), key, Some(value))
}

pub fn stack_label(stack: Uuid, label: &str) -> MetadataRow {
    a_row(MetadataOwner::Stack(stack), label, None)
}

pub fn stack_annotation(stack: Uuid, key: &str, value: &str) -> MetadataRow {
    a_row(MetadataOwner::Stack(stack), key, Some(value))
}

pub fn a_token(key: &str, request: &str) -> IdempotencyToken {
    IdempotencyToken { key: key.to_owned(), request: request.to_owned(), seed: None, salt: None }
}

/// Adds a version in a request with a token.
pub async fn version_once(
    store: &dyn Store,
    new: &NewVersion,
    token: &IdempotencyToken,
) -> StoreResult<TemplateVersion> {
    Guard::once(Some(token), new.id, new.at).scope(store.create_version(new)).await
}

/// Adds a stack in a request with a token.
pub async fn stack_once(store: &dyn Store, new: &Stack, token: &IdempotencyToken) -> StoreResult<Stack> {
    Guard::once(Some(token), new.id, new.created_at).scope(store.create_stack(new)).await
}

/// Adds an object in a request with a token.
pub async fn object_once(
    store: &dyn Store,
    new: &NewObject,
    token: &IdempotencyToken,
) -> StoreResult<DeploymentObject> {
    Guard::once(Some(token), new.id, new.at).scope(store.create_object(new)).await
}

/// Adds a generator with a key.
pub async fn generator_in(store: &dyn Store, name: &str) -> Generator {
    let generator = a_generator(name);
    let key = a_key(&format!("BR{}", &generator.id.simple().to_string()[26..]), Some(generator.id));
    store.create_generator(&generator, &key).await.expect("a generator")
}

/// Adds a stack.
pub async fn stack_in(store: &dyn Store, name: &str, generator: Uuid) -> Stack {
    store.create_stack(&a_stack(name, generator)).await.expect("a stack")
}

/// Adds a version.
pub async fn version_in(store: &dyn Store, owner: Option<Uuid>, name: &str) -> TemplateVersion {
    store.create_version(&a_version(owner, name)).await.expect("a version")
}
