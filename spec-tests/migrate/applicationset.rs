//! ApplicationSets of Argo CD.

use super::{add_chart, import};
use crate::support::Sandbox;

fn set(spec: &str) -> String {
    format!("apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n{spec}")
}

#[test]
fn lists_fill_charts_with_values() {
    let sandbox = Sandbox::with(&[
        ("envs/prod.yaml", "env: prod\n"),
        ("envs/dev.yaml", "env: dev\n"),
        (
            "sets/guest.yaml",
            &set("  goTemplate: true
  generators:
    - list:
        elements:
          - {cluster: eu-1, env: prod, url: 'https://eu.example', size: 3}
          - {cluster: us-1, env: dev, url: 'https://us.example', size: 1}
  template:
    metadata: {name: '{{.cluster}}-guest', labels: {team: web}}
    spec:
      source:
        repoURL: https://git.example/repo
        path: charts/guest
        helm:
          releaseName: guest
          valueFiles: ['../../envs/{{.env}}.yaml']
          valuesObject: {size: '{{.size}}', plain: 0644}
          parameters: [{name: image.tag, value: 'v1'}, {name: number, value: '5', forceString: true}]
      destination: {server: '{{.url}}', namespace: 'guest-{{.env}}'}
"),
        ),
    ]);
    add_chart(&sandbox, "charts/guest");
    import(&sandbox, "applicationset", "sets/guest.yaml");
    for (cluster, env, size) in [("eu-1", "prod", 3), ("us-1", "dev", 1)] {
        let (namespace, sets) = (format!("guest-{env}"), format!("plain=420,image.tag=v1,env={env}"));
        let size = format!("number=5,size={size}");
        let args =
            ["render", "charts/guest", "--name", "guest", "-n", &namespace, "--set", &sets, "--set-string", &size];
        let wanted = sandbox.run(&args).expect(0).stdout;
        let files = sandbox.outputs(&format!("new/out/{cluster}/guest"));
        assert_eq!(files["web.yaml"].trim_end(), wanted.trim_end());
        // Argo CD renders the definitions of charts, too.
        assert!(files.keys().any(|name| name.contains("crd")), "{:?}", files.keys());
    }
    let project = sandbox.read("new/dropforge.toml");
    for part in ["namespace = \"guest-{env}\"", "envs/{env}.yaml", "labels = { \"team\" = \"web\" }"] {
        assert!(project.contains(part), "{part}\n{project}");
    }
}

#[test]
fn matrices_and_folders_make_releases_of_clusters() {
    let sandbox = Sandbox::with(&[
        ("addons/raw/cm.yaml", "kind: ConfigMap\nmetadata: {name: a}\ndata: {x: '${HOME} $(A)'}\n"),
        ("addons/raw/below/no.yaml", "kind: No\n"),
        ("addons/skip/x.yaml", "kind: No\n"),
        (
            "set.yaml",
            &set("  generators:
    - matrix:
        generators:
          - git: {repoURL: r, revision: HEAD, directories: [{path: addons/*}, {path: addons/skip, exclude: true}]}
          - list: {elements: [{cluster: eu-1, url: 'https://eu'}, {cluster: us-1, url: 'https://us'}]}
  template:
    metadata: {name: '{{path.basename}}-{{cluster}}'}
    spec:
      source: {repoURL: r, path: '{{path}}'}
      destination: {server: '{{url}}', namespace: '{{path[1]}}'}
"),
        ),
    ]);
    add_chart(&sandbox, "addons/chart");
    import(&sandbox, "applicationset", "set.yaml");
    let files: Vec<String> = sandbox.outputs("new/out").into_keys().filter(|name| name.starts_with("eu-1")).collect();
    assert_eq!(files, ["eu-1/chart-eu-1/crds/crd.yaml", "eu-1/chart-eu-1/web.yaml", "eu-1/raw-eu-1/cm.yaml"]);
    assert!(sandbox.read("new/out/us-1/raw-us-1/cm.yaml").contains("${HOME} $(A)"));
    assert!(sandbox.read("new/out/us-1/chart-us-1/web.yaml").contains("namespace: chart"));
    assert!(sandbox.read("new/dropforge.toml").contains("name = \"raw-{cluster}\""));
}

#[test]
fn files_and_merges_give_parameters() {
    let sandbox = Sandbox::with(&[
        ("conf/eu/config.json", r#"{"cluster": {"name": "eu-1", "address": "https://eu"}, "size": 7}"#),
        ("conf/us/config.yaml", "cluster: {name: us-1, address: 'https://us'}\nsize: 8\n"),
        (
            "set.yaml",
            &set("  generators:
    - merge:
        mergeKeys: [cluster.name]
        generators:
          - git: {repoURL: r, revision: HEAD, files: [{path: conf/*/config.json}, {path: conf/*/config.yaml}], values: {at: '{{path.basename}}'}}
          - list: {elements: [{cluster.name: us-1, size: '9'}]}
  template:
    metadata: {name: web}
    spec:
      source: {repoURL: r, path: chart, helm: {values: \"size: {{size}}\\nat: {{values.at}}\\n\"}}
      destination: {name: '{{cluster.name}}'}
"),
        ),
    ]);
    add_chart(&sandbox, "chart");
    import(&sandbox, "applicationset", "set.yaml");
    assert!(sandbox.read("new/out/eu-1/web/web.yaml").contains(r#"{"at":"eu","replicas":1,"size":7}"#));
    assert!(sandbox.read("new/out/us-1/web/web.yaml").contains(r#"{"at":"us","replicas":1,"size":9}"#));
}

#[test]
fn what_is_left_out_is_told_with_its_place() {
    let sandbox = Sandbox::with(&[(
        "set.yaml",
        &set("  generators:
    - clusters: {selector: {matchLabels: {env: prod}, matchExpressions: [{key: zone, operator: NotIn, values: [a, b]}]}, values: {tier: gold}}
    - pullRequest: {github: {}}
    - list: {elements: [{name: c}], template: {}}
    - matrix: {generators: [{list: {elements: [{name: d}], template: {spec: {}}}}]}
  templatePatch: '- x'
  strategy: {}
  template:
    metadata: {name: '{{name}}-web'}
    spec:
      project: default
      sources:
        - {repoURL: 'https://charts.example', chart: nginx, targetRevision: 1.0.0, helm: {valueFiles: [own.yaml], parameters: [{name: 'a[0]', value: x}]}}
        - {repoURL: r, path: nowhere}
        - {repoURL: r, ref: values}
      destination: {server: '{{server}}'}
      syncPolicy: {automated: {}}
"),
    )]);
    let args = ["init", "new", "--from", "applicationset", "set.yaml", "--error-format", "short"];
    let outcome = sandbox.run(&args).expect(0);
    let told = [
        "set.yaml:6:7: warning[E0951]: the clusters of the generator `clusters`",
        "the generator `pullRequest` is not translated",
        "`templatePatch` is left out: it must be a map, found list",
        "`template` of the generator `list` is not translated",
        "`matchExpressions` of the selector is not translated",
        "`strategy`, `project`, `syncPolicy`",
        "`own.yaml` is a file of the chart",
        "`a[0]` of `parameters` is not translated",
        "`nowhere` does not exist in the repository at hand",
        "helm pull nginx --repo https://charts.example --version '1.0.0'",
    ];
    told.iter().for_each(|part| assert!(outcome.stderr.contains(part), "no {part:?} in {}", outcome.stderr));
    // A cluster to fill in, and a release for all that have the labels.
    add_chart(&sandbox, "new/charts/nginx");
    let clusters = sandbox.read("new/clusters.yaml");
    assert!(clusters.contains("name: todo-cluster") && clusters.contains("env: prod"), "{clusters}");
    sandbox.replace("new/clusters.yaml", &clusters.replace("todo-cluster", "eu-1"));
    sandbox.run(&["-C", "new", "stamp"]).expect(0);
    assert!(sandbox.path("new/out/eu-1/eu-1-web/web.yaml").exists(), "{:?}", sandbox.outputs("new/out").keys());
}

#[test]
fn overrides_and_requirements_are_applied() {
    let sandbox = Sandbox::with(&[(
        "set.yaml",
        &set("  goTemplate: true
  generators:
    - list:
        elements: [{name: eu-1, env: prod}, {name: us-1, env: dev}, {name: us-2, env: qa}, {name: us-3}]
        template:
          spec: {source: {helm: {releaseName: other, skipCrds: false}}}
      selector:
        matchExpressions:
          - {key: env, operator: NotIn, values: [qa]}
          - {key: env, operator: Exists}
    - list: {elements: [{name: ap-1, env: prod}]}
  templatePatch: |
    {{- if eq .env \"prod\" }}
    metadata: {labels: {tier: gold}}
    spec:
      source:
        helm: {valuesObject: {replicas: 5}, skipCrds: true}
    {{- end }}
  template:
    metadata: {name: 'web-{{.name}}', labels: {tier: plain}}
    spec:
      source: {repoURL: r, path: chart, helm: {releaseName: web, valuesObject: {replicas: 2, env: '{{.env}}', text: '{{`{{ .env }}`}}'}}}
      destination: {name: '{{.name}}', namespace: shop}
"),
    )]);
    add_chart(&sandbox, "chart");
    import(&sandbox, "applicationset", "set.yaml");
    let files: Vec<String> = sandbox.outputs("new/out").into_keys().filter(|name| name.ends_with(".yaml")).collect();
    let wanted = ["ap-1/web/web.yaml", "eu-1/other/web.yaml", "us-1/other/crds/crd.yaml", "us-1/other/web.yaml"];
    assert_eq!(files, wanted);
    for (path, values) in [
        ("eu-1/other", r#"{"env":"prod","replicas":5,"text":"{{ .env }}"}"#),
        ("us-1/other", r#"{"env":"dev","replicas":2,"text":"{{ .env }}"}"#),
        ("ap-1/web", r#"{"env":"prod","replicas":5,"text":"{{ .env }}"}"#),
    ] {
        let made = sandbox.read(&format!("new/out/{path}/web.yaml"));
        assert!(made.contains(values), "no {values} in {made}");
    }
    sandbox.run(&["-C", "new", "stamp", "-r", "tier=gold", "--check"]).expect(0);
}
