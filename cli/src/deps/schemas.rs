//! Documents of other servers that schemas of charts refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use dropforge::diagnostics::{Code, Diagnostic, counted};
use dropforge::dialect::helm::chart::{Chart, ChartSource};
use dropforge::remote::oci::digest;

use super::sources::Sources;
use crate::exit::Failed;
use crate::locked_charts::{ChartCache, LockedSchema, ProjectLock, schemas};
use crate::stderr::Stderr;

/// Maximum number of documents.
const MAX: usize = 200;

/// Fetches the documents that schemas of charts refer to by URL, with those that these refer to, into the cache, and writes
/// their digests to the lock. Those of the lock are fetched again only if `renews`.
///
/// # Errors
/// Errors of reading the charts and of the servers; `store.wrong_digest`; `limit.templates`.
pub(super) fn fetch(
    charts: &[PathBuf],
    (lock, renews): (&mut ProjectLock, bool),
    sources: &Sources,
    stderr: &Stderr,
) -> Result<(), Failed> {
    let charts = charts.iter().map(ChartSource::open).collect::<Result<Vec<_>, _>>()?;
    let (cache, known) = (ChartCache::of_schemas()?, if renews { BTreeMap::new() } else { schemas(lock)? });
    let (mut found, mut fetched) = (BTreeMap::new(), 0);
    loop {
        let wanted = missing(&charts, &found)?;
        if wanted.is_empty() {
            break;
        }
        if found.len() + wanted.len() > MAX {
            let message = format!("the schemas of the charts refer to more than {MAX} documents");
            return Err(Diagnostic::new(Code::LimitTemplates, message).into());
        }
        let (there, absent): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|url| known.contains_key(url));
        found.extend(
            there
                .into_iter()
                .filter_map(|url| known.get_key_value(&url))
                .map(|(url, text)| (url.clone(), text.clone())),
        );
        fetched += absent.len();
        let texts = sources.documents(&absent)?;
        for (url, text) in absent.into_iter().zip(texts) {
            check(&url, &text, lock.schemas.iter().filter(|_| !renews))?;
            found.insert(url, text);
        }
    }
    let locked = |(url, text): (&String, &String)| LockedSchema { url: url.clone(), digest: digest(text.as_bytes()) };
    let locked: Vec<LockedSchema> = found.iter().map(locked).collect();
    for text in found.values() {
        cache.put(text.as_bytes())?;
    }
    if lock.schemas != locked {
        lock.schemas = locked;
        lock.write()?;
    }
    stderr.note(&format!("{} in `{}`, {fetched} fetched", counted(found.len(), "schema"), lock.shown()));
    Ok(())
}

/// Returns the URLs of documents that are not there.
fn missing(charts: &[ChartSource], found: &BTreeMap<String, String>) -> Result<Vec<String>, Failed> {
    let mut urls = BTreeSet::new();
    for chart in charts {
        Chart::load(&chart.clone().with_schemas(found)?)?.missing_schemas(&mut urls);
    }
    let is_new = |url: &String| (url.starts_with("https://") || url.starts_with("http://")) && !found.contains_key(url);
    Ok(urls.into_iter().filter(is_new).collect())
}

/// Checks that a document is that of the lock, if it has one.
fn check<'l>(url: &str, text: &str, mut locked: impl Iterator<Item = &'l LockedSchema>) -> Result<(), Failed> {
    let found = digest(text.as_bytes());
    match locked.find(|one| one.url == url).filter(|one| one.digest != found) {
        None => Ok(()),
        Some(one) => {
            let message = format!("the schema `{url}` has the digest `{found}` instead of `{}`", one.digest);
            let help = "read what has changed, then run `dropforge deps update --schemas`";
            Err(Diagnostic::new(Code::WrongDigest, message).with_help(help).into())
        }
    }
}
