//! `variable` blocks of HCL: defaults, types and validations count in `render`, `stamp` and `values`.

use crate::support::Sandbox;

const VARIABLES: &str = r#"variable "replicas" {
  type    = number
  default = 2
  validation {
    condition     = var.replicas > 0 && var.replicas <= var.most
    error_message = "replicas is 1 to ${var.most}, not ${var.replicas}"
  }
}
variable "most" {
  default = 9
}
variable "owner" {
  type = string
}
variable "app" {
  type    = object({ name = string, port = optional(number, 80) })
  default = { name = "web" }
}
"#;

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("variables.tf", VARIABLES),
        ("t/app.txt.tftpl", "${owner} ${replicas + 1} ${app.name}:${app.port}\n"),
        ("base.yaml", "owner: me\nreplicas: \"3\"\n"),
        ("fleet.ndjson", "{\"name\":\"eu\"}\n{\"name\":\"us\",\"replicas\":5,\"app\":{\"name\":\"x\"}}\n"),
    ])
}

#[test]
fn defaults_fill_in_below_values_and_types_convert() {
    let sandbox = sandbox();
    let render =
        |more: &[&str]| sandbox.run(&[&["render", "t/app.txt.tftpl", "--var-types", "variables.tf"], more].concat());
    assert_eq!(render(&["-f", "base.yaml"]).expect(0).stdout, "me 4 web:80\n");
    assert_eq!(render(&["--set", "owner=7,app.name=y"]).expect(0).stdout, "7 3 y:80\n");
    assert_eq!(render(&["--set", "owner=a,app.port=81,app.name=z"]).expect(0).stdout, "a 3 z:81\n");
    sandbox.stamp(&["-f", "base.yaml", "--var-types", "variables.tf"]).expect(0);
    assert_eq!(sandbox.read("out/us/app.txt"), "me 6 x:80\n");
    assert_eq!(sandbox.read("out/eu/app.txt"), "me 4 web:80\n");
}

#[test]
fn validations_fail_with_their_messages_at_their_places() {
    let sandbox = sandbox();
    sandbox.write(
        "fleet.ndjson",
        "{\"name\":\"eu\"}\n{\"name\":\"us\",\"replicas\":0}\n{\"name\":\"ap\",\"replicas\":0}\n",
    );
    let parts = [
        "error[E0808]: 2 clusters: invalid value of `replicas`: replicas is 1 to 9, not 0",
        "--> fleet.ndjson:2:25",
        "given here",
        "::: variables.tf:5:21",
        "condition     = var.replicas > 0",
        "cluster: us, ap",
    ];
    sandbox.stamp(&["-f", "base.yaml", "--var-types", "variables.tf"]).expect(4).says(&parts);
    assert!(sandbox.path("out/eu/app.txt").exists() && !sandbox.path("out/us").exists());
    let render = ["render", "t/app.txt.tftpl", "--var-types", "variables.tf", "--set", "replicas=10,owner=a"];
    sandbox.run(&render).expect(1).says(&[
        "replicas is 1 to 9, not 10",
        "given by --set replicas=10",
        "variables.tf:5:21",
    ]);
}

#[test]
fn parts_that_options_set_are_named() {
    let sandbox = sandbox();
    sandbox.write("nodes.tf", "variable \"nodes\" {\n  type = map(object({ size = number }))\n}\n");
    sandbox.write("p.tfvars", "nodes = { b = { size = 2 } }\n");
    sandbox.write("t/app.txt.tftpl", "${nodes.b.size}\n");
    let render = ["render", "t/app.txt.tftpl", "--var-types", "nodes.tf", "-f", "p.tfvars", "--set", "nodes.b.size=zz"];
    let outcome = sandbox.run(&render).expect(1);
    outcome.says(&["E0808", "the value of `nodes.b.size`", "nodes.tf:2:10", "given by --set nodes.b.size=zz"]);
}

#[test]
fn values_of_other_types_and_missing_values_are_errors() {
    let sandbox = sandbox();
    sandbox.write("bad.yaml", "replicas: many\napp: [1]\n");
    let render = ["render", "t/app.txt.tftpl", "--var-types", "variables.tf", "-f", "bad.yaml"];
    sandbox.run(&render).expect(1).says(&[
        "the value of `replicas` does not fit its type: a number is required",
        "--> bad.yaml:1:11",
        "::: variables.tf:2:13",
        "the value of `app` does not fit its type",
        "the variable `owner` has neither a value nor a default",
        "--> variables.tf:12:10",
        "give it with `-f` or `--set owner=…`",
    ]);
}

#[test]
fn origins_name_the_default() {
    let args = ["values", "t", "-f", "base.yaml", "--var-types", "variables.tf", "--origins"];
    let text = sandbox().run(&args).expect(0).stdout;
    assert!(text.contains("most: 9  # variables.tf:10:13\n"), "{text}");
    assert!(text.contains("app.port: 80  # variables.tf:17:13\n"), "{text}");
    assert!(text.contains("replicas: 3  # base.yaml:2:11\n"), "{text}");
}

#[test]
fn null_takes_the_default_only_if_the_variable_is_not_nullable() {
    let sandbox = Sandbox::with(&[
        ("v.tf", "variable \"a\" {\n  default = 1\n  nullable = false\n}\nvariable \"b\" {\n  default = 1\n}\n"),
        ("v.yaml", "a: null\nb: null\n"),
    ]);
    let args = ["values", "-f", "v.yaml", "--var-types", "v.tf", "--output-format", "json"];
    assert_eq!(sandbox.run(&args).expect(0).stdout, "{\n  \"a\": 1,\n  \"b\": null\n}\n");
}

#[test]
fn broken_declarations_are_errors() {
    let sandbox = sandbox();
    let values = |text: &str| {
        sandbox.write("v.tf", text);
        sandbox.run(&["values", "--var-types", "v.tf", "-f", "base.yaml"])
    };
    values("variable \"a\" {\n  type = strin\n  default = 1\n}\n").expect(1).says(&["v.tf:2:10", "strin"]);
    values("variable \"a\" {\n  type = number\n  default = \"x\"\n}\n")
        .expect(1)
        .says(&["the value of `a` does not fit its type"]);
    values("variable \"a\" {\n  default = b\n}\n").expect(1).says(&["v.tf:2:13"]);
    values("variable \"a\" {\n  default = 1\n  validation {}\n}\n").expect(1).says(&["condition"]);
    values("variable \"a\" {\n").expect(1).says(&["v.tf:"]);
    let wrong = "variable \"a\" {\n  default = 1\n  validation {\n    condition = var.b\n  }\n  validation {\n    condition = \"x\"\n  }\n}\n";
    values(wrong).expect(1).says(&["v.tf:4:", "neither true nor false"]);
    let deep = format!("variable \"a\" {{\n  default = {}1{}\n}}\n", "[".repeat(100_000), "]".repeat(100_000));
    values(&deep).expect(1).says(&["nest"]);
    let endless = "variable \"a\" {\n  default = 1\n  validation {\n    condition = length([for x in range(1000) : [for y in range(1000) : jsonencode(range(1000))]]) > 0\n  }\n}\n";
    values(endless).expect(1).says(&["E06"]);
    sandbox.write("v.json", r#"{"variable": {"a": {"type": "number", "default": "5"}}, "b": "string"}"#);
    let args = ["values", "--var-types", "v.json", "--set", "b=1"];
    assert_eq!(sandbox.run(&args).expect(0).stdout, "b: \"1\"\na: 5\n");
}
