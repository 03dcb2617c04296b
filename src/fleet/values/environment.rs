//! Values from environment variables.

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::assign::{Assignment, MAX_NESTING, Step, set_to, typed};

/// Returns an assignment for each variable whose name begins with `prefix`, sorted by name. The rest of the name is the
/// path, with `__` between keys. Values are typed as `--set` types them, but lists; an empty one is absent.
///
/// ```
/// use dropforge::bulk::values::{Gaps, from_environment};
/// use dropforge::value::{Data, DataMap};
/// let variables = [("APP_image__tag".to_owned(), "7".to_owned()), ("HOME".to_owned(), "/root".to_owned())];
/// let mut map = DataMap::default();
/// for assignment in from_environment("APP_", variables).unwrap() {
///     assignment.apply(&mut map, &mut Gaps::default()).unwrap();
/// }
/// assert_eq!(serde_json::to_string(&Data::Map(map)).unwrap(), r#"{"image":{"tag":7}}"#);
/// ```
///
/// # Errors
/// `input.bad_set` for a name with empty keys or more than [`MAX_NESTING`] of them.
pub fn from_environment(
    prefix: &str,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<Assignment>> {
    let mut variables: Vec<_> = variables.into_iter().filter(|(name, _)| name.starts_with(prefix)).collect();
    variables.sort_unstable();
    let given = variables.into_iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| assignment(name.get(prefix.len()..).unwrap_or(""), &name, value)).collect()
}

fn assignment(keys: &str, name: &str, value: String) -> Result<Assignment> {
    let bad = |why: String| {
        let error = Diagnostic::new(Code::BadSet, format!("environment variable `{name}`: {why}"));
        Err(error.with_help("write keys behind the prefix, with `__` between nested ones"))
    };
    let path: Vec<Step> = keys.split("__").map(|key| Step::Key(key.to_owned())).collect();
    if keys.split("__").any(str::is_empty) {
        return bad("empty name".to_owned());
    }
    if path.len() > MAX_NESTING + 1 {
        return bad(format!("more than {MAX_NESTING} nested names"));
    }
    Ok(set_to(path, typed(value), name.into()))
}
