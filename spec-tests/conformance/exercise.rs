//! Exchanges recorded from the reference service. Its own script drives our service, and the status, code and fields of
//! each response are compared. Where the recording has an internal error, ours rejects the request.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use dropforge_catalog::server::{Server, Settings};
use dropforge_catalog::{Catalog, render};
use serde_json::{Value, json};

use crate::report::{Outcome, Row};

/// Deliberate differences, by request label, with the expected status if there is one.
const DEPARTURES: [(&str, Option<u64>); 6] = [
    // Templates have no environment, clock or randomness.
    ("instantiate: get_env", Some(400)),
    ("instantiate: now", Some(400)),
    ("instantiate: random", Some(400)),
    // A new version keeps its labels, so it does not match every stack.
    ("labels of new version are not carried", Some(200)),
    ("instantiate: v3 unrestricted", None),
    // Every writer succeeds.
    ("concurrent put", Some(200)),
];

/// Runs the script next to these rows and compares each row with the script's result.
pub fn run(dir: &Path, rows: &[Row]) -> Vec<(String, Outcome)> {
    let answers = match answers(&dir.join("exercise.py")) {
        Ok(answers) => answers,
        Err(why) => {
            return rows.iter().map(|row| (row.id.clone(), Outcome::Fail(format!("exercise.py: {why}")))).collect();
        }
    };
    let outcome = |row: &Row| match answers.get(&row.id) {
        Some(got) => held(&row.row, got).map_or_else(Outcome::Fail, |()| Outcome::Pass),
        None => Outcome::Fail("there was no such request".to_owned()),
    };
    rows.iter().map(|row| (row.id.clone(), outcome(row))).collect()
}

/// Returns the script's results by the number of the exchange in the recording.
fn answers(script: &Path) -> Result<HashMap<String, Value>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out.jsonl");
    exercised(script, &out)?;
    let text = std::fs::read_to_string(&out)?;
    let (mut answers, mut last, mut unsent) = (HashMap::new(), 0, 0);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line)?;
        let number = line["id"].as_str().and_then(|id| id.strip_prefix("http-")?.parse::<usize>().ok());
        let got = match number {
            Some(_) => line["got"].clone(),
            None => json!({ "status": 400, "body": line["create"] }),
        };
        // A template is created, which is counted but not recorded, and then rendered. If it is not created, the script
        // sends and counts one request fewer than recorded.
        last = number.map_or(last + 2, |number| number + unsent);
        unsent += usize::from(number.is_none());
        answers.insert(format!("http-{last:03}"), got);
    }
    Ok(answers)
}

/// Runs the script against a service that stops with it.
fn exercised(script: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let started = async {
        let catalog = Catalog::open(":memory:", &render::Options::default()).await?;
        let key = catalog.initialise(None).await?.unwrap_or_default();
        let server = Server::bind(Settings::default(), catalog).await?;
        let address = server.address();
        Ok::<_, Box<dyn Error>>((key, address, tokio::spawn(server.serve(async { drop(stopped.await) }))))
    };
    let (key, address, serving) = runtime.block_on(started)?;
    let mut python = Command::new("python3");
    let python = python.arg(script).arg(format!("http://{address}")).arg(key).arg(out).stdout(Stdio::null());
    let ended = python.status()?;
    drop(stop);
    runtime.block_on(serving)?;
    if ended.success() { Ok(()) } else { Err(format!("{ended}").into()) }
}

/// Compares a response with the recorded one.
fn held(row: &Value, got: &Value) -> Result<(), String> {
    let (want, status) = (&row["want"], got["status"].as_u64());
    let departure = DEPARTURES.iter().find(|(label, _)| row["given"]["label"] == *label);
    let right = match (departure, want["status"].as_u64()) {
        (Some((_, expected)), _) => expected.is_none() || *expected == status,
        (None, Some(500)) => status.is_some_and(|status| (400..500).contains(&status)),
        (None, recorded) => status == recorded && same_shape(&want["body"], &got["body"], status),
    };
    if right { Ok(()) } else { Err(format!("got {got}")) }
}

/// Returns `true` if an error has the recorded code, or a success every recorded field.
fn same_shape(want: &Value, got: &Value, status: Option<u64>) -> bool {
    let Some(fields) = want.as_object() else { return true };
    let code = fields.get("code").is_none_or(|code| got["code"] == *code);
    let fails = status.is_some_and(|status| status >= 400);
    code && (fails || fields.keys().all(|field| got.get(field).is_some()))
}
