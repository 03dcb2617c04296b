//! Three families of manifests in different styles. Each cluster brings all its data, 7 to 8 kB of JSON; nothing is
//! shared.
//!
//! * `mesh` is heavy with macros: Services, Ingresses, a matrix of Roles and RoleBindings.
//! * `batch` is heavy with filters: CronJobs and ConfigMaps, with `json_encode`, `round`, `truncate`, `split` and filter
//!   sections on values that vary.
//! * `state` is heavy with data: StatefulSets and DaemonSets, mostly loops and emissions. **It is kept out of tuning**:
//!   do not profile it, measure it only to see whether what was gained on the others holds.

use std::hint::black_box;

use dropforge::bulk::{
    self, DEFAULT_LAYOUT, Fleet, FleetOptions, Format, Job, Layers, Layout, Merge, Options, Output, Plan, ReadValues,
};
use dropforge::bulk::{Selector, Watch, dialect_of, discover, language_extensions, outputs};
use dropforge::engine::Engine as ForgeEngine;
use dropforge::text::Source;
use serde_json::{Value, json};

use crate::engines::{Engine, Minijinja, Ours, Templates, Tera1, Tera2};
use crate::files::{folder, workloads};
use crate::subject::{Bar::Faster, Subject, Workload};
use crate::tasks::{Convert, Render};

/// The clusters of a workload.
const CLUSTERS: usize = 12;

/// The clusters of the whole command. Tests, which are not optimised, take fewer.
const FLEET: usize = if cfg!(test) { 24 } else { 400 };

