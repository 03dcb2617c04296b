//! W1 with askama, whose templates rustc compiles: the practical limit.

use askama::Template;

use super::{
    Alert, App, Cluster, Compiled, Env, Features, Inputs, Job, Org, Pairs, Port, Resources, Role, Toleration, Upstream,
};

/// askama.
pub struct Askama;

/// Declares a template with all inputs as its fields.
macro_rules! templates {
    ($($name:ident $path:literal)*) => {
        $(
            #[derive(Template)]
            #[template(path = $path)]
            #[allow(dead_code)]
            struct $name<'i> {
                org: &'i Org,
                app: &'i App,
                annotations: &'i Pairs,
                ports: &'i [Port],
                envs: &'i [Env],
                tolerations: &'i [Toleration],
                allowed_namespaces: &'i [String],
                jobs: &'i [Job],
                alerts: &'i [Alert],
                roles: &'i [Role],
                upstreams: &'i [Upstream],
                cluster: &'i Cluster,
                zones: &'i [String],
                labels: &'i Pairs,
                replicas: i64,
                max_replicas: i64,
                resources: &'i Resources,
                features: &'i Features,
                hosts: &'i [String],
                config: &'i Pairs,
                owner: &'i Option<String>,
            }

            impl<'i> $name<'i> {
                fn new(Inputs { shared, own }: Inputs<'i>) -> Self {
                    Self {
                        org: &shared.org,
                        app: &shared.app,
                        annotations: &shared.annotations,
                        ports: &shared.ports,
                        envs: &shared.envs,
                        tolerations: &shared.tolerations,
                        allowed_namespaces: &shared.allowed_namespaces,
                        jobs: &shared.jobs,
                        alerts: &shared.alerts,
                        roles: &shared.roles,
                        upstreams: &shared.upstreams,
                        cluster: &own.cluster,
                        zones: &own.zones,
                        labels: &own.labels,
                        replicas: own.replicas,
                        max_replicas: own.max_replicas,
                        resources: &own.resources,
                        features: &own.features,
                        hosts: &own.hosts,
                        config: &own.config,
                        owner: &own.owner,
                    }
                }
            }
        )*
    };
}

templates! {
    Deployment "app.txt"
    Access "rbac.txt"
    CronJobs "cron.txt"
    Monitor "monitor.txt"
    Config "conf.txt"
}

impl Compiled for Askama {
    const NAME: &'static str = "askama";

    fn render(inputs: Inputs<'_>, entry: usize, out: &mut String) {
        let rendered = match entry {
            0 => Deployment::new(inputs).render_into(out),
            1 => Access::new(inputs).render_into(out),
            2 => CronJobs::new(inputs).render_into(out),
            3 => Monitor::new(inputs).render_into(out),
            _ => Config::new(inputs).render_into(out),
        };
        rendered.expect("it renders");
    }
}
