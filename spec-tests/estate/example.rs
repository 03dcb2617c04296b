//! The example of a platform.

use crate::support::Sandbox;

#[test]
fn the_example_platform_is_sound() {
    let sandbox = Sandbox::of_example("estate");
    sandbox.run(&["check", "--strict"]).expect(0).says(&["no errors"]);
    sandbox.run(&["stamp", "--strict"]).expect(0).says(&["114 files for 12 clusters"]);
    let files = sandbox.outputs("rendered");
    let of = |release: &str| files.keys().filter(|name| name.split('/').nth(1) == Some(release)).count();
    assert_eq!(["ingress", "web", "platform", "monitoring-prod", "monitoring-stage"].map(of), [22, 12, 72, 4, 4]);
    assert!(files["us-prod-1/ingress/deployment.yaml"].contains("kubernetes: v1.33.0"));
    assert!(files["eu-prod-1/ingress/deployment.yaml"].contains("kubernetes: v1.34.0"));
    assert!(files["us-prod-1/web/web.yaml"].contains("replicas: 9"));
    assert!(files["us-prod-1/ingress/deployment.yaml"].contains("      topologySpreadConstraints:\n"));
    assert!(!files["us-stage-1/ingress/deployment.yaml"].contains("topologySpreadConstraints"));
    sandbox.run(&["stamp", "--check", "--strict"]).expect(0);
    // A change of one environment reaches its clusters alone.
    let prod = sandbox.read("values/env/prod.yaml");
    sandbox.replace("values/env/prod.yaml", &prod.replace("tier: gold", "tier: platinum"));
    sandbox.run(&["stamp"]).expect(0).says(&["4 changed"]);
}

#[test]
fn the_tests_of_the_example_pass() {
    let sandbox = Sandbox::of_example("estate");
    sandbox.run(&["test", "--strict"]).expect(0).says(&["6 passed"]);
}

#[test]
fn the_tokens_of_the_example_are_masked() {
    let sandbox = Sandbox::of_example("estate");
    sandbox.run(&["stamp"]).expect(0);
    let path = "rendered/eu-prod-1/platform/pull-secret.yaml";
    assert!(sandbox.read(path).contains("token: prod-e4871d"));
    let file = sandbox.read("secrets/prod.yaml").replace("prod-e4871d", "prod-other");
    sandbox.replace("secrets/prod.yaml", &file);
    let diff = sandbox.run(&["stamp", "--diff"]).expect(3);
    let why = sandbox.run(&["why", &format!("{path}:6")]).expect(0);
    let checked = sandbox.run(&["stamp", "--check", "--diff-format", "json"]);
    let suite = "release: platform\ncluster: eu-prod-1\ntests: [{template: pull-secret.yaml.tera, asserts: [equal: {path: stringData.token, value: x}]}]\n";
    sandbox.write("tests/secret.test.yaml", suite);
    let tested = sandbox.run(&["test"]).expect(1);
    for outcome in [diff, why, checked, tested] {
        let shown = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(!shown.contains("e4871d") && !shown.contains("prod-other"), "{shown}");
    }
}

#[test]
fn secrets_of_the_cluster_hide_nothing_of_a_chart_that_does_not_get_them() {
    let sandbox = Sandbox::of_example("estate");
    sandbox.run(&["stamp"]).expect(0);
    let of_web = |text: &str| {
        sandbox.replace("values/env/prod.yaml", text);
        sandbox.run(&["stamp", "--diff", "-r", "web", "-l", "name=eu-prod-1"]).expect(3).stdout
    };
    let prod = sandbox.read("values/env/prod.yaml");
    let shown = of_web(&prod.replace("replicas: 5", "replicas: 6"));
    assert!(shown.contains("replicas: 6") && !shown.contains('…'), "{shown}");
    // A value of the release that the schema marks is hidden, and so is what is made of all of them.
    let schema =
        r#"{"properties": {"releases": {"properties": {"web": {"properties": {"host": {"writeOnly": true}}}}}}}"#;
    sandbox.replace("values.schema.json", schema);
    let shown = of_web(&prod.replace("replicas: 5", "replicas: 6\n    host: hidden.example"));
    assert!(!shown.contains("hidden.example") && shown.contains("checksum/config: …"), "{shown}");
}
