//! The words that complete what is typed.

use dropforge::engine::{Dialect, Engine};

use super::commands::COMMANDS;

/// Maximum number of completions.
const MAX: usize = 200;

/// All words that can be typed, sorted.
#[derive(Debug, Default)]
pub(super) struct Words(Vec<String>);

impl Words {
    /// Returns the commands, the functions of the language, and the paths of values as it writes them.
    pub(super) fn new(language: Dialect, paths: Vec<String>) -> Self {
        let commands = COMMANDS.iter().map(|(name, ..)| (*name).to_owned());
        let engine = Engine::new();
        let functions = engine.registry(language).iter().map(|builtin| builtin.name.to_string());
        let mut words: Vec<String> = paths.into_iter().chain(commands).chain(functions).collect();
        words.sort();
        words.dedup();
        Self(words)
    }

    /// Returns where the word at the end of `line` begins, and the words that begin like it. Of a path, only the next
    /// name is completed.
    pub(super) fn of<'w>(&'w self, line: &str) -> (usize, Vec<&'w str>) {
        let is_part = |c: char| c.is_alphanumeric() || "_-.:$@[]".contains(c);
        let start = line.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map_or(line.len(), |(at, _)| at);
        let typed = line.get(start..).unwrap_or("");
        if typed.is_empty() || (typed.starts_with(':') && start > 0) {
            return (start, Vec::new());
        }
        let is_next = |word: &&String| {
            let rest = word.strip_prefix(typed);
            rest.is_some_and(|rest| !rest.get(1..).unwrap_or("").contains(['.', '[']))
        };
        (start, self.0.iter().filter(is_next).map(String::as_str).take(MAX).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(language: Dialect, line: &str) -> (usize, Vec<String>) {
        let paths = ["image", "image.tag", "image.tags", "image.tags.a", "items[0]"].map(str::to_owned);
        let words = Words::new(language, paths.to_vec());
        let (at, found) = words.of(line);
        (at, found.into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn paths_are_completed_name_by_name() {
        assert_eq!(of(Dialect::Hcl, "x + imag"), (4, vec!["image".to_owned()]));
        assert_eq!(of(Dialect::Hcl, "image.t"), (0, vec!["image.tag".to_owned(), "image.tags".to_owned()]));
        assert_eq!(of(Dialect::Hcl, "é image.tags."), (3, vec!["image.tags.a".to_owned()]));
        assert_eq!(of(Dialect::Hcl, "a "), (2, vec![]));
    }

    #[test]
    fn functions_and_commands_are_completed() {
        assert!(of(Dialect::Tera, "name | nind").1.contains(&"nindent".to_owned()));
        assert!(of(Dialect::Helm, "toYam").1.contains(&"toYaml".to_owned()));
        assert_eq!(of(Dialect::Hcl, ":ty"), (0, vec![":type".to_owned()]));
        assert_eq!(of(Dialect::Hcl, "a ? b :ty").1, Vec::<String>::new());
    }
}
