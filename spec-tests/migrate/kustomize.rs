//! Folders of Kustomize. The reference is `kubectl kustomize`.

use std::collections::BTreeMap;
use std::process::Command;

use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Data, yaml};

use super::{add_chart, import};
use crate::first_hour::state::{is_missing, kubectl};
use crate::support::{Sandbox, outcome, tree};

/// A base with generators, references and overlays that change them.
const APP: &[(&str, &str)] = &[
    (
        "app/base/app.conf",
        r#"a=1
b = ${x}
"#,
    ),
    (
        "app/base/creds.env",
        r#"# c
USER=ada
PASS=p=w
"#,
    ),
    (
        "app/base/deployment.yaml",
        r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      containers:
        - name: web
          image: shop/web:1.0
          args: ["--x=$(HOST)", "${HOME}"]
          ports: [{containerPort: 8080}]
          envFrom:
            - configMapRef: {name: settings}
          env:
            - {name: A, value: "1"}
            - name: P
              valueFrom: {secretKeyRef: {name: creds, key: PASS}}
          volumeMounts: [{name: c, mountPath: /c}]
      volumes:
        - name: c
          configMap: {name: settings, defaultMode: 0644}
"#,
    ),
    (
        "app/base/kustomization.yaml",
        r#"apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [deployment.yaml, service.yaml, rbac.yaml]
configMapGenerator:
  - name: settings
    literals: [LEVEL=info, "Q=<&>"]
    files: [app.conf]
secretGenerator:
  - name: creds
    envs: [creds.env]
labels:
  - pairs: {team: shop}
"#,
    ),
    (
        "app/base/rbac.yaml",
        r#"apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: web}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
"#,
    ),
    (
        "app/base/service.yaml",
        r#"apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
"#,
    ),
    (
        "app/components/tls/ingress.yaml",
        r#"apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  tls: [{hosts: [web.example], secretName: creds}]
  rules:
    - host: web.example
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
"#,
    ),
    (
        "app/components/tls/kustomization.yaml",
        r#"apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [ingress.yaml]
patches:
  - target: {kind: Service}
    patch: |-
      - {op: add, path: /metadata/annotations, value: {tls: "yes"}}
"#,
    ),
    (
        "app/overlays/dev/kustomization.yaml",
        r#"resources: [../../base]
namespace: shop-dev
namePrefix: dev-
commonLabels: {env: dev}
patchesStrategicMerge:
  - |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec: {template: {spec: {containers: [{name: web, env: [{name: A, $patch: delete}]}]}}}
"#,
    ),
    (
        "app/overlays/prod/hpa.yaml",
        r#"apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 2, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
"#,
    ),
    (
        "app/overlays/prod/kustomization.yaml",
        r#"resources: [../../base, hpa.yaml]
components: [../../components/tls]
namespace: shop-prod
namePrefix: prod-
commonLabels: {env: prod}
commonAnnotations: {owner: ops}
images: [{name: shop/web, newName: registry.example/web, newTag: "2.0"}]
replicas: [{name: web, count: 5}]
configMapGenerator:
  - {name: settings, behavior: merge, literals: [LEVEL=warn]}
patches:
  - path: mem.yaml
  - target: {kind: Deployment, name: w.*}
    patch: |-
      - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: B, value: "2"}}
replacements:
  - source: {kind: Service, name: web, fieldPath: metadata.name}
    targets:
      - select: {kind: Ingress}
        fieldPaths: [spec.rules.0.host, "spec.tls.*.hosts.0"]
        options: {delimiter: ., index: 0}
      - select: {kind: Deployment, name: web}
        fieldPaths: ["spec.template.spec.containers.[name=web].env.[name=A].value"]
      - select: {kind: Deployment}
        fieldPaths: ['metadata.annotations.example\.com/svc']
        options: {create: true}
"#,
    ),
    (
        "app/overlays/prod/mem.yaml",
        r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: web
          resources: {limits: {memory: 1Gi}}
        - name: side
          image: side:1
"#,
    ),
];

/// Returns the objects of texts by what identifies them. `0644` is octal for Kubernetes.
fn objects(texts: impl IntoIterator<Item = String>) -> BTreeMap<String, Data> {
    let mut found = BTreeMap::new();
    for text in texts {
        let text = text.replace(": 0644\n", ": 420\n");
        for document in yaml::read(&Source::new("objects", text), &Limits::default()).unwrap() {
            let data = document.to_data();
            let part = |path: &str| data.at_path(path).and_then(Data::as_str).unwrap_or("").to_owned();
            let parts = ["apiVersion", "kind", "metadata.namespace", "metadata.name"].map(part);
            assert!(found.insert(parts.join(" "), data).is_none(), "{parts:?} twice");
        }
    }
    found
}

