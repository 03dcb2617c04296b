//! Properties of whole stores.

use std::sync::Arc;

use dropforge_catalog::store::{Counts, InitialMetadata, Metadata, NewVersion, Page, new_id};
use dropforge_catalog::{Generator, KeyRow, MetadataKind, MetadataOwner, Role};

use super::fixtures::{
    a_generator, a_key, a_version, an_object, generator_in, now, stack_in, template_label, version_in,
};
use crate::databases::Database;
use crate::refused;

pub async fn rows_come_back_as_they_went_in(db: Arc<Database>) {
    let store = db.open().await;
    store.ready().await.unwrap();
    let odd = "'; DROP TABLE generators; -- \" \\ % _ \u{1F600} \u{10FFFF} e\u{301}\r\n\t $1 ?1 :a";
    let generator = Generator {
        description: Some(odd.into()),
        is_active: true,
        is_system: true,
        last_active_at: Some("1969-12-31T23:59:59.999999Z".parse().unwrap()),
        created_at: "2026-02-28T12:00:00Z".parse().unwrap(),
        updated_at: "2026-02-28T12:00:00.100Z".parse().unwrap(),
        ..a_generator(odd)
    };
    let key = a_key("BRodd000", Some(generator.id));
    assert_eq!(store.create_generator(&generator, &key).await.unwrap(), generator);
    assert_eq!(store.generator(generator.id).await.unwrap(), generator);
    for (n, role) in [Role::Admin, Role::Readonly, Role::Agent, Role::Generator].into_iter().enumerate() {
        let key = KeyRow { role, ..a_key(&format!("BRrole{n:02}"), None) };
        store.add_key(&key).await.unwrap();
        assert_eq!(store.key(&key.short_token).await.unwrap(), key);
    }
    let long = format!("{odd}{}", "x".repeat(1 << 20));
    let new = NewVersion {
        template_content: long.clone(),
        parameters_schema: long.clone(),
        description: Some(String::new()),
        ..a_version(Some(generator.id), odd)
    };
    let made = store.create_version(&new).await.unwrap();
    assert_eq!((&made.template_content, &made.parameters_schema), (&long, &long));
    assert_eq!((made.name.as_str(), made.description.as_deref(), made.created_at), (odd, Some(""), new.at));
    assert_eq!(store.newest(Some(generator.id), odd).await.unwrap(), made);
}

pub async fn a_failure_undoes_its_own_request_only(db: Arc<Database>) {
    let store = db.open().await;
    let request = |n: usize| {
        let fails = n.is_multiple_of(3);
        // A repeated label fails after the version was inserted.
        let labels = ["a", if fails { "a" } else { "b" }].map(str::to_owned).into();
        let new = NewVersion {
            metadata: InitialMetadata::Given(Metadata { labels, annotations: vec![] }),
            ..a_version(None, "t")
        };
        let store = store.clone();
        tokio::spawn(async move { (fails, store.create_version(&new).await) })
    };
    for request in (0..60).map(request).collect::<Vec<_>>() {
        match request.await.unwrap() {
            (true, result) => refused!(result, UniqueViolation("template_labels_template_id_label_key")),
            (false, result) => assert!(store.template(result.unwrap().id).await.is_ok()),
        }
    }
    let versions = store.versions(None, "t", &Page::default()).await.unwrap();
    let numbers: Vec<i32> = versions.iter().rev().map(|version| version.version).collect();
    assert_eq!(numbers, (1..=40).collect::<Vec<i32>>());
}

pub async fn requests_that_are_given_up_leave_the_store_whole(db: Arc<Database>) {
    let store = db.open().await;
    for n in 0..40 {
        let (writer, reader) = (store.clone(), store.clone());
        let write = tokio::spawn(async move { writer.create_version(&a_version(None, "t")).await });
        let read = tokio::spawn(async move { reader.instantiation_rows(new_id(), new_id()).await });
        for _ in 0..n {
            tokio::task::yield_now().await;
        }
        write.abort();
        read.abort();
    }
    // A write that was already queued may still be carried out, even after this one.
    let last = version_in(&*store, None, "t").await;
    let versions = store.versions(None, "t", &Page::default()).await.unwrap();
    assert!(versions.contains(&last));
    let numbers: Vec<_> = versions.iter().map(|version| version.version as usize).collect();
    assert_eq!(numbers, (1..=versions.len()).rev().collect::<Vec<_>>());
}

pub async fn readers_see_acknowledged_writes(db: Arc<Database>) {
    let (store, second) = (db.open().await, db.open().await);
    for n in 0..20 {
        let made = version_in(&*store, None, "t").await;
        assert_eq!(second.newest(None, "t").await.unwrap(), made);
        // Labels of earlier versions are copied.
        second.add_metadata(&template_label(made.id, &format!("l{n}"))).await.unwrap();
        assert_eq!(store.metadata(MetadataOwner::Template(made.id), MetadataKind::Label).await.unwrap().len(), n + 1);
    }
}

pub async fn writes_survive_reopening_the_store(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let stack = stack_in(&*store, "s", generator.id).await;
    let version = version_in(&*store, None, "t").await;
    let deleted = version_in(&*store, None, "t").await;
    store.delete_template(deleted.id, now()).await.unwrap();
    let object = store.create_object(&an_object(stack.id, "a: 1")).await.unwrap();
    let counts = Counts { generators: 1, templates: 1, stacks: 1, objects: 1 };
    assert_eq!(store.counts().await.unwrap(), counts);
    store.close().await;
    refused!(store.ready().await, Failed(_));
    refused!(store.create_version(&a_version(None, "t")).await, Failed(_));
    store.close().await;
    if !db.lasts() {
        return;
    }
    let store = db.open().await;
    assert_eq!(store.counts().await.unwrap(), counts);
    assert_eq!(store.generators(&Page::default()).await.unwrap(), [generator]);
    assert_eq!(store.stack(stack.id).await.unwrap(), stack);
    assert_eq!(store.newest(None, "t").await.unwrap(), version);
    let next = store.create_object(&an_object(stack.id, "a: 2")).await.unwrap();
    assert!(next.sequence_id > object.sequence_id);
    store.close().await;
}
