//! Checks of output paths and of the names in them.
//!
//! A checked path is relative, has no `.`, `..`, empty or reserved part, and only characters that mean the same on
//! every system. No cluster name or input can lead out of the output directory. Names from the inputs have fewer
//! characters than the names of files that somebody wrote beside the templates.

use super::output_dir::is_temporary;
use super::state::STATE;
use dropforge_base::diagnostics::{Code, Diagnostic, PROBLEM, Result, thousands};

/// Maximum bytes of a name, which is that of Kubernetes, of one part of a path, which is that of file systems, and of a whole
/// path.
const MAX_NAME: usize = 253;
const MAX_PART: usize = 255;
const MAX_PATH: usize = 1_024;

/// Digits of the digest in a shortened file name, and the longest extension that it keeps.
const DIGEST: usize = 16;
const MAX_EXTENSION: usize = 16;

/// Characters that the names of files may have within them, beside letters, digits, `.`, `_` and `-`. They may end a name, but not
/// begin one, and a blank does neither.
const IN_FILE_NAMES: &[u8] = b" !#%&'()+,;=@[]^{}~$";

/// Checks a name that becomes one part of a path, or a piece of one: a cluster name or the value of an input. `what`
/// names it in the error.
///
/// # Errors
/// `plan.bad_output_name`.
pub fn check_value(value: &str, what: &str) -> Result<()> {
    let why = match value {
        "" => Some("is empty".to_owned()),
        _ if value.starts_with('.') => Some("begins with a dot".to_owned()),
        _ if value.len() > MAX_NAME => Some(format!("is longer than {MAX_NAME} bytes")),
        _ => problem_of(value, b""),
    };
    why.map_or(Ok(()), |why| Err(bad_name(what, value, &why)))
}

/// Checks a whole path, part by part.
///
/// # Errors
/// `plan.bad_output_name`.
pub fn check_path(path: &str) -> Result<()> {
    if path.len() > MAX_PATH {
        return Err(bad_name("output path", path, &format!("is longer than {} bytes", thousands(MAX_PATH))));
    }
    match path.split('/').find_map(|part| problem_of(part, IN_FILE_NAMES).map(|why| (part, why))) {
        Some((part, why)) => {
            Err(bad_name("output path", path, &format!("contains the part `{}`, which {why}", printable(part))))
        }
        None => Ok(()),
    }
}

/// Shortens the file name of a path that is too long for a file system, such as one of a document whose name has 253 bytes: it
/// keeps its beginning and its extension, with a digest of the whole name between them.
pub(super) fn fit_file_name(path: &mut String) {
    let at = path.rfind('/').map_or(0, |slash| slash + 1);
    let name = path.get(at..).unwrap_or("");
    if name.len() <= MAX_PART || !name.is_ascii() {
        return;
    }
    let extension =
        name.rfind('.').and_then(|dot| name.get(dot..)).filter(|extension| extension.len() <= MAX_EXTENSION);
    let extension = extension.unwrap_or("");
    let digest = blake3::hash(name.as_bytes()).to_hex();
    let end = format!("-{}{extension}", digest.get(..DIGEST).unwrap_or(&digest));
    let kept = at + MAX_PART - end.len();
    path.truncate(kept);
    path.push_str(&end);
}

fn bad_name(what: &str, name: &str, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadOutputName, format!("{what} `{}` {why}", printable(name)))
        .with_field(PROBLEM, format!("{what} {why}"))
        .with_help(
            "each part of a path is at most 255 ASCII letters, digits, `.`, `_` and `-`, a name 253; the names of files may have \
             blanks and most signs within",
        )
}

/// Escapes and shortens a hostile name for printing.
fn printable(name: &str) -> String {
    let mut text: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    if name.chars().nth(60).is_some() {
        text.push('…');
    }
    text
}

