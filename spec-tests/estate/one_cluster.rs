//! Commands that show one cluster of a platform: its output, its values, and what sets it apart from another.

use crate::support::Sandbox;

#[test]
fn one_cluster_is_rendered_as_it_is_stamped() {
    let sandbox = Sandbox::of_example("estate");
    let render = |more: &[&str]| sandbox.run(&[&["render", "--cluster", "us-prod-1"][..], more].concat());
    let stamp = |more: &[&str]| {
        let args = [&["stamp", "--layout", "single", "-o", "-", "-l", "name=us-prod-1"][..], more].concat();
        sandbox.run(&args).expect(0).stdout
    };
    let all = render(&[]).expect(0);
    assert_eq!((all.stdout.as_str(), all.stderr.as_str()), (stamp(&[]).as_str(), ""));
    assert!(all.stdout.contains("# Source: us-prod-1/web/web.yaml\n") && all.stdout.contains("\n---\n"));
    let web = render(&["-r", "web", "--set", "web:replicas=7"]).expect(0).stdout;
    assert_eq!(web, stamp(&["-r", "web", "--set", "web:replicas=7"]));
    assert!(web.contains("replicas: 7") && !web.contains("/ingress/"));
    render(&["-r", "wbe"]).expect(2).says(&["no release is named `wbe`", "available: ingress"]);
    render(&["-o", "one.yaml"]).expect(0);
    assert_eq!(sandbox.read("one.yaml"), all.stdout);
    sandbox
        .run(&["render", "--cluster", "us-prod-11"])
        .expect(2)
        .says(&["no cluster is named `us-prod-11`", "`us-prod-1`"]);
    sandbox.run(&["render"]).expect(2).says(&["name a cluster of `dropforge.toml`: `--cluster NAME`"]);
    sandbox.run(&["render", "-r", "web"]).expect(2).says(&["--cluster"]);
    sandbox.replace("charts/web/templates/web.yaml", "{{ fail \"no\" }}");
    sandbox.run(&["render", "--cluster", "us-prod-1"]).expect(1).says(&["us-prod-1", "web.yaml:1:"]);
}

#[test]
fn one_cluster_of_a_project_without_releases_is_rendered() {
    let sandbox = Sandbox::with(&[
        (
            "dropforge.toml",
            "templates = [\"a\", \"b\"]\nfleet = [\"fleet.yaml\"]\nvalues = [\"v.yaml\"]\nlayers = [\"{env}.yaml\"]\n[output]\ndir = \"out\"\n",
        ),
        ("fleet.yaml", "- {name: eu, env: prod}\n- {name: us, env: dev}\n"),
        ("v.yaml", "n: 1\n"),
        ("prod.yaml", "n: 2\n"),
        ("dev.yaml", "{}\n"),
        ("a/x.yaml.tera", "kind: A\nname: {{ name }}\nn: {{ n }}\n"),
        ("b/y.yaml.tera", "kind: B\n"),
    ]);
    let text = sandbox.run(&["render", "--cluster", "eu"]).expect(0).stdout;
    assert!(
        text.contains("name: eu\nn: 2\n") && text.contains("kind: B\n") && text.matches("---\n").count() == 2,
        "{text}"
    );
    assert!(sandbox.outputs("out").is_empty());
    // Templates of the command line, and no project.
    let text = sandbox.run(&["render", "--cluster", "us", "a"]).expect(0).stdout;
    assert!(text.contains("name: us\nn: 1\n") && !text.contains("kind: B"), "{text}");
    let args = ["render", "--no-project", "a", "--fleet", "fleet.yaml", "--cluster", "us", "--set", "n=5"];
    assert!(sandbox.run(&args).expect(0).stdout.contains("n: 5\n"));
    sandbox.run(&["render", "--no-project", "a", "--cluster", "us"]).expect(2).says(&["`--cluster` needs a fleet"]);
    // Without a cluster, nothing of the fleet counts.
    sandbox.run(&["render", "--no-project", "a", "b"]).expect(2).says(&["one template or folder"]);
    sandbox.run(&["render", "a", "--set", "name=x,n=1"]).expect(0);
}

#[test]
fn the_values_of_two_clusters_are_compared() {
    let sandbox = Sandbox::of_example("estate");
    let text = sandbox.run(&["values", "--cluster", "eu-prod-1", "--compare", "us-prod-1"]).expect(0).stdout;
    for part in [
        "kube.version\n  eu-prod-1: \"v1.34.0\"  # values/base.yaml:9:12\n  us-prod-1: \"v1.33.0\"  # cluster `us-prod-1` (clusters/us-prod-1.yaml:5:12); overrides values/base.yaml:9:12\n",
        "zone\n  eu-prod-1: \"eu-west-1\"  # values/region/eu.yaml:1:7\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("quota") && !text.contains("tier"), "{text}");
    let same = sandbox.run(&["values", "--cluster", "eu-prod-1", "--compare", "eu-prod-1"]).expect(0);
    assert_eq!(same.stdout, "");
    sandbox.run(&["values", "--cluster", "eu-prod-1", "--compare", "eu-prd-2"]).expect(2).says(&["`eu-prod-2`"]);
    sandbox.run(&["values", "--compare", "eu-prod-1"]).expect(2).says(&["--cluster"]);
    let web =
        sandbox.run(&["values", "--cluster", "eu-prod-1", "--compare", "us-prod-1", "-r", "web"]).expect(0).stdout;
    assert!(
        web.contains("replicas\n  eu-prod-1: 5  # values/env/prod.yaml:9:15; overrides charts/web/values.yaml:1:1\n"),
        "{web}"
    );
    assert!(web.contains("  us-prod-1: 9  # cluster `us-prod-1` (clusters/us-prod-1.yaml:8:15)"), "{web}");
}

#[test]
fn the_values_of_a_release_have_their_origins() {
    let sandbox = Sandbox::of_example("estate");
    let values = |more: &[&str]| {
        sandbox.run(&[&["values", "--cluster", "us-prod-1", "-r", "web"][..], more].concat()).expect(0).stdout
    };
    let rendered = sandbox.run(&["render", "--cluster", "us-prod-1", "-r", "web"]).expect(0).stdout;
    let plain = values(&[]);
    let replicas = |text: &str| text.lines().find_map(|line| line.trim().strip_prefix("replicas: ").map(str::to_owned));
    assert_eq!(replicas(&plain), replicas(&rendered));
    let origins = values(&["--origins", "--set", "web:replicas=3"]);
    assert!(origins.contains("replicas: 3  # --set replicas; overrides cluster `us-prod-1`"), "{origins}");
    assert!(origins.lines().any(|line| line.contains("charts/web/values.yaml:")), "{origins}");
    assert!(origins.lines().any(|line| line.contains("sizes.yaml (rendered):")), "{origins}");
    let json: serde_json::Value = serde_json::from_str(&values(&["--output-format", "json"])).unwrap();
    assert_eq!(json["replicas"], 9);
    // Templates see all values of the cluster.
    let platform = sandbox.run(&["values", "--cluster", "us-prod-1", "-r", "platform", "--origins"]).expect(0).stdout;
    assert!(platform.contains("zone: "), "{platform}");
    sandbox.run(&["values", "-r", "web"]).expect(2).says(&["--cluster"]);
    sandbox.run(&["values", "--cluster", "us-prod-1", "-r", "team=shop", "-r", "none"]).expect(2);
    let other = sandbox.run(&["values", "--cluster", "eu-dev-2", "-r", "ingress"]).expect(0);
    assert!(other.stderr.contains("does not want the release `ingress`"), "{}", other.stderr);
}
