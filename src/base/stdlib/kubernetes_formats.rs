//! Formats of names and other texts in Kubernetes, with its messages.

use super::urls;

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameFormat {
    Dns1123Label,
    Dns1123LabelPrefix,
    Dns1123Subdomain,
    Dns1123SubdomainPrefix,
    Dns1035Label,
    Dns1035LabelPrefix,
    QualifiedName,
    LabelValue,
    Uri,
    Uuid,
    Byte,
    Date,
    DateTime,
}

/// The formats by their names.
const FORMATS: [(&str, NameFormat); 13] = [
    ("dns1123Label", NameFormat::Dns1123Label),
    ("dns1123LabelPrefix", NameFormat::Dns1123LabelPrefix),
    ("dns1123Subdomain", NameFormat::Dns1123Subdomain),
    ("dns1123SubdomainPrefix", NameFormat::Dns1123SubdomainPrefix),
    ("dns1035Label", NameFormat::Dns1035Label),
    ("dns1035LabelPrefix", NameFormat::Dns1035LabelPrefix),
    ("qualifiedName", NameFormat::QualifiedName),
    ("labelValue", NameFormat::LabelValue),
    ("uri", NameFormat::Uri),
    ("uuid", NameFormat::Uuid),
    ("byte", NameFormat::Byte),
    ("date", NameFormat::Date),
    ("datetime", NameFormat::DateTime),
];

/// A rule for names: maximum length, characters, message and examples.
struct Rule {
    longest: usize,
    holds: fn(&str) -> bool,
    says: &'static str,
    pattern: &'static str,
    examples: &'static [&'static str],
}

const LABEL: Rule = Rule {
    longest: 63,
    holds: is_label,
    says: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
           end with an alphanumeric character",
    pattern: "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
    examples: &["my-name", "123-abc"],
};

const SUBDOMAIN: Rule = Rule {
    longest: 253,
    holds: is_subdomain,
    says: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
           start and end with an alphanumeric character",
    pattern: "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
    examples: &["example.com"],
};

const OLD_LABEL: Rule = Rule {
    longest: 63,
    holds: |name| name.starts_with(|c: char| c.is_ascii_lowercase()) && is_label(name),
    says: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
           character, and end with an alphanumeric character",
    pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
    examples: &["my-name", "abc-123"],
};

const NAME: Rule = Rule {
    longest: 63,
    holds: is_name,
    says: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
           character",
    pattern: "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
    examples: &["MyName", "my.name", "123-abc"],
};

const VALUE: Rule = Rule {
    longest: 63,
    holds: |value| value.is_empty() || is_name(value),
    says: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
           start and end with an alphanumeric character",
    pattern: "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
    examples: &["MyValue", "my_value", "12345"],
};

impl NameFormat {
    /// Returns the format called `name`.
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// All messages about a text; empty if it is valid.
    pub fn validate(self, text: &str) -> Vec<String> {
        let other = |holds: bool, says: &str| if holds { Vec::new() } else { vec![says.to_owned()] };
        match self {
            Self::Dns1123Label => label(text),
            Self::Dns1123LabelPrefix => label(&beginning(text)),
            Self::Dns1123Subdomain => SUBDOMAIN.check(text),
            Self::Dns1123SubdomainPrefix => SUBDOMAIN.check(&beginning(text)),
            Self::Dns1035Label => OLD_LABEL.check(text),
            Self::Dns1035LabelPrefix => OLD_LABEL.check(&beginning(text)),
            Self::QualifiedName => qualified_name(text),
            Self::LabelValue => VALUE.check(text),
            Self::Uri => urls::check(text).err().map(|why| format!("parse {text:?}: {why}")).into_iter().collect(),
            Self::Uuid => other(is_uuid(text), "does not match the UUID format"),
            Self::Byte => other(is_base64(text), "invalid base64"),
            Self::Date => other(is_date(text), "invalid date"),
            Self::DateTime => other(is_moment(text), "invalid datetime"),
        }
    }
}

impl Rule {
    fn check(&self, text: &str) -> Vec<String> {
        let mut wrong = self.too_long(text);
        if !(self.holds)(text) {
            wrong.push(self.message());
        }
        wrong
    }

    fn too_long(&self, text: &str) -> Vec<String> {
        let longest = self.longest;
        if text.len() > longest { vec![format!("must be no more than {longest} characters")] } else { Vec::new() }
    }

    fn message(&self) -> String {
        let examples: Vec<_> = self.examples.iter().map(|example| format!("'{example}', ")).collect();
        format!("{} (e.g. {}regex used for validation is '{}')", self.says, examples.join(" or "), self.pattern)
    }
}

/// Validates a label. If dots are the only problem, the message says so.
fn label(text: &str) -> Vec<String> {
    if is_label(text) || !is_subdomain(text) {
        return LABEL.check(text);
    }
    let mut wrong = LABEL.too_long(text);
    wrong.push("must not contain dots".to_owned());
    wrong
}

/// Returns a name with the prefix `text`. Like the reference, it replaces a final hyphen and the letter before it.
fn beginning(text: &str) -> String {
    let cut = text.len().checked_sub(2).filter(|_| text.ends_with('-'));
    match cut.and_then(|end| text.get(..end)) {
        Some(front) => format!("{front}a"),
        None => text.to_owned(),
    }
}

