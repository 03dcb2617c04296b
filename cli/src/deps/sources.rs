//! Repositories and registries of charts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::dialect::helm::chart::repository::{Index, Repository, newest, repositories};
use dropforge::dialect::helm::chart::{Bounds, Chart, ChartSource, Dependency};
use dropforge::files;
use dropforge::remote::oci::{self, Reference};
use dropforge::remote::{Identity, Login, Patience, StoreOptions, Trust, WebFiles, join_url};
use dropforge::stdlib::semver::LenientVersion;
use dropforge::text::Source;
use indicatif::{HumanBytes, ProgressBar};

use super::versions::{Versions, is_same_version, parsed, reference, sorted_tags};
use crate::locked_charts::MAX_SCHEMA;
use crate::run::{bar, style};
use crate::stderr::Stderr;

/// Maximum length of a packed chart.
pub(super) const MAX_CHART: u64 = 64 << 20;
/// Maximum length of an index.
const MAX_INDEX: u64 = 512 << 20;
/// Maximum length of Helm's configuration.
const MAX_CONFIG: u64 = 4 << 20;
/// Requests at a time.
const PARALLEL: usize = 8;

/// The repositories that this machine knows.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    known: Vec<Repository>,
    options: StoreOptions,
    /// Counts the charts that are fetched.
    bar: Option<ProgressBar>,
}

/// A version of a chart in a repository or registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Release {
    /// The name of the chart.
    pub(crate) name: String,
    /// The version as the repository writes it.
    pub(crate) version: String,
    /// The digest of the packed chart, if the repository has one.
    pub(super) digest: Option<String>,
    pub(super) place: Place,
}

/// The place of a packed chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A file of a web server, with the repository whose login it takes.
    File {
        url: String,
        of: Box<Repository>,
    },
    Registry(Reference),
}

impl Sources {
    /// Reads Helm's list of repositories. There may be none.
    ///
    /// # Errors
    /// `input.syntax`, `input.structure`, `file.read_failed`.
    pub(crate) fn read() -> Result<Self> {
        let Some(path) = config_path().filter(|path| path.exists()) else { return Ok(Self::default()) };
        let bytes = files::read(&path, MAX_CONFIG).map_err(|error| files::unreadable(&path, error))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let known = repositories(&Source::new(path.display().to_string(), text))?;
        Ok(Self { known, ..Self::default() })
    }

    /// Sets the time after which a server is given up, and shows on a terminal what is fetched.
    pub(crate) fn online(self, timeout: Duration, stderr: &Stderr) -> Self {
        let patience = Patience { total: timeout, ..Patience::default() };
        let options = StoreOptions { patience, timeout: timeout.min(StoreOptions::default().timeout), ..self.options };
        Self { options, bar: Some(charts(stderr)), ..self }
    }

    /// Returns the repository that a dependency names: by `@NAME` or `alias:NAME`, or by its URL.
    ///
    /// # Errors
    /// `charts.unknown_repository`.
    pub(crate) fn repository(&self, text: &str) -> Result<Repository> {
        if let Some(name) = text.strip_prefix('@').or_else(|| text.strip_prefix("alias:")) {
            return self.known.iter().find(|one| one.name == name).cloned().ok_or_else(|| self.unknown(text));
        }
        if let Some(found) = self.known.iter().find(|one| is_same_url(&one.url, text)) {
            return Ok(Repository { url: text.to_owned(), ..found.clone() });
        }
        match text.split_once("://") {
            Some(("http" | "https", rest)) if !rest.is_empty() => {
                Ok(Repository { url: text.to_owned(), ..Repository::default() })
            }
            _ => Err(self.unknown(text)),
        }
    }

    fn unknown(&self, text: &str) -> Box<Diagnostic> {
        let error = Diagnostic::new(Code::UnknownRepository, format!("no repository definition for `{text}`"));
        let names: Vec<String> = self.known.iter().map(|one| format!("@{}", one.name)).collect();
        let error = match text.contains("//") || text.starts_with('@') || text.starts_with("alias:") {
            true => error.with_help("add it with `helm repo add NAME URL`"),
            false => error.with_help(format!("write its URL, or its name after `@`: `@{text}`")),
        };
        if names.is_empty() { error } else { error.with_available(names) }
    }

