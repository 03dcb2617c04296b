//! The summary of a run: counts, bytes and time.

use std::collections::BTreeSet;
use std::time::Duration;

use humansize::{DECIMAL, format_size};

use crate::options::ErrorFormat;
use crate::stderr::{self, Stderr};
use dropforge::bulk::Report;
use dropforge::diagnostics::{counted, listed, thousands};

/// Maximum number of copied files, or of templates that failed, to name.
const NAMED: usize = 5;

/// Prints the summary of a run, or of a preview, which writes nothing.
pub(crate) fn print(report: &Report, preview: bool, took: Duration, stderr: &Stderr) {
    if stderr.format() == ErrorFormat::Json {
        if !stderr.quiet {
            let mut summary = report.to_json();
            if let Some(object) = summary.as_object_mut() {
                object.insert("seconds".into(), serde_json::json!(took.as_secs_f64()));
            }
            stderr::line(&serde_json::json!({ "summary": summary }).to_string());
        }
        return;
    }
    stderr.note(&text(report, preview, took));
}

/// Prints the summary of a folder that was rendered to files or to a stream, or of a preview of files.
pub(crate) fn print_folder(report: &Report, (preview, is_stream): (bool, bool), took: Duration, stderr: &Stderr) {
    match stderr.format() {
        ErrorFormat::Json if !is_stream => print(report, preview, took, stderr),
        format if format.has_notes() && report.failed == 0 && !is_stream => {
            let what = if preview { "would render" } else { "rendered" };
            stderr.note(&format!("{what} {}", counts(report, took, "")));
        }
        format if format.has_notes() && report.failed == 0 && !report.copied.is_empty() => {
            stderr.note(copied(report).trim_start_matches("; "));
        }
        _ => {}
    }
}

/// Returns the names of copied files.
fn copied(report: &Report) -> String {
    match report.copied.as_slice() {
        [] => String::new(),
        names => {
            let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("; copied {}: {}", counted(names.len(), "file"), listed(&quoted, NAMED))
        }
    }
}

fn text(report: &Report, preview: bool, took: Duration) -> String {
    let clusters = counted(report.clusters.saturating_sub(report.failed + report.unreached), "cluster");
    let what = if preview { "would stamp" } else { "stamped" };
    if report.failed > 0 && files(report) == 0 && !report.interrupted {
        return format!("{what} nothing: {}; {:.2} s", failed(report), took.as_secs_f64());
    }
    format!("{what} {}", counts(report, took, &format!(" for {clusters}")))
}

/// Returns the templates that failed, and the number of clusters. A cluster with one such template makes no file.
fn failed(report: &Report) -> String {
    let of = match report.clusters {
        all if all > report.failed => format!("{} of {}", thousands(report.failed), counted(all, "cluster")),
        1 => "1 cluster".to_owned(),
        all => format!("all {}", counted(all, "cluster")),
    };
    let names = report.failures.iter().map(|failure| failure.diagnostic.template.as_deref());
    match names.collect::<Option<BTreeSet<&str>>>() {
        Some(names) if !names.is_empty() => {
            let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("{} failed for {of}", listed(&quoted, NAMED))
        }
        _ => format!("{of} failed"),
    }
}

fn files(report: &Report) -> usize {
    report.created + report.updated + report.unchanged
}

/// Returns the number of files, then their states, size and time. `of` stands after the number.
fn counts(report: &Report, took: Duration, of: &str) -> String {
    let files = counted(files(report), "file");
    let mut text = format!("{files}{of}: ");
    for (count, state) in [(report.created, "new"), (report.updated, "changed"), (report.deleted, "deleted")] {
        if count > 0 {
            text.push_str(&format!("{} {state}, ", thousands(count)));
        }
    }
    text.push_str(&format!("{} unchanged", thousands(report.unchanged)));
    if report.failed > 0 {
        text.push_str(&format!("; {} failed", counted(report.failed, "cluster")));
    }
    if report.unreached > 0 {
        text.push_str(&format!("; {} not reached", counted(report.unreached, "cluster")));
    }
    text.push_str(&copied(report));
    text.push_str(&format!("; {} in {:.2} s", format_size(report.bytes, DECIMAL), took.as_secs_f64()));
    if report.interrupted {
        text.push_str("; interrupted");
    }
    text
}

#[cfg(test)]
mod tests {
    use dropforge::bulk::Failure;
    use dropforge::diagnostics::{Code, Diagnostic};

    use super::*;

    #[test]
    fn it_says_what_failed_if_nothing_is_stamped() {
        let text = |clusters, failed, templates: &[Option<&str>]| {
            let failure = |template: &Option<&str>| {
                let mut diagnostic = Diagnostic::new(Code::UndefinedVariable, "x");
                diagnostic.template = template.map(str::to_owned);
                Failure::new(diagnostic)
            };
            let failures = templates.iter().map(failure).collect();
            let report = Report { clusters, failed, failures, ..Report::default() };
            super::text(&report, false, Duration::ZERO)
        };
        assert_eq!(text(1_000, 1_000, &[Some("a")]), "stamped nothing: `a` failed for all 1,000 clusters; 0.00 s");
        assert_eq!(
            text(9, 2, &[Some("b"), Some("a"), Some("b")]),
            "stamped nothing: `a`, `b` failed for 2 of 9 clusters; 0.00 s"
        );
        assert_eq!(text(1, 1, &[Some("a"), None]), "stamped nothing: 1 cluster failed; 0.00 s");
    }

    #[test]
    fn it_reads_well() {
        let report = Report {
            clusters: 1_000,
            failed: 1,
            created: 4_000,
            updated: 95,
            unchanged: 900,
            bytes: 1_234_567,
            ..Report::default()
        };
        assert_eq!(
            text(&report, false, Duration::from_millis(1_250)),
            "stamped 4,995 files for 999 clusters: 4,000 new, 95 changed, 900 unchanged; 1 cluster failed; 1.23 MB in 1.25 s"
        );
        let report =
            Report { clusters: 4, unreached: 3, created: 1, deleted: 2, interrupted: true, ..Report::default() };
        assert_eq!(
            text(&report, true, Duration::ZERO),
            "would stamp 1 file for 1 cluster: 1 new, 2 deleted, 0 unchanged; 3 clusters not reached; 0 B in 0.00 s; interrupted"
        );
    }
}
