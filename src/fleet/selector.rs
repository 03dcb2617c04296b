//! Cluster selectors (`-l env=prod,tier in (a,b),!legacy`), and the clusters that they select.

mod keys;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::cluster::Cluster;
use super::cluster_keys::Keys;
use super::fleet::Fleet;
use super::layers::Layers;
use super::report::{Failure, FailureCollector};
use super::schema::Explained;
use super::view::{View, dotted, scalar_text};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, listed, nearest};
use dropforge_value::Data;
use roaring::RoaringBitmap;

/// Conditions on a cluster's inputs. A cluster is selected if all of them hold.
///
/// The item of a list is `k[0]` or `k.0`.
///
/// | condition | holds if |
/// |---|---|
/// | `k` | there is a value at `k` |
/// | `!k` | there is none |
/// | `k=v`, `k==v` | the value is `v` |
/// | `k!=v` | the value is not `v`, or there is none |
/// | `k in (v, w)` | the value is one of them |
/// | `k notin (v, w)` | the value is none of them, or there is none |
///
/// ```
/// use dropforge::bulk::{Merge, Selector, View};
/// use dropforge::value::Data;
/// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
/// let selector = Selector::parse("env in (qa,prod),cluster.tier!=small,!legacy").unwrap();
/// let (shared, own) = (map(r#"{"env": "prod"}"#), map(r#"{"cluster": {"tier": "large"}}"#));
/// assert!(selector.matches(&View::new(&shared, &own, Merge::Deep)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    path: String,
    test: Test,
    /// The result of the test for a selected cluster.
    holds: bool,
    /// The term as written.
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    /// There is a value.
    Present,
    /// The value is a scalar with one of these texts.
    In(Vec<String>),
}

impl Selector {
    /// Parses conditions separated by commas.
    ///
    /// # Errors
    /// `usage` for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        terms(text)
            .map(|part| term(part).ok_or_else(|| invalid(part)))
            .collect::<Result<_>>()
            .map(|terms| Self { terms })
    }

    /// Adds the terms of another selector.
    #[doc(hidden)]
    pub fn and(mut self, other: Selector) -> Self {
        self.terms.extend(other.terms);
        self
    }

    /// Returns `true` if the selector selects every cluster.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the dotted paths of the values that the conditions are about.
    #[doc(hidden)]
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.path.as_str())
    }

    /// Returns `true` if these inputs are selected.
    #[doc(hidden)]
    pub fn matches(&self, inputs: &View<'_>) -> bool {
        self.terms.iter().all(|term| term.matches(inputs.get(&term.path)))
    }

    /// Returns the error for a selector that selects none of the clusters, with the values that its keys have.
    ///
    /// # Errors
    /// Errors of [`Layers::view`].
    #[doc(hidden)]
    pub fn selects_nothing(&self, fleet: &Fleet, layers: &Layers) -> Result<Box<Diagnostic>> {
        let mut found: Vec<TermInputs> = self.terms.iter().map(|_| TermInputs::default()).collect();
        fleet.each(&mut |_, cluster| {
            let inputs = layers.view(cluster)?;
            for (term, found) in self.terms.iter().zip(&mut found) {
                found.add(term, &inputs);
            }
            Ok(())
        })?;
        let text: Vec<&str> = self.terms.iter().map(|term| term.text.as_str()).collect();
        let clusters = counted(fleet.len(), "cluster");
        let error =
            Diagnostic::new(Code::Usage, format!("the selector `{}` selects none of {clusters}", text.join(",")));
        let empty: Vec<_> = self.terms.iter().zip(&found).filter(|(_, found)| found.selected == 0).collect();
        if empty.is_empty() {
            return Ok(error.with_note("each condition selects clusters, but no cluster meets all of them"));
        }
        let error = empty.iter().fold(error, |error, (term, found)| error.with_note(found.values_of(term)));
        let near = empty.iter().find_map(|(term, found)| found.near(term));
        Ok(match near {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        })
    }
}

impl Term {
    fn matches(&self, value: Option<&Data>) -> bool {
        let is_one_of = |values: &[String], data: &Data| {
            !matches!(data, Data::List(_) | Data::Map(_)) && values.contains(&scalar_text(data))
        };
        let result = match &self.test {
            Test::Present => value.is_some(),
            Test::In(values) => value.is_some_and(|data| is_one_of(values, data)),
        };
        result == self.holds
    }
}