    /// Returns the versions of the dependencies that a repository or registry has, in their order. `None` for those with
    /// another place, and those of a registry with an exact version.
    ///
    /// # Errors
    /// Errors of the servers.
    pub(crate) fn versions(&self, wanted: &[Dependency]) -> Result<Vec<Option<Versions>>> {
        let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for one in wanted.iter().filter(|one| is_web(&one.repository)) {
            names.entry(&one.repository).or_default().insert(&one.name);
        }
        let asked: Vec<(&str, BTreeSet<&str>)> = names.into_iter().collect();
        let indexes = in_parallel(&asked, |(url, names)| {
            let repository = self.repository(url)?;
            let index = self.index(&repository, names)?;
            Ok((repository, index))
        })?;
        let tags = in_parallel(wanted, |one| match one.repository.strip_prefix("oci://") {
            Some(_) if LenientVersion::parse(&one.version).is_err() => {
                let tags = oci::tags(&reference(one, None)?, &self.options)?;
                Ok(Some(Versions::Registry(sorted_tags(tags))))
            }
            _ => Ok(None),
        })?;
        let of_index = |one: &Dependency| {
            let at = asked.iter().position(|(url, _)| *url == one.repository)?;
            let (repository, index) = indexes.get(at)?;
            let found = index.versions(&one.name).map(<[_]>::to_vec);
            Some(found.map_or(Versions::NoChart, |entries| Versions::Index(Box::new(repository.clone()), entries)))
        };
        Ok(wanted.iter().zip(tags).map(|(one, tags)| tags.or_else(|| of_index(one))).collect())
    }

    /// Returns a chart of a lock. Without a name, it may be any chart; without a version, any version. The URL of a lock gets the
    /// secrets of the repository that it is of.
    ///
    /// # Errors
    /// `store.bad_url`.
    pub(crate) fn locked(&self, name: &str, (version, digest): (&str, &str), source: &str) -> Result<Release> {
        let place = match source.strip_prefix("oci://") {
            Some(text) => Place::Registry(parsed(text)?),
            None => {
                let is_of = |one: &&Repository| {
                    source.starts_with(&format!("{}/", without_secrets(&one.url).trim_end_matches('/')))
                };
                let none = || Repository { url: source.to_owned(), ..Repository::default() };
                let of = self.known.iter().find(is_of);
                // A URL that has a query or a user already is not of a lock.
                let is_bare = without_secrets(source) == source;
                let url = of.filter(|_| is_bare).map_or_else(|| source.to_owned(), |of| with_secrets(source, &of.url));
                Place::File { url, of: Box::new(of.cloned().unwrap_or_else(none)) }
            }
        };
        let digest = Some(digest.to_owned()).filter(|digest| !digest.is_empty());
        Ok(Release { name: name.to_owned(), version: version.to_owned(), digest, place })
    }

    fn index(&self, repository: &Repository, names: &BTreeSet<&str>) -> Result<Index> {
        let url = join_url(&repository.url, "index.yaml");
        let mut file = temporary()?;
        self.client(repository)?.fetch("read the index of charts", &url, MAX_INDEX, (&mut file, &|_| {}))?;
        Index::read(file, names).map_err(|failure| {
            let url = without_secrets(&url);
            Diagnostic::new(Code::StoreFailed, format!("cannot read the index of charts `{url}`: {failure}"))
                .with_help("check the URL of the repository: `index.yaml` is added to it")
        })
    }

    fn client(&self, repository: &Repository) -> Result<WebFiles> {
        let file = |path: &str| {
            let (path, is_named) = (Path::new(path), !path.is_empty());
            let read = || files::read(path, MAX_CONFIG).map_err(|error| files::unreadable(path, error));
            is_named.then(read).transpose()
        };
        let identity = match (file(&repository.cert_file)?, file(&repository.key_file)?) {
            (Some(certificates), Some(key)) => Some(Identity { certificates, key }),
            (None, None) => None,
            (certificate, _) => {
                let (has, lacks) =
                    if certificate.is_some() { ("certFile", "keyFile") } else { ("keyFile", "certFile") };
                let url = without_secrets(&repository.url);
                let message = format!("the repository `{url}` has `{has}` without `{lacks}`");
                return Err(
                    Diagnostic::new(Code::UnknownRepository, message).with_help("add both with `helm repo add`")
                );
            }
        };
        let trust = Trust { authorities: file(&repository.ca_file)?, identity, unchecked: repository.insecure };
        let has_login = !repository.username.is_empty() && !repository.password.is_empty();
        let login = has_login.then(|| Login {
            user: repository.username.clone(),
            password: repository.password.clone(),
            everywhere: repository.pass_credentials_all,
        });
        let client = WebFiles::new(&repository.url, login, trust, &self.options);
        client.map_err(|error| {
            error.with_note(format!("the files are those of the repository `{}`", without_secrets(&repository.url)))
        })
    }

