//! The example of a platform.

use crate::support::Sandbox;

#[test]
fn the_example_platform_is_sound() {
    let sandbox = Sandbox::of_example("estate");
    sandbox.run(&["check", "--strict"]).expect(0).says(&["no errors"]);
    sandbox.run(&["stamp", "--strict"]).expect(0).says(&["102 files for 12 clusters"]);
    let files = sandbox.outputs("rendered");
    let of = |release: &str| files.keys().filter(|name| name.split('/').nth(1) == Some(release)).count();
    assert_eq!(["ingress", "web", "platform", "monitoring-prod", "monitoring-stage"].map(of), [22, 12, 60, 4, 4]);
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
