//! Plans of the statements that read lists: each reads an index in its order. No statement scans a table or sorts.

use dropforge_catalog::store::statements;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use crate::databases::{on_postgres, on_sqlite};

/// Statements that read a whole index, in its order and up to a limit, or to count it.
const WHOLE_INDEX: &[&str] = &["search", "counts"];

/// Steps of a plan that do not use an index, or that read all of it.
fn sqlite_faults(name: &str, plan: &[String]) -> Vec<String> {
    let fault = |step: &&String| {
        let scans =
            step.starts_with("SCAN ") && !["SCAN step", "SCAN page", "SCAN CONSTANT ROW"].contains(&step.as_str());
        let whole_index = WHOLE_INDEX.contains(&name) && step.contains(" INDEX ");
        step.contains("TEMP B-TREE") || (scans && !whole_index)
    };
    plan.iter().filter(fault).cloned().collect()
}

#[test]
fn statements_read_indexes_in_sqlite() {
    on_sqlite(async |db| {
        db.open().await.close().await;
        let mut connection = SqliteConnection::connect(&format!("sqlite:{}", db.url)).await.unwrap();
        let mut plan = async |sql: &str| {
            let plan = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"))).fetch_all(&mut connection);
            plan.await.unwrap().iter().map(|row| row.get::<String, _>("detail")).collect::<Vec<_>>()
        };
        for (name, _, sql) in statements()[0] {
            let plan = plan(sql).await;
            assert_eq!(sqlite_faults(name, &plan), [""; 0], "{name}: {plan:#?}");
        }
        // The rules find a scan and a sort.
        let scan = plan("SELECT * FROM stacks WHERE description = 'x'").await;
        assert_eq!(sqlite_faults("search", &scan).len(), 1, "{scan:?}");
        let sort = plan("SELECT * FROM stacks WHERE generator_id = $1 ORDER BY description").await;
        assert_eq!(sqlite_faults("search", &sort).len(), 1, "{sort:?}");
        connection.close().await.unwrap();
    });
}

fn postgres_faults(plan: &[String]) -> Vec<String> {
    let fault = |step: &&String| ["Seq Scan", "Sort"].iter().any(|bad| step.contains(bad));
    plan.iter().filter(fault).cloned().collect()
}

#[test]
fn statements_read_indexes_in_postgres() {
    on_postgres(async |db| {
        db.open().await.close().await;
        let mut connection = sqlx::PgConnection::connect(&db.url).await.unwrap();
        // Small tables are scanned if that is allowed. A plan for any parameters is the one that a server keeps.
        let settings = "SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
            SET plan_cache_mode = force_generic_plan";
        sqlx::raw_sql(settings).execute(&mut connection).await.unwrap();
        let mut plan = async |types: &str, sql: &str| {
            let (list, parameters) = match types.split(',').count() {
                _ if types.is_empty() => (String::new(), String::new()),
                count => (format!("({types})"), format!("({})", vec!["NULL"; count].join(", "))),
            };
            let prepare = format!("DEALLOCATE ALL; PREPARE listed {list} AS {sql}");
            sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut connection).await.unwrap();
            let explain = sqlx::raw_sql(AssertSqlSafe(format!("EXPLAIN EXECUTE listed {parameters}")));
            let plan = explain.fetch_all(&mut connection).await.unwrap();
            plan.iter().map(|row| row.get::<String, _>(0)).collect::<Vec<_>>()
        };
        for (name, types, sql) in statements()[1] {
            let plan = plan(types, sql).await;
            assert_eq!(postgres_faults(&plan), [""; 0], "{name}: {plan:#?}");
        }
        let scan = plan("", "SELECT * FROM stacks WHERE description = 'x' ORDER BY description || id::text").await;
        assert_eq!(postgres_faults(&scan).len(), 3, "{scan:#?}");
        connection.close().await.unwrap();
    });
}
