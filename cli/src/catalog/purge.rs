//! `dropforge catalog purge`.

use std::time::Duration;

use clap::Args;
use serde_json::{Value as Json, json};

use dropforge::diagnostics::{counted, thousands};

use super::client::{Client, ClientResult};
use super::output::Output;
use crate::duration::duration;
use crate::exit::Exit;

/// Remove what was deleted for good, and old audit entries
///
///     dropforge catalog purge --older-than 30d
///
/// Removes stacks, objects and template versions that were deleted. Versions stay
/// while the provenance of an object names them.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PurgeArgs {
    /// Remove what was deleted longer ago: 30d, 12h, 0s
    #[arg(long, value_name = "AGE", value_parser = duration)]
    older_than: Duration,
    /// Also remove the entries of the audit trail that are older than this: 365d [default: keep all]
    #[arg(long, value_name = "AGE", value_parser = duration)]
    audit_older_than: Option<Duration>,
}

/// Removes deleted rows and old audit entries.
pub(crate) fn purge(client: &Client, args: &PurgeArgs, output: &Output) -> ClientResult<Exit> {
    let age = |age: Duration| u32::try_from(age.as_secs()).unwrap_or(u32::MAX);
    let request = json!({
        "older_than_seconds": age(args.older_than),
        "audit_older_than_seconds": args.audit_older_than.map(age),
    });
    let mut all = json!({ "objects": 0, "stacks": 0, "templates": 0, "audit_entries": 0 });
    loop {
        let purged = client.post("/purge", &request)?;
        for kind in ["objects", "stacks", "templates", "audit_entries"] {
            all[kind] = json!(number(&all, kind) + number(&purged, kind));
        }
        all["kept_templates"] = purged["kept_templates"].clone();
        if purged["more"] != true {
            break;
        }
    }
    output.result(&all, || {
        let mut removed = format!(
            "removed {}, {} and {}\n",
            counted(number(&all, "stacks"), "stack"),
            counted(number(&all, "objects"), "object"),
            counted(number(&all, "templates"), "template version")
        );
        if args.audit_older_than.is_some() {
            removed.push_str(&format!("audit entries removed: {}\n", thousands(number(&all, "audit_entries"))));
        }
        match number(&all, "kept_templates") {
            0 => removed,
            kept => {
                format!(
                    "{removed}kept {}, from which objects were rendered\n",
                    counted(kept, "deleted template version")
                )
            }
        }
    })?;
    Ok(Exit::Ok)
}

fn number(value: &Json, kind: &str) -> usize {
    value[kind].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}
