//! W1 written by hand: text and fields are pushed onto a string. The upper limit for an engine.

use super::{Compiled, Inputs};

/// Hand-written code.
pub struct Hand;

impl Compiled for Hand {
    const NAME: &'static str = "hand-written";

    fn render(inputs: Inputs<'_>, entry: usize, out: &mut String) {
        let render = [app, rbac, cron, monitor, conf][entry];
        render(out, inputs);
    }
}

fn push_int(o: &mut String, n: i64) {
    o.push_str(itoa::Buffer::new().format(n));
}

fn push_replace(o: &mut String, text: &str, from: u8, to: u8) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte == from) {
        o.push_str(&rest[..at]);
        o.push(char::from(to));
        rest = &rest[at + 1..];
    }
    o.push_str(rest);
}

fn push_upper(o: &mut String, text: &str) {
    if text.is_ascii() {
        let start = o.len();
        o.push_str(text);
        o[start..].make_ascii_uppercase();
    } else {
        o.push_str(&text.to_uppercase());
    }
}

fn push_join(o: &mut String, items: &[String], separator: &str) {
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            o.push_str(separator);
        }
        o.push_str(item);
    }
}

fn app(o: &mut String, c: Inputs<'_>) {
    o.push_str("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n  namespace: commerce-");
    o.push_str(&c.own.cluster.env);
    o.push_str("\n  labels:");
    labels(o, c);
    o.push_str("\n  annotations:\n    acme.example.com/cluster: ");
    push_replace(o, &c.own.cluster.name, b'_', b'-');
    o.push_str("\n    acme.example.com/owner: ");
    o.push_str(c.own.owner.as_deref().unwrap_or(&c.shared.org.team));
    for (k, v) in &c.shared.annotations {
        o.push_str("\n    ");
        o.push_str(k);
        o.push_str(": \"");
        o.push_str(v);
        o.push('"');
    }
    o.push_str("\nspec:\n  replicas: ");
    push_int(o, c.own.replicas);
    o.push_str("\n  revisionHistoryLimit: ");
    push_int(o, c.shared.app.revision_history);
    o.push_str("\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n      app.kubernetes.io/component: ");
    o.push_str(&c.shared.app.component);
    o.push_str("\n  strategy:\n    type: RollingUpdate\n    rollingUpdate:");
    if c.own.cluster.env == "prod" {
        o.push_str("\n      maxSurge: 25%\n      maxUnavailable: 0");
    } else {
        o.push_str("\n      maxSurge: 1\n      maxUnavailable: 1");
    }
    o.push_str("\n  template:\n    metadata:\n      labels:\n        app.kubernetes.io/name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n        app.kubernetes.io/component: ");
    o.push_str(&c.shared.app.component);
    o.push_str("\n        acme.example.com/cluster: ");
    push_replace(o, &c.own.cluster.name, b'_', b'-');
    o.push_str("\n    spec:\n      serviceAccountName: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n      terminationGracePeriodSeconds: ");
    push_int(o, c.shared.app.grace);
    if c.own.replicas > 2 {
        o.push_str("\n      topologySpreadConstraints:\n      - maxSkew: 1\n        topologyKey: topology.kubernetes.io/zone\n        whenUnsatisfiable: DoNotSchedule");
    }
    o.push_str("\n      tolerations:");
    for t in &c.shared.tolerations {
        o.push_str("\n      - key: ");
        o.push_str(&t.key);
        o.push_str("\n        operator: ");
        o.push_str(&t.operator);
        if t.operator == "Equal" {
            o.push_str("\n        value: ");
            o.push_str(&t.value);
        }
        o.push_str("\n        effect: ");
        o.push_str(&t.effect);
    }
    if c.own.features.spot {
        o.push_str("\n      - key: acme.example.com/spot\n        operator: Exists\n        effect: NoSchedule");
    }
    o.push_str("\n      containers:\n      - name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n        image: ");
    o.push_str(&c.shared.org.registry);
    o.push('/');
    o.push_str(&c.shared.app.image);
    o.push(':');
    o.push_str(&c.shared.app.version);
    o.push_str("\n        imagePullPolicy: IfNotPresent\n        ports:");
    for p in &c.shared.ports {
        o.push_str("\n        - name: ");
        o.push_str(&p.name);
        o.push_str("\n          containerPort: ");
        push_int(o, p.target);
        o.push_str("\n          protocol: ");
        o.push_str(&p.protocol);
    }
    o.push_str("\n        env:\n        - name: CLUSTER\n          value: \"");
    push_upper(o, &c.own.cluster.name);
    o.push_str("\"\n        - name: REGION\n          value: \"");
    o.push_str(&c.own.cluster.region);
    o.push_str("\"\n        - name: ZONES\n          value: \"");
    push_join(o, &c.own.zones, ",");
    o.push('"');
    if c.own.features.tracing {
        o.push_str("\n        - name: TRACE_RATIO\n          value: \"0.05\"");
    }
    for e in &c.shared.envs {
        o.push_str("\n        - name: ");
        o.push_str(&e.name);
        if e.kind == "value" {
            o.push_str("\n          value: \"");
            o.push_str(&e.value);
            o.push('"');
        } else {
            o.push_str("\n          valueFrom:");
            if e.kind == "secret" {
                o.push_str("\n            secretKeyRef:\n              name: ");
                o.push_str(&e.value);
                o.push_str("\n              key: ");
                o.push_str(&e.key);
            } else {
                o.push_str("\n            configMapKeyRef:\n              name: ");
                o.push_str(&e.value);
                o.push_str("\n              key: ");
                o.push_str(&e.key);
            }
        }
    }
    o.push_str("\n        resources:\n          requests:\n            cpu: \"");
    o.push_str(&c.own.resources.requests.cpu);
    o.push_str("\"\n            memory: ");
    o.push_str(&c.own.resources.requests.memory);
    o.push_str("\n          limits:\n            cpu: \"");
    o.push_str(&c.own.resources.limits.cpu);
    o.push_str("\"\n            memory: ");
    o.push_str(&c.own.resources.limits.memory);
    probe(o, "liveness", &c.shared.app.health_path, 20);
    probe(o, "readiness", &c.shared.app.ready_path, 5);
    o.push_str("\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n  namespace: commerce-");
    o.push_str(&c.own.cluster.env);
    o.push_str("\n  labels:");
    labels(o, c);
    o.push_str("\nspec:\n  type: ClusterIP\n  selector:\n    app.kubernetes.io/name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n  ports:");
    for p in &c.shared.ports {
        o.push_str("\n  - name: ");
        o.push_str(&p.name);
        o.push_str("\n    port: ");
        push_int(o, p.port);
        o.push_str("\n    targetPort: ");
        push_int(o, p.target);
        o.push_str("\n    protocol: ");
        o.push_str(&p.protocol);
    }
    o.push_str("\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: checkout-config\n  namespace: commerce-");
    o.push_str(&c.own.cluster.env);
    o.push_str("\n  labels:");
    labels(o, c);
    o.push_str("\ndata:\n  cluster: \"");
    push_upper(o, &c.own.cluster.env);
    o.push('/');
    o.push_str(&c.own.cluster.region);
    o.push('/');
    push_int(o, c.own.cluster.index);
    o.push('"');
    for (k, v) in &c.own.config {
        o.push_str("\n  ");
        o.push_str(k);
        o.push_str(": \"");
        o.push_str(v);
        o.push('"');
    }
    if c.own.features.ingress {
        o.push_str("\n---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: ");
        push_replace(o, &c.shared.app.name, b'_', b'-');
        o.push_str("\n  namespace: commerce-");
        o.push_str(&c.own.cluster.env);
        o.push_str("\n  labels:");
        labels(o, c);
        o.push_str("\nspec:\n  ingressClassName: nginx-");
        o.push_str(&c.own.cluster.tier);
        o.push_str("\n  tls:\n  - secretName: tls-");
        push_replace(o, &c.shared.app.name, b'_', b'-');
        o.push_str("\n    hosts:");
        for h in &c.own.hosts {
            o.push_str("\n    - ");
            o.push_str(h);
        }
        o.push_str("\n  rules:");
        for h in &c.own.hosts {
            o.push_str("\n  - host: ");
            o.push_str(h);
            o.push_str("\n    http:\n      paths:\n      - path: /\n        pathType: Prefix\n        backend:\n          service:\n            name: ");
            push_replace(o, &c.shared.app.name, b'_', b'-');
            o.push_str("\n            port:\n              name: http");
        }
    }
    if c.own.features.hpa && c.own.max_replicas > 1 {
        o.push_str("\n---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: ");
        push_replace(o, &c.shared.app.name, b'_', b'-');
        o.push_str("\n  namespace: commerce-");
        o.push_str(&c.own.cluster.env);
        o.push_str("\nspec:\n  scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: ");
        push_replace(o, &c.shared.app.name, b'_', b'-');
        o.push_str("\n  minReplicas: ");
        push_int(o, c.own.replicas);
        o.push_str("\n  maxReplicas: ");
        push_int(o, c.own.max_replicas);
        o.push_str("\n  metrics:\n  - type: Resource\n    resource:\n      name: cpu\n      target:\n        type: Utilization\n        averageUtilization: ");
        push_int(o, c.shared.app.cpu_target);
    }
    if c.own.features.network_policy {
        o.push_str("\n---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: ");
        push_replace(o, &c.shared.app.name, b'_', b'-');
        o.push_str("\n  namespace: commerce-");
        o.push_str(&c.own.cluster.env);
        o.push_str("\nspec:\n  podSelector:\n    matchLabels:\n      app.kubernetes.io/name: ");
        push_replace(o, &c.shared.app.name, b'_', b'-');
        o.push_str("\n  policyTypes: [Ingress]\n  ingress:");
        for n in &c.shared.allowed_namespaces {
            o.push_str(
                "\n  - from:\n    - namespaceSelector:\n        matchLabels:\n          kubernetes.io/metadata.name: ",
            );
            o.push_str(n);
            o.push('-');
            o.push_str(&c.own.cluster.env);
            o.push_str("\n    ports:");
            for p in &c.shared.ports {
                o.push_str("\n    - port: ");
                push_int(o, p.target);
                o.push_str("\n      protocol: ");
                o.push_str(&p.protocol);
            }
        }
    }
}
fn rbac(o: &mut String, c: Inputs<'_>) {
    o.push_str("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: commerce-");
    o.push_str(&c.own.cluster.env);
    o.push_str("\n  labels:");
    labels(o, c);
    o.push_str("\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: default\n  namespace: commerce-");
    o.push_str(&c.own.cluster.env);
    o.push_str("\nspec:\n  hard:\n    requests.cpu: \"");
    push_int(o, c.own.max_replicas);
    o.push_str("\"\n    limits.memory: ");
    o.push_str(&c.own.resources.limits.memory);
    o.push_str("\n    count/pods: \"");
    push_int(o, c.own.max_replicas);
    o.push('"');
    for r in &c.shared.roles {
        o.push_str("\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: ");
        o.push_str(&r.name);
        o.push_str("\n  namespace: commerce-");
        o.push_str(&c.own.cluster.env);
        o.push_str("\n  labels:");
        labels(o, c);
        o.push_str("\nrules:\n- apiGroups: [\"\", \"apps\"]\n  resources:");
        for x in &r.resources {
            o.push_str("\n  - ");
            o.push_str(x);
        }
        o.push_str("\n  verbs: [");
        push_join(o, &r.verbs, ", ");
        o.push_str("]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: ");
        o.push_str(&r.name);
        o.push_str("\n  namespace: commerce-");
        o.push_str(&c.own.cluster.env);
        o.push_str("\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: ");
        o.push_str(&r.name);
        o.push_str("\nsubjects:\n- kind: Group\n  name: ");
        push_replace(o, &c.shared.org.team, b'_', b'-');
        o.push(':');
        o.push_str(&r.name);
        o.push(':');
        o.push_str(&c.own.cluster.env);
    }
}
fn cron(o: &mut String, c: Inputs<'_>) {
    o.push_str("apiVersion: v1\nkind: List\nitems:");
    for j in &c.shared.jobs {
        o.push_str("\n- apiVersion: batch/v1\n  kind: CronJob\n  metadata:\n    name: ");
        push_replace(o, &j.name, b'_', b'-');
        o.push_str("\n    namespace: commerce-");
        o.push_str(&c.own.cluster.env);
        o.push_str("\n  spec:\n    schedule: \"");
        o.push_str(&j.schedule);
        o.push_str("\"\n    concurrencyPolicy: Forbid\n    jobTemplate:\n      spec:\n        activeDeadlineSeconds: ");
        push_int(o, j.timeout);
        o.push_str("\n        template:\n          spec:\n            restartPolicy: Never\n            containers:\n            - name: job\n              image: ");
        o.push_str(&c.shared.org.registry);
        o.push('/');
        o.push_str(&c.shared.app.image);
        o.push(':');
        o.push_str(&c.shared.app.version);
        o.push_str("\n              args:");
        for a in &j.args {
            o.push_str("\n              - ");
            o.push_str(a);
        }
        o.push_str("\n              env:\n              - name: CLUSTER\n                value: \"");
        push_upper(o, &c.own.cluster.name);
        o.push('"');
        for e in &c.shared.envs {
            if e.kind == "value" {
                o.push_str("\n              - name: ");
                o.push_str(&e.name);
                o.push_str("\n                value: \"");
                o.push_str(&e.value);
                o.push('"');
            }
        }
    }
}
fn monitor(o: &mut String, c: Inputs<'_>) {
    o.push_str("apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata:\n  name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n  namespace: commerce-");
    o.push_str(&c.own.cluster.env);
    o.push_str("\n  labels:");
    labels(o, c);
    o.push_str("\nspec:\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n  endpoints:\n  - port: metrics\n    path: ");
    o.push_str(&c.shared.app.metrics_path);
    o.push_str("\n    interval: 30s\n    relabelings:\n    - targetLabel: cluster\n      replacement: ");
    push_replace(o, &c.own.cluster.name, b'_', b'-');
    o.push_str("\n---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n  namespace: commerce-");
    o.push_str(&c.own.cluster.env);
    o.push_str("\nspec:\n  groups:\n  - name: ");
    o.push_str(&c.shared.app.name);
    o.push('.');
    o.push_str(&c.own.cluster.env);
    o.push_str("\n    rules:");
    for a in &c.shared.alerts {
        o.push_str("\n    - alert: ");
        o.push_str(&a.name);
        o.push_str("\n      expr: ");
        o.push_str(&a.expr);
        o.push_str("\n      for: ");
        o.push_str(&a.wait);
        o.push_str("\n      labels:\n        severity: ");
        o.push_str(&a.severity);
        o.push_str("\n        cluster: ");
        push_replace(o, &c.own.cluster.name, b'_', b'-');
        o.push_str("\n        region: ");
        o.push_str(&c.own.cluster.region);
        if c.own.cluster.env == "prod" && a.severity == "critical" {
            o.push_str("\n        page: \"");
            o.push_str(&c.shared.org.channel);
            o.push('"');
        }
        o.push_str("\n      annotations:\n        summary: \"");
        o.push_str(&a.summary);
        o.push_str(" on ");
        push_upper(o, &c.own.cluster.region);
        o.push_str("\"\n        runbook_url: https://runbooks.");
        o.push_str(&c.shared.org.domain);
        o.push('/');
        o.push_str(&a.name);
    }
}
fn conf(o: &mut String, c: Inputs<'_>) {
    o.push_str("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gateway-config\n  namespace: commerce-");
    o.push_str(&c.own.cluster.env);
    o.push_str("\n  labels:");
    labels(o, c);
    o.push_str("\ndata:\n  app.properties: |\n    cluster=");
    o.push_str(&c.own.cluster.name);
    o.push_str("\n    region=");
    o.push_str(&c.own.cluster.region);
    o.push_str("\n    account=");
    o.push_str(&c.own.cluster.account);
    o.push_str("\n    provider=");
    push_upper(o, &c.own.cluster.provider);
    o.push_str("\n    endpoint=");
    o.push_str(&c.own.cluster.endpoint);
    for (k, v) in &c.own.config {
        o.push_str("\n    ");
        o.push_str(k);
        o.push('=');
        o.push_str(v);
    }
    o.push_str("\n  nginx.conf: |\n    worker_processes auto;\n    events { worker_connections 4096; }\n    http {");
    for u in &c.shared.upstreams {
        o.push_str("\n      upstream ");
        o.push_str(&u.name);
        o.push_str(" {\n        server ");
        o.push_str(&u.host);
        o.push(':');
        push_int(o, u.port);
        o.push_str(" max_fails=");
        push_int(o, u.retries);
        o.push_str(";\n        keepalive 64;\n      }");
    }
    for h in &c.own.hosts {
        o.push_str("\n      server {\n        listen 443 ssl;\n        server_name ");
        o.push_str(h);
        o.push_str(";\n        ssl_certificate /etc/tls/");
        o.push_str(h);
        o.push_str("/tls.crt;\n        ssl_certificate_key /etc/tls/");
        o.push_str(h);
        o.push_str("/tls.key;");
        for u in &c.shared.upstreams {
            o.push_str("\n        location /");
            o.push_str(&u.name);
            o.push_str("/ {\n          proxy_pass http://");
            o.push_str(&u.name);
            o.push_str(";\n          proxy_next_upstream_tries ");
            push_int(o, u.retries);
            o.push_str(";\n          proxy_set_header X-Cluster ");
            o.push_str(&c.own.cluster.name);
            o.push_str(";\n        }");
        }
        o.push_str("\n      }");
    }
    o.push_str("\n    }");
}
fn labels(o: &mut String, c: Inputs<'_>) {
    o.push_str("\n    app.kubernetes.io/name: ");
    push_replace(o, &c.shared.app.name, b'_', b'-');
    o.push_str("\n    app.kubernetes.io/component: ");
    o.push_str(&c.shared.app.component);
    o.push_str("\n    app.kubernetes.io/part-of: ");
    o.push_str(&c.shared.org.name);
    o.push_str("\n    app.kubernetes.io/version: \"");
    o.push_str(&c.shared.app.version);
    o.push('"');
    for (k, v) in &c.own.labels {
        o.push_str("\n    ");
        o.push_str(k);
        o.push_str(": \"");
        o.push_str(v);
        o.push('"');
    }
}
fn probe(o: &mut String, kind: &str, path: &str, delay: i64) {
    o.push_str("\n        ");
    o.push_str(kind);
    o.push_str("Probe:\n          httpGet:\n            path: ");
    o.push_str(path);
    o.push_str("\n            port: http\n          initialDelaySeconds: ");
    push_int(o, delay);
    o.push_str("\n          periodSeconds: 10\n          failureThreshold: 3");
}
