//! Lists, lookups and previews in a large catalog.
//!
//! `DROPFORGE_SIZE=1 cargo test --release --test catalog http::size -- --nocapture` fills a catalog with 50,000
//! template versions and 500,000 objects and prints the median time of each page. Without the variable the catalog is a
//! 500th of that size, and only the answers are checked.

use std::time::Instant;

use serde_json::Value as Json;
use sqlx::{AssertSqlSafe, Connection};

use super::server::{Running, text};

/// Template versions, of which five share a name.
const TEMPLATES: f64 = 50_000.0;
/// Objects, half of which were rendered from one system template.
const OBJECTS: f64 = 500_000.0;
const STACKS: f64 = 5_000.0;
const GENERATORS: usize = 50;
/// Entries of a page.
const LIMIT: usize = 100;

/// The statements that fill a catalog. `$KIND(i)` is an ID, and `n` counts from 1.
const FILL: &str = "
    $N=GENERATORS INSERT INTO generators (id, created_at, updated_at, name, is_active, is_system)
        SELECT $1(i), $AT, $AT, 'generator-' || i, TRUE, FALSE FROM n;
    $N=TEMPLATES INSERT INTO stack_templates (id, created_at, updated_at, generator_id, name, version,
        template_content, parameters_schema, checksum) SELECT $2(i), $AT, $AT,
        CASE WHEN (i - 1) / 5 % 10 = 0 THEN NULL ELSE $1((i - 1) / 5 % GENERATORS + 1) END,
        'service-' || ((i - 1) / 5), (i - 1) % 5 + 1, 'name: {{ name }} # PADDING', '{}', 'unchecked' FROM n;
    $N=STACKS INSERT INTO stacks (id, created_at, updated_at, name, generator_id)
        SELECT $3(i), $AT, $AT, 'stack-' || i, $1(i % GENERATORS + 1) FROM n;
    $N=STACKS INSERT INTO stack_labels (id, stack_id, label) SELECT $5(i), $3(i), 'env=prod' FROM n;
    $N=OBJECTS INSERT INTO deployment_objects (id, created_at, updated_at, stack_id, yaml_content, yaml_checksum,
        submitted_at, is_deletion_marker) SELECT $4(i), $AT, $AT, $3(i % STACKS + 1), 'name: x # PADDING', 'unchecked',
        $AT, FALSE FROM n ORDER BY i;
    $N=OBJECTS INSERT INTO rendered_deployment_objects (record_id, deployment_object_id, template_id, template_version,
        template_parameters, defaults, template_checksum, schema_checksum, parameters_checksum, output_checksum, engine,
        rendered_at) SELECT $6(i), $4(i), CASE WHEN i % 2 = 0 THEN $2(5) ELSE $2(i * 7 % TEMPLATES + 1) END, 1,
        '{\"name\":\"x\"}', FALSE, 'c', 'c', 'c', 'c', '0', $AT FROM n;";

/// The ID of row `number` of a kind.
fn id(kind: usize, number: usize) -> String {
    format!("01900000-000{kind}-7000-8000-{number:012x}")
}

fn scaled(full: f64) -> usize {
    let scale = std::env::var("DROPFORGE_SIZE").map_or(0.002, |scale| scale.parse().expect("DROPFORGE_SIZE: a factor"));
    (full * scale) as usize
}

/// The statements in the language of a database.
fn fill(postgres: bool) -> String {
    let (at, numbers) = match postgres {
        true => ("CAST('2026-01-01T00:00:00Z' AS timestamptz)", "WITH n (i) AS (SELECT generate_series(1, COUNT))"),
        false => (
            "'2026-01-01T00:00:00+00:00'",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < COUNT)",
        ),
    };
    let mut sql = FILL.replace("PADDING", &"x".repeat(600)).replace("$AT", at);
    for (table, rows) in [
        ("GENERATORS", GENERATORS),
        ("TEMPLATES", scaled(TEMPLATES)),
        ("STACKS", scaled(STACKS)),
        ("OBJECTS", scaled(OBJECTS)),
    ] {
        sql = sql.replace(&format!("$N={table} "), &format!("{} ", numbers.replace("COUNT", &rows.to_string())));
        sql = sql.replace(table, &rows.to_string());
    }
    for kind in 1..=6 {
        let call = match postgres {
            true => format!("pg_temp.id({kind}, "),
            false => format!("unhex(printf('01900000000{kind}70008000%012x', "),
        };
        sql = with_calls(&sql, &format!("${kind}("), &call, if postgres { ")" } else { "))" });
    }
    let function = "CREATE FUNCTION pg_temp.id(kind int, i int) RETURNS uuid LANGUAGE sql IMMUTABLE AS
        'SELECT (''01900000000'' || kind || ''70008000'' || lpad(to_hex(i), 12, ''0''))::uuid';";
    format!("BEGIN; {} {sql} COMMIT;", if postgres { function } else { "" })
}

