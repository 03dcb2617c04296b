//! Certificates for a registry, from the folders of Docker and Podman: `certs.d/HOST` with `ca.crt`, `client.cert` and
//! `client.key`.

use std::fs;
use std::path::{Path, PathBuf};

use super::login::Config;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::files;
use dropforge_http::{Identity, Trust};

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
