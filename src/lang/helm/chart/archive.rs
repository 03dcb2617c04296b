//! Charts in archives: tar files compressed with gzip.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

use super::error::Stage;
use super::source::{Budget, ChartFile, file, outside};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The bytes of tar headers that an archive may have for each file, at most.
const HEADER: u64 = 4096;

/// Returns the files below the top-level directory of an archive.
pub(super) fn files(bytes: &[u8], budget: &mut Budget) -> Result<Vec<ChartFile>> {
    // Headers do not count as files, so the stream itself is bounded, too.
    let most = budget.bounds.total_bytes.saturating_add(HEADER.saturating_mul(budget.bounds.files as u64));
    let mut archive = Archive::new(MultiGzDecoder::new(bytes).take(most));
    let (mut files, mut entries) = (Vec::new(), 0);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        entries += 1;
        if entries > budget.bounds.files.saturating_mul(2) {
            return Err(Stage::Load.error(Code::LimitTemplates, "the archive has too many entries"));
        }
        if let Some(path) = path_of(&entry)? {
            let content = content(&mut entry, &path, budget)?;
            files.push(file(path, &content)?);
        }
    }
    if files.is_empty() {
        return Err(Stage::Load.error(Code::InputSyntax, "no files in chart archive"));
    }
    Ok(files)
}

/// Returns the path of an entry below the top-level directory. `None` for directories and for metadata of the archive.
fn path_of<R: Read>(entry: &Entry<'_, R>) -> Result<Option<String>> {
    let bytes = entry.path_bytes();
    let path = std::str::from_utf8(&bytes).map_err(|_| outside(&String::from_utf8_lossy(&bytes)))?;
    match entry.header().entry_type() {
        EntryType::Directory | EntryType::XGlobalHeader | EntryType::XHeader => return Ok(None),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {}
        _ => {
            let message = format!("`{path}` in the chart archive is neither a file nor a directory");
            return Err(Stage::Load.error(Code::OutsideRoot, message).with_help("pack files instead of links"));
        }
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.ends_with('/') {
        return Ok(None);
    }
    match path.split_once('/') {
        Some(("" | "..", _)) => Err(outside(path)),
        Some((_, rest)) => Ok(Some(rest.to_owned())),
        None => Err(Stage::Load.error(Code::InputStructure, "chart illegally has no base directory")),
    }
}

fn content<R: Read>(entry: &mut Entry<'_, R>, path: &str, budget: &mut Budget) -> Result<Vec<u8>> {
    // A header may claim any size: what is read counts.
    let mut content = Vec::new();
    let most = budget.next_file().saturating_add(1);
    entry.take(most).read_to_end(&mut content).map_err(unreadable)?;
    budget.take(path, content.len() as u64)?;
    Ok(content)
}

fn unreadable(error: io::Error) -> Box<Diagnostic> {
    let message = format!("cannot unpack the chart archive: {error}");
    Stage::Load.of(Diagnostic::new(Code::InputSyntax, message).caused_by(error))
}
