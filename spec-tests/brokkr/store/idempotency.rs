//! Repeated requests.

use std::sync::Arc;

use chrono::TimeDelta;
use dropforge_catalog::store::{InitialMetadata, Metadata, NewObject, NewVersion, Page, StoreError, new_id};

use super::fixtures::{a_generator, a_key, a_stack, a_token, a_version, an_object, generator_in, now, stack_in};
use crate::databases::Database;
use crate::refused;

fn replayed<T: std::fmt::Debug>(result: Result<T, StoreError>) -> uuid::Uuid {
    match result {
        Err(StoreError::Replayed(id)) => id,
        other => panic!("not replayed: {other:?}"),
    }
}

pub async fn a_repeated_request_is_carried_out_once(db: Arc<Database>) {
    let store = db.open().await;
    let generator = a_generator("g");
    let (g, t, s, o) = (a_token("g", "1"), a_token("t", "2"), a_token("s", "3"), a_token("o", "4"));
    store.create_generator(&generator, &a_key("BRone000", Some(generator.id)), Some(&g)).await.unwrap();
    let version = store.create_version(&a_version(None, "t"), Some(&t)).await.unwrap();
    let stack = store.create_stack(&a_stack("s", generator.id), Some(&s)).await.unwrap();
    let object = store.create_object(&an_object(stack.id, "a: 1"), Some(&o)).await.unwrap();
    let before = store.counts().await.unwrap();

    let again = a_generator("g");
    let result = store.create_generator(&again, &a_key("BRtwo000", Some(again.id)), Some(&g)).await;
    assert_eq!(replayed(result), generator.id);
    assert_eq!(replayed(store.create_version(&a_version(None, "t"), Some(&t)).await), version.id);
    assert_eq!(replayed(store.create_stack(&a_stack("s", generator.id), Some(&s)).await), stack.id);
    assert_eq!(replayed(store.create_object(&an_object(stack.id, "a: 1"), Some(&o)).await), object.id);
    assert_eq!(store.counts().await.unwrap(), before);
    assert_eq!(store.keys().await.unwrap().len(), 1);
    for (token, id) in [(&g, generator.id), (&t, version.id), (&s, stack.id), (&o, object.id)] {
        assert_eq!(store.replayed(token).await.unwrap(), id);
    }
    // A deletion does not matter: the request was carried out.
    store.delete_template(version.id, now()).await.unwrap();
    assert_eq!(replayed(store.create_version(&a_version(None, "t"), Some(&t)).await), version.id);
}

pub async fn a_token_of_another_request_is_refused(db: Arc<Database>) {
    let store = db.open().await;
    let version = store.create_version(&a_version(None, "t"), Some(&a_token("k", "1"))).await.unwrap();
    refused!(store.create_version(&a_version(None, "t"), Some(&a_token("k", "2"))).await, TokenReused);
    refused!(store.replayed(&a_token("k", "2")).await, TokenReused);
    refused!(store.replayed(&a_token("K", "1")).await, NotFound);
    assert_eq!(store.replayed(&a_token("k", "1")).await.unwrap(), version.id);
    assert_eq!(store.create_version(&a_version(None, "t"), Some(&a_token("K", "1"))).await.unwrap().version, 2);
}

pub async fn a_failed_request_leaves_its_token_free(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    stack_in(&*store, "s", generator.id).await;
    let token = a_token("k", "1");
    refused!(store.create_stack(&a_stack("s", generator.id), Some(&token)).await, UniqueViolation("unique_stack_name"));
    refused!(store.replayed(&token).await, NotFound);
    refused!(store.create_object(&an_object(new_id(), ""), Some(&token)).await, NotFound);
    let moved = NewVersion { expected: Some(new_id()), ..a_version(None, "t") };
    refused!(store.create_version(&moved, Some(&token)).await, Stale);
    let stack = store.create_stack(&a_stack("t", generator.id), Some(&token)).await.unwrap();
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
    let first = store.create_object(&object_at(at), Some(&token)).await.unwrap();
    let result = store.create_object(&object_at(at + day - second), Some(&token)).await;
    assert_eq!(replayed(result), first.id);
    assert_eq!(store.replayed(&token).await.unwrap(), first.id);
    // The token is free for a different request, and remembered again.
    let later = a_token("k", "2");
    let second_one = store.create_object(&object_at(at + day), Some(&later)).await.unwrap();
    refused!(store.create_object(&object_at(at + day + second), Some(&token)).await, TokenReused);
    assert_eq!(replayed(store.create_object(&object_at(at + day + second), Some(&later)).await), second_one.id);

    let old = a_token("old", "1");
    store.create_object(&object_at(now() - day - second), Some(&old)).await.unwrap();
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
            match store.create_version(&new, Some(&a_token("k", "1"))).await {
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
