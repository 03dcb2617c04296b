//! HCL on the command line: templates, data, fleets, expressions, and checks without data.

use crate::support::Sandbox;

const TEMPLATE: &str =
    "name: ${name}\n%{ if name == \"api\" ~}\n%{ for p in ports ~}\nport: ${p}\n%{ endfor ~}\n%{ endif ~}\n";
const VALUES: &str = "name = \"api\"\nports = [80, 400 + 43]\n";

#[test]
fn a_template_is_rendered_with_values_in_hcl_and_from_an_artifact() {
    let sandbox = Sandbox::with(&[("app.yaml.tftpl", TEMPLATE), ("v.tfvars", VALUES), ("plain.txt", "${name}!")]);
    let text = "name: api\nport: 80\nport: 443\n";
    assert_eq!(sandbox.run(&["render", "app.yaml.tftpl", "-f", "v.tfvars"]).expect(0).stdout, text);
    let render = ["render", "plain.txt", "--lang", "hcl", "--set", "name=x"];
    assert_eq!(sandbox.run(&render).expect(0).stdout, "x!");
    sandbox.run(&["compile", "app.yaml.tftpl", "-o", "a.mpk"]).expect(0);
    assert_eq!(sandbox.run(&["render", "a.mpk", "-f", "v.tfvars"]).expect(0).stdout, text);
    assert!(sandbox.run(&["disasm", "a.mpk"]).expect(0).stdout.contains("text_path name plain \"name: \""));
    assert!(sandbox.run(&["inspect", "a.mpk"]).expect(0).stdout.contains("inputs  name, ports"));
}

#[test]
fn fleets_are_blocks_or_a_list_and_outputs_lose_the_language() {
    let blocks = "cluster \"eu\" {\n  n = 1\n}\ncluster \"us\" {\n  n = 1 + 1\n}\n";
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tftpl", "${name} ${n}\n"),
        ("t/b.json.hcl.tmpl", "${n}\n"),
        ("t/main.hcl", "not = a.template\n"),
        ("blocks.hcl", blocks),
        ("list.hcl", "clusters = [for at, name in [\"eu\", \"us\"] : { name = name, n = at + 1 }]\n"),
    ]);
    for fleet in ["blocks.hcl", "list.hcl"] {
        sandbox.run(&["stamp", "t", "--fleet", fleet, "-o", fleet.trim_end_matches(".hcl")]).expect(0);
    }
    sandbox.write("twice.hcl", "cluster \"eu\" {}\ncluster \"eu\" {}\n");
    sandbox.run(&["stamp", "t", "--fleet", "twice.hcl", "-o", "x"]).expect(2).says(&["two clusters", "`eu`"]);
    let (blocks, list) = (sandbox.tree("blocks"), sandbox.tree("list"));
    assert_eq!(blocks["us/a.yaml"], "us 2\n");
    let names: Vec<_> = blocks.keys().filter(|name| !name.starts_with('.')).map(String::as_str).collect();
    assert_eq!(names, ["eu/a.yaml", "eu/b.json", "us/a.yaml", "us/b.json"]);
    assert!(names.iter().all(|name| blocks[*name] == list[*name]));
}

#[test]
fn all_errors_of_a_render_are_told_with_their_places_and_the_cluster() {
    let template = "a ${nam}\nb ${uper(name)}\nc ${name + 1}\n";
    let sandbox = Sandbox::with(&[("a.tftpl", template), ("fleet.hcl", "cluster \"eu\" {}\ncluster \"7\" {}\n")]);
    let run = sandbox.run(&["stamp", "a.tftpl", "--fleet", "fleet.hcl", "-o", "out"]).expect(4);
    run.says(&["a.tftpl:1:5", "did you mean `name`?", "a.tftpl:2:5", "did you mean `upper`?", "a.tftpl:3:5", "eu"]);
    let one = sandbox.run(&["render", "a.tftpl", "--set", "name=x", "--error-format", "json"]).expect(1).json();
    assert_eq!(one[0]["also"].as_array().map(Vec::len), Some(2));
    assert_eq!(one[0]["also"][1]["notes"], serde_json::json!(["`name` is \"x\""]));
    let values = sandbox.run(&["render", "a.tftpl", "-f", "fleet.hcl", "-f", "bad.hcl"]).expect(1);
    values.says(&["bad.hcl"]);
    sandbox.write("bad.hcl", "a = nope\nb = 1 + true\n");
    sandbox.run(&["render", "a.tftpl", "-f", "bad.hcl"]).expect(1).says(&["bad.hcl:1:5", "bad.hcl:2:9"]);
}

