//! The options of specialised templates.

use std::io::Write;

use clap::Args;

use dropforge::bulk::{Specialisation, Specialise, TemplatePlan};
use dropforge::diagnostics::{Result, counted, thousands};

use crate::output::stdout_error;

/// Maximum number of values to name.
const NAMED: usize = 40;

/// Options of specialised templates.
#[derive(Debug, Args)]
pub(crate) struct SpecialiseArgs {
    /// Do not specialise templates to the values that the clusters share
    ///
    /// Outputs and errors are the same either way. Large fleets take longer with it.
    #[arg(long, verbatim_doc_comment)]
    no_specialise: bool,
    /// Print which templates are specialised to shared values, and why not the others, and stop
    #[arg(long, conflicts_with = "watch")]
    pub(crate) explain_plan: bool,
}

impl SpecialiseArgs {
    /// Returns when to specialise.
    pub(crate) fn option(&self) -> Specialise {
        if self.no_specialise { Specialise::Never } else { Specialise::IfItPays }
    }
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
