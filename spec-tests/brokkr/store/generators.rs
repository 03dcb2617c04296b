//! Generators and keys.

use std::sync::Arc;

use dropforge_catalog::store::{Guard, Page, Requirement, Store, new_id};
use dropforge_catalog::{Generator, Role};
use tokio::sync::Barrier;

use super::fixtures::{a_generator, a_key, an_object, generator_in, now, stack_in, version_in};
use crate::databases::Database;
use crate::refused;

pub async fn generators_are_made_listed_and_changed(db: Arc<Database>) {
    let store = db.open().await;
    let mut made = Vec::new();
    for name in ["c", "a", "b", "e", "d"] {
        made.push(generator_in(&*store, name).await);
    }
    assert_eq!(store.generator(made[1].id).await.unwrap(), made[1]);
    assert_eq!(store.generators(&Page::default()).await.unwrap(), made);
    let page = Page { after: Some(made[1].id), limit: Some(2) };
    assert_eq!(store.generators(&page).await.unwrap(), made[2..4]);
    let page = Page { after: Some(made[4].id), limit: Some(2) };
    assert_eq!(store.generators(&page).await.unwrap(), []);

    let at = now();
    let to = Generator { name: "z".into(), description: Some("new".into()), is_active: false, ..made[0].clone() };
    let to = Generator { updated_at: at, ..to };
    assert_eq!(store.update_generator(&to).await.unwrap(), to);
    assert_eq!(store.generator(to.id).await.unwrap(), to);
    // A use does not make it active again.
    store.touch_generator(made[0].id, at).await.unwrap();
    let touched = store.generator(made[0].id).await.unwrap();
    assert_eq!((touched.last_active_at, touched.is_active), (Some(at), false));

    refused!(store.generator(new_id()).await, NotFound);
    refused!(store.update_generator(&a_generator("nobody")).await, NotFound);
    refused!(store.touch_generator(new_id(), at).await, NotFound);
    refused!(store.delete_generator(new_id(), at).await, NotFound);
}

pub async fn names_of_live_generators_are_unique(db: Arc<Database>) {
    let store = db.open().await;
    let (first, second) = (generator_in(&*store, "first").await, generator_in(&*store, "second").await);
    let again = a_generator("first");
    let refusal = store.create_generator(&again, &a_key("BRagain0", Some(again.id))).await;
    refused!(refusal, UniqueViolation("unique_generator_name"));
    // Neither the generator nor its key was added.
    refused!(store.generator(again.id).await, NotFound);
    refused!(store.key("BRagain0").await, NotFound);
    let to = Generator { name: "first".into(), ..second };
    refused!(store.update_generator(&to).await, UniqueViolation("unique_generator_name"));

    store.delete_generator(first.id, now()).await.unwrap();
    refused!(store.generator(first.id).await, NotFound);
    refused!(store.update_generator(&first).await, NotFound);
    refused!(store.delete_generator(first.id, now()).await, NotFound);
    assert_eq!(store.update_generator(&to).await.unwrap().name, "first");
}

pub async fn keys_are_found_until_they_are_revoked(db: Arc<Database>) {
    let store = db.open().await;
    let generator = generator_in(&*store, "g").await;
    let (admin, other) = (a_key("BRadmin0", None), a_key("BRother0", Some(generator.id)));
    store.add_key(&admin).await.unwrap();
    store.add_key(&other).await.unwrap();
    assert_eq!(store.key("BRadmin0").await.unwrap(), admin);
    refused!(store.key("BRADMIN0").await, NotFound);
    refused!(store.key("").await, NotFound);
    refused!(store.add_key(&a_key("BRadmin0", None)).await, UniqueViolation("api_keys_short_token_key"));

    let at = now();
    store.revoke_key(admin.id, at).await.unwrap();
    refused!(store.key("BRadmin0").await, NotFound);
    refused!(store.revoke_key(admin.id, at).await, NotFound);
    refused!(store.revoke_key(new_id(), at).await, NotFound);
    let keys = store.keys().await.unwrap();
    assert_eq!(keys.len(), 3);
    assert_eq!(keys.iter().find(|key| key.id == admin.id).unwrap().revoked_at, Some(at));
    assert_eq!(keys.iter().find(|key| key.id == other.id), Some(&other));
    refused!(
        store.add_key(&a_key("BRdangle", Some(new_id()))).await,
        ForeignKeyViolation("api_keys_generator_id_fkey")
    );
}

