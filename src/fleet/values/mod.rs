//! Values from the command line: the grammar of Helm's `--set` options, and the deep merge of `-f` files.
//!
//! An expression is parsed once into [`Assignment`]s, which then apply to any number of maps: a `--set` changes the
//! shared inputs and those of every cluster that overrides the same top-level key.
//!
//! The grammar is Helm's: `a.b=1,c={x,y}`, `a[0].b=2`, `\,` for a literal comma. Paths have at most 30 steps and
//! indexes at most 65,536; all indexes together skip at most 262,144 list items. `null` deletes a key.

pub use dropforge_value::Step;
pub(super) use dropforge_value::assign::typed;
pub use dropforge_value::assign::{Assignment, Gaps, MAX_GAPS, MAX_INDEX, MAX_NESTING, SetKind, merge, parse_set};
pub(super) use dropforge_value::value_at;

use std::collections::HashMap;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::assign::{Action, parse_path, set_to};
use dropforge_value::{Data, DataMap};

/// The path of a column, as the assignment of its last cell.
#[derive(Debug, Clone)]
pub struct Column(Assignment);

impl Column {
    /// Parses a header.
    ///
    /// # Errors
    /// `input.bad_set` if it is not a path.
    pub fn parse(header: &str) -> Result<Self> {
        let origin = header.into();
        let path = parse_path(header, &origin)?;
        Ok(Self(Assignment { path, action: Action::Set(Data::Null), origin }))
    }

    /// Returns the path.
    pub fn path(&self) -> &[Step] {
        &self.0.path
    }

    /// Puts a cell into a row.
    ///
    /// # Errors
    /// `input.bad_set` if its indexes skip more than the remaining `gaps`.
    pub fn put(&mut self, cell: Data, row: &mut DataMap, gaps: &mut Gaps) -> Result<()> {
        self.0.action = Action::Set(cell);
        self.0.apply(row, gaps)
    }
}

/// The role of a path in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Cell,
    Map,
    List,
}

/// Returns the indexes of columns that cannot stand in one table: a first column, and one that gives the same path
/// another role.
pub fn conflicts<'c>(columns: impl Iterator<Item = (usize, &'c Column)>) -> Vec<(usize, usize)> {
    let (mut roles, mut conflicts) = (HashMap::new(), Vec::new());
    for (at, Column(Assignment { path, .. })) in columns {
        let conflict = (1..=path.len()).find_map(|end| {
            let role = match path.get(end) {
                None => Role::Cell,
                Some(Step::Key(_)) => Role::Map,
                Some(Step::Index(_)) => Role::List,
            };
            let (first, known) = *roles.entry(path.get(..end)?).or_insert((at, role));
            (first != at && (known != role || role == Role::Cell)).then_some((first, at))
        });
        conflicts.extend(conflict);
    }
    conflicts
}

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
        Err(error.with_help("write keys after the prefix, with `__` between nested ones"))
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

#[cfg(test)]
mod tests;
