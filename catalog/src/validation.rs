//! Validation of names, descriptions, contents, labels and annotations. No text may contain a NUL byte, which
//! PostgreSQL cannot store.

use super::error::{CatalogError, Result};

/// Maximum characters of a name.
const MAX_NAME_CHARACTERS: usize = 255;
/// Maximum bytes of a label, or of an annotation's key or value.
const MAX_LABEL_BYTES: usize = 64;

/// Checks a template name: not blank, at most 255 characters.
///
/// # Errors
/// `invalid_name`.
///
/// ```
/// use dropforge_catalog::validation::template_name;
/// assert!(template_name("web-service").is_ok());
/// assert_eq!(template_name(" ").unwrap_err().code, "invalid_name");
/// ```
pub fn template_name(name: &str) -> Result<()> {
    check_not_blank(name, "invalid_name", "name")?;
    self::name(name)
}

/// Checks the name of a generator or stack: at most 255 characters. Empty names are valid because Brokkr accepts them.
///
/// # Errors
/// `invalid_name`.
pub fn name(name: &str) -> Result<()> {
    check_no_nul(name, "invalid_name", "name")?;
    if name.chars().nth(MAX_NAME_CHARACTERS).is_some() {
        return Err(CatalogError::invalid(
            "invalid_name",
            format!("name cannot exceed {MAX_NAME_CHARACTERS} characters"),
        ));
    }
    Ok(())
}

/// Checks the description of a template: absent or not blank.
///
/// # Errors
/// `invalid_description`.
pub fn template_description(description: Option<&str>) -> Result<()> {
    description.map_or(Ok(()), |text| check_not_blank(text, "invalid_description", "description"))?;
    self::description(description)
}

/// Checks the description of a generator or stack.
///
/// # Errors
/// `invalid_description`.
pub fn description(description: Option<&str>) -> Result<()> {
    description.map_or(Ok(()), |text| check_no_nul(text, "invalid_description", "description"))
}

/// Checks a template text: not blank.
///
/// # Errors
/// `invalid_template_content`.
pub fn content(content: &str) -> Result<()> {
    check_not_blank(content, "invalid_template_content", "template content")?;
    check_no_nul(content, "invalid_template_content", "template content")
}

/// Checks the YAML text of a deployment object other than a deletion marker: not blank.
///
/// # Errors
/// `invalid_deployment_object`.
pub fn yaml(text: &str) -> Result<()> {
    check_not_blank(text, "invalid_deployment_object", "YAML content")?;
    check_no_nul(text, "invalid_deployment_object", "YAML content")
}

/// Checks a label: not blank, at most 64 bytes, no whitespace.
///
/// # Errors
/// `invalid_label`.
///
/// ```
/// use dropforge_catalog::validation::label;
/// assert!(label("env=prod").is_ok());
/// assert_eq!(label("env prod").unwrap_err().message, "Label cannot contain whitespace");
/// ```
pub fn label(label: &str) -> Result<()> {
    check_label(label, "invalid_label", "Label")
}

/// Checks an annotation: key and value each not blank, at most 64 bytes, no whitespace.
///
/// # Errors
/// `invalid_annotation`.
pub fn annotation(key: &str, value: &str) -> Result<()> {
    check_label(key, "invalid_annotation", "Annotation key")?;
    check_label(value, "invalid_annotation", "Annotation value")
}

fn check_label(text: &str, code: &str, what: &str) -> Result<()> {
    check_not_blank(text, code, what)?;
    if text.len() > MAX_LABEL_BYTES {
        return Err(CatalogError::invalid(code, format!("{what} cannot exceed {MAX_LABEL_BYTES} characters")));
    }
    if text.contains(char::is_whitespace) {
        return Err(CatalogError::invalid(code, format!("{what} cannot contain whitespace")));
    }
    check_no_nul(text, code, what)
}

fn check_not_blank(text: &str, code: &str, what: &str) -> Result<()> {
    let blank = text.trim().is_empty();
    if blank { Err(CatalogError::invalid(code, format!("{what} cannot be empty"))) } else { Ok(()) }
}

fn check_no_nul(text: &str, code: &str, what: &str) -> Result<()> {
    let found = memchr::memchr(0, text.as_bytes()).is_some();
    if found { Err(CatalogError::invalid(code, format!("{what} cannot contain a NUL byte"))) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_bounds() {
        for good in ["a", &"x".repeat(255), &"é".repeat(255), "a b", "\u{1}"] {
            assert!(template_name(good).is_ok() && name(good).is_ok(), "{good}");
        }
        for bad in ["", " ", "\t\u{a0}\n"] {
            assert_eq!(template_name(bad).unwrap_err().message, "name cannot be empty");
            assert!(name(bad).is_ok(), "generators and stacks");
        }
        for bad in [&*"x".repeat(256), &"é".repeat(256), "a\0", &"x".repeat(10 << 20)] {
            assert_eq!(template_name(bad).unwrap_err().code, "invalid_name");
            assert_eq!(name(bad).unwrap_err().kind.status(), 400);
        }
    }

    #[test]
    fn labels_and_annotations_have_bounds_in_bytes() {
        let message_of = |text: &str| label(text).unwrap_err().message;
        assert!(label(&"x".repeat(64)).is_ok() && label(&"é".repeat(32)).is_ok() && label("env:prod").is_ok());
        assert_eq!(message_of(""), "Label cannot be empty");
        assert_eq!(message_of("\u{2003}"), "Label cannot be empty");
        assert_eq!(message_of(&"x".repeat(65)), "Label cannot exceed 64 characters");
        assert_eq!(message_of(&"é".repeat(33)), "Label cannot exceed 64 characters");
        assert_eq!(message_of("a\u{2003}b"), "Label cannot contain whitespace");
        assert_eq!(message_of("a\0b"), "Label cannot contain a NUL byte");
        assert!(annotation("k", "v").is_ok());
        for (key, value, message) in [
            ("", "v", "Annotation key cannot be empty"),
            ("k", "", "Annotation value cannot be empty"),
            ("k", "a b", "Annotation value cannot contain whitespace"),
            ("k k", &"v".repeat(65), "Annotation key cannot contain whitespace"),
        ] {
            let error = annotation(key, value).unwrap_err();
            assert_eq!((error.code.as_str(), error.message.as_str()), ("invalid_annotation", message));
        }
    }

    #[test]
    fn descriptions_and_contents_have_bounds() {
        assert!(template_description(None).is_ok() && template_description(Some("d")).is_ok());
        assert!(description(Some("")).is_ok());
        assert!(template_description(Some("")).is_err() && description(Some("\0")).is_err());
        assert!(content("a: 1").is_ok() && content(" \n").is_err() && content("a\0").is_err());
        assert_eq!(yaml("").unwrap_err().message, "YAML content cannot be empty");
    }
}
