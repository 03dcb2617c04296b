//! The path of a value in YAML text by its position.

use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_value::assign::Step;
use dropforge_value::yaml::{self, Node, Tags};

/// Returns the number of the document, from 0, and the path of the value or key at byte `at` of YAML or JSON text. A byte
/// before the first value of its line stands for that value.
pub(super) fn path_at(text: &str, at: usize) -> Option<(usize, Vec<Step>)> {
    let at = content(text, at);
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    let documents = yaml::read_with(&Source::new("", text), &limits, Tags::Kept).ok()?;
    let nth = documents.partition_point(|document| document.span.start as usize <= at).saturating_sub(1);
    let (mut node, mut steps) = (documents.get(nth)?, Vec::new());
    while let Some((step, below)) = member_at(node, at) {
        steps.push(step);
        node = below;
    }
    Some((nth, steps))
}

/// Returns the member of a list or map that `at` is in or behind.
fn member_at(node: &Node, at: usize) -> Option<(Step, &Node)> {
    if let Some(entries) = node.as_map() {
        let entry = entries.iter().rfind(|entry| entry.key.span.start as usize <= at)?;
        return Some((Step::Key(entry.name.to_string()), &entry.value));
    }
    let items = node.as_list()?;
    let nth = items.iter().rposition(|item| item.span.start as usize <= at)?;
    Some((Step::Index(nth), items.get(nth)?))
}

/// Returns the position of the first value of the line of `at`, or `at` if it is behind that.
fn content(text: &str, at: usize) -> usize {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let mut rest = line.trim_start();
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start();
    }
    at.max(start + line.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_lead_to_paths() {
        let text = "a: 1\nb:\n  c: [x, y]\n  d:\n  - e: 1\n    f: 2\n  - g\n---\nh: |\n  text\n  more\n";
        let path = |part: &str| {
            let (nth, steps) = path_at(text, text.find(part).unwrap()).unwrap();
            format!("{nth} {}", Step::joined(&steps))
        };
        assert_eq!(path("a: 1"), "0 a");
        assert_eq!(path("y]"), "0 b.c[1]");
        assert_eq!(path("  - e"), "0 b.d[0].e");
        assert_eq!(path("f: 2"), "0 b.d[0].f");
        assert_eq!(path("  - g"), "0 b.d[1]");
        assert_eq!(path("more"), "1 h");
        assert_eq!(path_at("a: [", 0), None);
    }
}
