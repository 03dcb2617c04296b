//! Expected errors.

use std::borrow::Cow;

use dropforge::diagnostics::Diagnostic;

use super::asserts::Failing;
use super::output::Output;
use super::verdict::Verdict;

/// The field of an error with the message of Helm, which tests of charts compare with.
const HELM_MESSAGE: &str = "go_message";

/// Returns a verdict for each output: whether its render fails as expected.
pub(super) fn check<'o>(wanted: &Failing, negative: bool, outputs: &[&'o Output]) -> Vec<(Option<&'o str>, Verdict)> {
    // A chart fails as a whole, and so does a test without templates.
    outputs.iter().map(|output| (Some(output.template.as_str()), verdict(wanted, negative, output))).collect()
}

fn verdict(wanted: &Failing, negative: bool, output: &Output) -> Verdict {
    let described = describe(wanted);
    let Err(errors) = &output.text else {
        return Verdict::new(false, described).found("a render without an error".to_owned());
    };
    let holds = errors
        .iter()
        .flat_map(|error| [error.as_ref()].into_iter().chain(also(error)))
        .any(|error| fits(wanted, error));
    let shown: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
    let verdict = Verdict::new(holds, described);
    match holds == negative {
        true => verdict.with_note("error", &shown.join("\n")),
        false => verdict,
    }
}

fn also(error: &Diagnostic) -> impl Iterator<Item = &Diagnostic> {
    error.also.iter().map(AsRef::as_ref)
}

fn describe(wanted: &Failing) -> String {
    let parts = [
        wanted.code.map(|code| format!("code {}", code.id())),
        wanted.line.map(|line| format!("line {line}")),
        wanted.message.as_ref().map(|message| format!("message `{message}`")),
        wanted.pattern.as_ref().map(|pattern| format!("a message that matches `{pattern}`")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "an error".to_owned() } else { format!("an error with {}", parts.join(", ")) }
}

fn fits(wanted: &Failing, error: &Diagnostic) -> bool {
    let texts = messages(error);
    let is_message = |wanted: &String| texts.iter().any(|text| text.trim() == wanted.trim());
    let line = error.position().map(|at| i64::from(at.line));
    wanted.code.is_none_or(|code| code == error.code)
        && wanted.line.is_none_or(|wanted| line == Some(wanted))
        && wanted.message.as_ref().is_none_or(is_message)
        && wanted.pattern.as_ref().is_none_or(|pattern| texts.iter().any(|text| pattern.is_match(text)))
}

/// Returns the message with and without its explanation, that of Helm, and the part of that behind the place, as
/// helm-unittest reads it.
fn messages(error: &Diagnostic) -> Vec<Cow<'_, str>> {
    let mut texts = vec![error.text(), error.message.as_str().into()];
    texts.extend(error.detail.as_deref().map(Cow::from));
    if let Some(helm) = error.fields.get(HELM_MESSAGE) {
        texts.push(helm.into());
        let parts = [
            helm.rsplit_once("): ").map(|(_, behind)| behind),
            helm.rsplit_once(": ").map(|(_, behind)| behind),
            helm.trim_end().rsplit_once('\n').map(|(_, last)| last.trim()),
        ];
        texts.extend(parts.into_iter().flatten().map(Cow::from));
    }
    texts
}
