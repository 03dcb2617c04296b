//! Repeated requests.

use std::sync::Arc;

use chrono::TimeDelta;
use dropforge_catalog::Generator;
use dropforge_catalog::store::{
    Guard, IdempotencyToken, InitialMetadata, Metadata, NewObject, NewVersion, Page, Requirement, Store, StoreError,
    StoreResult, new_id,
};

use super::fixtures::{
    a_generator, a_key, a_stack, a_token, a_version, an_object, generator_in, now, object_once, stack_in, stack_once,
    version_once,
};
use crate::databases::Database;
use crate::refused;

fn replayed<T: std::fmt::Debug>(result: Result<T, StoreError>) -> uuid::Uuid {
    match result {
        Err(StoreError::Replayed(id)) => id,
        other => panic!("not replayed: {other:?}"),
    }
}

async fn generator_once(
    store: &dyn Store,
    new: &Generator,
    short_token: &str,
    token: &IdempotencyToken,
) -> StoreResult<Generator> {
    let key = a_key(short_token, Some(new.id));
    Guard::once(Some(token), new.id, new.created_at).scope(store.create_generator(new, &key)).await
}

pub async fn a_repeated_request_is_carried_out_once(db: Arc<Database>) {
    let store = db.open().await;
    let generator = a_generator("g");
    let (g, t, s, o) = (a_token("g", "1"), a_token("t", "2"), a_token("s", "3"), a_token("o", "4"));
    generator_once(&*store, &generator, "BRone000", &g).await.unwrap();
    let version = version_once(&*store, &a_version(None, "t"), &t).await.unwrap();
    let stack = stack_once(&*store, &a_stack("s", generator.id), &s).await.unwrap();
    let object = object_once(&*store, &an_object(stack.id, "a: 1"), &o).await.unwrap();
    let before = store.counts().await.unwrap();

    let again = a_generator("g");
    assert_eq!(replayed(generator_once(&*store, &again, "BRtwo000", &g).await), generator.id);
    assert_eq!(replayed(version_once(&*store, &a_version(None, "t"), &t).await), version.id);
    assert_eq!(replayed(stack_once(&*store, &a_stack("s", generator.id), &s).await), stack.id);
    assert_eq!(replayed(object_once(&*store, &an_object(stack.id, "a: 1"), &o).await), object.id);
    assert_eq!(store.counts().await.unwrap(), before);
    assert_eq!(store.keys().await.unwrap().len(), 1);
    for (token, id) in [(&g, generator.id), (&t, version.id), (&s, stack.id), (&o, object.id)] {
        assert_eq!(store.replayed(token).await.unwrap(), id);
    }
    // A deletion does not matter: the request was carried out.
    store.delete_template(version.id, now()).await.unwrap();
    assert_eq!(replayed(version_once(&*store, &a_version(None, "t"), &t).await), version.id);
}

pub async fn a_token_of_another_request_is_refused(db: Arc<Database>) {
    let store = db.open().await;
    let version = version_once(&*store, &a_version(None, "t"), &a_token("k", "1")).await.unwrap();
    refused!(version_once(&*store, &a_version(None, "t"), &a_token("k", "2")).await, TokenReused);
    refused!(store.replayed(&a_token("k", "2")).await, TokenReused);
    refused!(store.replayed(&a_token("K", "1")).await, NotFound);
    assert_eq!(store.replayed(&a_token("k", "1")).await.unwrap(), version.id);
    assert_eq!(version_once(&*store, &a_version(None, "t"), &a_token("K", "1")).await.unwrap().version, 2);
}

pub async fn a_failed_request_leaves_its_token_free(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    stack_in(&*store, "s", generator.id).await;
    let token = a_token("k", "1");
    refused!(stack_once(&*store, &a_stack("s", generator.id), &token).await, UniqueViolation("unique_stack_name"));
    refused!(store.replayed(&token).await, NotFound);
    refused!(object_once(&*store, &an_object(new_id(), ""), &token).await, NotFound);
    let moved = a_version(None, "t");
    let guard = Guard::once(Some(&token), moved.id, moved.at).and(Requirement::Newest(new_id()));
    refused!(guard.scope(store.create_version(&moved)).await, Stale);
    let stack = stack_once(&*store, &a_stack("t", generator.id), &token).await.unwrap();
    assert_eq!(store.replayed(&token).await.unwrap(), stack.id);
}

pub async fn tokens_expire_after_a_day(db: Arc<Database>) {
    let store = db.open().await;
    let stack = stack_in(&*store, "s", generator_in(&*store, "g").await.id).await.id;
    let day = TimeDelta::hours(24);
    let second = TimeDelta::seconds(1);
    let at = now() - day + TimeDelta::minutes(1);
    let token = a_token("k", "1");
    let object_at = |at| NewObject { at, ..an_object(stack, "a: 1") };
    let first = object_once(&*store, &object_at(at), &token).await.unwrap();
    let result = object_once(&*store, &object_at(at + day - second), &token).await;
    assert_eq!(replayed(result), first.id);
    assert_eq!(store.replayed(&token).await.unwrap(), first.id);
    // The token is free for a different request, and remembered again.
    let later = a_token("k", "2");
    let second_one = object_once(&*store, &object_at(at + day), &later).await.unwrap();
    refused!(object_once(&*store, &object_at(at + day + second), &token).await, TokenReused);
    assert_eq!(replayed(object_once(&*store, &object_at(at + day + second), &later).await), second_one.id);

    let old = a_token("old", "1");
    object_once(&*store, &object_at(now() - day - second), &old).await.unwrap();
    refused!(store.replayed(&old).await, NotFound);
    assert_eq!(store.objects(stack, &Page::default()).await.unwrap().len(), 3);
}

pub async fn the_same_request_at_the_same_time_is_carried_out_once(db: Arc<Database>) {
    let (store, second) = (db.open().await, db.open().await);
    let writer = |n: usize| {
        let store = if n.is_multiple_of(2) { store.clone() } else { second.clone() };
        let metadata = InitialMetadata::Given(Metadata { labels: vec!["a".into(), "b".into()], annotations: vec![] });
        let new = NewVersion { metadata, ..a_version(None, "t") };
        tokio::spawn(async move {
            match version_once(&*store, &new, &a_token("k", "1")).await {
                Ok(made) => (1, made.id),
                result => (0, replayed(result)),
            }
        })
    };
    let mut outcomes = Vec::new();
    for writer in (0..16).map(writer).collect::<Vec<_>>() {
        outcomes.push(writer.await.unwrap());
    }
    let version = store.newest(None, "t").await.unwrap();
    assert_eq!(version.version, 1);
    assert_eq!(outcomes.iter().map(|(made, _)| made).sum::<i32>(), 1);
    assert!(outcomes.iter().all(|(_, id)| *id == version.id));
}
