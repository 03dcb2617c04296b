//! The versions of charts, and the choice among them.

use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::dialect::helm::chart::Dependency;
use dropforge::dialect::helm::chart::repository::{IndexEntry, Repository, newest};
use dropforge::remote::join_url;
use dropforge::remote::oci::Reference;
use dropforge::stdlib::semver::{LenientVersion, Version};

use super::sources::{Place, Release, without_secrets};

/// The head of a table of newer versions.
pub(super) const NEWER: [&str; 4] = ["NAME", "VERSION", "FITTING", "NEWEST"];

/// The versions of a chart, the newest first.
#[derive(Debug)]
pub(crate) enum Versions {
    Index(Box<Repository>, Vec<IndexEntry>),
    /// The repository has no such chart.
    NoChart,
    Registry(Vec<String>),
}

impl Versions {
    /// Returns the newest version of `wanted` that fits a range.
    ///
    /// # Errors
    /// `charts.no_version`, with the versions that there are.
    pub(crate) fn newest(&self, wanted: &Dependency) -> Result<Release> {
        if matches!(self, Self::NoChart) {
            return Err(no_chart(wanted));
        }
        let all = || self.texts().filter(|(_, is_usable)| *is_usable).map(|(version, _)| version);
        let found = newest(&wanted.version, all()).map_err(|why| bad_range(wanted, &why))?;
        let version = found.and_then(|at| all().nth(at)).map(str::to_owned);
        match version {
            Some(version) => self.exact(wanted, &version),
            None => {
                let message = format!(
                    "no version of the chart `{}` in `{}` fits `{}`",
                    wanted.name, wanted.repository, wanted.version
                );
                let error = Diagnostic::new(Code::NoChartVersion, message).with_help("change the range");
                Err(error.with_available(all().take(50).map(str::to_owned)))
            }
        }
    }

    /// Returns a version.
    ///
    /// # Errors
    /// `charts.no_version`, with the versions that there are.
    pub(crate) fn exact(&self, wanted: &Dependency, version: &str) -> Result<Release> {
        let release = |version: &str, digest, place| Release {
            name: wanted.name.clone(),
            version: version.to_owned(),
            digest,
            place,
        };
        match self {
            Self::NoChart => Err(no_chart(wanted)),
            Self::Registry(..) => Ok(release(version, None, Place::Registry(reference(wanted, Some(version))?))),
            Self::Index(repository, entries) => {
                let is_it = |one: &&IndexEntry| !one.urls.is_empty() && is_same_version(&one.version, version);
                let Some((entry, url)) = entries.iter().find(is_it).and_then(|one| Some((one, one.urls.first()?)))
                else {
                    let repository = without_secrets(&wanted.repository);
                    let message = format!("the chart `{}` in `{repository}` has no version {version}", wanted.name);
                    let error = Diagnostic::new(Code::NoChartVersion, message)
                        .with_help("choose another one with `dropforge deps update`");
                    return Err(error.with_available(entries.iter().take(50).map(|one| one.version.clone())));
                };
                let digest = Some(entry.digest.clone()).filter(|digest| !digest.is_empty());
                let url = join_url(&repository.url, url);
                // A repository may list charts of a registry.
                let place = match url.strip_prefix("oci://") {
                    Some(text) => Place::Registry(parsed(text)?),
                    None => Place::File { url, of: repository.clone() },
                };
                let digest = digest.filter(|_| matches!(place, Place::File { .. }));
                Ok(release(&entry.version, digest, place))
            }
        }
    }

    /// Returns the row of a table for a chart of which there are other versions than the locked one: those that fit what is
    /// wanted, and any.
    pub(crate) fn newer(&self, locked: &str, (wanted, any): (&Dependency, &Dependency)) -> Option<[String; 4]> {
        let newest = |of: &Dependency| self.newest(of).map_or_else(|_| locked.to_owned(), |one| one.version);
        let (fitting, newest) = (newest(wanted), newest(any));
        let is_newer = match (LenientVersion::parse(&newest), LenientVersion::parse(locked)) {
            (Ok(newest), Ok(locked)) => newest.version.cmp_version(&locked.version).is_gt(),
            _ => newest != locked,
        };
        (is_newer || !is_same_version(&fitting, locked))
            .then(|| [wanted.name.clone(), locked.to_owned(), fitting, newest])
    }

    /// Returns the versions, each with `true` if it can be fetched.
    pub(crate) fn texts(&self) -> Box<dyn Iterator<Item = (&str, bool)> + '_> {
        match self {
            Self::Index(_, entries) => Box::new(entries.iter().map(|one| (one.version.as_str(), !one.urls.is_empty()))),
            Self::NoChart => Box::new(std::iter::empty()),
            Self::Registry(tags) => Box::new(tags.iter().map(|tag| (tag.as_str(), true))),
        }
    }
}

/// Returns the version of a registry's chart that is asked for by its exact number.
///
/// # Errors
/// `store.bad_url`.
pub(crate) fn exact_of_registry(wanted: &Dependency) -> Result<Release> {
    let place = Place::Registry(reference(wanted, Some(&wanted.version))?);
    Ok(Release { name: wanted.name.clone(), version: wanted.version.clone(), digest: None, place })
}

/// Returns the reference to a chart of a registry. Tags have no `+`.
pub(super) fn reference(wanted: &Dependency, version: Option<&str>) -> Result<Reference> {
    let base = wanted.repository.strip_prefix("oci://").unwrap_or(&wanted.repository).trim_end_matches('/');
    let tag = version.map(|version| format!(":{}", version.replace('+', "_"))).unwrap_or_default();
    parsed(&format!("{base}/{}{tag}", wanted.name))
}

pub(super) fn parsed(text: &str) -> Result<Reference> {
    text.parse().map_err(|why| Diagnostic::new(Code::BadUrl, format!("cannot read the URL `oci://{text}`: {why}")))
}

/// Returns the versions among the tags of a registry, the newest first.
pub(super) fn sorted_tags(tags: Vec<String>) -> Vec<String> {
    let mut tags: Vec<String> = tags.into_iter().map(|tag| tag.replace('_', "+")).collect();
    tags.retain(|tag| Version::parse(tag).is_ok());
    tags.sort_by(|a, b| match (Version::parse(a), Version::parse(b)) {
        (Ok(a), Ok(b)) => b.cmp_version(&a),
        _ => std::cmp::Ordering::Equal,
    });
    tags
}

/// Returns `true` for spellings of one version.
pub(super) fn is_same_version(a: &str, b: &str) -> bool {
    match (LenientVersion::parse(a), LenientVersion::parse(b)) {
        (Ok(a), Ok(b)) => a.version == b.version && a.build == b.build,
        _ => a == b,
    }
}

/// Returns the error of a range that cannot be read.
pub(super) fn bad_range(wanted: &Dependency, why: &str) -> Box<Diagnostic> {
    let message = format!("the dependency `{}` has the invalid version `{}`: {why}", wanted.name, wanted.version);
    Diagnostic::new(Code::NoChartVersion, message).with_help("write a version or a range such as `^1.2`")
}

fn no_chart(wanted: &Dependency) -> Box<Diagnostic> {
    let repository = without_secrets(&wanted.repository);
    let message = format!("there is no chart `{}` in the repository `{repository}`", wanted.name);
    Diagnostic::new(Code::NoChartVersion, message).with_help("check the name and the URL")
}