/// A family: the names of its workloads, and its clusters.
struct Family {
    name: &'static str,
    titles: [&'static str; 3],
    ids: [&'static str; 3],
    cluster: fn(usize) -> Value,
}

const MESH: Family = Family {
    name: "mesh",
    titles: [
        "Family `mesh` (macros): 12 clusters rendered, inputs ready",
        "Family `mesh` (macros): 12 clusters, inputs converted, rendered",
        "Family `mesh` (macros): 400 clusters, the whole command from NDJSON, 1 thread",
    ],
    ids: ["mesh", "mesh-converted", "mesh-command"],
    cluster: mesh,
};

const BATCH: Family = Family {
    name: "batch",
    titles: [
        "Family `batch` (filters): 12 clusters rendered, inputs ready",
        "Family `batch` (filters): 12 clusters, inputs converted, rendered",
        "Family `batch` (filters): 400 clusters, the whole command from NDJSON, 1 thread",
    ],
    ids: ["batch", "batch-converted", "batch-command"],
    cluster: batch,
};

const STATE: Family = Family {
    name: "state",
    titles: [
        "Family `state` (data): 12 clusters rendered, inputs ready",
        "Family `state` (data): 12 clusters, inputs converted, rendered",
        "Family `state` (data): 400 clusters, the whole command from NDJSON, 1 thread",
    ],
    ids: ["state", "state-converted", "state-command"],
    cluster: state,
};

/// The families' workloads by id: inputs ready, inputs converted, the whole command.
pub const WORKLOADS: [(&str, crate::Make); 9] = [
    (MESH.ids[0], || ready(&MESH)),
    (MESH.ids[1], || converted(&MESH)),
    (MESH.ids[2], || command(&MESH)),
    (BATCH.ids[0], || ready(&BATCH)),
    (BATCH.ids[1], || converted(&BATCH)),
    (BATCH.ids[2], || command(&BATCH)),
    (STATE.ids[0], || ready(&STATE)),
    (STATE.ids[1], || converted(&STATE)),
    (STATE.ids[2], || command(&STATE)),
];

/// Builds the workload of a task, with a subject for each engine. Tera 1 says what is expected.
fn workload(family: &Family, task: usize, mut subjects: Vec<Box<dyn Subject>>) -> Workload {
    let expected = subjects.last_mut().expect("tera 1 comes last").output();
    let bars = if task == 2 { vec![(Tera1::NAME, Faster(10.0))] } else { Vec::new() };
    Workload { id: family.ids[task], title: family.titles[task], expected, subjects, bars }
}

fn ready(family: &Family) -> Workload {
    let subjects = vec![each::<Ours>(family), each::<Minijinja>(family), each::<Tera2>(family), each::<Tera1>(family)];
    workload(family, 0, subjects)
}

fn converted(family: &Family) -> Workload {
    let subjects =
        vec![stamped::<Ours>(family), stamped::<Minijinja>(family), stamped::<Tera2>(family), stamped::<Tera1>(family)];
    workload(family, 1, subjects)
}

fn command(family: &Family) -> Workload {
    let lines: String = (0..FLEET).map(|n| (family.cluster)(n).to_string() + "\n").collect();
    let subjects: Vec<Box<dyn Subject>> = vec![
        Box::new(Stamp { family: family.name, lines: lines.clone(), out: Vec::new() }),
        Box::new(Lines::<Minijinja>::new(family, lines.clone())),
        Box::new(Lines::<Tera2>::new(family, lines.clone())),
        Box::new(Lines::<Tera1>::new(family, lines)),
    ];
    workload(family, 2, subjects)
}

/// Returns a family's templates in the language of `E`.
fn templates<E: Engine>(name: &str) -> Templates {
    let (language, ending) = E::W1;
    let files = folder(&format!("families/{name}/{language}"));
    Templates { files, entries: vec![format!("{name}.{ending}")], shell: false }
}

fn each<E: Engine>(family: &Family) -> Box<dyn Subject> {
    Box::new(Render::<E>::each(templates::<E>(family.name), &clusters(family)))
}

fn stamped<E: Engine>(family: &Family) -> Box<dyn Subject> {
    Box::new(Convert::<E>::new(templates::<E>(family.name), clusters(family)))
}

fn clusters(family: &Family) -> Vec<Value> {
    (0..CLUSTERS).map(family.cluster).collect()
}

/// Another engine that compiles, and reads and renders line by line into one buffer.
struct Lines<E> {
    engine: E,
    lines: String,
    out: String,
    all: String,
}

impl<E: Engine> Lines<E> {
    fn new(family: &Family, lines: String) -> Self {
        Self { engine: E::new(templates::<E>(family.name)), lines, out: String::new(), all: String::new() }
    }
}

impl<E: Engine> Subject for Lines<E> {
    fn engine(&self) -> &'static str {
        E::NAME
    }

    fn run(&mut self) {
        self.engine.compile();
        self.all.clear();
        for line in self.lines.lines() {
            self.out.clear();
            self.engine.read_and_render(line, 0, &mut self.out);
            self.all.push_str(&self.out);
        }
        black_box(&self.all);
    }

    fn output(&mut self) -> String {
        self.run();
        self.all.clone()
    }
}

/// `dropforge stamp` of a family: compile, read the fleet, plan, warn of values that nothing reads, render into one stream. Outputs are not checked, as those
/// of the others are not.
struct Stamp {
    family: &'static str,
    lines: String,
    out: Vec<u8>,
}

impl Subject for Stamp {
    fn engine(&self) -> &'static str {
        Ours::NAME
    }

    fn run(&mut self) {
        self.out.clear();
        let folder = workloads().join(format!("families/{}/tera1", self.family));
        let set = discover(&[folder], None, &|name| dialect_of(name).is_some()).expect("templates");
        let templates =
            bulk::Templates::compile(&set, None, ForgeEngine::builder()).unwrap_or_else(|errors| panic!("{errors}"));
        let names = outputs(&set.files, &mut |name| templates.references(name)).expect("outputs");
        let outputs = names.into_iter().map(|name| Output::new(name, &language_extensions())).collect();
        let text = Source::new("clusters.ndjson", self.lines.as_str());
        let fleet = Fleet::read(&text, Format::Ndjson, &FleetOptions::default()).expect("a fleet");
        let layers = Layers::new([], Vec::new(), Merge::Deep);
        let layout = Layout::parse(DEFAULT_LAYOUT).expect("a layout");
        let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, layout);
        let plan = plan.unwrap_or_else(|errors| panic!("{errors:?}"));
        let read = ReadValues::by(templates.iter()).and_plan(&Selector::default(), plan.layout(), None);
        let clusters = plan.selection(&fleet);
        assert!(read.unread(&layers).is_empty() && read.unread_by_clusters(&layers, &clusters).unwrap().is_empty());
        let stamper = templates.stamper(plan.outputs().iter().map(|output| output.template.as_str()), &layers);
        let options = Options { threads: 1, check_outputs: false, plain_stream: true, ..Options::default() };
        let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
        let report = bulk::stream(&stamper.expect("the templates"), &job, &mut self.out);
        assert_eq!(report.unwrap_or_else(|error| panic!("{error}")).failed, 0);
    }

    fn output(&mut self) -> String {
        self.run();
        String::from_utf8(self.out.clone()).expect("UTF-8")
    }
}

