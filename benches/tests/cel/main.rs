//! Compares CEL expressions with other crates: same value, or an error in both. The Kubernetes libraries are compared
//! with `kube-cel`, the syntax and the language with `cel`. Deliberate differences are listed with a reason, and each
//! of them has to occur.

mod kube;
mod language;
#[rustfmt::skip]
mod tables;
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

/// The result of an expression: its value as text with its type, or the error.
type Outcome = Result<String, String>;

/// An expression with both results.
struct Case<'c> {
    text: &'c str,
    ours: &'c Outcome,
    theirs: &'c Outcome,
}

impl Case<'_> {
    fn has(&self, part: &str) -> bool {
        self.text.contains(part)
    }

    /// Returns the string literals in double quotes.
    fn texts(&self) -> Vec<String> {
        let (mut texts, mut rest) = (Vec::new(), self.text);
        while let Some(at) = rest.find('"') {
            let mut found = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<String>();
            let Some(Ok(text)) = found.next() else { break };
            texts.push(text);
            rest = &rest[at + found.byte_offset()..];
        }
        texts
    }

    /// Returns `true` if these are the results.
    fn are(&self, ours: Result<&str, ()>, theirs: Result<&str, ()>) -> bool {
        let is = |outcome: &Outcome, wanted: Result<&str, ()>| outcome.as_deref().map_err(drop) == wanted;
        is(self.ours, ours) && is(self.theirs, theirs)
    }

    /// Returns the results as floats.
    fn floats(&self) -> [f64; 2] {
        [self.ours, self.theirs].map(|outcome| outcome.as_deref().ok().and_then(|n| n.parse().ok()).unwrap_or(f64::NAN))
    }
}

/// A known difference.
struct Known {
    /// The other crate's behaviour.
    why: &'static str,
    /// Returns `true` for this difference.
    is: fn(&Case<'_>) -> bool,
}

/// A comparison of two engines over many expressions.
#[derive(Default)]
struct Comparison {
    compared: usize,
    /// Number of expressions with a value in both.
    valued: usize,
    /// Occurrences of each known difference.
    known: Vec<usize>,
    unknown: Vec<String>,
}

impl Comparison {
    fn add(&mut self, known: &[Known], text: &str, ours: Outcome, theirs: Outcome) {
        self.known.resize(known.len(), 0);
        self.compared += 1;
        match (&ours, &theirs) {
            (Ok(a), Ok(b)) if a == b => self.valued += 1,
            (Err(_), Err(_)) => {}
            _ => match known.iter().position(|known| (known.is)(&Case { text, ours: &ours, theirs: &theirs })) {
                Some(at) => self.known[at] += 1,
                None => self.unknown.push(format!("{text}\n    ours   {ours:?}\n    theirs {theirs:?}")),
            },
        }
    }

    fn settle(&self, known: &[Known], all: bool) {
        let shown: Vec<_> = self.unknown.iter().take(3000).map(String::as_str).collect();
        assert!(shown.is_empty(), "{} of {} differ:\n{}", self.unknown.len(), self.compared, shown.join("\n"));
        assert!(self.valued * 4 > self.compared, "{} of {} have a value", self.valued, self.compared);
        for (known, count) in known.iter().zip(&self.known).filter(|_| all) {
            assert!(*count > 0, "never met: {}", known.why);
        }
    }
}

/// Evaluates with another crate. A panic is an error.
fn guarded(work: impl FnOnce() -> Outcome) -> Outcome {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        set_hook(Box::new(|info| {
            let own =
                info.location().is_some_and(|at| at.file().contains("tests/cel") || at.file().contains("dropforge"));
            if own {
                eprintln!("{info}");
            }
        }));
    });
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("panic".to_owned()))
}
