//! Actions that were parsed before. Charts repeat most of their actions, which then share one tree.

use bumpalo::Bump;
use hashbrown::HashMap;

use super::parser::Work;
use super::shapes::Shapes;
use super::tree::Action;
use dropforge_base::text::Span;

/// The typical number of bytes of files for each action of its own.
const ACTION: usize = 360;

/// A parsed action without errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    /// The tree. Its places are relative to the offset behind the opening delimiter.
    pub action: &'a Action<'a>,
    /// The place of the action for errors, if it is not the whole action, relative as well.
    pub at: Option<Span>,
    /// `true` if its end trims the text behind it.
    pub trims: bool,
    /// The variables that have to be in scope before it.
    pub used: &'a [&'a str],
    /// The variables that it declares.
    pub declared: &'a [&'a str],
    /// The literal names of the templates that it includes.
    pub includes: &'a [&'a str],
}

/// The actions of the files of one name space, by their text up to the end of the closing delimiter.
#[derive(Debug, Default)]
pub(crate) struct KnownActions<'a> {
    pub(super) actions: HashMap<&'a str, &'a Known<'a>>,
    /// The trees of others with the same kinds of tokens.
    pub(super) shapes: Shapes<'a>,
    pub(super) work: Option<Work<'a>>,
}

impl<'a> KnownActions<'a> {
    /// Returns a set with room for the actions of files of `bytes` bytes.
    pub(crate) fn for_bytes(bytes: usize) -> Self {
        Self { actions: HashMap::with_capacity(bytes / ACTION), shapes: Shapes::default(), work: None }
    }

    /// Keeps an action, unless it defines a template.
    pub(super) fn keep(&mut self, arena: &'a Bump, text: &'a str, known: Known<'a>) {
        if !matches!(known.action, Action::Define(_) | Action::Block(..)) {
            self.actions.insert(text, arena.alloc(known));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tree::Node;
    use crate::syntax::{Delimiters, parse};
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;

    /// Calls `see` with the nodes of a text.
    fn parsed<T>(text: &str, see: impl FnOnce(&[Node<'_>]) -> T) -> T {
        let (arena, source) = (Bump::new(), Source::new("t", text));
        let templates = parse(&arena, &source, Delimiters::default(), &|_| true, &Limits::default()).unwrap();
        see(templates.last().unwrap().body)
    }

    /// Returns the nodes of a text, without the first `skip`.
    fn nodes(text: &str, skip: usize) -> String {
        parsed(text, |nodes| format!("{:?}", nodes.get(skip..).unwrap()))
    }

    fn count(text: &str) -> usize {
        parsed(text, |nodes| nodes.len())
    }

    #[test]
    fn a_repeated_action_is_the_same_as_one_that_is_parsed_there() {
        for text in [
            "{{ .a.b }}",
            "{{- f \"x\" .a 1 | g (h $.b (i . `y`)).c -}}",
            "{{ if not .a }}x{{ else if eq .b 2 }}y{{ else }}z{{ end }}",
            "{{ range $k, $v := .a }}{{ $v.x }}{{ $k }}{{ $v.x }}{{ else }}{{ break_ . }}{{ end }}",
            "{{ with $x := .a.b }}{{ $x = 1 }}{{ template \"t\" $x }}{{ template \"t\" }}{{ end }}",
            "{{ \"}}\" }}",
            "{{/* comment */}}{{ .a }}",
        ] {
            let other = "-".repeat(text.len());
            let first = nodes(&other, 0).matches("Text(").count();
            let (once, twice) = (nodes(&format!("{other}.{text}"), first), nodes(&format!("{text}.{text}"), 2));
            assert_eq!(twice, once, "{text}");
        }
    }

    #[test]
    fn an_action_of_a_known_shape_has_its_own_tokens() {
        for (first, second) in [
            ("{{ .a.b }}", "{{.ccc.d.e}}"),
            (
                "{{ f \"x\" .a 1 true | g (h $.b (i . `y`)).c }}",
                "{{ff  `yy` .aa 22 false|gg ( hh $.bb ( ii . \"zz\" ) ).cc.d}}",
            ),
            ("{{ if $x := .a }}{{ $x }}{{ end }}", "{{ if $long := .b.c }}{{ $long }}{{ end }}"),
            ("{{ range $k, $v := f }}{{ end }}", "{{ range $key , $value := gg }}{{ end }}"),
            ("{{ template \"a\" .b }}{{ template \"c\" }}", "{{ template `bb` .c.d }}{{ template `d` }}"),
            ("{{ (f).x.y 1 }}", "{{ ( gg ).z 2.5 }}"),
        ] {
            let blank = "-".repeat(first.len());
            let alone = nodes(&format!("{blank}{second}"), 1);
            let behind = nodes(&format!("{first}{second}"), count(first));
            assert_eq!(behind, alone, "{second}");
        }
    }

    #[test]
    fn variables_are_looked_up_where_an_action_is_repeated() {
        let (arena, source) = (Bump::new(), Source::new("t", "{{ if $x := .a }}{{ $x }}{{ end }}\n{{ $x }}{{ $x }}"));
        let errors = parse(&arena, &source, Delimiters::default(), &|_| true, &Limits::default()).unwrap_err();
        let places: Vec<_> = errors.iter().map(|error| error.position().unwrap().to_string()).collect();
        assert_eq!(places, ["2:4", "2:12"]);
    }
}
