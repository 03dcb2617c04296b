//! The audit trail, and the facts about keys.

use std::sync::Arc;

use chrono::TimeDelta;
use dropforge_catalog::store::{Page, new_id};
use dropforge_catalog::{KeyRow, Origin, Role};

use super::fixtures::{a_key, a_stack, a_token, a_version, generator_in, now, stack_label, stack_once, version_in};
use crate::databases::Database;
use crate::refused;

pub async fn changes_are_recorded_with_their_origin(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "shop").await;
    let origin = Origin {
        role: Some(Role::Generator),
        key_id: Some(new_id()),
        generator_id: Some(generator.id),
        address: Some([192, 0, 2, 7].into()),
        request_id: Some("r1".to_owned()),
        ..Origin::default()
    };
    let origin = Arc::new(origin);
    let made = origin.scope(version_in(&*store, Some(generator.id), "web")).await;
    let [entry, before] = store.audit(None, &Page::default()).await.unwrap().try_into().unwrap();
    assert_eq!((before.action.as_str(), before.object_id, before.role), ("generator.create", generator.id, None));
    assert_eq!(
        (entry.action.as_str(), entry.object_kind.as_str(), entry.object_id),
        ("template.create", "template", made.id)
    );
    // The key has no name of its own, so it has the name of its generator.
    assert_eq!((entry.object_name.as_deref(), entry.key_name.as_deref()), (Some("web@1"), Some("shop")));
    assert_eq!((entry.role.as_deref(), entry.key_id), (Some("generator"), origin.key_id));
    assert_eq!((entry.address.as_deref(), entry.request_id.as_deref()), (Some("192.0.2.7"), Some("r1")));
    assert_eq!(entry.generator_id, Some(generator.id));
    assert!(entry.at >= before.at && entry.id > before.id);
    assert_eq!(origin.changed.get().copied(), Some(made.id));
}

pub async fn changes_that_fail_or_are_repeated_are_not_recorded(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let token = a_token("k", "r");
    stack_once(&*store, &a_stack("s", generator.id), &token).await.unwrap();
    let recorded = store.audit(None, &Page::default()).await.unwrap();
    assert_eq!(recorded.len(), 2);
    refused!(stack_once(&*store, &a_stack("s", generator.id), &token).await, Replayed(_));
    refused!(store.create_stack(&a_stack("s", generator.id)).await, UniqueViolation("unique_stack_name"));
    refused!(store.delete_template(new_id(), now()).await, NotFound);
    refused!(store.add_metadata(&stack_label(new_id(), "l")).await, NotFound);
    assert!(store.add_first_key(&a_key("BRfirst0", None)).await.unwrap());
    assert!(!store.add_first_key(&a_key("BRsecond", None)).await.unwrap());
    let actions: Vec<_> = store.audit(None, &Page::default()).await.unwrap();
    let actions: Vec<_> = actions.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["key.create", "stack.create", "generator.create"]);
}

pub async fn the_trail_is_listed_page_by_page_and_by_object(db: Arc<Database>) {
    let store = db.open().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(version_in(&*store, None, "t").await.id);
    }
    store.delete_template(made[1], now()).await.unwrap();
    let all = store.audit(None, &Page::default()).await.unwrap();
    assert_eq!(all.len(), 6);
    assert!(all.is_sorted_by(|one, next| one.id > next.id));
    let page = Page { after: Some(all[1].id), limit: Some(2) };
    assert_eq!(store.audit(None, &page).await.unwrap(), all[2..4]);
    let of_one: Vec<_> = all.iter().filter(|entry| entry.object_id == made[1]).cloned().collect();
    assert_eq!(store.audit(Some(made[1]), &Page::default()).await.unwrap(), of_one);
    let page = Page { after: Some(of_one[0].id), limit: Some(9) };
    assert_eq!(store.audit(Some(made[1]), &page).await.unwrap(), of_one[1..]);
    assert_eq!((of_one.len(), of_one[0].action.as_str()), (2, "template.delete"));
}

pub async fn many_writers_leave_an_entry_for_every_change(db: Arc<Database>) {
    let store = db.open().await;
    let writers = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..5 {
                store.create_version(&a_version(None, "t")).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let entries = store.audit(None, &Page::default()).await.unwrap();
    let mut names: Vec<_> = entries.iter().filter_map(|entry| entry.object_name.clone()).collect();
    names.sort_by_key(|name| name[2..].parse::<u32>().unwrap());
    assert_eq!(names, (1..=40).map(|version| format!("t@{version}")).collect::<Vec<_>>());
}

pub async fn names_expiry_and_use_of_keys_are_kept(db: Arc<Database>) {
    let store = db.open().await;
    let (name, expires_at) = (Some("ci of the shop".to_owned()), Some(now() + TimeDelta::days(90)));
    let key = KeyRow { name, expires_at, ..a_key("BRnamed0", None) };
    store.add_key(&key).await.unwrap();
    assert_eq!(store.key("BRnamed0").await.unwrap(), key);
    let plain = a_key("BRplain0", None);
    store.add_key(&plain).await.unwrap();
    assert_eq!(store.keys().await.unwrap(), [key.clone(), plain.clone()]);

    let at = now();
    for id in [key.id, plain.id] {
        store.touch_key(id, at).await.unwrap();
        // Within a minute it is not written again, by whichever server.
        store.touch_key(id, at + TimeDelta::seconds(59)).await.unwrap();
    }
    let used = |key: &KeyRow, at| KeyRow { last_used_at: Some(at), ..key.clone() };
    assert_eq!(store.keys().await.unwrap(), [used(&key, at), used(&plain, at)]);
    let later = at + TimeDelta::seconds(60);
    store.touch_key(plain.id, later).await.unwrap();
    assert_eq!(store.key("BRplain0").await.unwrap(), used(&plain, later));
    // The use of a key is no change.
    assert_eq!(store.audit(None, &Page::default()).await.unwrap().len(), 2);
}

pub async fn an_expired_key_is_not_the_first_one(db: Arc<Database>) {
    let store = db.open().await;
    let expired = KeyRow { expires_at: Some(now()), ..a_key("BRexpire", None) };
    assert!(store.add_first_key(&expired).await.unwrap());
    assert!(store.add_first_key(&a_key("BRlive00", None)).await.unwrap());
    assert!(!store.add_first_key(&a_key("BRthird0", None)).await.unwrap());
}