#[test]
fn an_expression_is_evaluated() {
    let sandbox = Sandbox::with(&[("v.hcl", VALUES)]);
    let eval = |more: &[&str]| sandbox.run(&[&["eval", "--lang", "hcl", "-f", "v.hcl"], more].concat());
    assert_eq!(eval(&["[for p in ports : p if p > 100]"]).expect(0).stdout, "[443]\n");
    let typed = eval(&["{ n = length(ports), s = toset([name]) }", "--typed"]).expect(0).stdout;
    assert!(typed.contains(r#""type":["object",{"n":"number","s":["set","string"]}]"#), "{typed}");
    eval(&["name + 1"]).expect(1).says(&["<expression>:1:1", "`name` is \"api\""]);
    let secret = eval(&["[sensitive(\"hidden\")]"]).expect(1).says(&["marks"]);
    assert!(!secret.stderr.contains("hidden") && secret.stdout.is_empty());
    assert_eq!(eval(&["null", "--typed"]).expect(0).stdout, "{\"value\":null,\"type\":\"dynamic\"}\n");
    eval(&["1 +"]).expect(1).says(&["<expression>:1:4"]);
    sandbox.run(&["eval", "--lang", "tera", "1"]).expect(2).says(&["--lang hcl"]);
}

#[test]
fn a_check_finds_what_is_wrong_without_data() {
    let types = "hosts = list(object({ name = string }))\nvariable \"vpc\" {\n  type = object({ id = string })\n}\n";
    let sandbox = Sandbox::with(&[
        ("types.hcl", types),
        ("a.tftpl", "%{ for h in hosts }${h.nmae}%{ endfor }${vpc.id + 1} ${vpc.ip}\n"),
        ("b.tftpl", "%{ if x }${uper(x)}%{ endif }${can(nope(x))}\n"),
        ("broken.tftpl", "${1 +}\n%{ if x }\n"),
        ("wrong.hcl", "a = lisst(string)\n"),
    ]);
    let run = sandbox.run(&["check", "a.tftpl", "--var-types", "types.hcl"]).expect(1);
    run.says(&["a.tftpl:1:23", "a.tftpl:1:59", "1 templates checked, 2 errors"]);
    sandbox.run(&["check", "a.tftpl"]).expect(0);
    sandbox.run(&["compile", "a.tftpl", "-o", "a.mpk"]).expect(0);
    sandbox.run(&["check", "a.mpk", "--var-types", "types.hcl"]).expect(1).says(&["a.tftpl:1:23"]);
    let run = sandbox.run(&["check", "b.tftpl"]).expect(1);
    run.says(&["b.tftpl:1:12", "did you mean `upper`?", "1 templates checked, 1 errors"]);
    sandbox.write("own.tftpl", "${own(x, 1).y}\n");
    sandbox.run(&["check", "own.tftpl", "--declare", "function:own"]).expect(0);
    sandbox.run(&["check", "broken.tftpl"]).expect(1).says(&["broken.tftpl:1:6", "broken.tftpl:3:1"]);
    sandbox.run(&["check", "b.tftpl", "--var-types", "wrong.hcl"]).expect(1).says(&["wrong.hcl:1:5"]);
}
