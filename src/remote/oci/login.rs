//! Credentials for registries from Docker's configuration, and certificates from the folders of Docker and Podman:
//! `certs.d/HOST` with `ca.crt`, `client.cert` and `client.key`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::files;
use dropforge_base::mask::Mask;
use dropforge_base::stdlib::encodings::{self, octets_of_base64};
use dropforge_http::{Identity, Trust};

/// Maximum size of the configuration.
const MAX_CONFIG: u64 = 1 << 20;

/// A user name and a password, or a token.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials {
    /// For `Authorization: Basic`.
    Password { user: String, password: String },
    /// A refresh token for the service that gives tokens.
    Identity(String),
}

impl Credentials {
    /// Returns what errors must not repeat.
    pub(super) fn mask(&self) -> Mask {
        match self {
            Self::Password { user, password } => {
                Mask::new([user.as_str(), password, &format!("{user}:{password}"), &basic(user, password)])
            }
            Self::Identity(token) => Mask::new([token.as_str()]),
        }
    }
}

impl std::fmt::Debug for Credentials {
    /// Leaves out the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

#[derive(Debug, Default, Deserialize)]
struct DockerConfig {
    #[serde(default)]
    auths: BTreeMap<String, DockerLogin>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
struct DockerLogin {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
}

/// A tool whose configuration has credentials. Both have the same form.
#[derive(Debug, Clone, Copy)]
pub(super) enum Config {
    /// `docker login`: `$DOCKER_CONFIG/config.json` or `~/.docker/config.json`.
    Docker,
    /// `helm registry login`: `$HELM_REGISTRY_CONFIG` or `~/.config/helm/registry/config.json`.
    Helm,
}

impl Config {
    /// Returns the path of the configuration.
    pub(super) fn path(self) -> Option<PathBuf> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = |below: &str| Some(set("HOME")?.join(below));
        match self {
            Self::Docker => Some(set("DOCKER_CONFIG").or_else(|| home(".docker"))?.join("config.json")),
            Self::Helm => set("HELM_REGISTRY_CONFIG").or_else(|| {
                let xdg = || Some(set("XDG_CONFIG_HOME").or_else(|| home(".config"))?.join("helm"));
                Some(set("HELM_CONFIG_HOME").or_else(xdg)?.join("registry/config.json"))
            }),
        }
    }
}

/// Returns the credentials for `registry` in the first configuration that has some. A configuration that is missing or
/// cannot be read has none.
pub(super) fn find_credentials(registry: &str, configs: &[Config]) -> Option<Credentials> {
    configs.iter().find_map(|config| in_config(&files::read(&config.path()?, MAX_CONFIG).ok()?, registry))
}

fn in_config(text: &[u8], registry: &str) -> Option<Credentials> {
    let config: DockerConfig = serde_json::from_slice(text).ok()?;
    let entry = config.auths.into_iter().find(|(key, _)| host(key) == host(registry))?.1;
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    if let Some(token) = filled(entry.identitytoken) {
        return Some(Credentials::Identity(token));
    }
    if let (Some(user), Some(password)) = (filled(entry.username), filled(entry.password)) {
        return Some(Credentials::Password { user, password });
    }
    let decoded = String::from_utf8(octets_of_base64(&filled(entry.auth)?)?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some(Credentials::Password { user: user.to_owned(), password: password.trim_end_matches('\0').to_owned() })
}

/// Returns the host of a key such as `https://index.docker.io/v1/`. Docker Hub has several names.
fn host(key: &str) -> &str {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    match rest.split('/').next().unwrap_or(rest) {
        "index.docker.io" | "registry-1.docker.io" => "docker.io",
        host => host,
    }
}

/// Returns the value of `Authorization` for a password.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", encodings::base64(format!("{user}:{password}").as_bytes()))
}

/// Maximum size of a file.
const MAX_FILE: u64 = 1 << 20;
/// Folders of the whole machine.
const SYSTEM: [&str; 2] = ["/etc/docker/certs.d", "/etc/containers/certs.d"];

/// Returns the certificates for `registry` in the first folder that has one of its name.
///
/// # Errors
/// A file cannot be read; `store.failed` for a certificate of a client without its key.
pub(super) fn find(registry: &str) -> Result<Option<Trust>> {
    let own = Config::Docker.path().map(|path| path.with_file_name("certs.d"));
    let folders = own.into_iter().chain(SYSTEM.map(PathBuf::from)).map(|folder| folder.join(registry));
    folders.into_iter().find(|folder| folder.is_dir()).map(|folder| read(&folder)).transpose()
}

fn read(folder: &Path) -> Result<Trust> {
    let (mut authorities, mut identity) = (Vec::new(), None);
    for path in paths(folder)? {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("crt") => {
                authorities.extend(content(&path)?);
                authorities.push(b'\n');
            }
            Some("cert") if identity.is_none() => {
                let key = path.with_extension("key");
                if !key.exists() {
                    let message = format!("the certificate `{}` has no key `{}`", path.display(), key.display());
                    return Err(Diagnostic::new(Code::StoreFailed, message).with_help("put its key beside it"));
                }
                identity = Some(Identity { certificates: content(&path)?, key: content(&key)? });
            }
            _ => {}
        }
    }
    let authorities = Some(authorities).filter(|authorities| !authorities.is_empty());
    Ok(Trust { authorities, identity, unchecked: false })
}

