//! Template versions with their labels and annotations.

use std::sync::Arc;

use dropforge_catalog::store::{
    Guard, InitialMetadata, Metadata, NewVersion, Page, Requirement, Store, TemplateSearch, new_id,
};
use dropforge_catalog::{MetadataKind, MetadataOwner, TemplateVersion};
use uuid::Uuid;

use super::fixtures::{a_version, generator_in, now, template_annotation, template_label, version_in};
use crate::databases::Database;
use crate::refused;

async fn numbers(store: &dyn Store, owner: Option<Uuid>, name: &str) -> Vec<i32> {
    let versions = store.versions(owner, name, &Page::default()).await.unwrap();
    versions.iter().map(|version| version.version).collect()
}

pub async fn versions_count_from_one_for_each_owner_and_name(db: Arc<Database>) {
    let store = db.open().await;
    let (one, other) = (generator_in(&*store, "one").await.id, generator_in(&*store, "other").await.id);
    let mut made = Vec::new();
    for (owner, name) in [(None, "t"), (Some(one), "t"), (None, "t"), (None, "u"), (Some(other), "t"), (Some(one), "t")]
    {
        made.push(version_in(&*store, owner, name).await);
    }
    assert_eq!(made.iter().map(|made| made.version).collect::<Vec<_>>(), [1, 1, 2, 1, 1, 2]);
    assert_eq!(store.newest(None, "t").await.unwrap(), made[2]);
    assert_eq!(store.newest(Some(one), "t").await.unwrap(), made[5]);
    assert_eq!(store.template(made[0].id).await.unwrap(), made[0]);
    assert_eq!(store.template_including_deleted(made[0].id).await.unwrap(), made[0]);
    assert_eq!(numbers(&*store, None, "t").await, [2, 1]);
    assert_eq!(numbers(&*store, Some(other), "t").await, [1]);
    assert_eq!(numbers(&*store, Some(other), "T").await.len(), 0);
    let page = Page { after: Some(made[2].id), limit: Some(5) };
    assert_eq!(store.versions(None, "t", &page).await.unwrap(), made[..1]);
    let page = Page { after: None, limit: Some(1) };
    assert_eq!(store.versions(None, "t", &page).await.unwrap(), made[2..3]);
    refused!(store.newest(Some(one), "u").await, NotFound);
    refused!(store.template(new_id()).await, NotFound);
    refused!(store.template_including_deleted(new_id()).await, NotFound);
}

pub async fn numbers_of_deleted_versions_come_free_again(db: Arc<Database>) {
    let store = db.open().await;
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(version_in(&*store, None, "t").await);
    }
    let at = now();
    store.delete_template(made[2].id, at).await.unwrap();
    refused!(store.template(made[2].id).await, NotFound);
    refused!(store.delete_template(made[2].id, at).await, NotFound);
    refused!(store.delete_template(new_id(), at).await, NotFound);
    let ever = store.template_including_deleted(made[2].id).await.unwrap();
    assert_eq!(ever, TemplateVersion { deleted_at: Some(at), updated_at: at, ..made[2].clone() });
    assert_eq!(store.newest(None, "t").await.unwrap(), made[1]);
    assert_eq!(version_in(&*store, None, "t").await.version, 3);
    store.delete_template(made[0].id, at).await.unwrap();
    assert_eq!(version_in(&*store, None, "t").await.version, 4);
    assert_eq!(numbers(&*store, None, "t").await, [4, 3, 2]);
    for version in store.versions(None, "t", &Page::default()).await.unwrap() {
        store.delete_template(version.id, at).await.unwrap();
    }
    refused!(store.newest(None, "t").await, NotFound);
    assert_eq!(version_in(&*store, None, "t").await.version, 1);
}

pub async fn an_expectation_that_fails_changes_nothing(db: Arc<Database>) {
    let store = db.open().await;
    let expecting = async |expected| {
        let guard = Guard::requiring(Requirement::Newest(expected));
        guard.scope(store.create_version(&a_version(None, "t"))).await
    };
    refused!(expecting(new_id()).await, Stale);
    let first = version_in(&*store, None, "t").await;
    let second = expecting(first.id).await.unwrap();
    refused!(expecting(first.id).await, Stale);
    assert_eq!(numbers(&*store, None, "t").await, [2, 1]);
    // After a deletion the previous version is the newest.
    store.delete_template(second.id, now()).await.unwrap();
    refused!(expecting(second.id).await, Stale);
    assert_eq!(expecting(first.id).await.unwrap().version, 2);
}

