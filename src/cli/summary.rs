//! The last line: counts, bytes and time.

use std::time::Duration;

use humansize::{DECIMAL, format_size};

use super::args::ErrorFormat;
use super::console::{self, Console};
use crate::bulk::Report;

/// Prints the summary of a run; `looked` says that nothing was written.
pub(super) fn print(report: &Report, looked: bool, took: Duration, console: &Console) {
    if console.format == ErrorFormat::Json {
        if !console.quiet {
            let mut summary = report.to_json();
            if let Some(object) = summary.as_object_mut() {
                object.insert("seconds".into(), serde_json::json!(took.as_secs_f64()));
            }
            console::line(&serde_json::json!({ "summary": summary }).to_string());
        }
        return;
    }
    console.note(&text(report, looked, took));
}

fn text(report: &Report, looked: bool, took: Duration) -> String {
    let files = report.created + report.updated + report.unchanged;
    let mut text = format!("{} for {}", plural(files, "file"), plural(report.clusters - report.failed, "cluster"));
    let would = if looked { "would be " } else { "" };
    for (count, what) in [(report.created, "new"), (report.updated, "changed"), (report.deleted, "deleted")] {
        if count > 0 {
            text.push_str(&format!(", {} {would}{what}", thousands(count)));
        }
    }
    text.push_str(&format!(", {} unchanged", thousands(report.unchanged)));
    if report.failed > 0 {
        text.push_str(&format!("; {} failed", plural(report.failed, "cluster")));
    }
    text.push_str(&format!("; {} in {:.2} s", format_size(report.bytes, DECIMAL), took.as_secs_f64()));
    if report.interrupted {
        text.push_str("; interrupted");
    }
    text
}

fn plural(count: usize, what: &str) -> String {
    format!("{} {what}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// `12,345`
fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "4,995 files for 999 clusters, 4,000 new, 95 changed, 900 unchanged; 1 cluster failed; 1.23 MB in 1.25 s"
        );
        let report = Report { clusters: 1, created: 1, deleted: 2, interrupted: true, ..Report::default() };
        assert_eq!(
            text(&report, true, Duration::ZERO),
            "1 file for 1 cluster, 1 would be new, 2 would be deleted, 0 unchanged; 0 B in 0.00 s; interrupted"
        );
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
