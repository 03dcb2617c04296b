//! W1's inputs as Rust types, for askama and hand-written code.

pub mod askama;
pub mod hand;
mod pairs;
pub mod w6;

pub use pairs::Pairs;
use serde::Deserialize;
use serde_json::Value;

/// Declares a struct of inputs.
macro_rules! inputs {
    ($(struct $name:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            #[derive(Deserialize)]
            #[allow(missing_docs)]
            pub struct $name {
                $(pub $field: $type,)*
            }
        )*
    };
}

inputs! {
    struct Shared {
        org: Org,
        app: App,
        annotations: Pairs,
        ports: Vec<Port>,
        envs: Vec<Env>,
        tolerations: Vec<Toleration>,
        allowed_namespaces: Vec<String>,
        jobs: Vec<Job>,
        alerts: Vec<Alert>,
        roles: Vec<Role>,
        upstreams: Vec<Upstream>,
    }
    struct Own {
        cluster: Cluster,
        zones: Vec<String>,
        labels: Pairs,
        replicas: i64,
        max_replicas: i64,
        resources: Resources,
        features: Features,
        hosts: Vec<String>,
        config: Pairs,
        owner: Option<String>,
    }
    struct Org { name: String, domain: String, registry: String, team: String, channel: String, }
    struct App {
        name: String,
        version: String,
        image: String,
        component: String,
        cpu_target: i64,
        grace: i64,
        revision_history: i64,
        metrics_path: String,
        health_path: String,
        ready_path: String,
    }
    struct Port { name: String, port: i64, target: i64, protocol: String, }
    struct Env { name: String, kind: String, value: String, key: String, }
    struct Toleration { key: String, operator: String, value: String, effect: String, }
    struct Job { name: String, schedule: String, args: Vec<String>, timeout: i64, }
    struct Alert { name: String, expr: String, wait: String, severity: String, summary: String, }
    struct Role { name: String, verbs: Vec<String>, resources: Vec<String>, }
    struct Upstream { name: String, host: String, port: i64, retries: i64, }
    struct Cluster {
        name: String,
        region: String,
        env: String,
        tier: String,
        account: String,
        index: i64,
        endpoint: String,
        provider: String,
    }
    struct Resources { requests: Amounts, limits: Amounts, }
    struct Amounts { cpu: String, memory: String, }
    struct Features { ingress: bool, hpa: bool, network_policy: bool, tracing: bool, spot: bool, }
}

/// The names of the shared inputs.
pub const SHARED: [&str; 11] = [
    "org",
    "app",
    "annotations",
    "ports",
    "envs",
    "tolerations",
    "allowed_namespaces",
    "jobs",
    "alerts",
    "roles",
    "upstreams",
];

/// The inputs of one cluster: shared and own.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Inputs<'i> {
    pub shared: &'i Shared,
    pub own: &'i Own,
}

/// Parses typed inputs.
///
/// # Panics
/// Panics if a key is missing.
pub fn read<T: for<'de> Deserialize<'de>>(inputs: &Value) -> T {
    T::deserialize(inputs).expect("the inputs of W1")
}

/// An engine whose templates are compiled with this crate.
pub trait Compiled: 'static {
    /// The engine's name in tables.
    const NAME: &'static str;

    /// Appends the output with this number.
    fn render(inputs: Inputs<'_>, entry: usize, out: &mut String);
}