/// Compares the objects of clusters with those that `kubectl kustomize` builds from their overlays.
#[track_caller]
fn compare(sandbox: &Sandbox, overlays: &[(&str, &str)]) {
    let kubectl = kubectl();
    if is_missing(&kubectl) {
        return eprintln!("spec-tests/kubectl/install was not run");
    }
    for (cluster, folder) in overlays {
        let mut command = Command::new(&kubectl);
        command.current_dir(sandbox.path("")).args(["kustomize", folder]).env("KUBECONFIG", "/dev/null");
        let wanted = objects([outcome(command).expect(0).stdout]);
        let made = objects(tree(&sandbox.path(&format!("new/out/{cluster}"))).into_values());
        assert_eq!(made.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{cluster}");
        for (name, object) in &wanted {
            assert_eq!(made.get(name), Some(object), "{cluster}: {name}");
        }
    }
}

#[test]
fn overlays_become_clusters_with_the_same_objects() {
    let sandbox = Sandbox::with(APP);
    import(&sandbox, "kustomize", "app");
    compare(&sandbox, &[("dev", "app/overlays/dev"), ("prod", "app/overlays/prod")]);
    // Without the reference: hashes, references, merges and operations.
    let deployment = sandbox.read("new/out/prod/app/deployment-web.yaml");
    for part in
        ["name: prod-web", "prod-settings-gh4cccm5gg", "registry.example/web:2.0", "replicas: 5", "defaultMode: 420"]
    {
        assert!(deployment.contains(part), "{part}\n{deployment}");
    }
    let template = sandbox.read("new/templates/app/deployment-web.cel.yaml");
    for part in
        ["name: ${env}-web", "replicas: ${app.deployment_web.replicas}", "$${HOME}", "- ${app.?deployment_web.?side}"]
    {
        assert!(template.contains(part), "{part}\n{template}");
    }
    let project = sandbox.read("new/dropforge.toml");
    assert!(project.contains("when = \"env == 'prod'\""), "{project}");
}

#[test]
fn one_overlay_and_folders_without_overlays_are_imported() {
    let sandbox = Sandbox::with(APP);
    import(&sandbox, "kustomize", "app/overlays/prod");
    compare(&sandbox, &[("prod", "app/overlays/prod")]);
    let sandbox = Sandbox::with(&[
        (
            "a/kustomization.yaml",
            "resources: [x.yaml]\nnameSuffix: -v1\ncommonLabels: {app: a}\nconfigMapGenerator: [{name: none}]\nsecretGenerator: [{name: none}]\npatches: [{path: patch.yaml}]\n",
        ),
        (
            "a/x.yaml",
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x, annotations: {}}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: 'r:5000/i@sha256:00'}], volumes: [{name: v, secret: {secretName: s}}]}}}}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n",
        ),
        (
            "b/kustomization.yaml",
            "resources: [y.yaml, ../c]\nnamespace: own\nimages: [{name: 'r:5000/i', digest: 'sha256:11'}]\nlabels: [{pairs: {l: '1'}, includeSelectors: true}]\n",
        ),
        (
            "b/y.yaml",
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: example.com/v1\n  kind: Thing\n  metadata: {name: y}\n  spec: {image: 'r:5000/i:1', containers: [{name: a, image: 'r:5000/i:1'}]}\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: old}\n",
        ),
        ("a/patch.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  t: |\n    a\n    b"),
        ("c/kustomization.yaml", "resources: [z.yaml]\n"),
        (
            "c/z.yaml",
            "apiVersion: v1\nkind: Service\nmetadata: {name: z}\nspec: {ports: [{port: 1}]}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: z}\nroleRef: {kind: ClusterRole, name: x}\nsubjects: [{kind: ServiceAccount, name: default, namespace: q}, {kind: ServiceAccount, name: other, namespace: q}]\n",
        ),
    ]);
    import(&sandbox, "kustomize", ".");
    // Two folders are two releases: of `default`, and of `b`, which has a base beside it.
    compare(&sandbox, &[("default", "a"), ("b", "b")]);
}

