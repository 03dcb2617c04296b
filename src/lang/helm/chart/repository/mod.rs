//! Repositories of charts, without their network: indexes, `Chart.lock`, packed charts and `repositories.yaml`, Helm's list.
//!
//! Everything here is byte for byte what `helm dependency` reads and writes.

mod index;
mod pack;

use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

pub use index::{Index, IndexEntry, IndexFailure, newest};
pub use pack::{Packed, pack};

use super::metadata::{Dependency, Fields, Metadata};
use super::read::first_document;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::hashes::sha256;
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::libyaml::{self, Form};
use dropforge_value::{Data, DataMap, JsonStyle};

/// Returns a map of the fields that are not empty, sorted by name.
fn map(fields: impl IntoIterator<Item = (&'static str, Data)>) -> Data {
    let mut map: DataMap = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    map.sort_unstable_keys();
    Data::Map(map)
}

/// Returns a text, or null if it is empty.
fn filled(text: &str) -> Option<Data> {
    (!text.is_empty()).then(|| Data::Str(text.to_owned()))
}

/// Returns a document as Helm writes it.
fn document(data: &Data) -> String {
    let mut text = String::new();
    // Plain data of readers can be written, and nothing stops the writer.
    let _ = libyaml::write(data, Form::Json, &mut text, &mut |_| Ok::<(), ()>(()));
    text
}

/// A repository of charts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Repository {
    /// The name that `@NAME` refers to. Empty for one that is not noted.
    pub name: String,
    /// The URL, below which there is an `index.yaml`.
    pub url: String,
    /// The user name; may be empty.
    pub username: String,
    /// The password; may be empty.
    pub password: String,
    /// The file of the authorities to trust; may be empty.
    pub ca_file: String,
    /// The file of a certificate for the client; may be empty.
    pub cert_file: String,
    /// The file of the key of this certificate; may be empty.
    pub key_file: String,
    /// The certificate of the server is not checked.
    pub insecure: bool,
    /// Other hosts that the index names may see the password.
    pub pass_credentials_all: bool,
}

impl fmt::Debug for Repository {
    /// Leaves out the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Repository({} {})", self.name, self.url)
    }
}

/// Reads the repositories of Helm's configuration.
///
/// # Errors
/// `input.syntax`, `input.structure`.
pub fn repositories(source: &Arc<Source>) -> Result<Vec<Repository>> {
    let refused = |message: &str| {
        let message = format!("cannot read the repositories in `{}`: {message}", source.name());
        Diagnostic::new(Code::InputStructure, message)
            .at(source, Span::default(), "")
            .with_help("write the file again with `helm repo add`")
    };
    let data = first_document(source).map_err(|errors| match errors.into_iter().next() {
        Some(error) => error,
        None => refused("it is not YAML"),
    })?;
    let items = match data.get("repositories") {
        None | Some(Data::Null) => return Ok(Vec::new()),
        Some(Data::List(items)) => items,
        Some(_) => return Err(refused("`repositories` is not a list")),
    };
    items.iter().map(|item| repository(item).ok_or_else(|| refused("an entry is not a map of texts"))).collect()
}

fn repository(item: &Data) -> Option<Repository> {
    let mut fields = Fields::of(item, "Entry").ok()?;
    let found = Repository {
        name: fields.text("name"),
        url: fields.text("url"),
        username: fields.text("username"),
        password: fields.text("password"),
        ca_file: fields.text("caFile"),
        cert_file: fields.text("certFile"),
        key_file: fields.text("keyFile"),
        insecure: fields.flag("insecure_skip_tls_verify"),
        pass_credentials_all: fields.flag("pass_credentials_all"),
    };
    fields.finish(found).ok()
}

/// The content of `Chart.lock` or `requirements.lock`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChartLock {
    /// The time of its making, in the notation of RFC 3339.
    pub generated: String,
    /// The digest of what was asked for and of what was found.
    pub digest: String,
    /// The dependencies with exact versions.
    pub dependencies: Vec<Dependency>,
}

impl ChartLock {
    /// Reads a lock.
    ///
    /// # Errors
    /// `input.syntax`, `input.structure`.
    pub fn read(source: &Arc<Source>) -> Result<Self> {
        let data = first_document(source).map_err(|errors| first(errors, source))?;
        let dependencies = Metadata::read_requirements(&data).map_err(|whys| {
            let message = format!("cannot load {}: {}", source.name(), whys.join("; "));
            Diagnostic::new(Code::InputStructure, message).at(source, Span::default(), "")
        })?;
        let text = |key| data.get(key).and_then(Data::as_str).unwrap_or_default().to_owned();
        let dependencies = dependencies.unwrap_or_default();
        Ok(Self { generated: text("generated"), digest: text("digest"), dependencies })
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        document(&map([
            ("generated", Data::Str(self.generated.clone())),
            ("digest", Data::Str(self.digest.clone())),
            ("dependencies", Data::List(self.dependencies.iter().map(|one| sorted(&fields(one))).collect())),
        ]))
    }
}

fn first(errors: Vec<Box<Diagnostic>>, source: &Arc<Source>) -> Box<Diagnostic> {
    let none = || Diagnostic::new(Code::InputSyntax, format!("cannot parse `{}`", source.name()));
    errors.into_iter().next().unwrap_or_else(none)
}