/// Maximum number of values or keys to remember for an error.
const MAX_VALUES: usize = 1_000;
/// Maximum number of values to name.
const NAMED: usize = 20;

/// The inputs that a fleet has for one term.
#[derive(Debug, Default)]
struct TermInputs {
    /// The number of clusters that the term selects.
    selected: usize,
    /// The number of clusters for each value of the key.
    values: BTreeMap<String, usize>,
    /// Keys beside the missing one.
    keys: BTreeSet<String>,
}

impl TermInputs {
    fn add(&mut self, term: &Term, inputs: &View<'_>) {
        let value = inputs.get(&term.path);
        self.selected += usize::from(term.matches(value));
        match value {
            Some(data) => {
                let text = match data {
                    Data::List(_) | Data::Map(_) => format!("a {}", data.kind()),
                    scalar => format!("`{}`", scalar_text(scalar)),
                };
                if self.values.len() < MAX_VALUES || self.values.contains_key(&text) {
                    *self.values.entry(text).or_default() += 1;
                }
            }
            None if self.keys.len() < MAX_VALUES => {
                let (parent, prefix) = term.path.rsplit_once('.').map_or(("", ""), |(parent, _)| (parent, "."));
                self.keys.extend(inputs.names_at(parent).map(|key| format!("{parent}{prefix}{key}")));
            }
            _ => {}
        }
    }

    /// Returns a sentence about the values of the term's key.
    fn values_of(&self, term: &Term) -> String {
        if self.values.is_empty() {
            return format!("no cluster has `{}`", term.path);
        }
        let values: Vec<String> = self.values.iter().map(|(value, count)| format!("{value} ({count})")).collect();
        format!("`{}` is {}", term.path, listed(&values, NAMED))
    }

    /// Returns the term that was likely meant.
    fn near(&self, term: &Term) -> Option<String> {
        match &term.test {
            // Labels of some tools are written with a colon.
            Test::Present if term.text.contains(':') => {
                let (key, value) = term.text.split_once(':')?;
                let key = nearest(key, self.keys.iter().map(String::as_str)).unwrap_or(key);
                Some(format!("{key}={value}"))
            }
            _ if self.values.is_empty() => {
                let key = nearest(&term.path, self.keys.iter().map(String::as_str))?;
                Some(term.text.replacen(&term.path, key, 1))
            }
            Test::In(wanted) => wanted.iter().find_map(|wanted| {
                let values = self.values.keys().filter_map(|value| value.strip_prefix('`')?.strip_suffix('`'));
                let near = nearest(wanted, values).filter(|_| term.holds)?;
                Some(format!("{}={near}", term.path))
            }),
            Test::Present => None,
        }
    }
}

/// Splits a selector at the commas outside parentheses.
fn terms(text: &str) -> impl Iterator<Item = &str> {
    let mut open = false;
    text.split(move |c| {
        open = if open { c != ')' } else { c == '(' };
        c == ',' && !open
    })
}

fn term(text: &str) -> Option<Term> {
    let text = text.trim();
    let (path, test, holds) = membership(text).or_else(|| equality(text)).unwrap_or_else(|| presence(text));
    let path = path.trim();
    let is_plain = !path.contains(|c: char| c.is_whitespace() || "!()".contains(c));
    let is_path = !path.is_empty() && (is_plain || (test != Test::Present && !path.starts_with('!')));
    is_path.then(|| Term { path: dotted(path), test, holds, text: text.to_owned() })
}

/// Parses `k in (v, w)` and `k notin (v, w)`.
fn membership(text: &str) -> Option<(&str, Test, bool)> {
    let (head, values) = text.strip_suffix(')')?.split_once('(')?;
    let (path, operator) = head.trim_end().rsplit_once(char::is_whitespace)?;
    let known = matches!(operator, "in" | "notin") && !path.contains('=') && !values.trim().is_empty();
    let values = values.split(',').map(|value| value.trim().to_owned()).collect();
    known.then_some((path, Test::In(values), operator == "in"))
}

/// Parses `k=v`, `k==v` and `k!=v`.
fn equality(text: &str) -> Option<(&str, Test, bool)> {
    let (path, value) = text.split_once('=')?;
    let (path, value, holds) = match path.strip_suffix('!') {
        Some(path) => (path, value, false),
        None => (path, value.strip_prefix('=').unwrap_or(value), true),
    };
    Some((path, Test::In(vec![value.trim().to_owned()]), holds))
}