fn qualified_name(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.splitn(3, '/').collect();
    let with = |part: &str, wrong: Vec<String>| wrong.into_iter().map(|why| format!("{part} part {why}")).collect();
    let (mut wrong, name): (Vec<String>, &str) = match *parts {
        [name] => (Vec::new(), name),
        ["", name] => (vec!["prefix part must be non-empty".to_owned()], name),
        [prefix, name] => (with("prefix", SUBDOMAIN.check(prefix)), name),
        _ => {
            let rest = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a qualified name {} {rest}", NAME.message())];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    }
    wrong.extend::<Vec<_>>(with("name", NAME.check(name)));
    wrong
}

fn is_label(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(inside) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_name(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends(bytes.first()) && ends(bytes.last()) && bytes.iter().copied().all(inside)
}

/// Accepts groups of 8, 4, 4, 4 and 12 hexadecimal digits with optional hyphens between them.
fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (at, len) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        rest = if at > 0 { rest.strip_prefix('-').unwrap_or(rest) } else { rest };
        let Some((group, behind)) = rest.split_at_checked(len) else { return false };
        if !group.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return false;
        }
        rest = behind;
    }
    rest.is_empty()
}

/// Accepts nonempty padded base64.
fn is_base64(text: &str) -> bool {
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/".contains(&byte);
    !digits.is_empty() && text.len().is_multiple_of(4) && digits.bytes().all(is_digit)
}

/// Accepts `2021-01-31`.
fn is_date(text: &str) -> bool {
    let form = text
        .bytes()
        .enumerate()
        .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    text.len() == 10 && form && chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// Accepts `2021-01-31T00:00:00.5+01:00`, ignoring case.
fn is_moment(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some((date, time)) = lower.split_once('t') else { return false };
    let (Some((clock, rest)), true) = (time.split_at_checked(8), is_date(date)) else { return false };
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let fraction = time.len() - rest.len() != 9;
    let zone = rest == "z" || rest.strip_prefix(['+', '-']).is_some_and(|zone| is_clock(zone, &["99", "99"]));
    fraction && zone && is_clock(clock, &["23", "59", "59"])
}

/// Accepts two-digit numbers separated by colons, each up to its maximum.
fn is_clock(text: &str, most: &[&str]) -> bool {
    let mut parts = text.split(':');
    let fits = |most: &&str| {
        parts.next().is_some_and(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()) && part <= *most)
    };
    most.iter().all(fits) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(format: &str, text: &str) -> bool {
        NameFormat::named(format).unwrap().validate(text).is_empty()
    }

    #[test]
    fn formats() {
        for (format, good, bad) in [
            ("dns1123Label", &["my-name", "1", "a"][..], &["", "A", "-a", "a-", "a.b", "a_b", "ä"][..]),
            ("dns1123LabelPrefix", &["my-name-", "a", "a-"], &["", "-", "-a", "AAA-"]),
            ("dns1123Subdomain", &["a.b-c.1", "a"], &["", "a..b", ".a", "a.", "A.b", "a.-b"]),
            ("dns1123SubdomainPrefix", &["my.sub-", "a.b"], &["", ".-x", "a..b-"]),
            ("dns1035Label", &["a-1"], &["1a", "", "a-", "A"]),
            ("dns1035LabelPrefix", &["a-1-"], &["1a-", ""]),
            ("qualifiedName", &["a", "example.com/My_Name.1", "A"], &["", "/a", "a/", "a/b/c", "-a", "E.com/a", "a b"]),
            ("labelValue", &["", "a", "My_Value-1.2"], &["-", "a-", "a b", "ä"]),
            ("uri", &["http://example.com", "/a"], &["", "a", "https://a:b:c/"]),
            (
                "uuid",
                &["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"],
                &[
                    "",
                    "123e4567-e89b-12d3-a456-42661417400",
                    "123e4567-e89b-12d3-a456-4266141740000",
                    "g23e4567e89b12d3a456426614174000",
                ],
            ),
            ("byte", &["aGVsbG8=", "aGk=", "YQ==", "AAAA"], &["", "a", "aGVsbG8", "a===", "aG k", "===="]),
            (
                "date",
                &["2021-01-31", "0000-02-29"],
                &["", "2021-02-30", "2021-1-01", "21-01-01", "2021-01-01T", "2021/01/01"],
            ),
            (
                "datetime",
                &["2021-01-01T00:00:00Z", "2021-01-01t23:59:59.123+01:00"],
                &[
                    "2021-01-01",
                    "2021-01-01T24:00:00Z",
                    "2021-01-01T00:00:00",
                    "2021-01-01T00:00:00.Z",
                    "2021-13-01T00:00:00Z",
                    "2021-01-01T00:00:00+1:00",
                    "é",
                ],
            ),
        ] {
            for text in good {
                assert!(is_valid(format, text), "{format} {text}");
            }
            for text in bad {
                assert!(!is_valid(format, text), "{format} {text}");
            }
        }
        assert!(!is_valid("dns1123Label", &"a".repeat(64)) && !is_valid("dns1123Subdomain", &"a".repeat(254)));
        assert_eq!(NameFormat::named("dns"), None);
    }

    #[test]
    fn messages_are_those_that_kubernetes_users_know() {
        let says = |format: &str, text: &str| NameFormat::named(format).unwrap().validate(text);
        assert_eq!(says("dns1123Label", "a.b"), ["must not contain dots"]);
        assert_eq!(
            says("dns1123Label", "A"),
            [
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            ]
        );
        assert_eq!(says("dns1035Label", &"a".repeat(64)), ["must be no more than 63 characters"]);
        assert_eq!(
            says("qualifiedName", "/"),
            [
                "prefix part must be non-empty".to_owned(),
                "name part must be non-empty".to_owned(),
                format!("name part {}", NAME.message())
            ]
        );
        assert_eq!(says("uri", "a"), ["parse \"a\": invalid URI for request"]);
    }
}
