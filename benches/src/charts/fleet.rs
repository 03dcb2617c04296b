//! Fleets of releases of a chart.

use std::fmt::Write as _;
use std::io::Write;

use dropforge::bulk::{self, ChartSet, ChartStamper, DocumentCheck, Fleet, FleetOptions, Format, Job, Layers, Layout};
use dropforge::bulk::{Options, Pattern, Plan, Report, Selector, Specialise, Watch};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, Selection, UserValues};
use dropforge::engine::Engine;
use dropforge::text::Source;
use serde_json::{Value, json};

use super::fixed;

/// Values of a chart in which clusters differ, as JSON pointers.
#[derive(Debug)]
pub struct Paths {
    chart: &'static str,
    /// The tag of an image.
    tag: &'static str,
    /// A number of replicas.
    replicas: &'static str,
    /// A limit of memory.
    limit: &'static str,
    /// A boolean that switches a document.
    switch: &'static str,
    /// A string in a `ConfigMap`.
    text: &'static str,
}

const PATHS: [Paths; 5] = [
    Paths {
        chart: "kube-prometheus-stack",
        tag: "/prometheusOperator/image/tag",
        replicas: "/prometheus/prometheusSpec/replicas",
        limit: "/prometheusOperator/resources/limits/memory",
        switch: "/prometheus/podDisruptionBudget/enabled",
        text: "/grafana/grafana.ini/server/domain",
    },
    Paths {
        chart: "cilium-cilium",
        tag: "/image/tag",
        replicas: "/operator/replicas",
        limit: "/resources/limits/memory",
        switch: "/operator/podDisruptionBudget/enabled",
        text: "/cluster/name",
    },
    Paths {
        chart: "datadog",
        tag: "/agents/image/tag",
        replicas: "/clusterAgent/replicas",
        limit: "/clusterAgent/resources/limits/memory",
        switch: "/clusterAgent/createPodDisruptionBudget",
        text: "/datadog/confd/redisdb.yaml",
    },
    Paths {
        chart: "consul",
        tag: "/global/image",
        replicas: "/server/replicas",
        limit: "/server/resources/limits/memory",
        switch: "/server/disruptionBudget/enabled",
        text: "/server/extraConfig",
    },
    Paths {
        chart: "wordpress",
        tag: "/image/tag",
        replicas: "/replicaCount",
        limit: "/resources/limits/memory",
        switch: "/pdb/create",
        text: "/apacheConfiguration",
    },
];

impl Paths {
    /// Returns the paths of a chart.
    ///
    /// # Panics
    /// Panics for an unknown chart.
    pub fn of(chart: &str) -> &'static Self {
        PATHS.iter().find(|paths| paths.chart == chart).unwrap_or_else(|| panic!("{chart}: no paths of values"))
    }

    /// Returns the values of cluster `n`.
    fn values(&self, n: usize) -> Value {
        let tag = if self.tag.ends_with("/image") { format!("images/app:7.81.{n}") } else { format!("7.81.{n}") };
        // A text of JSON suits as a setting of all these charts, save as a name.
        let text = if self.text.ends_with("name") { format!("c{n}") } else { format!("{{\"zone\": \"z{n}\"}}") };
        let mut values = json!({});
        // The usual place of a cluster's name, unless the chart has it elsewhere.
        let name = if self.text == "/cluster/name" { self.text } else { "/name" };
        set(&mut values, name, json!(format!("c{n}")));
        set(&mut values, self.tag, json!(tag));
        set(&mut values, self.replicas, json!(n % 5 + 1));
        set(&mut values, self.limit, json!(format!("{}Mi", 100 + n)));
        set(&mut values, self.switch, json!(n.is_multiple_of(2)));
        set(&mut values, self.text, json!(text));
        values
    }
}

/// Sets the value at a JSON pointer.
fn set(values: &mut Value, pointer: &str, value: Value) {
    *pointer.split('/').skip(1).fold(values, |map, key| &mut map[key]) = value;
}

/// A fleet with its plan. Each cluster is a release of a chart.
pub struct ChartFleet {
    chart: ChartSet,
    fleet: Fleet,
    layers: Layers,
    plan: Plan,
}

impl ChartFleet {
    /// Plans `clusters` releases that differ in the values of `paths`. Without a name, releases have those of their clusters.
    ///
    /// # Panics
    /// Panics if the chart is not valid.
    pub fn new(source: &ChartSource, paths: &Paths, clusters: usize, name: Option<&str>) -> Self {
        let engine = fixed::engine();
        let chart = chart(&engine, source, name);
        let lines = (0..clusters).fold(String::new(), |mut lines, n| {
            let _ = writeln!(lines, "{}", paths.values(n));
            lines
        });
        let text = Source::new("clusters.ndjson", lines);
        let fleet = Fleet::read(&text, Format::Ndjson, &FleetOptions::default()).expect("a fleet");
        let layers = Layers::default();
        let layout = Layout::parse("{cluster}").expect("a layout");
        let plan = Plan::new(&fleet, &layers, &Selector::default(), chart.outputs().all, layout);
        let plan = plan.unwrap_or_else(|errors| panic!("{errors:?}"));
        Self { chart, fleet, layers, plan }
    }

    /// Stamps everything into a stream, on one thread. Returns the number of releases that shared what is the same in all.
    ///
    /// # Panics
    /// Panics if a release fails.
    pub fn stream(&self, specialise: Specialise, out: &mut (dyn Write + Send)) -> usize {
        let Self { chart, fleet, layers, plan } = self;
        let options = Options { threads: 1, specialise, ..Options::default() };
        let stamper = ChartStamper::new(chart, layers, None).for_plan(plan);
        let job = Job { fleet, layers, plan, options: &options, watch: Watch::none() };
        let report: Report = bulk::stream(&stamper, &job, out).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.failed, 0, "{:?}", report.failures.first().map(|failure| failure.diagnostic.to_string()));
        stamper.shared()
    }
}

fn chart(engine: &Engine, source: &ChartSource, name: Option<&str>) -> ChartSet {
    let mut capabilities = Capabilities::default();
    capabilities.helm_version.git_commit = "fixed".to_owned();
    ChartSet {
        template: engine.chart(source).unwrap_or_else(|errors| panic!("{errors}")),
        values: UserValues::default(),
        groups: Vec::new(),
        release: Release::default(),
        capabilities,
        selection: Selection::default(),
        name: name.map(|name| Pattern::parse("name", name).expect("a name")),
        namespace: None,
        kube_version: None,
        api_versions: Vec::new(),
        is_one_of_many: false,
        namespace_key: None,
        single: true,
        check: DocumentCheck::new(false),
    }
}