/// Returns the reason why `part` cannot be one part of a path. It may also have the characters `more` in it.
fn problem_of(part: &str, more: &[u8]) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_allowed = |byte: u8| is_plain(byte) || more.contains(&byte);
    Some(match part {
        "" => "is empty".to_owned(),
        "." | ".." => "is not a file name".to_owned(),
        _ if part.len() > MAX_PART => format!("is longer than {MAX_PART} bytes"),
        _ if !part.bytes().all(is_allowed) => {
            let other = part.chars().find(|c| !u8::try_from(*c).is_ok_and(is_allowed));
            format!("contains the character {:?}", other.unwrap_or_default())
        }
        _ if part.ends_with(' ') => "ends with a blank".to_owned(),
        _ if part.bytes().next().is_some_and(|byte| byte == b'-' || !is_plain(byte)) => {
            format!("begins with `{}`", part.get(..1).unwrap_or_default())
        }
        _ if part.ends_with('.') => "ends with a dot".to_owned(),
        _ if is_device(part) => "is a device name on Windows".to_owned(),
        _ if !part.starts_with('.') => return None,
        _ if part.eq_ignore_ascii_case(".git") => "is reserved by Git".to_owned(),
        _ if is_own(part) || is_temporary(part) => "is reserved by dropforge".to_owned(),
        _ => return None,
    })
}

/// Returns `true` for the names of dropforge's own files: `.dropforge`, and what begins with `.dropforge-`.
fn is_own(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    part.strip_prefix(STATE).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Returns `true` for the device names of Windows, with any extension.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or("");
    let digit = stem.get(3..).and_then(|rest| rest.bytes().next());
    match (stem.len(), stem.get(..3)) {
        (3, Some(name)) => ["CON", "PRN", "AUX", "NUL"].iter().any(|device| name.eq_ignore_ascii_case(device)),
        (4, Some(name)) if digit.is_some_and(|digit| matches!(digit, b'1'..=b'9')) => {
            ["COM", "LPT"].iter().any(|device| name.eq_ignore_ascii_case(device))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_refused() {
        let long = "a".repeat(256);
        let bad = [
            "",
            ".",
            "..",
            "../x",
            "/etc/x",
            "a/../../b",
            "a\0b",
            "CON",
            "nul.yaml",
            "com1",
            "LPT9.x",
            "-rf",
            "a.",
            " a",
            "a ",
            "a/ b",
            "~a",
            "!a",
            "a*",
            "a\"b",
            "ä",
            "e\u{301}",
            "a\\b",
            "a:b",
            "a\n",
            ".git",
            ".dropforge",
            "a/.DropForge/b",
            ".dropforge-manifest.json",
            "a//b",
            "a/",
            &long,
            ".a.yaml.12.3.dropforge.tmp",
        ];
        for name in bad {
            assert_eq!(check_path(name).map_err(|error| error.code), Err(Code::BadOutputName), "{name:?}");
        }
        for name in ["a b", "a@b", "a+b", "$(x)", ".git/hooks/post-checkout", ".hidden", "a/b", "x/.GIT", &long[..254]]
        {
            assert_eq!(
                check_value(name, "cluster name").map_err(|error| error.code),
                Err(Code::BadOutputName),
                "{name:?}"
            );
        }
        for name in [
            "a",
            "eu-1",
            "A_b.c",
            "console",
            "com10",
            &long[..255],
            "a/.gitlab-ci.yml",
            "x/y.z",
            "Node Exporter (1).json",
            "a+b@c/x=y,z",
        ] {
            assert!(check_path(name).is_ok(), "{name:?}");
        }
        assert!(check_value(&long[..253], "name").is_ok());
        let fitted = |name: &str| {
            let mut path = format!("eu/{name}");
            fit_file_name(&mut path);
            path["eu/".len()..].to_owned()
        };
        let (one, other) = (fitted(&format!("Pod-{long}.yaml")), fitted(&format!("Pod-{long}b.yaml")));
        assert!(one.len() == 255 && one.starts_with("Pod-aaa") && one.ends_with(".yaml") && one != other, "{one}");
        assert_eq!(fitted(&long[..255]), long[..255]);
        assert_eq!(fitted(&format!("{long}.{long}")).len(), 255);
        assert_eq!(check_path(&["abcdefgh"; 120].join("/")).unwrap_err().code, Code::BadOutputName);
    }
}