pub async fn the_key_of_an_inactive_generator_is_not_found(db: Arc<Database>) {
    let (store, second) = (db.open().await, db.open().await);
    let generator = a_generator("g");
    store.create_generator(&generator, &a_key("BRowner0", Some(generator.id))).await.unwrap();
    store.key("BRowner0").await.unwrap();
    store.update_generator(&Generator { is_active: false, ..generator.clone() }).await.unwrap();
    refused!(store.key("BRowner0").await, NotFound);
    refused!(second.key("BRowner0").await, NotFound);
    store.update_generator(&generator).await.unwrap();
    second.key("BRowner0").await.unwrap();
}

pub async fn the_last_live_administrator_key_stays(db: Arc<Database>) {
    let (store, second) = (db.open().await, db.open().await);
    let generator = generator_in(&*store, "g").await;
    let keys = [a_key("BRadmin0", None), a_key("BRadmin1", None)];
    let other = a_key("BRother0", Some(generator.id));
    for key in keys.iter().chain([&other]) {
        store.add_key(key).await.unwrap();
    }
    let revoke = |store: Arc<dyn Store>, id| async move {
        Guard::requiring(Requirement::OtherAdminKey(id)).scope(store.revoke_key(id, now())).await
    };
    // Each revokes the other one at the same time.
    let (one, other_one) =
        tokio::join!(tokio::spawn(revoke(store.clone(), keys[0].id)), tokio::spawn(revoke(second, keys[1].id)));
    let (one, other_one) = (one.unwrap(), other_one.unwrap());
    assert!(one.is_ok() != other_one.is_ok(), "{one:?} {other_one:?}");
    refused!(one.and(other_one), LastAdminKey);
    let live =
        store.keys().await.unwrap().into_iter().filter(|key| key.role == Role::Admin && key.revoked_at.is_none());
    let live: Vec<_> = live.map(|key| key.id).collect();
    assert_eq!(live.len(), 1);
    revoke(store.clone(), other.id).await.unwrap();
    refused!(revoke(store.clone(), live[0]).await, LastAdminKey);
    refused!(revoke(store.clone(), new_id()).await, NotFound);
    store.revoke_key(live[0], now()).await.unwrap();
}

pub async fn the_first_key_is_one_however_many_ask(db: Arc<Database>) {
    const ASK: usize = 16;
    let (store, second) = (db.open().await, db.open().await);
    let together = Arc::new(Barrier::new(ASK));
    let key = |n| a_key(&format!("BRfir{n:03}"), None);
    let first = |n| {
        let (store, key, together) =
            (if n % 2 == 0 { store.clone() } else { second.clone() }, key(n), together.clone());
        tokio::spawn(async move {
            // Each opens a connection first, so that they compete for being the first. The others wait for one that fails.
            let ready = store.ready().await;
            together.wait().await;
            ready.unwrap();
            store.add_first_key(&key).await.unwrap().then_some(key)
        })
    };
    let mut added = Vec::new();
    for asked in (0..ASK).map(first).collect::<Vec<_>>() {
        added.extend(asked.await.unwrap());
    }
    assert_eq!(added, store.keys().await.unwrap());
    assert_eq!(added.len(), 1);
    // A revoked key does not count: another may be the first again.
    store.revoke_key(added[0].id, now()).await.unwrap();
    assert!(store.add_first_key(&key(ASK)).await.unwrap());
}

