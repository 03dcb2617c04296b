//! `repositories.yaml`: the repositories that `helm repo add` notes, with their credentials.

use std::fmt;
use std::sync::Arc;

use super::super::metadata::Fields;
use super::super::read::first_document;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::{Source, Span};
use dropforge_value::Data;

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