const WORDS: [&str; 12] =
    ["cart", "billing", "search", "stock", "price", "login", "media", "audit", "route", "cache", "event", "ledger"];

/// Picks a word by two numbers.
fn word(n: usize, k: usize) -> &'static str {
    WORDS[(n * 7 + k * 5 + n * k) % WORDS.len()]
}

/// Picks one of several words.
fn pick(words: &[&'static str], at: usize) -> &'static str {
    words[at % words.len()]
}

/// Makes a list of `count` values.
fn list(count: usize, make: impl FnMut(usize) -> Value) -> Value {
    (0..count).map(make).collect()
}

fn named(n: usize) -> Value {
    json!({
        "name": format!("c{n:04}"),
        "domain": format!("c{n:04}.{}.example.com", word(n, 3)),
        "ingress": pick(&["nginx", "traefik", "haproxy"], n),
        "registry": format!("registry-{}.example.com", n % 5),
        "space": format!("{}-{}", word(n, 1), n % 9),
    })
}

fn mesh(n: usize) -> Value {
    let route = |s: usize, r: usize| {
        json!({
            "path": format!("/{}/v{}{}", word(n + r, s), n % 4 + 1, if (n + r).is_multiple_of(2) { "/" } else { "" }),
            "port": 8000 + (n * 13 + s * 7 + r) % 900,
        })
    };
    let service = |s: usize| {
        json!({
            "name": format!("{}_{}_{s}", word(n, s), word(s, n)),
            "tier": pick(&["front", "middle", "back"], n + s),
            "public": (n + s).is_multiple_of(4),
            "ports": list(2, |p| json!({"name": format!("p{p}-{}", word(p, n)), "number": 8000 + (n * 31 + s + p) % 999})),
            "routes": list(4, |r| route(s, r)),
        })
    };
    let rule = |r: usize, k: usize| {
        json!({
            "group": pick(&["", "apps", "batch", "networking.k8s.io"], n + r + k),
            "resource": pick(&["Pods", "Deployments", "Jobs", "Ingresses", "Secrets"], n * 3 + r + k),
            "verbs": list(1 + (n + r + k) % 4, |v| json!(pick(&["get", "list", "watch", "patch"], v))),
        })
    };
    let subject = |r: usize, k: usize| {
        json!({
            "kind": pick(&["ServiceAccount", "User", "Group"], n + r + k),
            "name": format!("{}-{}", word(n + k, r), (n * 17 + r * 3 + k) % 1000),
        })
    };
    let role = |r: usize| {
        json!({
            "name": format!("{}_{}", word(r, n), pick(&["reader", "writer", "admin"], r)),
            "tier": pick(&["front", "middle", "back"], n + r),
            "rules": list(5, |k| rule(r, k)),
            "subjects": list(4, |k| subject(r, k)),
        })
    };
    json!({"cluster": named(n), "name": format!("c{n:04}"), "services": list(10, service), "roles": list(8, role)})
}

fn batch(n: usize) -> Value {
    let job = |j: usize| {
        let env: serde_json::Map<String, Value> = (0..4)
            .map(|k| {
                (format!("{}-{}", word(n + k, j), k), json!(format!("{} \"{}\" {}", word(k, n), word(j, k), n * k)))
            })
            .collect();
        let verb = pick(&["Rolls", "Cleans", "Copies"], n + j);
        json!({
            "name": format!("{}_{}_{}_{j}", word(n, j).to_uppercase(), word(j, n), word(n + j, 2)),
            "summary": format!("{verb} the {} data of {} into the {} store each night", word(n, j), word(j, n), word(n, 4)),
            "owner": format!("{} {}@example.com", word(n, j + 1), word(j, 1)),
            "schedule": format!("{} {} * * {}", (n * 7 + j) % 60, (n + j * 5) % 24, (n + j) % 7),
            "weight": (n * 37 + j * 11) as f64 / 8.0 + 0.13,
            "image": format!("{}/{}:{}.{}.{j}", word(j, 2), word(n, j), n % 5, n % 17),
            "command": format!("/bin/{} --from {} --to {} --limit {}", word(n, j), word(j, 3), word(n, 5), n * 3 + j),
            "env": env,
            "cpu": (n + j) as f64 * 0.75 + 0.61,
            "memory": 64 * ((n + j) as i64 % 16 + 1) * if (n + j).is_multiple_of(2) { 1 } else { -1 },
        })
    };
    let config = |c: usize| {
        json!({
            "name": format!("{}.{}.{c}", word(n, c), word(c, n)),
            "title": format!("{} {} SETTINGS", word(n, c), word(c, 1)),
            "parts": list(5, |k| json!(word(n + k, c))),
            "body": (0..6).map(|k| format!("{}.{} = {}\n", word(n, k), word(c, k), (n * 11 + k * c) % 500)).collect::<String>(),
        })
    };
    json!({"cluster": named(n), "name": format!("c{n:04}"), "jobs": list(12, job), "configs": list(9, config)})
}

fn state(n: usize) -> Value {
    let container = |u: usize, c: usize| {
        json!({
            "name": format!("{}-{c}", word(n, u + c)),
            "image": format!("{}/{}", word(u, c), word(n, u + c)),
            "tag": format!("{}.{}.{}", n % 4, (n + u) % 20, c),
            "ports": list((n + u + c) % 3, |p| json!(9000 + (n * 7 + u * 3 + p) % 500)),
            "env": list(7, |k| json!({
                "name": format!("{}_{}", word(k, u).to_uppercase(), k),
                "value": format!("{}:{}", word(n + k, c), (n * 29 + k * 13) % 10_000),
            })),
            "cpu": 50 * ((n + u + c) % 9 + 1),
            "memory": 64 * ((n * 3 + u + c) % 12 + 1),
            "probe": if (n + c).is_multiple_of(3) { Value::Null } else { json!({
                "path": format!("/{}/health", word(n, c)), "port": 9000 + c, "period": 5 + (n + u) % 25,
            }) },
        })
    };
    let unit = |u: usize| {
        let mut unit = json!({
            "kind": if (n + u).is_multiple_of(3) { "DaemonSet" } else { "StatefulSet" },
            "name": format!("{}-{}-{u}", word(n, u), word(u, n)),
            "replicas": (n + u) % 5 + 1,
            "labels": {"app": word(n, u), "team": word(u, 2), "zone": format!("z{}", (n + u) % 6), "shard": format!("s{}", n % 32)},
            "nodes": {"disk": pick(&["ssd", "nvme", "hdd"], n + u), "pool": word(n, u + 1)},
            "tolerates": list((n + u) % 3 + 1, |k| json!(format!("{}-only", word(k, u)))),
            "volumes": list(3, |v| json!({
                "name": format!("{}-{v}", word(v, n)),
                "path": format!("/var/lib/{}/{v}", word(n, v)),
                "size": 10 * ((n + v) % 20 + 1),
                "read_only": (n + u + v).is_multiple_of(2),
            })),
            "containers": list(3, |c| container(u, c)),
        });
        if (n + u).is_multiple_of(2) {
            unit["account"] = json!(format!("{}-runner", word(n, u)));
        }
        unit
    };
    json!({"cluster": named(n), "name": format!("c{n:04}"), "units": list(4, unit)})
}

#[cfg(test)]
mod tests {
    use super::{BATCH, MESH, STATE, WORKLOADS};

    #[test]
    fn the_engines_write_the_same() {
        WORKLOADS.iter().for_each(|(_, make)| make().check());
    }

    #[test]
    fn a_cluster_has_7_to_8_kb() {
        for family in [MESH, BATCH, STATE] {
            let sizes: Vec<usize> = (0..20).map(|n| (family.cluster)(n).to_string().len()).collect();
            let mean = sizes.iter().sum::<usize>() / sizes.len();
            assert!((7_000..8_000).contains(&mean), "{}: {mean}", family.name);
        }
    }
}
