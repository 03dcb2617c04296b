//! The tool's format of a chain of texts.

/// A text of the reference about one level of calls.
#[derive(Debug)]
pub(super) struct Link {
    /// The text, with those of the levels inside.
    pub text: String,
    /// The text of a cause that is no level of its own.
    pub cause: Option<String>,
}

/// A level as the tool prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Level {
    place: String,
    executing: String,
    message: String,
}

/// Returns the tool's message for a chain of texts, the outermost first. `message` is that of the error itself, and
/// `is_refusal` tells that it is the message of the template's author.
pub(super) fn helm_message(chain: &[Link], message: &str, is_refusal: bool) -> String {
    let Some(outermost) = chain.first() else { return message.to_owned() };
    if is_refusal {
        let place = outermost.text.strip_prefix("template: ").and_then(|rest| rest.split_once(": "));
        return format!("execution error at ({}): {message}", place.map_or("", |(place, _)| place));
    }
    let texts = chain.iter().flat_map(|link| std::iter::once(&link.text).chain(&link.cause));
    let mut levels: Vec<Level> = Vec::new();
    for text in texts {
        let Some(level) = level(text) else { return outermost.text.clone() };
        if levels.last() != Some(&level) {
            levels.push(level);
        }
    }
    let printed: String = levels.iter().map(Level::printed).collect();
    printed.trim().to_owned()
}

impl Level {
    fn printed(&self) -> String {
        let parts = [(&self.place, "\n  "), (&self.executing, "\n    "), (&self.message, "\n")];
        parts.into_iter().filter(|(text, _)| !text.is_empty()).flat_map(|(text, end)| [text, end]).collect()
    }
}

/// Takes a text apart. `None` if it has not the form of one about a template.
fn level(text: &str) -> Option<Level> {
    let rest = text.strip_prefix("template: ")?;
    if rest.starts_with("no template ") && text.contains(" associated with template ") {
        return Some(Level { place: String::new(), executing: String::new(), message: text.to_owned() });
    }
    executing(rest).or_else(|| {
        let (place, message) = rest.rsplit_once(": ")?;
        Some(Level { place: place.to_owned(), executing: String::new(), message: uncaused(message) })
    })
}

/// Takes `place: executing "name" at <node>: message` apart.
fn executing(rest: &str) -> Option<Level> {
    let (place, behind) = rest.split_once(": executing ")?;
    let (name, behind) = behind.strip_prefix('"')?.split_once('"')?;
    let (node, message) = behind.strip_prefix(" at <")?.split_once(">: ")?;
    let executing = format!("executing \"{name}\" at <{node}>:");
    Some(Level { place: place.to_owned(), executing, message: uncaused(message) })
}

/// Returns a message without the text of the level inside.
fn uncaused(message: &str) -> String {
    message.split_once(" template:").map_or(message, |(message, _)| message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str) -> Link {
        Link { text: text.into(), cause: None }
    }

    #[test]
    fn levels_are_printed_below_each_other() {
        let inner = r#"template: c/t/_h.tpl:2:10: executing "x" at <.a.b>: nil pointer evaluating interface {}.b"#;
        let outer = format!(
            r#"template: c/t/a.yaml:1:3: executing "c/t/a.yaml" at <include "x" .>: error calling include: {inner}"#
        );
        let told = helm_message(&[link(&outer), link(inner)], "nil pointer evaluating interface {}.b", false);
        let lines = [
            "c/t/a.yaml:1:3",
            "  executing \"c/t/a.yaml\" at <include \"x\" .>:",
            "    error calling include:",
            "c/t/_h.tpl:2:10",
            "  executing \"x\" at <.a.b>:",
            "    nil pointer evaluating interface {}.b",
        ];
        assert_eq!(told, lines.join("\n"));
        assert_eq!(helm_message(&[link(&outer)], "told", true), "execution error at (c/t/a.yaml:1:3): told");
        let other = Link { cause: Some("unexpected end".into()), ..link(inner) };
        assert_eq!(helm_message(&[link(&outer), other], "", false), outer);
    }
}
