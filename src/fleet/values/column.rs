//! Columns of tables. A header is a path as in `--set`.

use std::collections::HashMap;

use dropforge_base::diagnostics::Result;
use dropforge_value::assign::{Action, Assignment, Gaps, Step, parse_path};
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