/// Returns the paths of the files in a folder, sorted.
fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| files::unreadable(folder, error))?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    Ok(paths)
}

fn content(path: &Path) -> Result<Vec<u8>> {
    files::read(path, MAX_FILE).map_err(|error| files::unreadable(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(user: &str, password: &str) -> Option<Credentials> {
        Some(Credentials::Password { user: user.into(), password: password.into() })
    }

    #[test]
    fn entries_are_found_by_host() {
        let config = br#"{"auths": {
            "https://index.docker.io/v1/": {"auth": "dTpwOnE="},
            "ghcr.io": {"username": "a", "password": "b"},
            "localhost:5000": {"identitytoken": "t", "auth": "dTpw"},
            "empty.io": {},
            "bad.io": {"auth": "***"}
        }, "credsStore": "desktop"}"#;
        assert_eq!(in_config(config, "docker.io"), password("u", "p:q"));
        assert_eq!(in_config(config, "registry-1.docker.io"), password("u", "p:q"));
        assert_eq!(in_config(config, "ghcr.io"), password("a", "b"));
        assert_eq!(in_config(config, "localhost:5000"), Some(Credentials::Identity("t".into())));
        for registry in ["localhost", "localhost:5001", "empty.io", "bad.io", "ghcr.io.evil.com"] {
            assert_eq!(in_config(config, registry), None, "{registry}");
        }
    }

    #[test]
    fn broken_configurations_have_no_credentials() {
        for text in ["", "[]", "{\"auths\": 1}", "{\"auths\": {\"a\": 1}}", "{\"auths\": {\"a\": {\"auth\": 7}}}"] {
            assert_eq!(in_config(text.as_bytes(), "a"), None, "{text}");
        }
        assert_eq!(format!("{:?}", password("u", "secret")), "Some(Credentials)");
    }
}

#[cfg(test)]
mod certificates_tests {
    use super::*;

    #[test]
    fn all_authorities_and_one_certificate_with_its_key_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), name).unwrap();
        ["b.crt", "a.crt", "client.key", "notes.txt"].into_iter().for_each(write);
        let trust = read(folder.path()).unwrap();
        assert_eq!((trust.authorities.as_deref(), trust.identity.is_none()), (Some(&b"a.crt\nb.crt\n"[..]), true));
        ["client.cert", "other.cert", "other.key"].into_iter().for_each(write);
        let identity = read(folder.path()).unwrap().identity.unwrap();
        assert_eq!((&identity.certificates[..], &identity.key[..]), (&b"client.cert"[..], &b"client.key"[..]));
        fs::remove_file(folder.path().join("client.key")).unwrap();
        assert!(read(folder.path()).unwrap_err().message.contains("client.key"));
    }
}
