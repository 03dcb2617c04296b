//! The options of specialised templates.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;

use clap::Args;

use dropforge::bulk::{Layers, RunSet, Selection, Specialisation, Specialise, TemplatePlan};
use dropforge::diagnostics::{Result, counted, thousands};
use dropforge::engine::Template;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};

use crate::output::stdout_error;
use crate::project::key;
use crate::stderr::Stderr;

/// Maximum number of values to name.
const NAMED: usize = 40;

/// Options of specialised templates.
#[derive(Debug, Args)]
pub(crate) struct SpecialiseArgs {
    /// Do not specialise templates to the values that the clusters share
    ///
    /// Specialised templates of artifacts are not used either. Outputs and errors are
    /// the same. Large fleets take longer with it.
    #[arg(long, add = key(""), hide_short_help = true)]
    pub(crate) no_specialise: bool,
    /// Print which templates are specialised to shared values, and why not the others, and stop
    #[arg(long, conflicts_with = "watch", hide_short_help = true)]
    pub(crate) explain_plan: bool,
}

impl SpecialiseArgs {
    /// Returns when to specialise.
    pub(crate) fn option(&self) -> Specialise {
        if self.no_specialise { Specialise::Never } else { Specialise::IfItPays }
    }
}

/// Says with `-v` if a template of an artifact is specialised for these inputs, or which known value differs.
pub(crate) fn print_choice(template: &Template, inputs: Inputs<'_>, stderr: &Stderr) {
    if template.residual().is_none() {
        return;
    }
    let name = template.name();
    stderr.detail(&match template.difference(inputs) {
        None => format!("{name}: specialised to the known values of the artifact"),
        Some(path) => format!("{name}: not specialised: `{path}` differs from the known value of the artifact"),
    });
}

/// Says with `-v` how many clusters have the known values of the artifacts that `set` comes from, and which values
/// differ for the others.
///
/// # Errors
/// Errors of reading clusters.
pub(crate) fn print_choices(
    set: &dyn RunSet,
    clusters: &Selection<'_>,
    layers: &Layers,
    stderr: &Stderr,
) -> Result<()> {
    if !stderr.verbose {
        return Ok(());
    }
    let mut seen = HashSet::new();
    for template in set.templates() {
        if template.known().is_some_and(|known| seen.insert(std::ptr::from_ref(known))) {
            stderr.detail(&choices(template, clusters, layers)?);
        }
    }
    Ok(())
}

fn choices(template: &Template, clusters: &Selection<'_>, layers: &Layers) -> Result<String> {
    let mut differ: BTreeMap<String, usize> = BTreeMap::new();
    clusters.each(&mut |_, cluster| {
        let Ok(merged) = layers.merged(cluster) else { return Ok(()) };
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let inputs = InputBuilder::new(&arena, &shapes).data_map(&merged).ok();
        if let Some(path) = inputs.and_then(|inputs| template.difference(Inputs::new(inputs))) {
            *differ.entry(path).or_default() += 1;
        }
        Ok(())
    })?;
    let left: usize = differ.values().sum();
    let all = counted(clusters.len(), "cluster");
    if left == 0 {
        return Ok(format!("{all} with the known values of the artifact: templates are specialised"));
    }
    let differ: Vec<String> = differ.iter().map(|(path, by)| format!("`{path}` ({})", thousands(*by))).collect();
    let differ = differ.join(", ");
    Ok(format!("{} of {all} not specialised: values differ from the known ones: {differ}", thousands(left)))
}

/// Prints a plan to standard output. The run has so many clusters.
///
/// # Errors
/// Errors of writing.
pub(crate) fn print(plan: &Specialisation, clusters: usize) -> Result<()> {
    let mut text = String::new();
    if plan.looked_at > 0 {
        text += &format!("looked at {} of {}\n", thousands(plan.looked_at), counted(clusters, "cluster"));
        let open = plan.open.iter().map(|(path, by)| format!("{path} (set by {})", thousands(*by)));
        text += &names("known to most clusters", plan.known.iter().cloned());
        text += &names("left open", open);
        let classes = plan.classes.iter().map(|(path, values)| format!("{path} ({})", counted(*values, "value")));
        text += &names("classes of clusters by", classes);
        text += &names("keys known of", plan.maps.iter().cloned());
    }
    plan.templates.iter().for_each(|template| text += &line(template));
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| stdout_error(&error))
}

fn names(what: &str, names: impl ExactSizeIterator<Item = String>) -> String {
    if names.len() == 0 {
        return String::new();
    }
    let more = names.len().saturating_sub(NAMED);
    let named: Vec<String> = names.take(NAMED).collect();
    let more = if more > 0 { format!(", and {} more", thousands(more)) } else { String::new() };
    format!("{what}: {}{more}\n", named.join(", "))
}

fn line(template: &TemplatePlan) -> String {
    let size = |words: usize, text: usize| format!("{} and {} of text", counted(words, "word"), counted(text, "byte"));
    let before = size(template.size.words, template.size.text);
    let after = match &template.specialised {
        Ok(after) => format!(" → {}", size(after.words, after.text)),
        Err(_) if template.classes > 0 => String::new(),
        Err(general) => format!(", not specialised: {general}"),
    };
    let classes = match template.classes {
        0 => String::new(),
        1 => ", and one program for the values that clusters set".to_owned(),
        classes => format!(", and one program for each of {} classes", thousands(classes)),
    };
    format!("{}: {before}{after}{classes}\n", template.name)
}