async fn marks_of(store: &dyn Store, id: Uuid) -> (Vec<String>, Vec<(String, String)>) {
    let labels = store.metadata(MetadataOwner::Template(id), MetadataKind::Label).await.unwrap();
    let annotations = store.metadata(MetadataOwner::Template(id), MetadataKind::Annotation).await.unwrap();
    assert!(labels.iter().all(|label| label.owner == MetadataOwner::Template(id)));
    let pairs = annotations.into_iter().map(|annotation| (annotation.key, annotation.value.unwrap())).collect();
    (labels.into_iter().map(|label| label.key).collect(), pairs)
}

pub async fn labels_and_annotations_are_carried_over_or_given(db: Arc<Database>) {
    let store = db.open().await;
    let with = |metadata| NewVersion { metadata, ..a_version(None, "t") };
    let owned = |labels: &[&str]| labels.iter().map(|&label| label.to_owned()).collect::<Vec<_>>();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());

    let annotations = vec![pair("z", "1"), pair("a", "2")];
    let given = with(InitialMetadata::Given(Metadata { labels: owned(&["z", "a"]), annotations: annotations.clone() }));
    let first = store.create_version(&given).await.unwrap();
    assert_eq!(marks_of(&*store, first.id).await, (owned(&["z", "a"]), annotations.clone()));
    store.add_metadata(&template_label(first.id, "m")).await.unwrap();

    let second = version_in(&*store, None, "t").await;
    assert_eq!(marks_of(&*store, second.id).await, (owned(&["z", "a", "m"]), annotations.clone()));
    let none = InitialMetadata::Given(Metadata { labels: vec![], annotations: vec![] });
    let third = store.create_version(&with(none)).await.unwrap();
    assert_eq!(marks_of(&*store, third.id).await, (vec![], vec![]));
    let from_first = store.create_version(&with(InitialMetadata::CopiedFrom(Some(first.id)))).await.unwrap();
    assert_eq!(marks_of(&*store, from_first.id).await, (owned(&["z", "a", "m"]), annotations));
    // Other templates have none.
    assert_eq!(marks_of(&*store, version_in(&*store, None, "u").await.id).await, (vec![], vec![]));
    // If a label is repeated, nothing is created.
    let twice = InitialMetadata::Given(Metadata { labels: owned(&["x", "x"]), annotations: vec![] });
    let refusal = store.create_version(&with(twice)).await;
    refused!(refusal, UniqueViolation("template_labels_template_id_label_key"));
    assert_eq!(numbers(&*store, None, "t").await, [4, 3, 2, 1]);
}

pub async fn lists_show_visible_rows_page_by_page(db: Arc<Database>) {
    let store = db.open().await;
    let (one, other) = (generator_in(&*store, "one").await.id, generator_in(&*store, "other").await.id);
    let mut made = Vec::new();
    for (owner, name) in [(Some(one), "t"), (None, "u"), (Some(other), "t"), (None, "t"), (Some(one), "u"), (None, "t")]
    {
        made.push(version_in(&*store, owner, name).await.id);
    }
    let list = async |visibility, name, page: Page| {
        let found = store.templates(visibility, name, &page).await.unwrap();
        found.into_iter().map(|version| made.iter().position(|id| *id == version.id).unwrap()).collect::<Vec<_>>()
    };
    let page = |after: usize, limit| Page { after: Some(made[after]), limit: Some(limit) };
    assert_eq!(list(None, None, Page::default()).await, [0, 1, 2, 3, 4, 5]);
    assert_eq!(list(Some(one), None, Page::default()).await, [0, 1, 3, 4, 5]);
    assert_eq!(list(Some(other), None, Page::default()).await, [1, 2, 3, 5]);
    assert_eq!(list(Some(new_id()), None, Page::default()).await, [1, 3, 5]);
    assert_eq!(list(None, Some("t"), Page::default()).await, [0, 2, 3, 5]);
    assert_eq!(list(Some(one), Some("t"), page(0, 1)).await, [3]);
    assert_eq!(list(None, None, page(2, 2)).await, [3, 4]);
    assert_eq!(list(None, Some("%"), Page::default()).await.len(), 0);
    store.delete_template(made[3], now()).await.unwrap();
    // A page may begin after a row that was deleted meanwhile.
    assert_eq!(list(None, None, page(3, 9)).await, [4, 5]);
}

