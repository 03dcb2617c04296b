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
    sandbox.run(&["stamp", "t", "--fleet", "twice.hcl", "-o", "x"]).expect(2).says(&["duplicate cluster name `eu`"]);
    let (blocks, list) = (sandbox.tree("blocks"), sandbox.tree("list"));
    assert_eq!(blocks["us/a.yaml"], "us 2\n");
    let names: Vec<_> = blocks.keys().filter(|name| !name.starts_with('.')).map(String::as_str).collect();
    assert_eq!(names, ["eu/a.yaml", "eu/b.json", "us/a.yaml", "us/b.json"]);
    assert!(names.iter().all(|name| blocks[*name] == list[*name]));
}

#[test]
fn all_errors_of_a_render_have_positions_and_the_cluster() {
    let template = "a ${nam}\nb ${name.upper}\nc ${name + 1}\n";
    let sandbox = Sandbox::with(&[("a.tftpl", template), ("fleet.hcl", "cluster \"eu\" {}\ncluster \"7\" {}\n")]);
    let run = sandbox.run(&["stamp", "a.tftpl", "--fleet", "fleet.hcl", "-o", "out"]).expect(4);
    run.says(&["a.tftpl:1:5", "did you mean `name`?", "a.tftpl:2:9", "a.tftpl:3:5", "eu"]);
    let one = sandbox.run(&["render", "a.tftpl", "--set", "name=x", "--error-format", "json"]).expect(1).json();
    assert_eq!(one[0]["also"].as_array().map(Vec::len), Some(2));
    assert_eq!(one[0]["also"][1]["notes"], serde_json::json!(["`name` is \"x\""]));
    let values = sandbox.run(&["render", "a.tftpl", "-f", "fleet.hcl", "-f", "bad.hcl"]).expect(1);
    values.says(&["bad.hcl"]);
    sandbox.write("bad.hcl", "a = nope\nb = 1 + true\n");
    sandbox.run(&["render", "a.tftpl", "-f", "bad.hcl"]).expect(1).says(&["bad.hcl:1:5", "bad.hcl:2:9"]);
}

