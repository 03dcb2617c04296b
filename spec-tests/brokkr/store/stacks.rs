//! Stacks with their labels and annotations.

use std::sync::Arc;

use dropforge_catalog::store::{Guard, NewObject, Page, Requirement, new_id};
use dropforge_catalog::{MetadataKind, MetadataOwner, Stack};

use super::fixtures::{a_stack, an_object, generator_in, now, stack_annotation, stack_in, stack_label};
use crate::databases::Database;
use crate::refused;

pub async fn stacks_are_made_listed_and_changed(db: Arc<Database>) {
    let store = db.open().await;
    let (one, other) = (generator_in(&*store, "one").await, generator_in(&*store, "other").await);
    let mut made = Vec::new();
    for (name, owner) in [("b", &one), ("c", &other), ("a", &one), ("d", &one)] {
        made.push(stack_in(&*store, name, owner.id).await);
    }
    assert_eq!(store.stacks(None, &Page::default()).await.unwrap(), made);
    let of_one = [made[0].clone(), made[2].clone(), made[3].clone()];
    assert_eq!(store.stacks(Some(one.id), &Page::default()).await.unwrap(), of_one);
    let page = Page { after: Some(made[0].id), limit: Some(1) };
    assert_eq!(store.stacks(Some(one.id), &page).await.unwrap(), of_one[1..2]);
    assert_eq!(store.stacks(Some(new_id()), &Page::default()).await.unwrap(), []);

    let to = Stack { name: "z".into(), description: Some("d".into()), generator_id: other.id, ..made[0].clone() };
    let to = Stack { updated_at: now(), ..to };
    assert_eq!(store.update_stack(&to).await.unwrap(), to);
    assert_eq!(store.stack(to.id).await.unwrap(), to);
    refused!(store.stack(new_id()).await, NotFound);
    refused!(store.update_stack(&a_stack("nowhere", one.id)).await, NotFound);
    refused!(store.delete_stack(new_id(), &an_object(to.id, "")).await, NotFound);
}

pub async fn names_of_live_stacks_are_unique(db: Arc<Database>) {
    let store = db.open().await;
    let (one, other) = (generator_in(&*store, "one").await, generator_in(&*store, "other").await);
    let stack = stack_in(&*store, "s", one.id).await;
    let second = stack_in(&*store, "second", other.id).await;
    refused!(store.create_stack(&a_stack("s", other.id)).await, UniqueViolation("unique_stack_name"));
    let to = Stack { name: "s".into(), ..second };
    refused!(store.update_stack(&to).await, UniqueViolation("unique_stack_name"));
    store.delete_stack(stack.id, &an_object(stack.id, "")).await.unwrap();
    assert_eq!(store.update_stack(&to).await.unwrap().name, "s");
}

pub async fn stacks_belong_to_live_generators(db: Arc<Database>) {
    let store = db.open().await;
    let (live, dead) = (generator_in(&*store, "live").await, generator_in(&*store, "dead").await);
    store.delete_generator(dead.id, now()).await.unwrap();
    for nobody in [dead.id, new_id()] {
        refused!(store.create_stack(&a_stack("s", nobody)).await, ForeignKeyViolation("stacks_generator_id_fkey"));
    }
    let stack = stack_in(&*store, "s", live.id).await;
    for nobody in [dead.id, new_id()] {
        let to = Stack { generator_id: nobody, ..stack.clone() };
        refused!(store.update_stack(&to).await, ForeignKeyViolation("stacks_generator_id_fkey"));
    }
    assert_eq!(store.stack(stack.id).await.unwrap(), stack);
}

pub async fn a_stack_changed_meanwhile_is_not_overwritten(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let stack = stack_in(&*store, "s", generator.id).await;
    let later = stack.updated_at + chrono::TimeDelta::microseconds(1);
    let to = Stack { name: "t".into(), updated_at: later, ..stack.clone() };
    let update = async |to: &Stack, expected| {
        Guard::requiring(Requirement::Stack(to.id, expected)).scope(store.update_stack(to)).await
    };
    assert_eq!(update(&to, stack.updated_at).await.unwrap(), to);
    refused!(update(&Stack { name: "u".into(), ..to.clone() }, stack.updated_at).await, Stale);
    assert_eq!(store.stack(stack.id).await.unwrap(), to);
    assert_eq!(update(&to, later).await.unwrap(), to);

    let change = |n: i64| {
        let (store, to) = (store.clone(), Stack { updated_at: later + chrono::TimeDelta::seconds(n), ..to.clone() });
        let guard = Guard::requiring(Requirement::Stack(to.id, later));
        tokio::spawn(guard.scope(async move { store.update_stack(&to).await.is_ok() }))
    };
    let mut won = 0;
    for task in (1..9).map(change).collect::<Vec<_>>() {
        won += i32::from(task.await.unwrap());
    }
    assert_eq!(won, 1);
}