pub async fn searches_find_names_page_by_page(db: Arc<Database>) {
    let store = db.open().await;
    let (one, other) = (generator_in(&*store, "one").await.id, generator_in(&*store, "other").await.id);
    let made = [
        (None, "Web"),
        (Some(one), "api"),
        (Some(other), "my-WEB"),
        (Some(one), "web"),
        (None, "a%b"),
        (Some(one), "api"),
        (None, "a_b!"),
        (Some(one), "Äweb"),
        (None, "Web"),
    ];
    let mut ids = Vec::new();
    for (owner, name) in made {
        ids.push(version_in(&*store, owner, name).await.id);
    }
    let find = async |visibility, text: &str, newest, page: Page| {
        let search = TemplateSearch { text: text.to_owned(), newest };
        let found = store.search_templates(visibility, &search, &page).await.unwrap();
        found.into_iter().map(|version| ids.iter().position(|id| *id == version.id).unwrap()).collect::<Vec<_>>()
    };
    let all = Page::default;
    assert_eq!(find(None, "", false, all()).await, [4, 6, 1, 5, 2, 0, 3, 8, 7]);
    assert_eq!(find(None, "", true, all()).await, [4, 6, 5, 2, 3, 8, 7]);
    assert_eq!(find(None, "wEb", true, all()).await, [2, 3, 8, 7]);
    assert_eq!(find(Some(one), "web", true, all()).await, [3, 8, 7]);
    assert_eq!(find(Some(one), "", true, all()).await, [4, 6, 5, 3, 8, 7]);
    assert_eq!(find(Some(other), "web", false, all()).await, [2, 0, 8]);
    // Characters of patterns are ordinary.
    assert_eq!(find(None, "%", true, all()).await, [4]);
    assert_eq!(find(None, "_", true, all()).await, [6]);
    assert_eq!(find(None, "b!", true, all()).await, [6]);
    assert_eq!(find(None, "\\", true, all()).await.len(), 0);
    for visibility in [None, Some(one), Some(other)] {
        let whole = find(visibility, "", true, all()).await;
        let (mut walked, mut after) = (Vec::new(), None);
        loop {
            let page = find(visibility, "", true, Page { after, limit: Some(2) }).await;
            let Some(last) = page.last() else { break };
            after = Some(ids[*last]);
            walked.extend(page);
        }
        assert_eq!(walked, whole);
    }
    // Without its newest version a template shows the one before, and a page may begin after a deleted version.
    store.delete_template(ids[8], now()).await.unwrap();
    assert_eq!(find(None, "web", true, all()).await, [2, 0, 3, 7]);
    assert_eq!(find(None, "", true, Page { after: Some(ids[8]), limit: None }).await, [7]);
    assert_eq!(find(None, "", true, Page { after: Some(new_id()), limit: None }).await.len(), 0);
}

pub async fn sixteen_writers_leave_no_gap_and_no_duplicate(db: Arc<Database>) {
    let (store, second) = (db.open().await, db.open().await);
    let owner = generator_in(&*store, "g").await.id;
    let writer = |n: usize| {
        let store = if n.is_multiple_of(2) { store.clone() } else { second.clone() };
        tokio::spawn(async move {
            for _ in 0..8 {
                store.create_version(&a_version(Some(owner), "t")).await.unwrap();
                store.create_version(&a_version(None, "t")).await.unwrap();
            }
        })
    };
    for writer in (0..16).map(writer).collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let all: Vec<i32> = (1..=128).rev().collect();
    assert_eq!(numbers(&*store, Some(owner), "t").await, all);
    assert_eq!(numbers(&*store, None, "t").await, all);
}

