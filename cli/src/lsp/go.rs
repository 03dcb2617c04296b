//! The data and the variables at a place of a Go template that may not parse.

use dropforge::compiler::Key;

/// What the names at a place lead to.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The input that `.` is, if it is known. An empty path is the data of the file.
    pub(super) dot: Option<Vec<Key>>,
    /// The variables with the inputs that they are, the innermost last.
    pub(super) variables: Vec<(String, Option<Vec<Key>>)>,
}

/// Returns what the names at the end of `before` lead to. The data of a `define` is taken for that of the file.
pub(super) fn scope(before: &str) -> Scope {
    let mut now = Scope { dot: Some(Vec::new()), variables: Vec::new() };
    let mut open: Vec<(Option<Vec<Key>>, usize)> = Vec::new();
    for action in before.split("{{").skip(1) {
        let Some((text, _)) = action.split_once("}}") else { continue };
        let text = text.trim_matches(['-', ' ', '\t', '\n', '\r']);
        let (head, rest) = first_word(text);
        match head {
            "if" | "with" | "range" | "define" | "block" => {
                open.push((now.dot.clone(), now.variables.len()));
                now.enter(head, rest);
            }
            "else" => {
                let (word, rest) = first_word(rest);
                now.dot = open.last().map_or(Some(Vec::new()), |(dot, _)| dot.clone());
                now.enter(word, rest);
            }
            "end" => {
                let Some((dot, variables)) = open.pop() else { continue };
                now.dot = dot;
                now.variables.truncate(variables);
            }
            _ => drop(now.declare(text, false)),
        }
    }
    now
}

fn first_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

impl Scope {
    /// Returns the input that a variable is.
    pub(super) fn variable(&self, name: &str) -> Option<Vec<Key>> {
        self.variables.iter().rfind(|(known, _)| known == name).and_then(|(_, input)| input.clone())
    }

    /// Begins a block.
    fn enter(&mut self, word: &str, text: &str) {
        match word {
            "if" => drop(self.declare(text, false)),
            "with" | "range" => self.dot = self.declare(text, word == "range"),
            "define" | "block" => self.dot = Some(Vec::new()),
            _ => {}
        }
    }

    /// Adds the variables that a pipeline declares. Returns the input that it is, or that its items are.
    fn declare(&mut self, text: &str, is_each: bool) -> Option<Vec<Key>> {
        let (names, pipeline) = text.split_once(":=").unwrap_or(("", text));
        let mut input = self.input(pipeline.trim());
        if is_each {
            input.iter_mut().for_each(|input| input.push(Key::Any));
        }
        let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| name.starts_with('$')).collect();
        for (at, name) in names.iter().enumerate() {
            let is_last = at + 1 == names.len();
            self.variables.push(((*name).to_owned(), input.clone().filter(|_| is_last)));
        }
        input
    }

    /// Returns the input that a pipeline is, if it is only a path.
    fn input(&self, pipeline: &str) -> Option<Vec<Key>> {
        let is_part = |c: char| matches!(c, '_' | '.' | '$') || c.is_alphanumeric();
        let mut steps = pipeline.split('.').filter(|_| pipeline.chars().all(is_part));
        let mut input = match steps.next()? {
            "" => self.dot.clone().filter(|_| !pipeline.is_empty())?,
            "$" => Vec::new(),
            name => self.variable(name)?,
        };
        input.extend(steps.filter(|step| !step.is_empty()).map(|step| Key::Name(step.to_owned())));
        Some(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(input: Option<Vec<Key>>) -> String {
        let key = |key: Key| match key {
            Key::Name(name) => name,
            Key::Any => "*".to_owned(),
        };
        input.map_or("?".to_owned(), |input| input.into_iter().map(key).collect::<Vec<_>>().join("."))
    }

    #[test]
    fn the_data_of_a_block() {
        let dot = |text: &str| told(scope(text).dot);
        assert_eq!(dot("{{ range .Values.a }}{{ . }}"), "Values.a.*");
        assert_eq!(dot("{{ range $i, $x := .Values.a }}{{ if .b }}"), "Values.a.*");
        assert_eq!(dot("{{ with .Values.a }}{{ with .b }}"), "Values.a.b");
        assert_eq!(dot("{{ with .Values.a }}{{ else }}"), "");
        assert_eq!(dot("{{ with .Values.a }}{{- else with $.Values.b -}}"), "Values.b");
        assert_eq!(dot("{{ with .a }}{{ end }}"), "");
        assert_eq!(dot("{{ with .a }}{{ define \"x\" }}"), "");
        assert_eq!([dot("{{ with .a | f }}"), dot("{{ with f }}"), dot("{{ with .a }}{{ with")], ["?", "?", "a"]);
    }

    #[test]
    fn variables_in_scope() {
        let names = |text: &str| {
            scope(text).variables.into_iter().map(|(name, input)| format!("{name}={}", told(input))).collect::<Vec<_>>()
        };
        assert_eq!(names("{{ range $k, $v := .Values.a }}"), ["$k=?", "$v=Values.a.*"]);
        assert_eq!(names("{{ $x := .a }}{{ range $y := $x.b }}{{ $z := .c }}"), ["$x=a", "$y=a.b.*", "$z=a.b.*.c"]);
        assert_eq!(names("{{ $x := 1 }}{{ if $y := .b }}{{ end }}"), ["$x=?"]);
        assert_eq!(names("{{ with $y := .b }}{{ $y }}{{ $x := "), ["$y=b"]);
    }
}
