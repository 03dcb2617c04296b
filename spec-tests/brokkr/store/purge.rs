//! Removing deleted rows for good.

use std::sync::Arc;

use chrono::TimeDelta;
use dropforge_catalog::store::{Page, Purged, Usage};

use super::fixtures::{
    an_instance, an_object, generator_in, now, stack_annotation, stack_in, stack_label, template_annotation,
    template_label, version_in,
};
use crate::databases::Database;
use crate::refused;

pub async fn deleted_rows_are_removed_unless_an_object_needs_them(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let (live, dead) = (stack_in(&*store, "live", generator.id).await, stack_in(&*store, "dead", generator.id).await);
    let named = version_in(&*store, None, "named").await;
    let unnamed = version_in(&*store, Some(generator.id), "unnamed").await;
    let kept = version_in(&*store, None, "live").await;
    for version in [&named, &unnamed] {
        store.add_metadata(&template_label(version.id, "a")).await.unwrap();
        store.add_metadata(&template_annotation(version.id, "k", "v")).await.unwrap();
    }
    store.add_metadata(&stack_label(dead.id, "a")).await.unwrap();
    store.add_metadata(&stack_annotation(dead.id, "k", "v")).await.unwrap();
    let object = an_instance(live.id, &named);
    store.create_object(&object).await.unwrap();
    let gone = an_instance(dead.id, &unnamed);
    store.create_object(&gone).await.unwrap();
    for _ in 0..3 {
        store.create_object(&an_instance(dead.id, &kept)).await.unwrap();
    }
    let at = now();
    store.delete_stack(dead.id, &an_object(dead.id, "")).await.unwrap();
    store.delete_template(named.id, at).await.unwrap();
    store.delete_template(unnamed.id, at).await.unwrap();

    // Nothing was deleted that long ago.
    let young = store.purge(at - TimeDelta::hours(1), None, 100).await.unwrap();
    assert_eq!(young, Purged::default());
    assert_eq!(store.provenance(gone.id).await.unwrap().template_id, unnamed.id);

    let purged = store.purge(now() + TimeDelta::hours(1), None, 100).await.unwrap();
    assert_eq!(purged, Purged { objects: 5, stacks: 1, templates: 1, kept_templates: 1, ..Purged::default() });
    refused!(store.provenance(gone.id).await, NotFound);
    refused!(store.template_including_deleted(unnamed.id).await, NotFound);
    let again = store.purge(now() + TimeDelta::hours(1), None, 100).await.unwrap();
    assert_eq!(again, Purged { kept_templates: 1, ..Purged::default() });
    // What a live object was rendered from is still there.
    assert_eq!(store.provenance(object.id).await.unwrap().template_id, named.id);
    assert_eq!(store.template_including_deleted(named.id).await.unwrap().template_content, named.template_content);
    assert_eq!(store.stack(live.id).await.unwrap(), live);
    assert_eq!(store.template(kept.id).await.unwrap(), kept);
    let instances = store.instances(None, "live", None, &Default::default()).await.unwrap();
    assert_eq!(instances, []);
    // The name of the stack, and the number of the version, are free as before.
    stack_in(&*store, "dead", generator.id).await;
    assert_eq!(version_in(&*store, Some(generator.id), "unnamed").await.version, 1);
}

pub async fn rows_are_removed_in_batches(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    for name in ["a", "b"] {
        let stack = stack_in(&*store, name, generator.id).await;
        let version = version_in(&*store, None, name).await;
        for _ in 0..6 {
            store.create_object(&an_instance(stack.id, &version)).await.unwrap();
        }
        store.delete_stack(stack.id, &an_object(stack.id, "")).await.unwrap();
        store.delete_template(version.id, now()).await.unwrap();
    }
    let (mut all, mut batches) = (Purged { more: true, ..Purged::default() }, 0);
    while all.more {
        let batch = store.purge(now() + TimeDelta::hours(1), None, 5).await.unwrap();
        assert!(batch.objects + batch.stacks <= 5 && batch.templates <= 5, "{batch:?}");
        all.objects += batch.objects;
        all.stacks += batch.stacks;
        all.templates += batch.templates;
        (all.more, batches) = (batch.more, batches + 1);
    }
    assert_eq!(all, Purged { objects: 14, stacks: 2, templates: 2, ..Purged::default() });
    assert!(batches >= 4);
}

pub async fn old_entries_of_the_trail_are_removed_in_batches(db: Arc<Database>) {
    let store = db.open().await;
    for _ in 0..5 {
        version_in(&*store, None, "t").await;
    }
    // IDs tell times apart by the millisecond.
    let pause = || tokio::time::sleep(std::time::Duration::from_millis(5));
    pause().await;
    let between = now();
    pause().await;
    let kept = version_in(&*store, None, "t").await.id;
    let long_ago = now() - TimeDelta::hours(1);
    let trail = async || store.audit(None, &Page::default()).await.unwrap();
    let before = trail().await;
    for nothing in [None, Some(long_ago)] {
        assert_eq!(store.purge(long_ago, nothing, 2).await.unwrap(), Purged::default());
        assert_eq!(trail().await, before);
    }
    for (audit_entries, more) in [(2, true), (2, true), (1, false), (0, false)] {
        let purged = store.purge(long_ago, Some(between), 2).await.unwrap();
        assert_eq!(purged, Purged { audit_entries, more, ..Purged::default() });
    }
    // Every removal left an entry.
    let left: Vec<_> = trail().await.into_iter().map(|entry| (entry.action, entry.object_id == kept)).collect();
    let purge = || ("catalog.purge".to_owned(), false);
    assert_eq!(left, [purge(), purge(), purge(), ("template.create".to_owned(), true)]);
    // What is removed last of all is not the entry that tells of it.
    assert_eq!(store.purge(long_ago, Some(now() + TimeDelta::hours(1)), 9).await.unwrap().audit_entries, 4);
    let [entry] = trail().await.try_into().unwrap();
    assert!(entry.detail.unwrap().starts_with("audit before "));
}

pub async fn usage_counts_live_rows_and_bytes_of_a_generator(db: Arc<Database>) {
    let store = db.open().await;
    let (one, other) = (generator_in(&*store, "one").await.id, generator_in(&*store, "other").await.id);
    assert_eq!(store.usage(one).await.unwrap(), Usage::default());
    let version = version_in(&*store, Some(one), "t").await;
    let deleted = version_in(&*store, Some(one), "u").await;
    version_in(&*store, Some(other), "t").await;
    version_in(&*store, None, "t").await;
    store.delete_template(deleted.id, now()).await.unwrap();
    let (stack, gone) = (stack_in(&*store, "s", one).await.id, stack_in(&*store, "gone", one).await.id);
    store.create_object(&an_object(stack, "ä: 1")).await.unwrap();
    store.create_object(&an_instance(stack, &version)).await.unwrap();
    store.create_object(&an_object(gone, "a: 1")).await.unwrap();
    store.create_object(&an_object(stack_in(&*store, "o", other).await.id, "a: 1")).await.unwrap();
    store.delete_stack(gone, &an_object(gone, "")).await.unwrap();
    let texts = version.template_content.len() + version.parameters_schema.len() + "ä: 1".len() + "a: 1".len();
    assert_eq!(store.usage(one).await.unwrap(), Usage { templates: 1, objects: 2, bytes: texts as u64 });
}