    /// Fetches packed charts, and checks that they are what they should be.
    ///
    /// # Errors
    /// Errors of the servers; `store.wrong_digest`; errors of reading the charts.
    pub(crate) fn fetch(&self, releases: &[Release]) -> Result<Vec<Vec<u8>>> {
        let bar = self.bar.clone().unwrap_or_else(ProgressBar::hidden);
        bar.set_length(releases.len() as u64);
        let fetched = in_parallel(releases, |release| {
            let name = release.file_name().unwrap_or_default();
            let shown = |bytes| bar.set_message(format!("{name}: {}", HumanBytes(bytes)));
            shown(0);
            let bytes = self.bytes(release, &shown)?;
            release.check(&bytes)?;
            bar.inc(1);
            Ok(bytes)
        });
        bar.finish_and_clear();
        fetched
    }

    fn bytes(&self, release: &Release, progress: &dyn Fn(u64)) -> Result<Vec<u8>> {
        match &release.place {
            Place::Registry(reference) => Ok(oci::pull_chart(reference, MAX_CHART, &self.options)?.bytes),
            Place::File { url, of } => self.file("fetch the chart", (url, MAX_CHART), of, progress),
        }
    }

    /// Returns the file of at most `max` bytes at a URL.
    fn file(&self, what: &str, (url, max): (&str, u64), of: &Repository, progress: &dyn Fn(u64)) -> Result<Vec<u8>> {
        let (mut file, mut bytes) = (temporary()?, Vec::new());
        self.client(of)?.fetch(what, url, max, (&mut file, progress))?;
        file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes)).map_err(unkept)?;
        Ok(bytes)
    }

    /// Fetches documents that schemas refer to. No server gets credentials.
    ///
    /// # Errors
    /// Errors of the servers; `store.failed` for a document that is not JSON.
    pub(super) fn documents(&self, urls: &[String]) -> Result<Vec<String>> {
        in_parallel(urls, |url| {
            let of = Repository { url: url.clone(), ..Repository::default() };
            let bytes = self.file("fetch the schema", (url, MAX_SCHEMA), &of, &|_| {})?;
            let text = String::from_utf8(bytes).ok();
            let is_json = |text: &String| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            text.filter(is_json).ok_or_else(|| {
                Diagnostic::new(Code::StoreFailed, format!("the schema `{url}` is not JSON")).with_help("check the URL")
            })
        })
    }
}

impl Release {
    /// Returns the name of the file in `charts/`.
    pub(crate) fn file_name(&self) -> Result<String> {
        let name = match &self.place {
            Place::Registry(_) => format!("{}-{}.tgz", self.name, self.version),
            Place::File { url, .. } => {
                let path = url.split(['?', '#']).next().unwrap_or(url);
                let last = path.rsplit('/').next().unwrap_or(path);
                percent_encoding::percent_decode_str(last).decode_utf8_lossy().into_owned()
            }
        };
        let is_plain = !matches!(name.as_str(), "" | "." | "..") && !name.contains(['/', '\\', '\0']);
        let message = || format!("the chart at `{self}` has no name for a file");
        if is_plain { Ok(name) } else { Err(Diagnostic::new(Code::StoreFailed, message())) }
    }

    /// Checks the content of a packed chart.
    fn check(&self, bytes: &[u8]) -> Result<()> {
        let found = oci::digest(bytes);
        let expected =
            self.digest.as_deref().map(|text| text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase());
        if let Some(expected) = expected.filter(|expected| found.strip_prefix("sha256:") != Some(expected)) {
            let message = format!("the chart `{self}` has the digest `{found}` instead of `sha256:{expected}`");
            return Err(Diagnostic::new(Code::WrongDigest, message)
                .with_help("the index of the repository is out of date, or the server is not to be trusted"));
        }
        let (name, version) = names(bytes).map_err(|error| error.with_note(format!("the chart is from `{self}`")))?;
        let is_version = match self.name.as_str() {
            "" => {
                self.version.is_empty() || newest(&self.version, [version.as_str()]).is_ok_and(|found| found.is_some())
            }
            _ => is_same_version(&version, &self.version),
        };
        if is_version && (self.name.is_empty() || name == self.name) {
            return Ok(());
        }
        let message = format!("the chart `{self}` is `{name}` {version}, not `{}` {}", self.name, self.version);
        Err(Diagnostic::new(Code::StoreFailed, message).with_help("the index of the repository is wrong"))
    }
}

