//! The plan of specialised templates, for people.

use std::fmt;

use super::classes::Classes;
use super::division::Division;
use crate::shared_values::SharedValues;
use dropforge_base::diagnostics::counted;
use dropforge_engine::Template;
use dropforge_machine::specialise::Known;

/// When to specialise templates to the values that a fleet shares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Specialise {
    /// Where it pays, by the number of clusters.
    #[default]
    IfItPays,
    /// Whenever there are shared values.
    Always,
    /// Never.
    Never,
}

/// The least number of clusters for which specialising pays.
pub(super) const PAYS: usize = 300;

/// The clusters of a run, and what they share.
#[derive(Debug, Clone, Copy)]
pub struct SharedInputs<'r> {
    pub values: &'r SharedValues,
    pub clusters: usize,
    pub specialise: Specialise,
    /// `true` to specialise to classes of clusters, too.
    pub classes: bool,
}

/// The reason why a template is not specialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum General {
    /// It was asked for.
    Option,
    /// The run has too few clusters.
    Clusters(usize),
    /// It reads no shared value that clusters leave alone.
    NothingShared,
    /// Its program is metered, or is too large once specialised.
    Program,
    /// The run has enough specialised templates.
    Budget,
}

impl General {
    /// Returns the reason why no template of a run is specialised.
    pub(super) fn of_run(run: &SharedInputs<'_>) -> Option<Self> {
        match run.specialise {
            Specialise::Never => Some(Self::Option),
            Specialise::IfItPays if run.clusters < PAYS => Some(Self::Clusters(run.clusters)),
            _ => None,
        }
    }
}

impl fmt::Display for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option => f.write_str("switched off"),
            Self::Clusters(clusters) => write!(f, "{} only: it pays from {PAYS} on", counted(*clusters, "cluster")),
            Self::NothingShared => f.write_str("it reads no shared value that clusters leave alone"),
            Self::Program => f.write_str("it is metered, or is too large once specialised"),
            Self::Budget => f.write_str("the specialised templates of a run are limited"),
        }
    }
}

/// The size of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Words of code.
    pub words: usize,
    /// Bytes of text.
    pub text: usize,
}

impl Size {
    fn of(template: &Template) -> Self {
        let program = template.program();
        Self { words: program.words().len(), text: program.text_bytes() }
    }
}

/// The plan of one template.
#[derive(Debug, Clone)]
pub struct TemplatePlan {
    /// The name of the template.
    pub name: String,
    /// The size of its program.
    pub size: Size,
    /// The size of the specialised program, or the reason why there is none.
    pub specialised: Result<Size, General>,
    /// The number of classes of clusters for which there is a specialised program of its own.
    pub classes: usize,
}

/// The plan of specialising the templates of a run.
#[derive(Debug, Clone, Default)]
pub struct Specialisation {
    /// The number of clusters that were looked at.
    pub looked_at: usize,
    /// The dotted paths of the shared values that are known.
    pub known: Vec<String>,
    /// The dotted paths of the shared values that are not, with the number of clusters that set each.
    pub open: Vec<(String, usize)>,
    /// The dotted paths whose values divide the clusters into classes, with the number of values of each.
    pub classes: Vec<(String, usize)>,
    /// The dotted paths of maps that the clusters set, of which the keys are known.
    pub maps: Vec<String>,
    /// The templates.
    pub templates: Vec<TemplatePlan>,
}

impl Specialisation {
    /// Returns the number of specialised templates.
    pub fn specialised(&self) -> usize {
        self.templates.iter().filter(|template| template.specialised.is_ok() || template.classes > 0).count()
    }

    pub(super) fn add(&mut self, template: &Template, specialised: Result<&Template, General>, classes: usize) {
        let (name, size, specialised) = (template.name().to_owned(), Size::of(template), specialised.map(Size::of));
        self.templates.push(TemplatePlan { name, size, specialised, classes });
    }

    pub(super) fn classified(&mut self, classes: &Classes<'_>) {
        self.classes = classes.leaves.iter().map(|leaf| (leaf.keys.join("."), leaf.values.len())).collect();
        self.maps = classes.maps.iter().map(|(keys, _)| keys.join(".")).collect();
    }

    pub(super) fn divided(&mut self, known: &Known<'_>, division: &Division, values: &SharedValues) {
        self.looked_at = division.clusters;
        add_known("", known, &mut self.known);
        self.open = division.open(values);
    }
}

fn add_known(path: &str, known: &Known<'_>, found: &mut Vec<String>) {
    match known {
        Known::Value(_) => found.push(path.to_owned()),
        Known::Fields(fields) | Known::Entries(fields) => {
            for (name, known) in fields {
                let path = if path.is_empty() { (*name).to_owned() } else { format!("{path}.{name}") };
                add_known(&path, known, found);
            }
        }
        Known::Open | Known::Absent | Known::Text => {}
    }
}
