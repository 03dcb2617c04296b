//! Templates specialised to the values that a fleet shares.
//!
//! Some clusters of the fleet are looked at first, to find the shared values that clusters seldom change. Each template
//! is then specialised to those. A guard, which knows the shapes of clusters' inputs, decides for each cluster between
//! the specialised templates and the original ones, so that outputs and errors are always those of the original.

mod division;
mod plan;

use std::collections::HashSet;
use std::time::Instant;

use self::division::Division;
use super::cluster::Cluster;
use super::job::Job;
use crate::engine::Template;
use crate::specialise::{Admission, Guard, Known, TIME};
use crate::value::{Arena, InputBuilder, Map, Shapes};

pub use self::plan::{General, Size, Specialisation, TemplatePlan};

/// Maximum number of specialised templates of a run.
const TEMPLATES: usize = 64;

/// Maximum memory of the specialised templates of a run, in bytes.
const MEMORY: usize = 64 << 20;

/// Number of clusters to look at.
const LOOKED_AT: usize = 256;

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
const PAYS: usize = 400;

/// The templates of a run, specialised.
#[derive(Debug, Default)]
pub(in crate::bulk) struct Specialised {
    guard: Guard,
    /// By output.
    templates: Vec<Option<Template>>,
    pub(in crate::bulk) plan: Specialisation,
}

impl Specialised {
    /// Specialises the templates of a run, by output. Files that are copied have none.
    pub(in crate::bulk) fn new(templates: &[Option<&Template>], job: &Job<'_>) -> Self {
        let mut all = Self { templates: vec![None; templates.len()], ..Self::default() };
        let general = General::of_run(job);
        let (arena, keys) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&keys);
        let builder = InputBuilder::new(&arena, &shapes);
        let shared = if general.is_none() { builder.data_map(job.layers.shared()).ok() } else { None };
        let Some(shared) = shared.as_ref().and_then(|shared| shared.as_map()) else {
            let general = general.unwrap_or(General::NothingShared);
            templates.iter().flatten().for_each(|template| all.plan.add(template, Err(general)));
            return all;
        };
        all.divide(templates, job, shared);
        all
    }

    fn divide(&mut self, templates: &[Option<&Template>], job: &Job<'_>, shared: &Map<'_>) {
        let names: HashSet<&str> = templates.iter().flatten().flat_map(|template| template.inputs()).collect();
        let own: Vec<_> = looked_at(job).filter_map(|cluster| cluster.inputs().ok()).collect();
        let division = Division::new(job.layers, &names, own.iter().map(|own| &**own));
        let mut sorted: Vec<&str> = names.into_iter().collect();
        sorted.sort_unstable();
        let sorted: Vec<String> = sorted.into_iter().map(str::to_owned).collect();
        let known = division.known(shared, sorted.iter().map(String::as_str));
        self.guard = Guard::new(&known);
        self.plan.divided(&known, &division, job.layers);
        let (started, mut memory) = (Instant::now(), 0);
        for (template, to) in templates.iter().zip(&mut self.templates) {
            let Some(template) = template else { continue };
            let made = match self.plan.specialised() {
                _ if !reads(template, &known) => Err(General::NothingShared),
                TEMPLATES.. => Err(General::Budget),
                _ if started.elapsed() > TIME => Err(General::Budget),
                _ => template.specialise(&known).ok_or(General::Program),
            };
            let made = made.and_then(|made| {
                memory += made.memory();
                if memory <= MEMORY { Ok(made) } else { Err(General::Budget) }
            });
            self.plan.add(template, made.as_ref().map_err(|general| *general));
            *to = made.ok();
        }
    }

    /// Returns the specialised template of an output.
    pub(in crate::bulk) fn template(&self, output: usize) -> Option<&Template> {
        self.templates.get(output)?.as_ref()
    }

    /// Returns the guard for one thread. `None` if no template is specialised.
    pub(in crate::bulk) fn admission(&self) -> Option<Admission<'_>> {
        self.templates.iter().any(Option::is_some).then(|| self.guard.admission())
    }
}

/// Returns clusters from all parts of the fleet.
fn looked_at<'j>(job: &Job<'j>) -> impl Iterator<Item = &'j Cluster> {
    let (clusters, job) = (job.plan.clusters(), *job);
    let count = clusters.min(LOOKED_AT);
    (0..count).filter_map(move |nth| job.plan.cluster(job.fleet, nth * clusters / count))
}

/// Returns `true` if a template reads an input of which a value is known.
fn reads(template: &Template, known: &Known<'_>) -> bool {
    template.inputs().into_iter().any(|name| match known.field(name) {
        Known::Value(_) => true,
        Known::Fields(fields) | Known::Entries(fields) => !fields.is_empty(),
        Known::Open | Known::Absent | Known::Text => false,
    })
}
