//! Settings of stores: environment variables, and those that override them. A client is made only of settings that it
//! can use: its library assumes that of endpoints, regions and headers.

use http::Uri;
use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;
use object_store::gcp::GoogleConfigKey;

use super::location::Kind;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// What a setting must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `http://HOST` or `https://HOST`, with or without a port and a path.
    Url,
    /// A part of a host name.
    Name,
    /// A part of a header: visible ASCII.
    Header,
    /// A line of text, such as a path.
    Line,
}

/// The forms by parts of names. The first row whose part a name has is the one that counts.
const FORMS: [(&str, Form); 17] = [
    ("USE_FABRIC_ENDPOINT", Form::Line),
    ("ENDPOINT", Form::Url),
    ("BASE_URL", Form::Url),
    ("PROXY_URL", Form::Url),
    ("FULL_URI", Form::Url),
    ("AUTHORITY_HOST", Form::Url),
    ("REGION", Form::Name),
    ("ACCOUNT_NAME", Form::Name),
    ("FILE", Form::Line),
    ("SERVICE_ACCOUNT", Form::Line),
    ("APPLICATION_CREDENTIALS", Form::Line),
    ("TOKEN", Form::Header),
    ("KEY", Form::Header),
    ("SECRET", Form::Header),
    ("CLIENT_ID", Form::Header),
    ("TENANT_ID", Form::Header),
    ("USER_AGENT", Form::Header),
];

/// Returns the settings of a store: environment variables, and `more` after them. Empty ones are left out, as the
/// vendors' own clients do.
///
/// # Errors
/// `store.failed` for a setting that no client can use. The message names it without its value, unless it is an address.
pub(super) fn settings_of(kind: Kind, more: &[(String, String)]) -> Result<Vec<(String, String)>> {
    let prefix = match kind {
        Kind::S3 => "AWS_",
        Kind::Google => "GOOGLE_",
        Kind::Azure => "AZURE_",
    };
    let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let variables = variables.filter_map(|(name, value)| Some((name, value.into_string().ok()?)));
    let mut settings: Vec<_> = variables.filter(|(name, _)| name.starts_with(prefix) && kind.knows(name)).collect();
    settings.extend(
        kind.other_names()
            .iter()
            .filter_map(|(variable, name)| Some(((*name).to_owned(), std::env::var(variable).ok()?))),
    );
    settings.extend(more.iter().cloned());
    settings.retain(|(_, value)| !value.is_empty());
    settings.iter().try_for_each(|(name, value)| check(name, value))?;
    Ok(settings)
}

impl Kind {
    /// Returns `true` if a client of this kind of store has a setting of this name.
    fn knows(self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        match self {
            Kind::S3 => name.parse::<AmazonS3ConfigKey>().is_ok(),
            Kind::Google => name.parse::<GoogleConfigKey>().is_ok(),
            Kind::Azure => name.parse::<AzureConfigKey>().is_ok(),
        }
    }

    /// Variables of other prefixes, and the settings that they stand for.
    fn other_names(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::S3 => &[],
            Kind::Google => &[("SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT")],
            Kind::Azure => &[("IDENTITY_ENDPOINT", "AZURE_MSI_ENDPOINT")],
        }
    }
}

fn check(name: &str, value: &str) -> Result<()> {
    let upper = name.to_ascii_uppercase();
    let form = FORMS.iter().find(|(part, _)| upper.contains(part)).map_or(Form::Line, |(_, form)| *form);
    let is_visible = |c: char| c.is_ascii_graphic() || c == ' ';
    let bad = |why: &str, help: &str| {
        Err(Diagnostic::new(Code::StoreFailed, format!("cannot use the setting `{name}`: {why}")).with_help(help))
    };
    if value.chars().any(char::is_control) {
        let help = "remove it: a value that was read from a file often has a line break at its end";
        return bad("it has a line break, or another control character", help);
    }
    match form {
        Form::Url if !is_url(value) => {
            bad(&format!("`{}` is no URL", without_user(value)), "write `https://HOST` or `http://HOST:PORT`")
        }
        Form::Name if !is_name(value) => {
            bad(&format!("`{value}` cannot be a part of a host name"), "write it as `eu-west-1`")
        }
        Form::Header if !value.chars().all(is_visible) => {
            bad("it has a character that a header cannot have", "copy it again: it has ASCII characters only")
        }
        _ => Ok(()),
    }
}

/// Returns `true` for a URL that every layer of a client parses.
fn is_url(text: &str) -> bool {
    let parsed: Option<Uri> = text.parse().ok();
    let Some(uri) = parsed else { return false };
    let has_host = uri.host().is_some_and(|host| !host.is_empty());
    has_host && matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none()
}

fn is_name(text: &str) -> bool {
    text.len() < 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Leaves out a user and a password.
fn without_user(url: &str) -> &str {
    url.rsplit_once('@').map_or(url, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, value: &str) -> String {
        check(name, value).err().map_or_else(String::new, |error| error.message.clone())
    }

    #[test]
    fn settings_that_no_client_can_use_are_named() {
        for (name, value, part) in [
            ("AWS_ENDPOINT_URL", "localhost:9000", "is no URL"),
            ("AWS_ENDPOINT_URL", "//localhost", "is no URL"),
            ("AWS_ENDPOINT_URL", "ftp://localhost", "is no URL"),
            ("AWS_ENDPOINT_URL", "http://", "is no URL"),
            ("AWS_ENDPOINT_URL", "http://[::1", "is no URL"),
            ("AWS_ENDPOINT_URL_S3", "s3", "is no URL"),
            ("aws_endpoint", "http://a b", "is no URL"),
            ("AZURE_STORAGE_ENDPOINT", "blob", "is no URL"),
            ("AZURE_AUTHORITY_HOST", "login", "is no URL"),
            ("AWS_REGION", "eu west/1", "host name"),
            ("AWS_DEFAULT_REGION", "eu.west@1", "host name"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "a/b", "host name"),
            ("AWS_SESSION_TOKEN", "abc\n", "line break"),
            ("AWS_ACCESS_KEY_ID", "AKIÄ", "header"),
            ("AWS_SECRET_ACCESS_KEY", "a\rb", "line break"),
            ("GOOGLE_SERVICE_ACCOUNT", "a\nb", "line break"),
        ] {
            let message = told(name, value);
            assert!(message.contains(part) && message.contains(name), "{name}={value:?}: {message}");
        }
        assert!(!told("AWS_SESSION_TOKEN", "secret\n").contains("secret"));
        assert!(!told("AWS_ENDPOINT_URL", "http://me:secret@").contains("secret"));
    }

    #[test]
    fn usual_settings_pass() {
        for (name, value) in [
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/base"),
            ("AWS_ENDPOINT_URL", "https://[::1]:9000"),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2VjE+/="),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "/tmp/ö"),
            ("AZURE_USE_FABRIC_ENDPOINT", "true"),
            ("AZURE_STORAGE_SAS_TOKEN", "sv=2024&sig=a%2Bb"),
            ("AWS_ALLOW_HTTP", "true"),
        ] {
            assert_eq!(told(name, value), "", "{name}");
        }
    }

    #[test]
    fn empty_settings_do_not_count() {
        let more = [("AWS_ENDPOINT_URL".to_owned(), String::new())];
        assert!(settings_of(Kind::S3, &more).expect("settings").iter().all(|(_, value)| !value.is_empty()));
    }
}
