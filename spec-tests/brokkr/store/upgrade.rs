//! A catalog of the first release is opened by this one, and a server of the first release runs on beside it.

use std::fs;
use std::sync::Arc;

use dropforge_catalog::store::{Page, new_id};
use dropforge_catalog::{MetadataKind, MetadataOwner};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, Connection, SqlSafeStr};
use uuid::Uuid;

use super::fixtures::{now, version_in};
use crate::databases::{Database, on_postgres, on_sqlite};

/// The migrations of this version: number and statements.
fn migrations(kind: &str) -> Vec<(i64, String)> {
    let folder = format!("{}/../catalog/migrations/{kind}", env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let number = entry.file_name().to_str().unwrap().split('_').next().unwrap().parse().unwrap();
            (number, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// A migrator with some of the migrations, as a release has them.
fn migrator(kind: &str, take: impl Fn(i64) -> bool) -> Migrator {
    let chosen = migrations(kind).into_iter().filter(|(number, _)| take(*number));
    let migration = |(number, sql): (i64, String)| {
        Migration::new(number, "catalog".into(), MigrationType::Simple, AssertSqlSafe(sql).into_sql_str(), false)
    };
    Migrator::with_migrations(chosen.map(migration).collect())
}

/// The rows that one round of the first release adds.
#[derive(Debug, Clone)]
struct Round {
    generator: Uuid,
    token: String,
    template: Uuid,
    stack: Uuid,
    object: Uuid,
}

/// Statements of the first release, word for word. A server keeps its connections and their prepared statements while
/// another one migrates the database.
macro_rules! first_release {
    ($module:ident, $connection:ty) => {
        mod $module {
            use super::*;

            pub async fn round(c: &mut $connection, n: usize) -> Round {
                let at = now();
                let ids = [new_id(), new_id(), new_id(), new_id()];
                let [generator, template, stack, object] = ids;
                let made = Round { generator, token: format!("BRold{n:03}"), template, stack, object };
                let row = sqlx::query(
                    "INSERT INTO generators
        (id, created_at, updated_at, deleted_at, name, description, last_active_at, is_active, is_system)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING *",
                );
                let row = row.bind(generator).bind(at).bind(at).bind(None::<dropforge_catalog::Timestamp>);
                let row = row.bind(format!("g{n}")).bind(None::<String>).bind(Some(at)).bind(true).bind(false);
                row.fetch_one(&mut *c).await.unwrap();
                let row = sqlx::query(
                    "INSERT INTO api_keys (id, short_token, hash, role, generator_id, created_at, revoked_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)",
                );
                let row = row.bind(new_id()).bind(made.token.clone()).bind("00".repeat(32)).bind("generator");
                let row = row.bind(generator).bind(at).bind(None::<dropforge_catalog::Timestamp>);
                row.execute(&mut *c).await.unwrap();
                let row = sqlx::query(
                    "INSERT INTO stack_templates (id, created_at, updated_at, generator_id, name, description, version,
        template_content, parameters_schema, checksum) VALUES ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING *",
                );
                let row = row.bind(template).bind(at).bind(generator).bind("web").bind(None::<String>).bind(1);
                row.bind("a: 1").bind("{}").bind("11".repeat(32)).fetch_one(&mut *c).await.unwrap();
                let row = sqlx::query("INSERT INTO template_labels (id, template_id, label, created_at) VALUES ($1, $2, $3, $4)");
                row.bind(new_id()).bind(template).bind("env=prod").bind(at).execute(&mut *c).await.unwrap();
                let row = sqlx::query(
                    "INSERT INTO stacks (id, created_at, updated_at, deleted_at, name, description, generator_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *",
                );
                let row = row.bind(stack).bind(at).bind(at).bind(None::<dropforge_catalog::Timestamp>);
                row.bind(format!("s{n}")).bind(None::<String>).bind(generator).fetch_one(&mut *c).await.unwrap();
                let row = sqlx::query(
                    "INSERT INTO deployment_objects
        (id, created_at, updated_at, stack_id, yaml_content, yaml_checksum, submitted_at, is_deletion_marker)
        VALUES ($1, $2, $2, $3, $4, $5, $2, $6) RETURNING *",
                );
                let row = row.bind(object).bind(at).bind(stack).bind("a: 1").bind("22".repeat(32)).bind(false);
                row.fetch_one(&mut *c).await.unwrap();
                let row = sqlx::query(
                    "INSERT INTO rendered_deployment_objects (record_id, deployment_object_id, template_id,
        template_version, template_parameters, defaults, template_checksum, schema_checksum, parameters_checksum,
        output_checksum, engine, rendered_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
                );
                let row = row.bind(new_id()).bind(object).bind(template).bind(1).bind("{}").bind(false);
                let row = row.bind("11".repeat(32)).bind("33".repeat(32)).bind("44".repeat(32)).bind("22".repeat(32));
                row.bind("0.1.0").bind(at).execute(&mut *c).await.unwrap();
                made
            }

            /// Reads and changes the rows of a round.
            pub async fn uses(c: &mut $connection, round: &Round) {
                for (sql, id) in [
                    ("SELECT * FROM generators WHERE id = $1 AND deleted_at IS NULL", round.generator),
                    ("SELECT * FROM stack_templates WHERE id = $1 AND deleted_at IS NULL", round.template),
                    ("SELECT * FROM template_labels WHERE template_id = $1", round.template),
                    ("SELECT * FROM stacks WHERE id = $1 AND deleted_at IS NULL", round.stack),
                    ("SELECT * FROM deployment_objects WHERE id = $1 AND deleted_at IS NULL", round.object),
                    ("SELECT * FROM rendered_deployment_objects WHERE deployment_object_id = $1", round.object),
                ] {
                    let found = sqlx::query(sql).bind(id).fetch_all(&mut *c).await;
                    assert_eq!(found.unwrap_or_else(|error| panic!("{sql}: {error}")).len(), 1, "{sql}");
                }
                let key = sqlx::query("SELECT * FROM api_keys WHERE short_token = $1 AND revoked_at IS NULL");
                assert_eq!(key.bind(round.token.clone()).fetch_all(&mut *c).await.unwrap().len(), 1);
                let touch = sqlx::query(
                    "UPDATE generators SET last_active_at = $2, is_active = TRUE
        WHERE id = $1 AND deleted_at IS NULL",
                );
                assert_eq!(touch.bind(round.generator).bind(now()).execute(&mut *c).await.unwrap().rows_affected(), 1);
            }
        }
    };
}

first_release!(old_sqlite, sqlx::sqlite::SqliteConnection);
first_release!(old_postgres, sqlx::postgres::PgConnection);

/// Checks that a store has the rows of these rounds, and that it can go on from them.
async fn has(db: &Database, rounds: &[Round]) {
    let store = db.open().await;
    for round in rounds {
        assert_eq!(store.key(&round.token).await.unwrap().name, None);
        assert_eq!(store.template(round.template).await.unwrap().generator_id, Some(round.generator));
        assert_eq!(
            store.metadata(MetadataOwner::Template(round.template), MetadataKind::Label).await.unwrap()[0].key,
            "env=prod"
        );
        assert_eq!(store.objects(round.stack, &Page::default()).await.unwrap()[0].id, round.object);
        assert_eq!(store.provenance(round.object).await.unwrap().template_id, round.template);
        let instances = store.instances(Some(round.generator), "web", None, &Page::default()).await.unwrap();
        assert_eq!(instances[0].object.id, round.object);
    }
    let all = store.templates(None, Some("web"), &Page::default()).await.unwrap();
    let owned = all.iter().filter(|version| version.version == 1).count();
    assert_eq!(owned, rounds.len());
    let owner = rounds[0].generator;
    assert_eq!(version_in(&*store, Some(owner), "web").await.version, 2);
    let recorded = store.audit(None, &Page::default()).await.unwrap();
    assert_eq!(recorded[0].object_name.as_deref(), Some("web@2"));
    let newest = store.newest(Some(owner), "web").await.unwrap();
    store.delete_template(newest.id, now()).await.unwrap();
    store.close().await;
}

macro_rules! upgrade {
    ($db:ident, $kind:literal, $module:ident, $connection:ty, $open:expr) => {{
        let mut old: $connection = $open.await;
        migrator($kind, |number| number == 1).run_direct(None, &mut old, false).await.unwrap();
        let first = $module::round(&mut old, 1).await;
        $module::uses(&mut old, &first).await;
        has(&$db, std::slice::from_ref(&first)).await;
        // The old server is still there, and its statements are those that it prepared before.
        $module::uses(&mut old, &first).await;
        let second = $module::round(&mut old, 2).await;
        has(&$db, &[first, second]).await;
        old.close().await.unwrap();
    }};
}

async fn sqlite(db: &Database) -> sqlx::sqlite::SqliteConnection {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&db.url).create_if_missing(true);
    let mut first = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("PRAGMA application_id = 1684431719").execute(&mut first).await.unwrap();
    sqlx::query("PRAGMA journal_mode = WAL").execute(&mut first).await.unwrap();
    first
}

async fn postgres(db: &Database) -> sqlx::postgres::PgConnection {
    sqlx::postgres::PgConnection::connect(&db.url).await.unwrap()
}

#[test]
fn a_catalog_of_the_first_release_is_upgraded_beside_its_server_in_sqlite() {
    on_sqlite(async |db: Arc<Database>| {
        upgrade!(db, "sqlite", old_sqlite, sqlx::sqlite::SqliteConnection, sqlite(&db))
    });
}

#[test]
fn a_catalog_of_the_first_release_is_upgraded_beside_its_server_in_postgres() {
    on_postgres(async |db: Arc<Database>| {
        upgrade!(db, "postgres", old_postgres, sqlx::postgres::PgConnection, postgres(&db));
    });
}

/// A migration may be released after one with a greater number.
#[test]
fn migrations_are_applied_in_any_order() {
    on_sqlite(async |db: Arc<Database>| {
        let last = migrations("sqlite").last().unwrap().0;
        let mut first = sqlite(&db).await;
        let migrator = migrator("sqlite", |number| number == 1 || number == last);
        migrator.run_direct(None, &mut first, false).await.unwrap();
        first.close().await.unwrap();
        assert_eq!(version_in(&*db.open().await, None, "t").await.version, 1);
    });
    on_postgres(async |db: Arc<Database>| {
        let last = migrations("postgres").last().unwrap().0;
        let mut first = postgres(&db).await;
        let migrator = migrator("postgres", |number| number == 1 || number == last);
        migrator.run_direct(None, &mut first, false).await.unwrap();
        first.close().await.unwrap();
        assert_eq!(version_in(&*db.open().await, None, "t").await.version, 1);
    });
}
