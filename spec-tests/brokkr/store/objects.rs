//! Deployment objects and their provenance.

use std::sync::Arc;

use dropforge_catalog::store::{Metadata, Page, new_id};
use dropforge_catalog::{MetadataKind, MetadataOwner};

use super::fixtures::{
    an_instance, an_object, generator_in, now, stack_annotation, stack_in, stack_label, template_annotation,
    template_label, version_in,
};
use crate::databases::Database;
use crate::refused;

pub async fn objects_are_numbered_and_listed_newest_first(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let (stack, other) = (stack_in(&*store, "s", generator.id).await, stack_in(&*store, "o", generator.id).await);
    let mut made = Vec::new();
    for n in 0..5 {
        made.push(store.create_object(&an_object(stack.id, &format!("n: {n}"))).await.unwrap());
        store.create_object(&an_object(other.id, "n: 0")).await.unwrap();
    }
    assert!(made.is_sorted_by(|before, after| before.sequence_id < after.sequence_id));
    assert_eq!(store.object(made[2].id).await.unwrap(), made[2]);
    made.reverse();
    assert_eq!(store.objects(stack.id, &Page::default()).await.unwrap(), made);
    let page = Page { after: Some(made[1].id), limit: Some(2) };
    assert_eq!(store.objects(stack.id, &page).await.unwrap(), made[2..4]);
    let page = Page { after: Some(made[4].id), limit: None };
    assert_eq!(store.objects(stack.id, &page).await.unwrap(), []);
    let page = Page { after: None, limit: Some(0) };
    assert_eq!(store.objects(stack.id, &page).await.unwrap(), []);
    assert_eq!(store.objects(new_id(), &Page::default()).await.unwrap(), []);
    refused!(store.object(new_id()).await, NotFound);
}

pub async fn an_instantiation_reads_its_template_and_stack(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let stack = stack_in(&*store, "s", generator.id).await;
    let template = version_in(&*store, None, "t").await;
    for label in ["z", "a"] {
        store.add_metadata(&stack_label(stack.id, label)).await.unwrap();
        store.add_metadata(&template_label(template.id, &format!("t{label}"))).await.unwrap();
    }
    store.add_metadata(&stack_annotation(stack.id, "k", "v")).await.unwrap();
    store.add_metadata(&template_annotation(template.id, "tk", "tv")).await.unwrap();

    let marks = |labels: [&str; 2], (key, value): (&str, &str)| Metadata {
        labels: labels.map(str::to_owned).into(),
        annotations: vec![(key.to_owned(), value.to_owned())],
    };
    let read = store.instantiation_rows(stack.id, template.id).await.unwrap();
    assert_eq!((&read.stack, &read.template), (&Some(stack.clone()), &Some(template.clone())));
    assert_eq!(
        (read.stack_metadata, read.template_metadata),
        (marks(["z", "a"], ("k", "v")), marks(["tz", "ta"], ("tk", "tv")))
    );

    let read = store.instantiation_rows(new_id(), new_id()).await.unwrap();
    assert_eq!((read.stack, read.template), (None, None));
    assert_eq!((read.stack_metadata, read.template_metadata), (Metadata::default(), Metadata::default()));
    store.delete_template(template.id, now()).await.unwrap();
    let read = store.instantiation_rows(stack.id, template.id).await.unwrap();
    assert_eq!((read.stack, read.template), (Some(stack.clone()), None));
    store.delete_stack(stack.id, &an_object(stack.id, "")).await.unwrap();
    assert_eq!(store.instantiation_rows(stack.id, template.id).await.unwrap().stack, None);
}

pub async fn objects_need_a_live_stack(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let stack = stack_in(&*store, "s", generator.id).await;
    refused!(store.create_object(&an_object(new_id(), "a: 1")).await, NotFound);
    store.delete_stack(stack.id, &an_object(stack.id, "")).await.unwrap();
    refused!(store.create_object(&an_object(stack.id, "a: 1")).await, NotFound);
}

