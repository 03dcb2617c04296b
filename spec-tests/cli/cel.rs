//! `eval --lang cel`, and CEL expressions as templates.

use crate::support::Sandbox;

#[test]
fn the_implementation_decides_about_functions_and_results() {
    let sandbox = Sandbox::with(&[
        ("t/a.cel", "duration('1.5s').getMilliseconds()\n"),
        ("t/b.cel.yaml", "at: ${'abc'.indexOf('c', 5)}\n"),
        ("f.cel", "json.marshal(1)\n"),
    ]);
    let (kro, kubernetes) = (["--cel-dialect", "kro"], ["--cel-dialect", "kubernetes"]);
    let render = |file: &str, more: &[&str]| sandbox.run(&[&["render", file], more].concat());
    assert_eq!(render("t/a.cel", &[]).expect(0).stdout, "500\n");
    assert_eq!(render("t/a.cel", &kro).expect(0).stdout, "1500\n");
    assert_eq!(render("t/b.cel.yaml", &kubernetes).expect(0).stdout, "at: -1\n");
    render("t/b.cel.yaml", &[]).expect(1).says(&["E0403", "b.cel.yaml:1:7"]);
    let eval = |args: &[&str]| sandbox.run(&[&["eval", "--lang", "cel"], args].concat());
    assert_eq!(eval(&["duration('2s').getMilliseconds()", "--cel-dialect", "kro"]).expect(0).stdout, "2000\n");
    eval(&["[1, 'a']", "--cel-dialect", "kubernetes"]).expect(1).says(&["E0301"]);
    let refused = ["undeclared reference to 'json.marshal'", "`--cel-dialect` names does not have it", "f.cel:1:"];
    sandbox.run(&[&["check", "f.cel"], &kubernetes[..]].concat()).expect(1).says(&refused);
    sandbox.run(&[&["check", "f.cel"], &kro[..]].concat()).expect(0);
    let bound = "cel.bind(x, 1, x + 1)";
    assert_eq!(eval(&[bound, "--cel-dialect", "kro"]).expect(0).stdout, "2\n");
    let lacking =
        [bound, "[1].sortBy(x, x)", "[1].distinct()", "[1, 2].reverse()", "lists.range(2)", "[[1]].flatten()"];
    sandbox.write("bind.cel.yaml", "a: ${cel.bind(x, 1, x)}\n");
    for text in lacking {
        let name = text.split('(').next().unwrap().rsplit('.').next().unwrap();
        let error = eval(&[text, "--cel-dialect", "kubernetes"]).expect(1);
        error.says(&["E0401", name, "`--cel-dialect` names does not have it"]);
        eval(&[text]).expect(0);
    }
    let refused = ["undeclared reference to 'cel.bind'", "`--cel-dialect` names does not have it", "bind.cel.yaml:1:"];
    sandbox.run(&[&["render", "bind.cel.yaml"], &kubernetes[..]].concat()).expect(1).says(&refused);
    eval(&["math.@max(1, 2)"]).expect(1).says(&["E0102", "did you mean `math.greatest`?"]);
    sandbox.run(&[&["eval", "1 + 1"], &kro[..]].concat()).expect(2).says(&["does not apply to HCL"]);

    // A project sets it, and artifacts remember it.
    sandbox.run(&[&["compile", "t", "-o", "kro.mpk"], &kro[..]].concat()).expect(0);
    assert_eq!(render("kro.mpk", &["-t", "a.cel"]).expect(0).stdout, "1500\n");
    render("kro.mpk", &["-t", "a.cel", "--cel-dialect", "spec"]).expect(2).says(&["does not apply to the artifact"]);
    sandbox.write("dropforge.toml", "templates = ['t/a.cel']\n[cel]\ndialect = 'kro'\n");
    assert_eq!(sandbox.run(&["render"]).expect(0).stdout, "1500\n");
    assert_eq!(sandbox.run(&["render", "--cel-dialect", "spec"]).expect(0).stdout, "500\n");
}

#[test]
fn a_raw_file_is_in_artifacts_and_caches() {
    let sandbox = Sandbox::with(&[
        ("t/a.cel.yaml", "text: ${raw_file('rules.txt')}\n"),
        ("t/rules.txt", "one ${x"),
        ("secret.txt", "s"),
        ("t/out.cel.yaml", "text: ${raw_file('../secret.txt')}\n"),
        ("t/none.cel.yaml", "text: ${raw_file('rule.txt')}\n"),
    ]);
    let cached = ["render", "t/a.cel.yaml", "--cache-dir", "cache"];
    assert_eq!(sandbox.run(&cached).expect(0).stdout, "text: one ${x\n");
    sandbox.run(&["compile", "t/a.cel.yaml", "-o", "a.mpk"]).expect(0);
    sandbox.write("t/rules.txt", "two");
    assert_eq!(sandbox.run(&cached).expect(0).stdout, "text: two\n");
    assert_eq!(sandbox.run(&["render", "a.mpk"]).expect(0).stdout, "text: one ${x\n");
    sandbox.run(&["render", "t/out.cel.yaml"]).expect(1).says(&["E0505", "leads out of the include root"]);
    let missing = ["E0501", "file `rule.txt` not found", "did you mean `rules.txt`", "none.cel.yaml:1:"];
    sandbox.run(&["render", "t/none.cel.yaml"]).expect(1).says(&missing);
    sandbox.run(&["check", "t/none.cel.yaml"]).expect(1).says(&["file `rule.txt` not found"]);
    sandbox
        .run(&["eval", "--lang", "cel", "raw_file('t/rules.txt')"])
        .expect(1)
        .says(&["E0403", "`raw_file` has no file to read"]);
}

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
    eval(&["port", "--unknown", "port..x"]).expect(2).says(&["not a pattern of attributes"]);
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
    eval(&["--lang", "cel", "ports.map(p, p + 1)", "--cost-limit", "39"]).expect(1).says(&[
        "error[E0611]: actual cost limit exceeded: the limit is 39 units of cost",
        "raise the limit with `--cost-limit N`",
    ]);
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

