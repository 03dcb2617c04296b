//! Locations in a value.

use super::error::below;

/// The path from the root to a part of a value.
#[derive(Clone, Copy)]
pub(super) struct Location<'l> {
    parent: Option<&'l Location<'l>>,
    step: Step<'l>,
}

#[derive(Clone, Copy)]
pub(super) enum Step<'l> {
    /// The value itself.
    Root,
    /// A property, or a named value.
    Name(&'l str),
    /// An element.
    At(usize),
}

impl<'l> Location<'l> {
    pub const ROOT: Location<'static> = Location { parent: None, step: Step::Root };

    /// Returns the location of a named value.
    pub fn named(name: Option<&'l str>) -> Self {
        Self { parent: None, step: name.map_or(Step::Root, Step::Name) }
    }

    pub fn to(&'l self, step: Step<'l>) -> Location<'l> {
        Location { parent: Some(self), step }
    }

    fn steps(&self) -> Vec<Step<'_>> {
        let mut steps: Vec<_> = std::iter::successors(Some(self), |at| at.parent).map(|at| at.step).collect();
        steps.reverse();
        steps
    }

    /// Returns the JSON pointer.
    pub fn pointer(&self) -> String {
        let step = |step: Step<'_>| match step {
            Step::Root => String::new(),
            Step::Name(name) => below("", name),
            Step::At(at) => format!("/{at}"),
        };
        self.steps().into_iter().map(step).collect()
    }

    /// Returns the path as an expression: `services[0].name`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps() {
            match step {
                Step::Root => {}
                Step::At(at) => path.push_str(&format!("[{at}]")),
                Step::Name(name) if !is_identifier(name) => path.push_str(&format!("[{name:?}]")),
                Step::Name(name) => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(name);
                }
            }
        }
        path
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