pub async fn an_object_that_is_refused_leaves_others_whole(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let stack = stack_in(&*store, "s", generator.id).await;
    let template = version_in(&*store, None, "t").await;
    let taken = store.create_object(&an_object(stack.id, "a: 1")).await.unwrap();
    // Every third object has an ID that exists, every fourth no template: alone, and together with others.
    let new = |n: usize| {
        let mut new = an_instance(stack.id, &template);
        if n.is_multiple_of(3) {
            new.id = taken.id;
        } else if n.is_multiple_of(4) {
            new.provenance.as_mut().unwrap().template_id = new_id();
        }
        (new, !n.is_multiple_of(3) && !n.is_multiple_of(4))
    };
    let mut expected = vec![taken.id];
    for n in 0..12 {
        let (new, sound) = new(n);
        assert_eq!(store.create_object(&new).await.is_ok(), sound, "{n}");
        sound.then(|| expected.push(new.id));
    }
    let mut tasks = Vec::new();
    for n in 0..64 {
        let ((new, sound), store, stack) = (new(n), store.clone(), stack.id);
        sound.then(|| expected.push(new.id));
        tasks.push(tokio::spawn(async move {
            assert_eq!(store.create_object(&new).await.is_ok(), sound, "{n}");
            refused!(store.create_object(&an_object(new_id(), "a: 1")).await, NotFound);
            if n.is_multiple_of(5) {
                let label = stack_label(stack, &format!("l{n}"));
                store.add_metadata(&label).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let mut found: Vec<_> =
        store.objects(stack.id, &Page::default()).await.unwrap().into_iter().map(|object| object.id).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    for id in &expected[1..] {
        assert_eq!(store.provenance(*id).await.unwrap().template_id, template.id);
    }
    assert_eq!(store.metadata(MetadataOwner::Stack(stack.id), MetadataKind::Label).await.unwrap().len(), 13);
}

pub async fn provenance_outlives_its_object(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let stack = stack_in(&*store, "s", generator.id).await;
    let template = version_in(&*store, None, "t").await;
    let new = an_instance(stack.id, &template);
    let record = new.provenance.clone().unwrap();
    store.create_object(&new).await.unwrap();
    assert_eq!(store.provenance(new.id).await.unwrap(), record);
    let plain = store.create_object(&an_object(stack.id, "a: 1")).await.unwrap();
    refused!(store.provenance(plain.id).await, NotFound);
    refused!(store.provenance(new_id()).await, NotFound);
    store.delete_template(template.id, now()).await.unwrap();
    store.delete_stack(stack.id, &an_object(stack.id, "")).await.unwrap();
    assert_eq!(store.provenance(new.id).await.unwrap(), record);
    assert_eq!(
        store.template_including_deleted(record.template_id).await.unwrap().template_content,
        template.template_content
    );
}

pub async fn instances_are_the_newest_of_each_stack(db: Arc<Database>) {
    let store = db.open().await;
    let (one, two) = (generator_in(&*store, "one").await, generator_in(&*store, "two").await);
    let (first, second) = (version_in(&*store, None, "t").await, version_in(&*store, None, "t").await);
    let namesake = version_in(&*store, Some(one.id), "t").await;
    let other = version_in(&*store, None, "u").await;
    let mut stacks = Vec::new();
    for n in 0..6 {
        let owner = if n < 4 { one.id } else { two.id };
        stacks.push(stack_in(&*store, &format!("s{n}"), owner).await.id);
    }
    let make = async |stack, of| {
        let new = an_instance(stack, of);
        store.create_object(&new).await.unwrap();
        new.id
    };
    make(stacks[0], &first).await;
    let a = make(stacks[0], &second).await;
    let b = make(stacks[1], &first).await;
    make(stacks[1], &other).await;
    make(stacks[2], &namesake).await;
    make(stacks[3], &second).await;
    let c = make(stacks[4], &first).await;
    store.create_object(&an_object(stacks[5], "by: hand")).await.unwrap();
    store.delete_stack(stacks[3], &an_object(stacks[3], "")).await.unwrap();
    store.delete_template(first.id, now()).await.unwrap();

    let ids = async |owner, name: &str, stacks_of, page: &Page| {
        let found = store.instances(owner, name, stacks_of, page).await.unwrap();
        assert!(found.iter().all(|found| found.provenance.deployment_object_id == found.object.id));
        found.into_iter().map(|found| found.object.id).collect::<Vec<_>>()
    };
    let all = Page::default();
    assert_eq!(ids(None, "t", None, &all).await, [a, b, c]);
    assert_eq!(ids(None, "t", Some(one.id), &all).await, [a, b]);
    assert_eq!(ids(None, "t", Some(two.id), &all).await, [c]);
    assert_eq!(ids(Some(one.id), "t", None, &all).await.len(), 1);
    assert_eq!(ids(Some(two.id), "t", None, &all).await.len(), 0);
    assert_eq!(ids(None, "t", None, &Page { after: Some(a), limit: Some(1) }).await, [b]);
    let found = store.instances(None, "t", None, &all).await.unwrap();
    assert_eq!(found[0].stack_metadata, Metadata::default());
    for label in ["z", "a"] {
        store.add_metadata(&stack_label(stacks[0], label)).await.unwrap();
    }
    for (key, value) in [("k", "v"), ("l", "")] {
        store.add_metadata(&stack_annotation(stacks[0], key, value)).await.unwrap();
    }
    let marked = store.instances(None, "t", Some(one.id), &all).await.unwrap();
    let mut read = marked[0].stack_metadata.clone();
    read.labels.sort_unstable();
    read.annotations.sort_unstable();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(read.labels, ["a", "z"]);
    assert_eq!(read.annotations, [pair("k", "v"), pair("l", "")]);
    assert_eq!(marked[1].stack_metadata, Metadata::default());
    assert_eq!((found[0].provenance.template_id, found[0].provenance.template_version), (second.id, 2));
}