/// Parses `k` and `!k`.
fn presence(text: &str) -> (&str, Test, bool) {
    let absent = text.strip_prefix('!');
    (absent.unwrap_or(text), Test::Present, absent.is_none())
}

fn invalid(text: &str) -> Box<Diagnostic> {
    let text = text.trim();
    let closed = format!("{text})");
    if text.contains('(') && !text.contains(')') && term(&closed).is_some() {
        let message = format!("invalid selector `{text}`: `(` is not closed");
        return Diagnostic::new(Code::Usage, message).with_help(format!("write `{closed}`"));
    }
    Diagnostic::new(Code::Usage, format!("invalid selector `{text}`"))
        .with_help("use `k`, `!k`, `k=v`, `k!=v`, `k in (v, w)` or `k notin (v, w)`, separated by commas")
}

/// Some clusters of a fleet, in its order.
#[derive(Debug, Clone)]
pub struct Selection<'f> {
    fleet: &'f Fleet,
    clusters: RoaringBitmap,
    /// The keys of the clusters, once they are needed.
    keys: OnceCell<Keys>,
}

impl<'f> Selection<'f> {
    pub(super) fn new(fleet: &'f Fleet, clusters: RoaringBitmap) -> Self {
        Self { fleet, clusters, keys: OnceCell::new() }
    }