/// Returns the digest of the dependencies that a chart asks for and of those that they resolve to. `None` for a chart without
/// a list of them.
pub fn digest(wanted: Option<&[Dependency]>, locked: &[Dependency]) -> String {
    let locked = wanted.is_some().then_some(locked);
    of_json(&Data::List(vec![list(wanted), list(locked)]))
}

/// Returns the digest that Helm 2 wrote, of the dependencies that a chart asks for.
pub fn old_digest(wanted: Option<&[Dependency]>) -> String {
    of_json(&map([("dependencies", list(wanted))]))
}

fn list(all: Option<&[Dependency]>) -> Data {
    all.map_or(Data::Null, |all| Data::List(all.iter().map(fields).collect()))
}

fn of_json(data: &Data) -> String {
    let mut json = String::new();
    let style = JsonStyle::Exchanged { pretty: false, markup: true };
    // Plain data of readers can be written, and nothing stops the writer.
    let _ = dropforge_value::marshal::exchange_json(data, style, &mut json, &mut |_| Ok::<(), ()>(()));
    let mut text = "sha256:".to_owned();
    for byte in sha256(json.as_bytes()) {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the fields of a dependency, in the order in which Helm declares them.
fn fields(dependency: &Dependency) -> Data {
    let texts = |all: &[String]| Data::List(all.iter().cloned().map(Data::Str).collect());
    let listed = |list: Data| (list.as_list() != Some(&[])).then_some(list);
    let all = [
        ("name", Some(Data::Str(dependency.name.clone()))),
        ("version", filled(&dependency.version)),
        ("repository", Some(Data::Str(dependency.repository.clone()))),
        ("condition", filled(&dependency.condition)),
        ("tags", listed(texts(&dependency.tags))),
        ("enabled", dependency.enabled.then_some(Data::Bool(true))),
        ("import-values", listed(Data::List(dependency.import_values.iter().map(sorted).collect()))),
        ("alias", filled(&dependency.alias)),
    ];
    Data::Map(all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
}

/// Returns data with the keys of its maps in order. Readers bound the nesting.
fn sorted(data: &Data) -> Data {
    match data {
        Data::List(items) => Data::List(items.iter().map(sorted).collect()),
        Data::Map(map) => {
            let mut map: dropforge_value::DataMap =
                map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            map.sort_unstable_keys();
            Data::Map(map)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_read_and_their_passwords_not_printed() {
        let text = "apiVersion: \"\"\nrepositories:\n- name: a\n  url: https://r.io\n  username: me\n  password: s3cret\n  \
                    pass_credentials_all: true\n- name: b\n  url: https://s.io/x\n";
        let found = repositories(&Source::new("repositories.yaml", text)).unwrap();
        assert_eq!((found[0].username.as_str(), found[0].pass_credentials_all), ("me", true));
        assert_eq!((found[1].name.as_str(), found[1].url.as_str()), ("b", "https://s.io/x"));
        assert!(!format!("{found:?}").contains("s3cret"));
        assert!(repositories(&Source::new("r", "")).unwrap().is_empty());
        for wrong in
            ["repositories: 1", "repositories: [1]", "repositories:\n- name: [1]\n", "a: [", "repositories:\n- url: {}"]
        {
            assert!(repositories(&Source::new("r", wrong)).is_err(), "{wrong}");
        }
    }
}

#[cfg(test)]
mod lock_tests {
    use super::*;

    fn dependency(name: &str, version: &str, repository: &str) -> Dependency {
        let owned = str::to_owned;
        Dependency {
            name: owned(name),
            version: owned(version),
            repository: owned(repository),
            ..Dependency::default()
        }
    }

    /// The digest and the lock are those that `helm dependency update` made.
    #[test]
    fn digests_and_locks_are_those_of_helm() {
        let import: Data = serde_json::from_str(r#"{"parent": "b", "child": "a"}"#).unwrap();
        let wanted = [
            Dependency {
                alias: "foo".to_owned(),
                tags: vec!["a".to_owned()],
                import_values: vec![Data::Str("x".to_owned()), import],
                ..dependency("sub", ">=1.0", "http://127.0.0.1:8765")
            },
            dependency("loc", "0.x", "file://../loc"),
        ];
        let locked =
            [dependency("sub", "v2.0.0", "http://127.0.0.1:8765"), dependency("loc", "0.3.0", "file://../loc")];
        let digest = digest(Some(&wanted), &locked);
        assert_eq!(digest, "sha256:72114afccc3b556d6e0356226867f52bfe1fe25de1d0ef987db9cad01eb62ae9");
        let lock = ChartLock {
            generated: "2026-11-30T08:26:07.558283297Z".to_owned(),
            digest: digest.clone(),
            dependencies: locked.to_vec(),
        };
        let text = format!(
            "dependencies:\n- name: sub\n  repository: http://127.0.0.1:8765\n  version: v2.0.0\n- name: loc\n  \
             repository: file://../loc\n  version: 0.3.0\ndigest: {digest}\ngenerated: \"2026-11-30T08:26:07.558283297Z\"\n"
        );
        assert_eq!(lock.text(), text);
        assert_eq!(ChartLock::read(&Source::new("Chart.lock", text)).unwrap(), lock);
    }
}