#[test]
fn what_is_left_out_is_told_with_its_place() {
    let sandbox = Sandbox::with(&[
        (
            "kustomization.yaml",
            "resources: [https://example.com/x.yaml, ../../out.yaml, none.yaml, cm.yaml, sub]
helmCharts: [{name: x}]
replacements: [{path: r.yaml}, {source: {kind: ConfigMap}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.x.y]}]}]
vars: []
patches:
  - {target: {kind: Other}, patch: '- {op: remove, path: /x}'}
  - {target: {kind: ConfigMap}, patch: '- {op: remove, path: /x}'}
images: [{name: a, tagSuffix: x}]
replicas: [{name: q, count: 2}]
unknown: 1
",
        ),
        ("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
        ("sub/x.yaml", "kind: A\nmetadata: {name: a}\n"),
        ("alone/kustomization.yaml", "resources: []\n"),
    ]);
    let outcome = sandbox.run(&["init", "new", "--from", "kustomize", ".", "--error-format", "short"]).expect(0);
    let told = [
        "kustomization.yaml:1:13: warning[E0951]: `https://example.com/x.yaml` is not in the repository",
        "`../../out.yaml` lies outside of",
        "`none.yaml` does not exist",
        "`alone` is used by no other folder",
        "`sub` has no `kustomization.yaml`",
        "kustomization.yaml:2:14: warning[E0951]: the chart `x` is not in the repository",
        "`r.yaml` does not exist",
        "a replacement is not translated: there is no `data`",
        "no object of this folder is meant by the patch",
        "cannot remove `/x` of `ConfigMap/a`: there is no `/x`",
        "`tagSuffix` of images is not translated",
        "no object has the replicas of `q`",
        "kustomization.yaml:10:1: warning[E0951]: `unknown` of Kustomize is not translated",
    ];
    told.iter().for_each(|part| assert!(outcome.stderr.contains(part), "no {part:?} in {}", outcome.stderr));
    assert!(!outcome.stderr.contains("`vars`"), "{}", outcome.stderr);
    assert_eq!(sandbox.read("new/dropforge.toml").matches("# TODO ").count(), outcome.stderr.matches("E0951").count());
    sandbox.run(&["-C", "new", "stamp"]).expect(0);
}

/// Objects, each with a patch for it: a merge that names it, or operations for those with the label.
const PATCHES: &[(&str, &str)] = &[
    // Nulls, at a key that is there and below a map that is new.
    ("kind: A\nspec: {a: {x: 1, y: 2}}", "spec: {a: {y: null, z: 3}, new: {gone: null, deep: {gone: null, kept: 1}}}"),
    // A number over a text, plain and in quotes.
    (
        "apiVersion: v1\nkind: Service\nspec: {ports: [{port: 1, targetPort: http, name: \"a\"}]}",
        "spec: {ports: [{port: 1, targetPort: 8080, name: 7}]}",
    ),
    (
        "apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: [{name: a, ports: [{containerPort: 1, protocol: TCP}, {containerPort: 1, protocol: UDP}, {containerPort: 2}], env: [{name: A, value: \"1\"}, {name: B, value: \"2\"}]}], volumes: [{name: v, emptyDir: {}}]}}}",
        "spec: {template: {spec: {containers: [{name: b, image: b}, {name: a, env: [{name: B, value: 3}, {name: A, $patch: delete}], ports: [{containerPort: 2, name: n}, {containerPort: 1, protocol: UDP, name: u}]}], volumes: [{$patch: replace}, {name: w, emptyDir: {}}]}}}",
    ),
    // Lists that have no keys: of another kind, of another name, and of scalars.
    ("apiVersion: example.com/v1\nkind: B\nspec: {containers: [{name: a}]}", "spec: {containers: [{name: b}]}"),
    (
        "apiVersion: apps/v1\nkind: StatefulSet\nspec: {template: {spec: {tolerations: [{key: a}], containers: [{name: a, args: [x, y]}]}}}",
        "spec: {template: {spec: {tolerations: [{key: b}], containers: [{name: a, args: [z]}]}}}",
    ),
    // Only the lists of a path have keys.
    ("apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\nspec: {ports: [{port: 1}]}", "spec: {ports: [{port: 2}]}"),
    ("kind: C\nspec: {a: {x: 1}}", "spec: {a: {$patch: replace, y: 1}}"),
    ("kind: D\nspec: {a: 1}", "$patch: delete"),
    (
        "kind: E\nspec: {a: [1, 2], b/c: x, o: {k: v}}",
        "- {op: add, path: /spec/a/-, value: 3}\n- {op: move, from: /spec/o, path: /spec/p}\n- {op: test, path: /spec/b~1c, value: x}\n- {op: replace, path: /spec/a/0, value: {q: null}}\n- {op: copy, from: /spec/a, path: /spec/d}",
    ),
];