    /// Returns the keys of the clusters.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(super) fn keys(&self) -> Result<&Keys> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let keys = Keys::of(self)?;
        Ok(self.keys.get_or_init(|| keys))
    }

    /// Selects clusters by their merged values.
    ///
    /// ```
    /// use dropforge::bulk::{Fleet, FleetOptions, Format, Layers, Selection, Selector};
    /// use dropforge::text::Source;
    /// let source = Source::new("fleet.csv", "name,env\na,dev\nb,prod\nc,dev\n");
    /// let fleet = Fleet::read(&source, Format::Csv, &FleetOptions::default())?;
    /// let dev = Selection::of(&fleet, &Layers::default(), &Selector::parse("env=dev")?)?;
    /// let mut names = Vec::new();
    /// dev.each(&mut |at, cluster| Ok(names.push(format!("{at} {}", cluster.name()))))?;
    /// assert_eq!(names, ["0 a", "2 c"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Layers::view`] and [`Fleet::each`].
    pub fn of(fleet: &'f Fleet, layers: &Layers, selector: &Selector) -> Result<Self> {
        let mut clusters = RoaringBitmap::new();
        fleet.each(&mut |at, cluster| {
            if selector.is_empty() || selector.matches(&layers.view(cluster)?) {
                clusters.extend(u32::try_from(at));
            }
            Ok(())
        })?;
        clusters.optimize();
        Ok(Self::new(fleet, clusters))
    }

    /// Returns the number of clusters.
    pub fn len(&self) -> usize {
        usize::try_from(self.clusters.len()).unwrap_or(usize::MAX)
    }

    /// Returns `true` if there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// Calls `each` with the clusters and their indexes in the fleet, until one fails.
    ///
    /// # Errors
    /// Errors of reading clusters and of `each`.
    pub fn each(&self, each: &mut dyn FnMut(usize, &Cluster) -> Result<()>) -> Result<()> {
        let mut reader = self.fleet.reader();
        self.clusters.iter().try_for_each(|at| each(at as usize, reader.cluster(at as usize)?))
    }

    /// Returns the first cluster alone.
    pub(super) fn first(&self) -> Self {
        Self::new(self.fleet, self.clusters.min().into_iter().collect())
    }

    /// Returns all violations of the schemas of `layers` by the values of the clusters, or without clusters by the shared
    /// values.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub fn violations(&self, layers: &Layers) -> Result<Vec<Failure>> {
        let (mut collector, mut explained) = (FailureCollector::default(), Explained::default());
        if self.is_empty() {
            let found = layers.violations(None).into_iter();
            return Ok(found.map(Failure::new).collect());
        }
        self.each(&mut |at, cluster| {
            for error in layers.new_violations(Some(cluster), &mut explained) {
                collector.add(at, error.for_cluster(cluster.name()));
            }
            Ok(())
        })?;
        let mut reader = self.fleet.reader();
        Ok(collector.into_failures(|at| reader.name(at)))
    }

    /// Returns the fleet.
    pub fn fleet(&self) -> &'f Fleet {
        self.fleet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cluster, Merge};
    use dropforge_value::DataMap;

    fn map(text: &str) -> DataMap {
        serde_json::from_str::<Data>(text).unwrap().into_map().unwrap()
    }

    #[test]
    fn terms_compare_scalars_as_text() {
        let (shared, own) = (map(r#"{"a": {"b": 1}, "c": true, "l": ["x"]}"#), map(r#"{"a": {"d": null, "f": 1.5}}"#));
        let cases = [
            ("c=true", true),
            ("c==true", true),
            ("c!=false", true),
            ("a.b=1", false),
            ("a.b!=1", true),
            ("a.d=null", true),
            ("a.f=1.5", true),
            ("l.0=x", true),
            ("l.9=x", false),
            ("l[0]=x", true),
            ("l[0] in (x,y),!l[1]", true),
            ("l=x", false),
            ("c=true,a.f=2", false),
            ("no=", false),
            (" c = true ", true),
            ("c", true),
            ("!c", false),
            ("a.x", false),
            (" !a.x ", true),
            ("a.d", true),
            ("c in (false, true)", true),
            ("c in (false),c", false),
            ("c notin (false,x),c", true),
            ("c  notin(true)", false),
            ("a.x in (1)", false),
            ("a.x notin (1)", true),
            ("l in (x)", false),
            ("a.f in (1.5,c=true),c=true", true),
            ("c!=f(x,y)", true),
            ("in", false),
            ("in=1", false),
        ];
        for (text, expected) in cases {
            assert_eq!(
                Selector::parse(text).unwrap().matches(&View::new(&shared, &own, Merge::Replace)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn values_may_hold_operators() {
        let own = map(r#"{"a": "x!=y", "b": "f(1,2)", "c": "=v", "d e": 1}"#);
        for text in ["a=x!=y", "b=f(1,2)", "c===v", "c!=v", "b in (f(1,f(1,2)", "d e=1"] {
            let selected = Selector::parse(text).unwrap().matches(&View::new(&DataMap::default(), &own, Merge::Deep));
            assert_eq!(selected, !text.contains(" in "), "{text}");
        }
    }

    #[test]
    fn malformed_terms_are_refused() {
        let cases = [
            "",
            "=x",
            "a=1,",
            "a=1,,b=2",
            "!",
            "!a=b",
            "!!a",
            "a b",
            "a in",
            "a in ()",
            "a in (b",
            "a on (b)",
            "(a)",
            "a)",
            "in (a)",
            "a,b c",
            "!a in (b)",
        ];
        for text in cases {
            assert_eq!(Selector::parse(text).unwrap_err().code, Code::Usage, "{text}");
        }
    }

    fn nothing(selector: &str) -> (Vec<String>, Option<String>) {
        let clusters = (0..30).map(|n| {
            let (env, tier) = (if n % 3 == 0 { "prod" } else { "dev" }, n % 30);
            Cluster::new(
                format!("c{n}"),
                map(&format!(r#"{{"env": "{env}", "cluster": {{"tier": {tier}, "l": []}}}}"#)),
            )
        });
        let (fleet, layers) = (Fleet::new(clusters.collect()).unwrap(), Layers::default());
        let error = Selector::parse(selector).unwrap().selects_nothing(&fleet, &layers).unwrap();
        assert!(error.message.contains("selects none of 30 clusters"), "{}", error.message);
        (error.notes, error.help)
    }

    #[test]
    fn a_selector_of_nothing_names_the_values() {
        let help = |text: &str| Some(format!("did you mean `{text}`?"));
        assert_eq!(nothing("env=prd"), (vec!["`env` is `dev` (20), `prod` (10)".into()], help("env=prod")));
        assert_eq!(
            nothing("env in (x,dve),cluster"),
            (vec!["`env` is `dev` (20), `prod` (10)".into()], help("env=dev"))
        );
        assert_eq!(nothing("evn=prod"), (vec!["no cluster has `evn`".into()], help("env=prod")));
        assert_eq!(nothing("cluster.teir"), (vec!["no cluster has `cluster.teir`".into()], help("cluster.tier")));
        assert_eq!(nothing("!cluster.l"), (vec!["`cluster.l` is a list (30)".into()], None));
        assert_eq!(
            nothing("env!=dev,env=dev").0,
            ["each condition selects clusters, but no cluster meets all of them"]
        );
        let (notes, _) = nothing("cluster.tier=99");
        assert!(notes[0].contains("`0` (1), `10` (1)") && notes[0].ends_with("and 10 more"), "{notes:?}");
    }
}
