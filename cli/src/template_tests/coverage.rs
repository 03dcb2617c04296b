//! The options of coverage, and its report.

use std::fmt::Write;

use clap::Args;

use dropforge::diagnostics::{Code, Diagnostic, counted};
use dropforge::engine::coverage::{Coverage, FileCoverage};
use dropforge::text::one_line;

use super::target::Target;

/// Maximum number of characters of a condition.
const SHOWN: usize = 60;

/// Options of coverage.
#[derive(Debug, Args)]
#[command(next_help_heading = "Coverage")]
pub(super) struct CoverageArgs {
    /// Print the lines that no test runs, and the conditions and loops with an outcome that no test has
    #[arg(long, conflicts_with = "list")]
    coverage: bool,
    /// Fail if less than PERCENT of the lines and outcomes are covered
    #[arg(long, value_name = "PERCENT", conflicts_with = "list", value_parser = percent)]
    coverage_min: Option<f64>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse().ok();
    number.filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

/// The coverage of each target.
#[derive(Debug)]
pub(super) struct Coverages {
    min: Option<f64>,
    of: Vec<(Target, Coverage)>,
}

impl Coverages {
    /// Returns `None` if no option asks for it.
    pub fn wanted(args: &CoverageArgs) -> Option<Self> {
        (args.coverage || args.coverage_min.is_some()).then(|| Self { min: args.coverage_min, of: Vec::new() })
    }

    /// Returns the coverage of a target.
    pub fn of(&mut self, target: &Target) -> Coverage {
        if let Some((_, coverage)) = self.of.iter().find(|(known, _)| known == target) {
            return coverage.clone();
        }
        let coverage = Coverage::new();
        self.of.push((target.clone(), coverage.clone()));
        coverage
    }

    /// Returns the targets with their coverages.
    pub fn all(&self) -> impl Iterator<Item = (&Target, &Coverage)> {
        self.of.iter().map(|(target, coverage)| (target, coverage))
    }

    /// Returns the report: what is missed in each template, and a total.
    pub fn report(&self) -> String {
        let mut text = String::from("coverage:\n");
        for (_, coverage) in self.all() {
            for file in coverage.files() {
                let _ = writeln!(text, "  {}: {}", file.source.path(), Counts::of(&file).sentence());
                missed(&file, &mut text);
            }
        }
        let _ = writeln!(text, "total: {}", self.total().sentence());
        text
    }

    fn total(&self) -> Counts {
        let files = self.all().flat_map(|(_, coverage)| coverage.files());
        files.fold(Counts::default(), |sum, file| sum.plus(Counts::of(&file)))
    }

    /// Returns the error of a coverage that is too low.
    pub fn too_low(&self) -> Option<Box<Diagnostic>> {
        let (found, min) = (self.total().percent(), self.min?);
        (found < min).then(|| {
            let message = format!("the tests cover {} of lines and outcomes, less than {}", shown(found), shown(min));
            Diagnostic::new(Code::LowCoverage, message).with_help("`--coverage` prints what is missing")
        })
    }
}

/// Adds the lines that never ran, and the outcomes that never occurred.
fn missed(file: &FileCoverage, text: &mut String) {
    let lines = file.missed_lines();
    if !lines.is_empty() {
        let noun = if lines.len() == 1 { "line" } else { "lines" };
        let _ = writeln!(text, "    {noun} {} never ran", ranges(&lines));
    }
    for branch in file.branches.iter().filter(|branch| !branch.missed().is_empty()) {
        let condition = one_line(file.source.slice(branch.span), SHOWN);
        let at = file.source.position(branch.span.start);
        let _ = writeln!(text, "    {at}: `{condition}` is never {}", branch.missed().join(" and never "));
    }
}

/// Returns numbers with runs of them as ranges.
fn ranges(lines: &[u32]) -> String {
    let runs = lines.chunk_by(|a, b| a + 1 == *b);
    let shown = runs.filter_map(|run| match (run.first()?, run.last()?) {
        (first, last) if first == last => Some(first.to_string()),
        (first, last) => Some(format!("{first}-{last}")),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Numbers of lines and outcomes: covered, and all.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    lines: (usize, usize),
    outcomes: (usize, usize),
}

impl Counts {
    fn of(file: &FileCoverage) -> Self {
        Self { lines: file.line_counts(), outcomes: file.outcome_counts() }
    }

    fn plus(self, other: Self) -> Self {
        let sum = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
        Self { lines: sum(self.lines, other.lines), outcomes: sum(self.outcomes, other.outcomes) }
    }

    /// Returns the share of all lines and outcomes. Nothing is covered wholly.
    fn percent(self) -> f64 {
        let (covered, all) = (self.lines.0 + self.outcomes.0, self.lines.1 + self.outcomes.1);
        if all == 0 { 100.0 } else { covered as f64 * 100.0 / all as f64 }
    }

    fn sentence(self) -> String {
        let (lines, outcomes) = (self.lines, self.outcomes);
        let branches = match outcomes.1 {
            0 => String::new(),
            all => format!(", {} of {}", outcomes.0, counted(all, "outcome")),
        };
        format!("{} of {}{branches} ({})", lines.0, counted(lines.1, "line"), shown(self.percent()))
    }
}

/// Shows a percentage. It is rounded down, so that 100% is all.
fn shown(percent: f64) -> String {
    let rounded = (percent * 10.0).floor() / 10.0;
    format!("{rounded}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_ranges_and_shares() {
        assert_eq!(ranges(&[1, 3, 4, 5, 9]), "1, 3-5, 9");
        assert_eq!((shown(99.99), shown(100.0), shown(66.666)), ("99.9%".into(), "100%".into(), "66.6%".into()));
        assert_eq!(percent("80%"), Ok(80.0));
        assert!(percent("101").is_err() && percent("NaN").is_err() && percent("-1").is_err());
    }
}