/// Replaces `start…)` by `call…end`, where the parentheses within are balanced.
fn with_calls(sql: &str, start: &str, call: &str, end: &str) -> String {
    let Some((before, rest)) = sql.split_once(start) else { return sql.to_owned() };
    let mut depth = 1;
    let closing = rest.char_indices().find(|(_, character)| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    let (argument, after) = rest.split_at(closing.expect("a parenthesis").0);
    format!("{before}{call}{argument}{end}{}", with_calls(&after[1..], start, call, end))
}

/// Runs statements on a connection of their own.
pub(super) async fn execute(url: &str, sql: String) {
    let sql = AssertSqlSafe(sql);
    if url.starts_with("postgres") {
        let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        sqlx::raw_sql("VACUUM ANALYZE").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    } else {
        let mut connection = sqlx::SqliteConnection::connect(&format!("sqlite:{url}")).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
}

#[test]
fn pages_of_a_large_catalog() {
    let server = Running::new();
    let begun = Instant::now();
    server.wait_for(execute(&server.url, fill(server.url.starts_with("postgres"))));
    println!("filled in {:.1} s\n| page | entries | p50 ms |\n|---|--:|--:|", begun.elapsed().as_secs_f64());
    let rotated = server.request("POST", &format!("/api/v1/generators/{}/rotate-pak", id(1, 6))).key(&server.admin);
    let generator = text(&rotated.send().has(201).json()["pak"]);
    let admin = server.admin.clone();
    let middle = scaled(TEMPLATES) / 2;
    let (named, shared) = (format!("service-{}", middle / 5), id(2, 4));
    for (pak, method, path, fewest) in [
        (&admin, "GET", format!("templates?limit={LIMIT}&cursor={}", id(2, middle)), 50),
        (&generator, "GET", format!("templates?limit={LIMIT}&cursor={}", id(2, middle / 2)), 5),
        (&admin, "GET", format!("templates?limit={LIMIT}&name={named}"), 5),
        (&generator, "GET", format!("templates?limit={LIMIT}&name=service-0"), 5),
        (&admin, "GET", "templates/newest?name=service-0&owner=system".to_owned(), 0),
        (&admin, "GET", format!("templates/{shared}/versions?limit={LIMIT}"), 5),
        (&admin, "GET", format!("templates?latest=true&limit={LIMIT}&cursor={}", id(2, 5)), 10),
        (&generator, "GET", format!("templates?latest=true&limit={LIMIT}"), 2),
        (&admin, "GET", format!("templates?latest=true&limit={LIMIT}&search={named}"), 1),
        (&generator, "GET", format!("templates?latest=true&limit={LIMIT}&search=nothing"), 0),
        (&admin, "GET", format!("templates?latest=true&limit={LIMIT}&search=nothing"), 0),
        (&admin, "GET", format!("stacks?limit={LIMIT}&cursor={}", id(3, 2)), 8),
        (&admin, "GET", format!("stacks?limit={LIMIT}&pak_id={}", id(1, 6)), 1),
        (&generator, "GET", format!("stacks?limit={LIMIT}"), 1),
        (&admin, "GET", format!("generators?limit={LIMIT}"), GENERATORS),
        (&admin, "GET", format!("stacks/{}/deployment-objects?limit={LIMIT}", id(3, 5)), 100),
        (
            &admin,
            "GET",
            format!("stacks/{}/deployment-objects?limit={LIMIT}&cursor={}", id(3, 5), id(4, 4 + 50 * scaled(STACKS))),
            50,
        ),
        (&admin, "POST", format!("templates/{shared}/changes?limit={LIMIT}"), 5),
        (&generator, "POST", format!("templates/{shared}/changes?limit={LIMIT}"), 1),
    ] {
        let request = || server.request(method, &format!("/api/v1/{path}")).key(pak).send();
        let rows = |page: Json| page.as_array().map_or(page["instances"].as_u64().unwrap_or(0) as usize, Vec::len);
        let found = rows(request().has(200).json());
        assert!(found >= fewest, "{path}: {found}");
        let mut times: Vec<_> = (0..21)
            .map(|_| {
                let begun = Instant::now();
                request();
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("| {method} {path} | {found} | {:.2} |", times[10]);
    }
}