pub async fn rotation_leaves_one_key(db: Arc<Database>) {
    let store = db.open().await;
    let (one, other) = (a_generator("one"), generator_in(&*store, "other").await);
    store.create_generator(&one, &a_key("BRfirst0", Some(one.id))).await.unwrap();
    store.rotate_key(one.id, &a_key("BRsecond", Some(one.id)), now()).await.unwrap();
    refused!(store.key("BRfirst0").await, NotFound);
    assert_eq!(store.key("BRsecond").await.unwrap().generator_id, Some(one.id));
    let keys = store.keys().await.unwrap();
    let live = |owner| keys.iter().filter(|key| key.revoked_at.is_none() && key.generator_id == Some(owner)).count();
    assert_eq!((live(one.id), live(other.id), keys.len()), (1, 1, 3));
    // If the new key cannot be added, the old one remains.
    let refusal = store.rotate_key(one.id, &a_key("BRfirst0", Some(one.id)), now()).await;
    refused!(refusal, UniqueViolation("api_keys_short_token_key"));
    assert_eq!(store.key("BRsecond").await.unwrap().generator_id, Some(one.id));
    refused!(store.rotate_key(new_id(), &a_key("BRthird0", None), now()).await, NotFound);
}

pub async fn rotations_at_the_same_time_leave_one_key(db: Arc<Database>) {
    let (store, second) = (db.open().await, db.open().await);
    let generator = generator_in(&*store, "g").await;
    let rotations = (0..16).map(|n| {
        let (store, id) = (if n % 2 == 0 { store.clone() } else { second.clone() }, generator.id);
        tokio::spawn(async move { store.rotate_key(id, &a_key(&format!("BRrot{n:03}"), Some(id)), now()).await })
    });
    for rotation in rotations.collect::<Vec<_>>() {
        rotation.await.unwrap().unwrap();
    }
    let keys = store.keys().await.unwrap();
    assert_eq!((keys.len(), keys.iter().filter(|key| key.revoked_at.is_none()).count()), (17, 1));
}

pub async fn deleting_a_generator_deletes_its_resources(db: Arc<Database>) {
    let store = db.open().await;
    let (gone, stays) = (generator_in(&*store, "gone").await, generator_in(&*store, "stays").await);
    let mut kept = Vec::new();
    let mut lost = Vec::new();
    for (owner, into) in [(&gone, &mut lost), (&stays, &mut kept)] {
        let template = version_in(&*store, Some(owner.id), "t").await;
        let stack = stack_in(&*store, &owner.name, owner.id).await;
        let object = store.create_object(&an_object(stack.id, "a: 1")).await.unwrap();
        into.push((template.id, stack.id, object.id));
    }
    let system = version_in(&*store, None, "t").await;
    // A stack deleted earlier keeps its marker.
    let before = stack_in(&*store, "before", gone.id).await;
    let marker = an_object(before.id, "");
    store.delete_stack(before.id, &marker).await.unwrap();

    let at = now();
    store.delete_generator(gone.id, at).await.unwrap();
    for (template, stack, object) in lost {
        refused!(store.template(template).await, NotFound);
        assert_eq!(store.template_including_deleted(template).await.unwrap().deleted_at, Some(at));
        refused!(store.stack(stack).await, NotFound);
        refused!(store.object(object).await, NotFound);
        assert_eq!(store.objects(stack, &Page::default()).await.unwrap(), []);
    }
    for (template, stack, object) in kept {
        assert_eq!(store.template(template).await.unwrap().deleted_at, None);
        assert_eq!(store.stack(stack).await.unwrap().deleted_at, None);
        assert_eq!(store.object(object).await.unwrap().deleted_at, None);
    }
    assert_eq!(store.object(marker.id).await.unwrap().deleted_at, None);
    assert_eq!(store.template(system.id).await.unwrap(), system);
    let live: Vec<_> = store.keys().await.unwrap().into_iter().filter(|key| key.revoked_at.is_none()).collect();
    assert_eq!((live.len(), live[0].generator_id), (1, Some(stays.id)));
}
