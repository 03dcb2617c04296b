//! The content of a template: a text in Tera, or a packed Helm chart in base64; SHA-256 checksums.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{CatalogError, ErrorKind, Result};
use crate::validation;
use dropforge::dialect::helm::chart::{Release, from_base64};

/// Maximum bytes of a packed chart.
pub(crate) const PACKED: usize = 4 << 20;

/// The beginning of charts in stores. To services of earlier versions it is a comment, so that they can share a database.
const CHART: &str = "{# dialect: helm #}";

/// The language of a template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Text in Tera.
    #[default]
    Tera,
    /// A packed Helm chart in base64.
    Helm,
}

/// The encoding of a template that is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Padded base64.
    Base64,
}

/// The content of a version to create.
#[derive(Debug, Clone)]
pub struct Content {
    /// The language.
    pub language: Language,
    /// The text, or the packed chart in base64.
    pub text: String,
    /// The schema of the parameters. Without one, a chart has its own.
    pub schema: Option<String>,
}

impl Language {
    /// Returns the text that stores hold for a content: that of a chart begins with a comment.
    pub(crate) fn stored(self, text: &str) -> String {
        match self {
            Language::Tera => text.to_owned(),
            Language::Helm => format!("{CHART}{text}"),
        }
    }

    /// Returns the language and the content of a text in a store.
    pub(crate) fn of_stored(mut text: String) -> (Self, String) {
        if text.starts_with(CHART) {
            text.drain(..CHART.len());
            return (Language::Helm, text);
        }
        (Language::Tera, text)
    }

    /// The bytes that stores hold for a content.
    pub(crate) fn stored_bytes(self, text: &str) -> usize {
        match self {
            Language::Tera => text.len(),
            Language::Helm => CHART.len() + text.len(),
        }
    }

    /// Returns `true` for Tera, the language of templates that name none.
    pub(crate) fn is_tera(&self) -> bool {
        *self == Language::Tera
    }

    /// Returns the encoding of its templates, unless they are texts.
    pub fn encoding(self) -> Option<Encoding> {
        match self {
            Language::Tera => None,
            Language::Helm => Some(Encoding::Base64),
        }
    }

    /// Checks that a template of this name can be in the language: the name of a chart's template is that of its release.
    ///
    /// # Errors
    /// `invalid_name`.
    pub(crate) fn check_name(self, name: &str) -> Result<()> {
        match self {
            Language::Tera => Ok(()),
            Language::Helm => release(name).map(|_| ()),
        }
    }

    /// The SHA-256 of what a text stands for: of itself, or of the bytes of a packed chart.
    pub(crate) fn checksum(self, text: &str) -> String {
        match self {
            Language::Tera => checksum(text),
            Language::Helm => from_base64(text, PACKED).map_or_else(|_| checksum(text), checksum),
        }
    }
}

impl Content {
    /// Checks that language, encoding and schema fit together.
    ///
    /// # Errors
    /// `invalid_template_content`; `invalid_body` for a text without a schema.
    pub(crate) fn new(
        language: Language,
        encoding: Option<Encoding>,
        text: String,
        schema: Option<String>,
    ) -> Result<Self> {
        validation::content(&text)?;
        let invalid = |message: &str| Err(CatalogError::invalid("invalid_template_content", message));
        match (language, encoding) {
            (Language::Helm, None) => invalid("a Helm chart is packed and in base64: set `encoding` to `base64`"),
            (Language::Tera, _) if text.starts_with(CHART) => {
                invalid("only packed charts begin with `{# dialect: helm #}`: set `language` to `helm`, without it")
            }
            (Language::Tera, Some(_)) => invalid("only Helm charts are in base64: set `language` to `helm`"),
            (Language::Tera, None) if schema.is_none() => {
                let message = "missing field `parameters_schema`";
                Err(CatalogError::new(ErrorKind::Unprocessable, "invalid_body", message))
            }
            _ => Ok(Self { language, text, schema }),
        }
    }
}

/// Returns the release of a chart.
///
/// # Errors
/// `invalid_name` for a name that no release can have.
pub(crate) fn release(name: &str) -> Result<Release> {
    let release = Release { name: name.to_owned(), ..Release::default() };
    match release.check_name() {
        Ok(()) => Ok(release),
        Err(error) => {
            let help = error.help.map_or_else(String::new, |help| format!(": {help}"));
            Err(CatalogError::invalid("invalid_name", format!("{}{help}", error.message)))
        }
    }
}

/// The SHA-256 digest in lower-case hexadecimal.
///
/// ```
/// let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// assert_eq!(dropforge_catalog::checksum(""), empty);
/// ```
pub fn checksum(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_keep_the_language() {
        for (language, text) in [(Language::Tera, "a: {{ b }}"), (Language::Tera, ""), (Language::Helm, "QQ==")] {
            let stored = language.stored(text);
            assert_eq!(stored.len(), language.stored_bytes(text));
            assert_eq!(Language::of_stored(stored), (language, text.to_owned()));
        }
        let of_text = |text: String| Content::new(Language::Tera, None, text, Some(String::new())).map(|_| ());
        assert!(of_text(Language::Helm.stored("QQ==")).is_err() && of_text("{# dialect: tera+ #}".to_owned()).is_ok());
    }

    #[test]
    fn the_checksum_of_a_chart_is_that_of_its_bytes() {
        assert_eq!(Language::Helm.checksum("aGk=\n"), checksum("hi"));
        assert_eq!(Language::Tera.checksum("aGk="), checksum("aGk="));
    }
}