#[test]
fn patches_give_what_kustomize_gives() {
    let (mut objects, mut patches) = (String::new(), String::new());
    for (nth, (object, patch)) in PATCHES.iter().enumerate() {
        let version = if object.starts_with("apiVersion") { "" } else { "apiVersion: example.com/v1\n" };
        let metadata = format!("\nmetadata: {{name: o{nth}, labels: {{nth: \"{nth}\"}}}}\n");
        objects.push_str(&format!("---\n{version}{object}{metadata}"));
        let lines = patch.replace('\n', "\n      ");
        let target = format!("  - target: {{labelSelector: 'nth in ({nth}, 99),!none'}}\n    patch: |-\n");
        let head: String =
            object.lines().filter(|line| !line.starts_with(['s', 'd'])).map(|l| format!("{l}; ")).collect();
        let head = format!("{version}{head}").replace("; ", "\n").replace('\n', "\n      ");
        let named =
            if patch.starts_with('-') { String::new() } else { format!("{}metadata: {{name: o{nth}}}\n      ", head) };
        patches.push_str(&format!("{target}      {named}{lines}\n"));
    }
    let sandbox = Sandbox::with(&[
        ("a/objects.yaml", &objects),
        ("a/kustomization.yaml", &format!("resources: [objects.yaml]\npatches:\n{patches}")),
    ]);
    import(&sandbox, "kustomize", "a");
    compare(&sandbox, &[("default", "a")]);
    let made: String = tree(&sandbox.path("new/out")).into_values().collect();
    for (part, is_there) in [("gone", false), ("targetPort: 8080", true), ("value: \"3\"", true), ("kind: D\n", false)]
    {
        assert_eq!(made.contains(part), is_there, "{part}\n{made}");
    }
}

#[test]
fn charts_become_releases_with_their_values_and_patches() {
    let sandbox = Sandbox::with(&[
        (
            "k/base/kustomization.yaml",
            "helmGlobals: {chartHome: ../charts}\nresources: [cm.yaml]\nhelmCharts:\n  - name: web\n    releaseName: shop\n    namespace: shop\n    valuesFile: values.yaml\n    valuesInline: {replicas: 3}\n    kubeVersion: 1.33.0\n",
        ),
        ("k/base/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
        ("k/base/values.yaml", "replicas: 2\ntag: v1\n"),
        ("k/overlays/dev/kustomization.yaml", "resources: [../../base]\n"),
        (
            "k/overlays/prod/kustomization.yaml",
            "resources: [../../base]\npatches:\n  - target: {kind: Deployment, name: sh.*}\n    patch: '[{op: add, path: /spec/prod, value: true}]'\n  - patch: |-\n      apiVersion: apps/v1\n      kind: Deployment\n      metadata: {name: shop}\n      spec: {tag: null}\n  - patch: |-\n      apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: a}\n      data: {a: b}\n",
        ),
    ]);
    add_chart(&sandbox, "k/charts/web");
    let chart = sandbox.read("k/charts/web/templates/web.yaml");
    sandbox.write("k/charts/web/templates/web.yaml", &format!("apiVersion: apps/v1\n{chart}"));
    import(&sandbox, "kustomize", "k");
    let dev = sandbox.read("new/out/dev/shop/web.yaml");
    for part in [r#"spec: {"replicas":3,"tag":"v1"}"#, "namespace: shop", "kube: v1.33.0"] {
        assert!(dev.contains(part), "no {part} in {dev}");
    }
    let prod = sandbox.read("new/out/prod/shop/web.yaml");
    for (part, is_there) in [("prod: true", true), ("\"replicas\": 3", true), ("tag", false)] {
        assert_eq!(prod.contains(part), is_there, "{part} in {prod}");
    }
    let map: String = tree(&sandbox.path("new/out/prod")).into_values().collect();
    assert!(map.contains("a: b"), "{map}");
    // What charts do not get is told.
    sandbox.write(
        "k/overlays/dev/kustomization.yaml",
        "resources: [../../base]\nnamePrefix: dev-\nnamespace: x\nlabels: []\n",
    );
    let outcome = sandbox.run(&["init", "other", "--from", "kustomize", "k"]).expect(0);
    for key in ["namePrefix", "namespace"] {
        let said = format!("`{key}` is not applied to the objects of the chart `shop`");
        assert!(outcome.stderr.contains(&said), "no {said} in {}", outcome.stderr);
    }
    assert!(!outcome.stderr.contains("`labels`"), "{}", outcome.stderr);
}