#[test]
fn errors_of_a_stamp_show_the_values_of_variables_and_the_cluster() {
    let fleet = "cluster \"eu\" {\n  n = \"x\"\n}\ncluster \"us\" {\n  n = \"y\"\n}\ncluster \"ok\" {\n  n = 1\n}\n";
    let template = "${n + 1}${sensitive(n) + [n]}\n";
    let sandbox = Sandbox::with(&[("t/a.tftpl", template), ("t/b.tftpl", "${-n}\n"), ("fleet.hcl", fleet)]);
    let stamp = |more: &[&str]| {
        let stamp = ["stamp", "t", "--fleet", "fleet.hcl", "-o", "out", "--error-format", "json"];
        sandbox.run(&[&stamp, more].concat()).expect(4).json()
    };
    for jobs in ["1", "3"] {
        let errors = stamp(&["-j", jobs]);
        let first = |error: &serde_json::Value| (error["clusters"].clone(), error["notes"].clone());
        let noted = serde_json::json!(["`n` is \"x\"", "the notes are about cluster `eu`"]);
        assert_eq!(first(&errors[0]), (serde_json::json!(["eu", "us"]), noted.clone()), "{errors:?}");
        assert_eq!(errors[0]["also"][0]["notes"], noted);
        assert_eq!(errors[1]["notes"], noted, "the other template has its own");
    }
    let one = stamp(&["-l", "name=us"]);
    assert_eq!((&one[0]["cluster"], &one[0]["notes"]), (&"us".into(), &serde_json::json!(["`n` is \"y\""])));
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
fn a_check_finds_errors_without_data() {
    let types = "hosts = list(object({ name = string }))\nvariable \"vpc\" {\n  type = object({ id = string })\n}\n";
    let sandbox = Sandbox::with(&[
        ("types.hcl", types),
        ("a.tftpl", "%{ for h in hosts }${h.nmae}%{ endfor }${vpc.id + 1} ${vpc.ip}\n"),
        ("b.tftpl", "%{ if x }${uper(x)}%{ endif }${can(nope(x))}\n"),
        ("broken.tftpl", "${1 +}\n%{ if x }\n"),
        ("wrong.hcl", "a = lisst(string)\n"),
    ]);
    let run = sandbox.run(&["check", "a.tftpl", "--var-types", "types.hcl"]).expect(1);
    run.says(&["a.tftpl:1:23", "a.tftpl:1:59", "checked 1 template: 2 errors"]);
    sandbox.run(&["check", "a.tftpl"]).expect(0);
    sandbox.run(&["compile", "a.tftpl", "-o", "a.mpk"]).expect(0);
    sandbox.run(&["check", "a.mpk", "--var-types", "types.hcl"]).expect(1).says(&["a.tftpl:1:23"]);
    let run = sandbox.run(&["check", "b.tftpl"]).expect(1);
    run.says(&["b.tftpl:1:12", "did you mean `upper`?", "checked 1 template: 1 error"]);
    sandbox.write("own.tftpl", "${own(x, 1).y}\n");
    sandbox.run(&["check", "own.tftpl", "--declare", "function:own"]).expect(0);
    sandbox.run(&["check", "broken.tftpl"]).expect(1).says(&["broken.tftpl:1:6", "broken.tftpl:3:1"]);
    sandbox.run(&["check", "b.tftpl", "--var-types", "wrong.hcl"]).expect(1).says(&["wrong.hcl:1:5"]);
}

#[test]
fn configurations_are_checked_in_both_syntaxes() {
    let main = "service \"a\" {\n  port = prot + 1\n  name = uper(name)\n  all  = [for x in port : x]\n}\n";
    let json = "{\n  \"service\": {\"b\": {\"port\": \"${1 + [port]}\"}}\n}\n";
    let sandbox = Sandbox::with(&[
        ("d/types.hcl", "port = number\nname = string\n"),
        ("d/main.hcl", main),
        ("d/sub/more.tf.json", json),
        ("d/a.tftpl", "${port.x}\n"),
        ("d/t.hcl.json", "%{ if true }{\"a\": ${nmae}}%{ endif }\n"),
        ("types.json", "{\"port\": \"number\", \"name\": \"string\", \"tags\": [\"map\", \"string\"]}"),
    ]);
    let run = sandbox.run(&["check", "d", "--var-types", "d/types.hcl"]).expect(1);
    run.says(&["main.hcl:2:10", "did you mean `port`?", "main.hcl:3:10", "did you mean `upper`?", "main.hcl:4:20"])
        .says(&["sub/more.tf.json:2:36", "a.tftpl:1:7", "t.hcl.json:1:21", "did you mean `name`?"])
        .says(&["checked 2 templates, 2 configurations: 6 errors"]);
    let run = sandbox.run(&["check", "d/main.hcl", "--var-types", "types.json"]).expect(1);
    run.says(&["main.hcl:2:10", "available: name, port, tags", "checked 1 configuration: 3 errors"]);
    sandbox.run(&["check", "d/main.hcl"]).expect(1).says(&["main.hcl:3:10", "checked 1 configuration: 1 error"]);
    sandbox.run(&["check", "d/main.hcl", "--lang", "hcl"]).expect(0).says(&["checked 1 template: no errors"]);
    sandbox.run(&["check", "d/main.hcl", "--declare", "function:uper"]).expect(0);
    sandbox.write("bad.json", "{\"a\": \"lisst(string)\", \"b\": [\"list\"], \"c\": 1}");
    let run = sandbox.run(&["check", "d/main.hcl", "--var-types", "bad.json"]).expect(1);
    run.says(&["bad.json:1:7", "bad.json:1:29", "bad.json:1:44"]);
}

#[test]
fn errors_of_files_in_a_folder_have_their_paths() {
    let sandbox =
        Sandbox::with(&[("t/x.tf", "a = uper(1)\n"), ("t/sub/y.hcl", "a = uper(1)\n"), ("t/z.tera", "{{ x }}\n")]);
    sandbox.run(&["check", "t"]).expect(1).says(&["--> t/x.tf:1:5", "--> t/sub/y.hcl:1:5"]);
    let one = ["check", "t/x.tf", "--error-format", "github"];
    sandbox.run(&one).expect(1).says(&["::error file=t/x.tf,line=1,"]);
    std::fs::write(sandbox.path("t/x.tf"), b"a = \"\xff\"\n").unwrap();
    std::fs::write(sandbox.path("t/z.tera"), b"\xff\n").unwrap();
    sandbox.run(&["check", "t"]).expect(1).says(&["`t/x.tf` is not valid UTF-8", "`t/z.tera` is not valid UTF-8"]);
    sandbox.run(&["render", "t/z.tera"]).expect(1).says(&["`t/z.tera` is not valid UTF-8"]);
    sandbox.write("t/big.tera", &"x".repeat(2_000));
    let small = ["check", "t/big.tera", "--max-source", "1KiB"];
    sandbox.run(&small).expect(1).says(&["the file is `t/big.tera`"]);
}

#[test]
fn variables_of_modules_are_attributes_of_var() {
    let main = "resource \"x\" \"y\" {\n  image = var.image.name\n  path  = path.module\n  own   = var.own + 1\n  more  = \
                local.more\n}\nvariable \"own\" {\n  type = number\n}\n";
    let sandbox = Sandbox::with(&[
        ("m/main.tf", main),
        ("m/variables.tf", "variable \"image\" {\n  type = object({ name = string })\n}\n"),
        ("m/sub/main.tf", "variable \"image\" {}\nlocals {\n  a = var.image.tag\n}\n"),
        ("m/a.tftpl", "${image.name}\n"),
    ]);
    let check = |more: &[&str]| sandbox.run(&[&["check"], more].concat());
    check(&["m", "--var-types", "m/variables.tf"]).expect(0).says(&["checked 1 template, 3 configurations: no errors"]);
    check(&["m/main.tf", "--var-types", "m/variables.tf"]).expect(0).says(&["checked 1 configuration: no errors"]);
    // The file of types is a file of the module.
    check(&["m/sub", "--var-types", "m/sub/main.tf"]).expect(0).says(&["checked 1 configuration: no errors"]);
    sandbox.write("m/main.tf", &main.replace("image.name", "imag.name").replace("var.own", "var.image.tag"));
    let found = check(&["m", "--var-types", "m/variables.tf"]).expect(1);
    found.says(&[
        "m/main.tf:2:14",
        "did you mean `image`?",
        "m/main.tf:4:20",
        "checked 1 template, 3 configurations: 2 errors",
    ]);
    // Types of blocks that are wrong are told once, where they are.
    sandbox.write("m/main.tf", "variable \"own\" {\n  type = lisst(string)\n}\nlocals {\n  a = var.own.b\n}\n");
    let found = check(&["m", "--var-types", "m/variables.tf"]).expect(1);
    found.says(&["m/main.tf:2:10", "checked 1 template, 3 configurations: 1 error"]);
}

#[test]
fn files_of_a_module_know_the_variables_of_its_folder() {
    let sandbox = Sandbox::with(&[
        ("m/main.tf", "variable \"n\" {\n  type = number\n}\nlocals {\n  a = var.n ? 1 : 2\n  b = var.m + 1\n}\n"),
        ("m/variables.tf", "variable \"m\" {\n  type = list(string)\n}\n"),
        ("m/more.tf.json", "{\"variable\": {\"j\": {}}, \"locals\": {\"c\": \"${var.n}\"}}"),
        ("m/other.tf", "locals {\n  d = var.mm\n  e = var.j\n}\n"),
        ("m/.hidden.tf", "variable \"hidden\" {}\n"),
        ("none/main.tf", "locals {\n  a = var.n ? 1 : 2\n}\n"),
        ("broken/main.tf", "variable \"n\" {}\nlocals {\n  a = var.m\n}\n"),
        ("broken/variables.tf", "variable \"m\" {\n"),
    ]);
    let check = |path: &str, exit| sandbox.run(&["check", path]).expect(exit);
    check("m/main.tf", 1).says(&["m/main.tf:5:7", "bool required, but have number", "m/main.tf:6:7", ": 2 errors"]);
    check("m/other.tf", 1).says(&["m/other.tf:2:10", "did you mean `m`?", ": 1 error\n"]);
    check("m", 1).says(&["m/main.tf:5:7", "m/main.tf:6:7", "m/other.tf:2:10", "4 configurations: 3 errors"]);
    sandbox.write("m/other.tf", "locals {\n  d = var.hidden\n}\n");
    check("m/other.tf", 1).says(&["m/other.tf:2:10"]);
    // Nothing is known of the variables.
    check("none", 0);
    check("broken/main.tf", 0);
    std::fs::write(sandbox.path("broken/variables.tf"), b"\xff").unwrap();
    check("broken/main.tf", 0);
}

#[test]
fn an_expression_may_begin_with_a_minus() {
    let sandbox = Sandbox::with(&[]);
    for (text, value) in [("-3 * 0", "-0\n"), ("-(1 + 2)", "-3\n"), ("- 1", "-1\n"), ("-[1][0]", "-1\n")] {
        assert_eq!(sandbox.run(&["eval", text]).expect(0).stdout, value, "{text}");
    }
    let typed = "{\"value\":-3,\"type\":\"number\"}\n";
    assert_eq!(sandbox.run(&["eval", "--typed", "-3"]).expect(0).stdout, typed);
    assert_eq!(sandbox.run(&["eval", "-3", "--typed"]).expect(0).stdout, typed);
    assert_eq!(sandbox.run(&["eval", "--lang", "cel", "-3 + 1"]).expect(0).stdout, "-2\n");
    sandbox.run(&["eval", "-3 + nope"]).expect(1).says(&["<expression>:1:6"]);
    sandbox.run(&["eval", "-x"]).expect(2);
}

#[test]
fn the_number_of_errors_is_limited_and_told() {
    let lines = |value: &str| (0..150).map(|at| format!("a{at} = {value}\n")).collect::<String>();
    let json: Vec<_> = (0..150).map(|at| format!("\"a{at}\": nope")).collect();
    let specs: String = (0..150).map(|at| format!("attr \"a{at}\" {{\n  type = number\n}}\n")).collect();
    let sandbox = Sandbox::with(&[
        ("t.tftpl", "x\n"),
        ("data.hcl", &lines("nope")),
        ("text.hcl", &lines("\"x\"")),
        ("bad.json", &format!("{{{}}}", json.join(","))),
        ("s.hcldec", &format!("object {{\n{specs}}}\n")),
    ]);
    for (arguments, exit) in [
        (&["render", "t.tftpl", "-f", "data.hcl"][..], 1),
        (&["check", "t.tftpl", "--var-types", "data.hcl"], 1),
        (&["check", "t.tftpl", "--var-types", "bad.json"], 1),
        (&["hcl", "decode", "-s", "s.hcldec", "text.hcl"], 2),
        (&["hcl", "decode", "-s", "s.hcldec", "bad.json"], 2),
    ] {
        let run = sandbox.run(arguments).expect(exit).says(&["and 50 more diagnostics: the limit is 100"]);
        assert_eq!(run.stderr.matches("error[").count(), 100, "{arguments:?}");
    }
    let run = sandbox.run(&["hcl", "decode", "-s", "s.hcldec", "--diags=json", "text.hcl"]).expect(2);
    let run = run.says(&["and 50 more diagnostics: the limit is 100"]);
    assert_eq!(run.stderr.matches("\"error\"").count(), 100);
}

#[test]
fn functions_types_and_iterators_of_a_configuration_are_known_to_a_check() {
    let text = "
a = twice(\"x\").y
b = twice()
function \"twice\" {
  params = [x]
  result = { x = \"${x}${x}\" }
}
variable \"v\" { type = list(string) }
group {
  dynamic \"rule\" {
    for_each = { http = 80 }
    content {
      port = rule.value + rule.key.x + rule.vlaue
    }
  }
}
";
    let sandbox = Sandbox::with(&[("a.hcl", text), ("broken.hcl", "a = uper(1)\nb = [1 2]\n")]);
    let run = sandbox.run(&["check", "a.hcl"]).expect(1);
    run.says(&["a.hcl:2:15", "a.hcl:3:11", "a.hcl:13:35", "a.hcl:13:44", "4 errors"]);
    sandbox.run(&["check", "broken.hcl"]).expect(1).says(&["broken.hcl:1:5", "broken.hcl:2:8", "2 errors"]);
}
