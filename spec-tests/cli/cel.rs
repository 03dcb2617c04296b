//! `eval --lang cel`, and CEL expressions as templates.

use crate::support::Sandbox;

#[test]
fn expressions_are_checked_evaluated_and_written_in_every_format() {
    let sandbox = Sandbox::with(&[("v.yaml", "ports: [80, 443]\nname: web\n")]);
    let eval = |args: &[&str]| sandbox.run(&[&["eval", "--lang", "cel"], args, &["-f", "v.yaml"]].concat());
    for (args, printed) in [
        (&["ports.map(p, p + 8000)"][..], "[8080,8443]\n"),
        (
            &["{'name': name, 'tls': ports.exists(p, p == 443)}", "--typed"],
            "{\"value\":{\"name\":\"web\",\"tls\":true},\"type\":\"map(string, dyn)\"}\n",
        ),
        (&["{'on': ports, 'name': name}", "--output-format", "yaml"], "\"on\":\n  - 80\n  - 443\nname: web\n"),
        (
            &["[timestamp('2024-02-29T00:00:00Z') + duration('24h')]", "--output-format", "json"],
            "[\n  \"2024-03-01T00:00:00Z\"\n]\n",
        ),
        (&["{'a': name}", "--output-format", "kyaml"], "---\n{\n  a: \"web\",\n}\n"),
    ] {
        assert_eq!(eval(args).expect(0).stdout, printed);
    }
    eval(&["nmae + size(1)"]).expect(1).says(&["'nmae'", "did you mean `name`", "'size'", "<expression>:1:1"]);
    eval(&["ports[5]"]).expect(1).says(&["error[E0202]: index out of bounds: 5", "<expression>:1:1"]);
    let of_hcl = ["eval", "1 + 1", "--output-format", "yaml"];
    sandbox.run(&of_hcl).expect(2).says(&["values are printed as JSON"]);
}

#[test]
fn residual_expressions_are_printed() {
    let sandbox = Sandbox::with(&[("v.yaml", "ports: [80, 443]\nname: web\nrequest: {method: GET}\n")]);
    let eval = |args: &[&str]| sandbox.run(&[&["eval", "--lang", "cel"], args, &["-f", "v.yaml"]].concat());
    for (text, unknown, printed) in [
        ("request.user == name && request.method == 'GET'", &["request.user"][..], "request.user == \"web\"\n"),
        ("request.method == 'PUT' && request.user == name", &["request.user"], "false\n"),
        (
            "port in ports || extra.ports[0] in ports",
            &["port", "extra.*"],
            "port in [80, 443] || extra.ports[0] in [80, 443]\n",
        ),
        ("ports[0] + 1", &["ports[1]"], "81\n"),
    ] {
        let unknown: Vec<_> = unknown.iter().flat_map(|pattern| ["--unknown", *pattern]).collect();
        assert_eq!(eval(&[&[text], unknown.as_slice()].concat()).expect(0).stdout, printed);
    }
    eval(&["user == name", "--unknown", "port"]).expect(1).says(&["'user'"]);
    eval(&["1 / 0 + port", "--unknown", "port"]).expect(1).says(&["E0302"]);
    eval(&["port", "--unknown", "port..x"]).expect(2).says(&["no pattern of attributes"]);
    sandbox.run(&["eval", "1 + 1", "--unknown", "x"]).expect(2).says(&["`--unknown` does not apply to HCL"]);
}

#[test]
fn costs_are_counted_and_bounded() {
    let sandbox = Sandbox::with(&[("v.yaml", "ports: [80, 443]\n")]);
    let eval = |args: &[&str]| sandbox.run(&[&["eval"], args, &["-f", "v.yaml"]].concat());
    let counted = eval(&["--lang", "cel", "ports.map(p, p + 1)", "--cost"]).expect(0);
    assert_eq!(counted.stdout, "[81,444]\n");
    counted.says(&["cost 40, estimated at least 12"]);
    let all =
        eval(&["--lang", "cel", "[1, 2].all(x, x > 0) && size('a') == 1", "--cost", "--cost-limit", "23"]).expect(0);
    all.says(&["cost 23, estimated 17 to 23"]);
    eval(&["--lang", "cel", "ports.map(p, p + 1)", "--cost-limit", "39"])
        .expect(1)
        .says(&["error[E0611]: actual cost limit exceeded: the limit is 39 units of cost"]);
    eval(&["1 + 1", "--cost"]).expect(2).says(&["`--cost` and `--cost-limit` do not apply to HCL"]);
}

#[test]
fn a_template_that_is_an_expression_writes_a_line_of_json() {
    let sandbox = Sandbox::with(&[
        ("t/app.json.cel", "{'replicas': env == 'prod' ? 3 : 1, 'env': env}\n"),
        ("bad.cel", "{'replicas': 1 + 'a'}\n"),
        ("fleet.yaml", "- {name: eu, env: prod}\n- {name: us, env: dev}\n"),
    ]);
    let render = ["render", "t/app.json.cel", "--set", "env=prod"];
    assert_eq!(sandbox.run(&render).expect(0).stdout, "{\"replicas\":3,\"env\":\"prod\"}\n");
    sandbox.run(&["check", "bad.cel"]).expect(1).says(&["bad.cel:1:16", "'_+_' applied to '(int, string)'"]);
    sandbox.run(&["stamp", "t", "--fleet", "fleet.yaml", "-o", "out"]).expect(0);
    assert_eq!(sandbox.read("out/us/app.json"), "{\"replicas\":1,\"env\":\"dev\"}\n");
    sandbox.run(&["compile", "t", "-o", "a.mpk"]).expect(0);
    assert_eq!(
        sandbox.run(&["render", "a.mpk", "--set", "env=prod"]).expect(0).stdout,
        "{\"replicas\":3,\"env\":\"prod\"}\n"
    );
}
