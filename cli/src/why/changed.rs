//! The files that a run read and that are not as they were.

use std::path::Path;

use dropforge::bulk::{ReadFiles, short_digest};
use dropforge::diagnostics::counted;

use crate::console::Console;
use crate::input::{is_dash, is_url};

/// Maximum number of files to name.
const NAMED: usize = 5;

/// Maximum length of a file that is read only to compare it.
const LONGEST: u64 = 16 << 20;

/// A file with its digest.
type File<'f> = (&'f String, &'f String);

/// Warns of files that differ from those that the run read. `now` has those that were read again, all of them if
/// `is_whole` is `true`.
pub(super) fn warn<'r>(run: impl Iterator<Item = File<'r>>, now: &ReadFiles, is_whole: bool, console: &Console) {
    let found = differences(run, now, is_whole);
    found.iter().take(NAMED).for_each(|text| console.warning(text));
    if found.len() > NAMED {
        console.warning(&format!("and {}", counted(found.len() - NAMED, "more file")));
    }
}

/// Returns a message for each file that differs.
fn differences<'r>(run: impl Iterator<Item = File<'r>>, now: &ReadFiles, is_whole: bool) -> Vec<String> {
    let message = |(name, digest): File<'_>| match now.get(name) {
        Some(same) if same == digest => None,
        Some(_) if is_dash(Path::new(name)) => Some("standard input is not what the run read".to_owned()),
        Some(_) => Some(changed(name)),
        None => unread(name, digest, is_whole),
    };
    run.filter_map(message).collect()
}

fn changed(name: &str) -> String {
    format!("`{}` was changed after the run", shown(name))
}

/// Returns a name of a manifest, which anyone may have written, for a terminal.
pub(super) fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Compares a file that was not read again, such as the project file, whose options are in the manifest.
fn unread(name: &str, digest: &str, is_whole: bool) -> Option<String> {
    let path = Path::new(name);
    if is_dash(path) || is_url(path) {
        return None;
    }
    match path.metadata() {
        Ok(meta) if meta.is_file() && meta.len() <= LONGEST => {
            let content = std::fs::read(path).unwrap_or_default();
            (is_whole && short_digest(&content) != digest).then(|| changed(name))
        }
        // A device or a pipe may have no end.
        Ok(_) => None,
        Err(_) if is_in_file(path) => None,
        Err(_) => Some(format!("`{}` is missing", shown(name))),
    }
}

/// Returns `true` for a file of a packed chart.
fn is_in_file(path: &Path) -> bool {
    path.ancestors().skip(1).any(Path::is_file)
}
