//! `dropforge values` prints merged values and the origin of each.

use crate::support::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("base.yaml", "image:\n  repository: web\n  tag: v1\nreplicas: 2\nports: [80, 443]\n"),
        ("prod.toml", "replicas = 3\n[image]\npull = \"Always\"\n"),
        ("fleet.csv", "name,image.tag,replicas\neu-1,v2,\nus-1,,5\n"),
    ])
}

const FILES: [&str; 5] = ["values", "-f", "base.yaml", "-f", "prod.toml"];

#[test]
fn merged_values_are_printed_as_yaml_and_json() {
    let sandbox = sandbox();
    let expected = "image:\n  repository: web\n  tag: v1\n  pull: Always\nreplicas: 3\nports:\n  - 80\n  - 443\n";
    assert_eq!(sandbox.run(&FILES).expect(0).stdout, expected);
    let args = ["--fleet", "fleet.csv", "--cluster", "us-1", "--output-format", "json"];
    let text = sandbox.run(&[&FILES[..], &args].concat()).expect(0).stdout;
    let values: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        values.to_string(),
        r#"{"image":{"pull":"Always","repository":"web","tag":"v1"},"name":"us-1","ports":[80,443],"replicas":5}"#
    );
}

#[test]
fn each_value_has_its_origin_and_what_it_overrides() {
    let args = ["--fleet", "fleet.csv", "--cluster", "eu-1", "--origins", "--set", "ports[1]=8443,a\\.b=x"];
    let text = sandbox().run(&[&FILES[..], &args].concat()).expect(0).stdout;
    let set = r"--set ports[1]=8443,a\.b=x";
    let expected = [
        "image.repository: \"web\"  # base.yaml:2:15".to_owned(),
        "image.tag: \"v2\"  # cluster `eu-1` (fleet.csv:2:6); overrides base.yaml:3:8".to_owned(),
        "image.pull: \"Always\"  # prod.toml:3:8".to_owned(),
        "replicas: 3  # prod.toml:1:12; overrides base.yaml:4:11".to_owned(),
        "ports[0]: 80  # base.yaml:5:9".to_owned(),
        format!("ports[1]: 8443  # {set}; overrides base.yaml:5:13"),
        format!("a\\.b: \"x\"  # {set}"),
        "name: \"eu-1\"  # cluster `eu-1` (fleet.csv:2:1)".to_owned(),
    ];
    let mut lines: Vec<&str> = text.lines().collect();
    let mut wanted: Vec<&str> = expected.iter().map(String::as_str).collect();
    lines.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(lines, wanted);
}

#[test]
fn mistakes_are_named() {
    let sandbox = sandbox();
    sandbox.run(&["values", "--fleet", "fleet.csv", "--cluster", "eu-2"]).expect(2).says(&["did you mean `eu-1`?"]);
    sandbox.run(&["values", "--fleet", "fleet.csv"]).expect(2).says(&["--cluster"]);
    sandbox.run(&["values", "--cluster", "eu-1"]).expect(2).says(&["--fleet"]);
    sandbox.run(&["values", "-f", "base.yaml", "--set", "replicas.x=1"]).expect(1).says(&["E0803"]);
}