impl std::fmt::Display for Release {
    /// Formats the URL.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Place::File { url, .. } => f.write_str(url),
            Place::Registry(reference) => write!(f, "oci://{reference}"),
        }
    }
}

/// Returns the name and the version of a packed chart.
///
/// # Errors
/// Errors of reading it.
pub(crate) fn names(bytes: &[u8]) -> Result<(String, String)> {
    let source = ChartSource::archive(bytes, Bounds::default())?;
    let chart = Chart::load(&source).map_err(|errors| match errors.into_vec().into_iter().next() {
        Some(error) => error,
        None => Diagnostic::new(Code::StoreFailed, "the chart cannot be read"),
    })?;
    Ok((chart.metadata().name.clone(), chart.metadata().version.clone()))
}

/// Returns `true` for the URL of a repository with an index.
fn is_web(repository: &str) -> bool {
    !(repository.is_empty() || repository.starts_with("oci://") || repository.starts_with("file://"))
}

/// Returns `true` for URLs that differ in a slash at their ends only.
fn is_same_url(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

/// Creates a bar that counts charts which are fetched, hidden like [`bar`].
fn charts(stderr: &Stderr) -> ProgressBar {
    let bar = bar(0, stderr);
    if let Some(style) = style("{spinner} {human_pos}/{human_len} charts, {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

fn temporary() -> Result<File> {
    tempfile::tempfile().map_err(unkept)
}

fn unkept(error: std::io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::WriteFailed, format!("cannot keep what is fetched: {error}")).caused_by(error)
}

/// Returns the path of Helm's list of repositories.
fn config_path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = set("HELM_REPOSITORY_CONFIG") {
        return Some(path);
    }
    let xdg = || Some(set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?.join("helm"));
    Some(set("HELM_CONFIG_HOME").or_else(xdg)?.join("repositories.yaml"))
}

/// Runs `work` for each item, several at a time. Returns the results in order, or the error of the first item that has one.
fn in_parallel<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> Result<T> + Sync) -> Result<Vec<T>> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..PARALLEL.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    let Some(item) = items.get(at) else { return };
                    let result = work(item);
                    if result.is_err() {
                        next.store(items.len(), Ordering::SeqCst);
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns a URL without a user, a password and a query, which may be a token: for files that are committed.
pub(super) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}{path}")
}

/// Returns a URL with the user, the password and the query of the URL of its repository.
pub(super) fn with_secrets(url: &str, repository: &str) -> String {
    let (base, query) = repository.split_once('?').map_or((repository, None), |(base, query)| (base, Some(query)));
    let user = base.split_once("://").and_then(|(_, rest)| Some(rest.split('/').next()?.rsplit_once('@')?.0));
    let url = match (user, url.split_once("://")) {
        (Some(user), Some((scheme, rest))) => format!("{scheme}://{user}@{rest}"),
        _ => url.to_owned(),
    };
    query.map_or_else(|| url.clone(), |query| format!("{url}?{query}"))
}

#[cfg(test)]
mod tests {
    use super::{with_secrets, without_secrets};

    #[test]
    fn a_lock_has_no_secrets_of_repositories() {
        for (repository, url, bare) in [
            ("https://h/c?t=s3", "https://h/c/a.tgz?t=s3", "https://h/c/a.tgz"),
            ("https://u:pw@h:1/c", "https://u:pw@h:1/c/a.tgz", "https://h:1/c/a.tgz"),
            ("https://u@h/?t=1", "https://u@h/a@b.tgz?t=1", "https://h/a@b.tgz"),
            ("https://h/c", "https://h/c/a.tgz", "https://h/c/a.tgz"),
        ] {
            assert_eq!(without_secrets(url), bare);
            assert_eq!(with_secrets(bare, repository), url);
        }
        assert_eq!(without_secrets("oci://h/a:1"), "oci://h/a:1");
    }
}