pub async fn one_of_several_conditional_writers_succeeds(db: Arc<Database>) {
    let store = db.open().await;
    let first = version_in(&*store, None, "t").await.id;
    let writer = |_| {
        let store = store.clone();
        let guard = Guard::requiring(Requirement::Newest(first));
        tokio::spawn(guard.scope(async move { store.create_version(&a_version(None, "t")).await }))
    };
    let mut won = 0;
    for writer in (0..16).map(writer).collect::<Vec<_>>() {
        match writer.await.unwrap() {
            Ok(_) => won += 1,
            refusal => refused!(refusal, Stale),
        }
    }
    assert_eq!((won, numbers(&*store, None, "t").await), (1, vec![2, 1]));
}

pub async fn labels_of_versions(db: Arc<Database>) {
    let store = db.open().await;
    let (version, other) = (version_in(&*store, None, "t").await.id, version_in(&*store, None, "u").await.id);
    let added: Vec<_> = ["b", "a", "ä=1'\"%_"].map(|label| template_label(version, label)).into();
    for label in &added {
        store.add_metadata(label).await.unwrap();
    }
    store.add_metadata(&template_label(other, "b")).await.unwrap();
    assert_eq!(store.metadata(MetadataOwner::Template(version), MetadataKind::Label).await.unwrap(), added);
    let refusal = store.add_metadata(&template_label(version, "b")).await;
    refused!(refusal, UniqueViolation("template_labels_template_id_label_key"));
    store.remove_metadata(MetadataOwner::Template(version), MetadataKind::Label, "b").await.unwrap();
    assert_eq!(store.metadata(MetadataOwner::Template(version), MetadataKind::Label).await.unwrap(), added[1..]);
    assert_eq!(store.metadata(MetadataOwner::Template(other), MetadataKind::Label).await.unwrap().len(), 1);
    refused!(store.remove_metadata(MetadataOwner::Template(version), MetadataKind::Label, "b").await, NotFound);
    refused!(store.add_metadata(&template_label(new_id(), "b")).await, NotFound);
    refused!(store.metadata(MetadataOwner::Template(new_id()), MetadataKind::Label).await, NotFound);
    store.delete_template(version, now()).await.unwrap();
    refused!(store.metadata(MetadataOwner::Template(version), MetadataKind::Label).await, NotFound);
    refused!(store.add_metadata(&template_label(version, "x")).await, NotFound);
    refused!(store.remove_metadata(MetadataOwner::Template(version), MetadataKind::Label, "a").await, NotFound);
}

pub async fn annotations_of_versions(db: Arc<Database>) {
    let store = db.open().await;
    let version = version_in(&*store, None, "t").await.id;
    let added: Vec<_> = [("k", "1"), ("a", ""), ("ä", "1")].map(|(k, v)| template_annotation(version, k, v)).into();
    for annotation in &added {
        store.add_metadata(annotation).await.unwrap();
    }
    assert_eq!(store.metadata(MetadataOwner::Template(version), MetadataKind::Annotation).await.unwrap(), added);
    let refusal = store.add_metadata(&template_annotation(version, "k", "2")).await;
    refused!(refusal, UniqueViolation("template_annotations_template_id_key_key"));
    store.remove_metadata(MetadataOwner::Template(version), MetadataKind::Annotation, "k").await.unwrap();
    assert_eq!(store.metadata(MetadataOwner::Template(version), MetadataKind::Annotation).await.unwrap(), added[1..]);
    refused!(store.remove_metadata(MetadataOwner::Template(version), MetadataKind::Annotation, "k").await, NotFound);
    refused!(store.add_metadata(&template_annotation(new_id(), "k", "2")).await, NotFound);
    refused!(store.metadata(MetadataOwner::Template(new_id()), MetadataKind::Annotation).await, NotFound);
    store.delete_template(version, now()).await.unwrap();
    refused!(store.metadata(MetadataOwner::Template(version), MetadataKind::Annotation).await, NotFound);
    refused!(store.remove_metadata(MetadataOwner::Template(version), MetadataKind::Annotation, "a").await, NotFound);
}

pub async fn templates_of_generators_that_are_not_there(db: Arc<Database>) {
    let store = db.open().await;
    let dead = generator_in(&*store, "dead").await.id;
    store.delete_generator(dead, now()).await.unwrap();
    for nobody in [dead, new_id()] {
        let refusal = store.create_version(&a_version(Some(nobody), "t")).await;
        refused!(refusal, ForeignKeyViolation("stack_templates_generator_id_fkey"));
    }
}
