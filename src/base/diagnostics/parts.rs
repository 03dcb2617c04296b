//! The parts of a diagnostic, and the layouts that printers have for them.
//!
//! Every printer that writes a diagnostic as text has a row here. [`Diagnostic::to_json`] has the same parts as fields.

use std::borrow::Cow;

use Part::{
    Available, Cluster, Code, Detail, Help, LabelText, Message, MorePlaces, Names, Note, Place, Severity, Template,
    Text, UnsaidDetail,
};

use super::report::{LABELS, listed};
use super::{Diagnostic, Label};

/// A part of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `file:line:column`.
    Place,
    /// `error` or `warning`.
    Severity,
    /// The code.
    Code,
    /// The message.
    Message,
    /// The message with the explanation, in one line.
    Text,
    /// The text of the label, unless it is empty.
    LabelText,
    /// The explanation.
    Detail,
    /// The explanation, unless the label shows it.
    UnsaidDetail,
    /// The number of labels that are not shown.
    MorePlaces,
    /// The available names, or `nothing` if no note says why there are none.
    Names,
    /// The available names, if there are any.
    Available,
    /// The template that was rendered, if it is not the file of the label.
    Template,
    /// The cluster.
    Cluster,
    /// The notes, each as a part of its own.
    Note,
    /// The likely fix.
    Help,
}

/// The parts that a printer writes, in its order, each with the texts before and after it.
pub type Layout = [(Part, &'static str, &'static str)];

/// One line for programs that print errors themselves.
pub const LINE: &Layout = &[(Code, "", ": "), (Text, "", ""), (Place, " (", ")"), (Cluster, " [cluster ", "]")];

/// One line with everything to act on: `file:line:column: error[E0201]: message; help`.
pub const SHORT: &Layout = &[
    (Place, "", ": "),
    (Severity, "", ""),
    (Code, "[", "]: "),
    (Text, "", ""),
    (Help, "; ", ""),
    (Cluster, " [cluster ", "]"),
];

/// The notes below the excerpts on a terminal.
pub const TERMINAL: &Layout = &[
    (UnsaidDetail, "", ""),
    (MorePlaces, "and ", " more places"),
    (Names, "available: ", ""),
    (Template, "template: ", ""),
    (Cluster, "cluster: ", ""),
    (Note, "", ""),
    (Help, "", ""),
];

/// The message of a SARIF result and of an annotation of GitHub, a line for each part.
pub const SARIF: &Layout =
    &[(Text, "", ""), (Available, "available: ", ""), (Cluster, "cluster: ", ""), (Note, "", ""), (Help, "help: ", "")];

/// The message in an editor, a line for each part.
pub const EDITOR: &Layout = &[
    (Message, "", ""),
    (LabelText, "", ""),
    (Detail, "", ""),
    (Note, "note: ", ""),
    (Cluster, "cluster: ", ""),
    (Help, "help: ", ""),
];

/// The `detail` of a diagnostic of `hcldec`.
pub const HCLDEC: &Layout = &[(Detail, "", ""), (Note, "", ""), (Help, "", "")];

/// The message of a result of a KRM function.
pub const KRM: &Layout = &[(Text, "", ""), (Help, "; ", "")];

impl Diagnostic {
    /// Returns the parts of a layout that the diagnostic has. `label` is the one that it is printed at.
    #[doc(hidden)]
    pub fn parts<'d>(&'d self, layout: &'d Layout, label: Option<&'d Label>) -> impl Iterator<Item = (Part, String)> {
        layout.iter().flat_map(move |(part, before, after)| {
            let texts = self.texts(*part, label).into_iter();
            texts.map(move |text| (*part, format!("{before}{text}{after}")))
        })
    }

    /// Writes the diagnostic at its primary label, with `separator` between the parts.
    ///
    /// ```
    /// use dropforge::diagnostics::{Code, Diagnostic, parts};
    /// let error = Diagnostic::new(Code::UndefinedVariable, "no `nmae`").with_help("did you mean `name`?");
    /// assert_eq!(error.written(parts::SHORT, ""), "error[E0201]: no `nmae`; did you mean `name`?");
    /// ```
    #[doc(hidden)]
    pub fn written(&self, layout: &Layout, separator: &str) -> String {
        let parts = self.parts(layout, self.primary()).map(|(_, text)| text);
        parts.collect::<Vec<_>>().join(separator)
    }

    /// Returns the texts of a part: of notes any number, of others at most one.
    fn texts<'d>(&'d self, part: Part, label: Option<&'d Label>) -> Vec<Cow<'d, str>> {
        let text = match part {
            Part::Note => return self.notes.iter().map(Cow::from).collect(),
            Part::Code => Some(self.code.id().into()),
            Part::Severity => Some(self.severity.name().into()),
            Part::Message => Some(Cow::from(&self.message)),
            Part::Text => Some(self.text()),
            Part::Help => self.help.as_ref().map(Cow::from),
            Part::Cluster => self.cluster.as_ref().map(Cow::from),
            Part::Detail => self.detail.as_ref().map(Cow::from),
            Part::UnsaidDetail => self.detail.as_ref().filter(|detail| is_unsaid(detail, label)).map(Cow::from),
            Part::LabelText => label.map(|label| Cow::from(&label.text)).filter(|text| !text.is_empty()),
            Part::Place => label.map(|label| format!("{}:{}", label.source.path(), label.position()).into()),
            Part::MorePlaces => self.labels.len().checked_sub(LABELS + 1).map(|more| (more + 1).to_string().into()),
            Part::Names if self.available.as_ref().is_some_and(Vec::is_empty) && !self.notes.is_empty() => None,
            Part::Names => self.available.as_ref().map(|names| listed(names, NAMES).into()),
            Part::Available if self.available.as_ref().is_none_or(Vec::is_empty) => None,
            Part::Available => return self.texts(Part::Names, label),
            Part::Template => {
                let file = label.map(|label| label.source.name());
                self.template.as_ref().filter(|template| Some(template.as_str()) != file).map(Cow::from)
            }
        };
        text.into_iter().collect()
    }
}

/// Maximum number of available names in text.
const NAMES: usize = 24;

/// Returns `true` unless an excerpt shows the explanation at its label, as it does if the label has no text.
fn is_unsaid(detail: &str, label: Option<&Label>) -> bool {
    label.is_none_or(|label| !label.text.is_empty() && label.text != detail)
}
