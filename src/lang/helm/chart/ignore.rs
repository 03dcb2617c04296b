//! `.helmignore`: patterns of files that do not belong to the chart.

use super::error::Stage;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::globs::{Glob, Syntax};

/// The rule that every chart has: hidden files among templates.
const DEFAULT: &str = "templates/.?*";

/// The patterns of a `.helmignore` file.
#[derive(Debug)]
pub(super) struct Ignored(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    glob: Glob,
    /// The rule begins with `!`: what does not match is excluded.
    is_negated: bool,
    /// The rule ends with `/`: only directories match.
    only_directories: bool,
    /// The pattern has a slash and is compared with the whole path, not only with the last component.
    whole_path: bool,
}

impl Ignored {
    /// Parses the lines of the file.
    ///
    /// # Errors
    /// `input.syntax` for `**` and malformed patterns.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.chain([DEFAULT]).map(rule).collect::<Result<_>>().map(Self)
    }

    /// Returns `true` if the file or directory at `path` does not belong to the chart.
    pub(super) fn excludes(&self, path: &str, is_dir: bool) -> bool {
        self.0.iter().any(|rule| rule.excludes(path, is_dir))
    }
}

impl Rule {
    fn excludes(&self, path: &str, is_dir: bool) -> bool {
        match self.only_directories && !is_dir {
            true => self.is_negated,
            false => self.matches(path) != self.is_negated,
        }
    }

    fn matches(&self, path: &str) -> bool {
        let last = path.rsplit('/').next().unwrap_or(path);
        self.glob.matches(if self.whole_path { path } else { last })
    }
}

fn rule(line: &str) -> Result<Rule> {
    let malformed = |why: &str| Stage::Load.error(Code::InputSyntax, format!(".helmignore: `{line}`: {why}"));
    if line.contains("**") {
        return Err(malformed("double-star (**) syntax is not supported"));
    }
    let (is_negated, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (only_directories, pattern) = pattern.strip_suffix('/').map_or((false, pattern), |rest| (true, rest));
    let glob = Glob::parse(pattern, Syntax::Full).ok_or_else(|| malformed("syntax error in pattern"))?;
    Ok(Rule { glob, is_negated, only_directories, whole_path: pattern.contains('/') })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_a_file() {
        let ignored = Ignored::parse("# comment\n\n*.txt\n/top.yaml\ndir/\na/*.md\nx[ab]\n").unwrap();
        for (path, is_dir, excluded) in [
            ("a.txt", false, true),
            ("deep/a.txt", false, true),
            ("top.yaml", false, true),
            ("deep/top.yaml", false, false),
            ("dir", true, true),
            ("dir", false, false),
            ("deep/dir", true, true),
            ("a/b.md", false, true),
            ("a/b/c.md", false, false),
            ("xa", false, true),
            ("templates/.hidden", false, true),
            ("templates/.h", true, true),
            ("templates/a.yaml", false, false),
            (".hidden", false, false),
        ] {
            assert_eq!(ignored.excludes(path, is_dir), excluded, "{path}");
        }
        assert!(Ignored::parse("!a.txt\n").unwrap().excludes("b.txt", false));
        assert!(!Ignored::parse("!a.txt\n").unwrap().excludes("a.txt", false));
        assert!(Ignored::parse("a/**\n").is_err() && Ignored::parse("[").is_err());
    }
}