pub async fn a_deleted_stack_leaves_its_marker(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let (stack, other) = (stack_in(&*store, "s", generator.id).await, stack_in(&*store, "o", generator.id).await);
    let object = store.create_object(&an_object(stack.id, "a: 1")).await.unwrap();
    let elsewhere = store.create_object(&an_object(other.id, "a: 1")).await.unwrap();
    store.add_metadata(&stack_label(stack.id, "l")).await.unwrap();
    let marker = NewObject { is_deletion_marker: true, ..an_object(stack.id, "") };
    store.delete_stack(stack.id, &marker).await.unwrap();

    refused!(store.stack(stack.id).await, NotFound);
    refused!(store.update_stack(&stack).await, NotFound);
    refused!(store.delete_stack(stack.id, &an_object(stack.id, "")).await, NotFound);
    refused!(store.object(object.id).await, NotFound);
    assert_eq!(store.object(elsewhere.id).await.unwrap(), elsewhere);
    let left = store.objects(stack.id, &Page::default()).await.unwrap();
    assert_eq!((left.len(), left[0].id, left[0].is_deletion_marker), (1, marker.id, true));
    assert!(left[0].sequence_id > elsewhere.sequence_id);
    refused!(store.metadata(MetadataOwner::Stack(stack.id), MetadataKind::Label).await, NotFound);
    refused!(store.add_metadata(&stack_label(stack.id, "m")).await, NotFound);
    refused!(store.remove_metadata(MetadataOwner::Stack(stack.id), MetadataKind::Label, "l").await, NotFound);
    assert_eq!(store.stacks(None, &Page::default()).await.unwrap(), [other]);
}

pub async fn labels_of_stacks(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let (stack, other) = (stack_in(&*store, "s", generator.id).await, stack_in(&*store, "o", generator.id).await);
    let added: Vec<_> = ["b", "a", "ä=1'\"%_"].map(|label| stack_label(stack.id, label)).into();
    for label in &added {
        store.add_metadata(label).await.unwrap();
    }
    store.add_metadata(&stack_label(other.id, "b")).await.unwrap();
    assert_eq!(store.metadata(MetadataOwner::Stack(stack.id), MetadataKind::Label).await.unwrap(), added);
    refused!(store.add_metadata(&stack_label(stack.id, "b")).await, UniqueViolation("stack_labels_stack_id_label_key"));
    store.remove_metadata(MetadataOwner::Stack(stack.id), MetadataKind::Label, "b").await.unwrap();
    assert_eq!(store.metadata(MetadataOwner::Stack(stack.id), MetadataKind::Label).await.unwrap(), added[1..]);
    assert_eq!(store.metadata(MetadataOwner::Stack(other.id), MetadataKind::Label).await.unwrap().len(), 1);
    refused!(store.remove_metadata(MetadataOwner::Stack(stack.id), MetadataKind::Label, "b").await, NotFound);
    refused!(store.remove_metadata(MetadataOwner::Stack(stack.id), MetadataKind::Label, "%").await, NotFound);
    refused!(store.add_metadata(&stack_label(new_id(), "b")).await, NotFound);
    refused!(store.metadata(MetadataOwner::Stack(new_id()), MetadataKind::Label).await, NotFound);
}

pub async fn annotations_of_stacks(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let stack = stack_in(&*store, "s", generator.id).await;
    let added: Vec<_> = [("k", "1"), ("a", ""), ("ä", "1")].map(|(k, v)| stack_annotation(stack.id, k, v)).into();
    for annotation in &added {
        store.add_metadata(annotation).await.unwrap();
    }
    assert_eq!(store.metadata(MetadataOwner::Stack(stack.id), MetadataKind::Annotation).await.unwrap(), added);
    refused!(
        store.add_metadata(&stack_annotation(stack.id, "k", "2")).await,
        UniqueViolation("unique_stack_annotation")
    );
    store.remove_metadata(MetadataOwner::Stack(stack.id), MetadataKind::Annotation, "k").await.unwrap();
    assert_eq!(store.metadata(MetadataOwner::Stack(stack.id), MetadataKind::Annotation).await.unwrap(), added[1..]);
    refused!(store.remove_metadata(MetadataOwner::Stack(stack.id), MetadataKind::Annotation, "k").await, NotFound);
    refused!(store.add_metadata(&stack_annotation(new_id(), "k", "2")).await, NotFound);
    refused!(store.metadata(MetadataOwner::Stack(new_id()), MetadataKind::Annotation).await, NotFound);
    store.delete_stack(stack.id, &an_object(stack.id, "")).await.unwrap();
    refused!(store.metadata(MetadataOwner::Stack(stack.id), MetadataKind::Annotation).await, NotFound);
    refused!(store.remove_metadata(MetadataOwner::Stack(stack.id), MetadataKind::Annotation, "a").await, NotFound);
}