#[test]
fn presence_tests_find_nothing_unless_they_are_strict() {
    let sandbox = Sandbox::with(&[
        ("t/a.cel", "cfg.?image.?tag.orValue('x')\n"),
        ("t/b.cel.yaml", "tag: ${cfg.?image.?tag.orValue('x')}\nhas: ${has(cfg.image.tag)}\n"),
        ("v.yaml", "cfg: {image: null}\n"),
        ("fleet.yaml", "- {name: eu, cfg: {image: null}}\n"),
        ("list.cel", "[1].?a\n"),
        ("known.cel", "has('text'.a)\n"),
    ]);
    let strict = ["--cel-presence", "strict"];
    let render = |file: &str, more: &[&str]| sandbox.run(&[&["render", file, "-f", "v.yaml"], more].concat());
    for lenient in [&[][..], &["--cel-presence", "lenient"]] {
        assert_eq!(render("t/a.cel", lenient).expect(0).stdout, "\"x\"\n");
        assert_eq!(render("t/b.cel.yaml", lenient).expect(0).stdout, "tag: x\nhas: false\n");
    }
    render("t/a.cel", &strict).expect(1).says(&["no such key: tag", "a.cel:1:1"]);
    render("t/b.cel.yaml", &strict).expect(1).says(&["no such key: tag", "b.cel.yaml:1:8"]);

    let eval = |args: &[&str]| {
        let text = "cfg.?image.?tag.orValue('x')";
        sandbox.run(&[&["eval", "--lang", "cel", text, "-f", "v.yaml"], args].concat())
    };
    assert_eq!(eval(&[]).expect(0).stdout, "\"x\"\n");
    assert_eq!(eval(&["--unknown", "y"]).expect(0).stdout, "\"x\"\n");
    for more in [&[][..], &["--cost"], &["--unknown", "y"]] {
        eval(&[&strict, more].concat()).expect(1).says(&["no such key: tag"]);
    }
    sandbox
        .run(&[&["eval", "1 + 1"], &strict[..]].concat())
        .expect(2)
        .says(&["`--cel-presence` does not apply to HCL"]);

    // The mode is fixed when the artifact is compiled.
    sandbox.run(&[&["compile", "t", "-o", "strict.mpk"], &strict[..]].concat()).expect(0);
    sandbox.run(&["compile", "t", "-o", "lenient.mpk"]).expect(0);
    render("strict.mpk", &["-t", "a.cel"]).expect(1).says(&["no such key: tag"]);
    assert_eq!(render("lenient.mpk", &["-t", "a.cel"]).expect(0).stdout, "\"x\"\n");
    render("lenient.mpk", &[&["-t", "a.cel"], &strict[..]].concat())
        .expect(2)
        .says(&["does not apply to the artifact"]);
    sandbox.run(&[&["disasm", "t/a.cel"], &strict[..]].concat()).expect(0);

    let stamp = ["stamp", "t", "--fleet", "fleet.yaml", "-o"];
    sandbox.run(&[&stamp[..], &["out"]].concat()).expect(0);
    sandbox.run(&[&stamp[..], &["none"], &strict].concat()).expect(4).says(&["no such key: tag"]);

    // A list has no fields in either mode, nor has what the checker knows.
    for mode in ["lenient", "strict"] {
        let mode = ["--cel-presence", mode];
        sandbox
            .run(&[&["check", "known.cel"], &mode[..]].concat())
            .expect(1)
            .says(&["does not support field selection"]);
        sandbox
            .run(&[&["check", "list.cel"], &mode[..]].concat())
            .expect(1)
            .says(&["does not support field selection"]);
    }
}

#[test]
fn literals_that_functions_reject_are_found_by_the_check() {
    let sandbox = Sandbox::with(&[]);
    for (text, message) in [
        ("duration('1x')", "invalid duration argument"),
        ("ip('1.2.3')", "invalid ip argument"),
        ("quantity('1Zi')", "invalid quantity argument"),
        ("'a'.matches('(')", "invalid matches argument"),
        ("'a'.find('(')", "invalid find argument"),
        ("'%d'.format(['a'])", "decimal clause can only be used on ints"),
        ("'%d %d'.format([1])", "index 1 out of range"),
        ("'%d'.format([1, 2])", "too many arguments"),
    ] {
        sandbox.write("a.cel", &format!("false && [{text}] == []\n"));
        sandbox.write("a.cel.yaml", &format!("a: \"${{false && [{text}] == []}}\"\n"));
        for file in ["a.cel", "a.cel.yaml"] {
            sandbox.run(&["check", file]).expect(1).says(&[message, file]);
        }
    }
}
