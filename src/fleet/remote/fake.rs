//! A stand-in for the engine, for tests.

use crate::job::{Job, Options, Renderer, Stamp, Watch};
use crate::layers::{Layers, Overlay};
use crate::plan::{Output, Plan};
use crate::{Cluster, Fleet, FleetOptions, Format, Layout, PlanShard, Selector};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::Source;
use dropforge_value::Data;

/// Renders the name of the cluster: `a` is short, `b` is long. A cluster with `fail` fails.
pub(super) struct Fake;

impl Stamp for Fake {
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        body(&mut Fake);
    }
}

impl Renderer for Fake {
    fn render(
        &mut self,
        _: Option<usize>,
        _: &Cluster,
        own: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> Result<()> {
        let own = own.to_map()?;
        let field = |name: &str| own.get(name).and_then(Data::as_str).map(str::to_owned);
        if let Some(why) = field("fail") {
            return Err(Diagnostic::new(Code::UndefinedVariable, why));
        }
        let (name, extra) = (field("name").unwrap_or_default(), field("extra").unwrap_or_default());
        for template in ["a.t", "b.t"] {
            text.push_str(&String::from_utf8_lossy(&Setup::content(&name, template)));
            text.push_str(&extra);
            results.push(Ok(text.len()));
        }
        Ok(())
    }
}

/// The parts of a job with two templates.
pub(super) struct Setup {
    ndjson: String,
    fleet: Fleet,
    layers: Layers,
    plan: Plan,
    pub(super) options: Options,
}

impl Setup {
    pub(super) fn new(ndjson: &str) -> Self {
        let fleet = Fleet::read(&Source::new("f", ndjson), Format::Ndjson, &FleetOptions::default()).expect("a fleet");
        let layers = Layers::default();
        let output = |name: &str| Output {
            template: format!("{name}.t"),
            name: name.into(),
            executable: false,
            bytes: None,
            release: None,
        };
        let layout = Layout::parse("{cluster}/{template}").expect("a layout");
        let plan =
            Plan::new(&fleet, &layers, &Selector::default(), vec![output("a"), output("b")], layout).expect("a plan");
        let (ndjson, options) = (ndjson.to_owned(), Options { threads: 3, ..Options::default() });
        Self { ndjson, fleet, layers, plan, options }
    }

    pub(super) fn job(&self) -> Job<'_> {
        let Self { fleet, layers, plan, options, .. } = self;
        Job { fleet, layers, plan, options, watch: Watch::none() }
    }

    /// Returns the text of the fleet.
    pub(super) fn ndjson(&self) -> &str {
        &self.ndjson
    }

    /// Leaves only the clusters of a shard.
    pub(super) fn shard(&mut self, shard: PlanShard) {
        self.plan = self.plan.clone().of_shard(&self.fleet, shard.shard).expect("a plan");
        self.options.shard = Some(shard);
    }

    /// Returns the content of an output.
    pub(super) fn content(cluster: &str, template: &str) -> Vec<u8> {
        let times = if template == "a.t" { 1 } else { 60 };
        format!("name: {cluster}\n").repeat(times).into_bytes()
    }
}

/// Returns a fleet of clusters `c0`, `c1`, … with more fields.
pub(super) fn numbered(count: usize, extra: impl Fn(usize) -> &'static str) -> String {
    (0..count).map(|n| format!("{{\"name\":\"c{n}\"{}}}\n", extra(n))).collect()
}
