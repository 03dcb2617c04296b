//! Values from other files, pipes and the environment.

use crate::support::{Outcome, Sandbox, outcome};

fn sandbox() -> Sandbox {
    Sandbox::with(&[("ctx.tera", "{{ __tera_context }}")])
}

/// Returns the values of a run as JSON without whitespace.
#[track_caller]
fn values(run: Outcome) -> String {
    serde_json::from_str::<serde_json::Value>(&run.expect(0).stdout).unwrap().to_string()
}

/// Renders the values with these arguments and environment variables.
fn render(sandbox: &Sandbox, args: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let mut command = sandbox.command(&[&["render", "ctx.tera"], args].concat());
    outcome({
        command.envs(variables.iter().copied());
        command
    })
}

#[test]
fn values_from_toml() {
    let sandbox = sandbox();
    sandbox.write("v.toml", "replicas = 3\n[image]\ntag = \"v1\"\npulled = 2024-05-01\n");
    sandbox.write("w.yaml", "image: {tag: v2}\n");
    let found = values(render(&sandbox, &["-f", "v.toml", "-f", "w.yaml"], &[]));
    assert_eq!(found, r#"{"image":{"pulled":"2024-05-01","tag":"v2"},"replicas":3}"#);
    sandbox.write("v.toml", "a = 1\nb = [1, \n");
    render(&sandbox, &["-f", "v.toml"], &[]).expect(1).says(&["E0801", "invalid TOML", "v.toml:"]);
}

#[test]
fn values_from_env_files() {
    let sandbox = sandbox();
    let text = "# shared\nexport TAG=v1 # newest\nN=1\nTEXT=\"two\\nlines\"\nRAW='a $TAG \\n'\nEMPTY=\n";
    let expected = r#"{"EMPTY":"","N":"1","RAW":"a $TAG \\n","TAG":"v1","TEXT":"two\nlines"}"#;
    for name in [".env", "prod.env", ".env.prod"] {
        sandbox.write(name, text);
        assert_eq!(values(render(&sandbox, &["-f", name], &[])), expected, "{name}");
    }
    sandbox.write(".env", "TAG\nA=1\nA=2\nB=\"x\n");
    let wrong = render(&sandbox, &["-f", ".env"], &[]).expect(1);
    wrong.says(&["expected KEY=VALUE", ".env:1:1", "duplicate key `A`", ".env:3:1", "unclosed quote", ".env:4:3"]);
}

#[test]
fn urls_are_refused_with_the_way_to_read_them() {
    let sandbox = Sandbox::with(&[("ctx.tera", ""), ("t/a.yaml.tera", "")]);
    let url = "https://example.com/v.yaml";
    let refused = render(&sandbox, &["-f", url], &[]).expect(2);
    refused.says(&["URLs are not read", "same output", "curl -fsSL 'https://example.com/v.yaml' | dropforge … -f -"]);
    render(&sandbox, &["--set-file", "a=http://x/y"], &[]).expect(2).says(&["--set-file K=/dev/stdin"]);
    let stamp = ["stamp", "t", "--fleet", url, "-o", "out"];
    sandbox.run(&stamp).expect(2).says(&["URLs are not read", "--fleet -"]);
    // The way that the help names.
    let piped = outcome(sandbox.shell("-c", "echo '{a: 1}' | dropforge render ctx.tera -f -"));
    piped.expect(0);
}

#[test]
fn values_from_a_pipe_that_has_a_name() {
    let sandbox = sandbox();
    let shell = |flags, line| outcome(sandbox.shell(flags, line));
    assert_eq!(values(shell("-c", "echo 'a: 5' | dropforge render ctx.tera -f /dev/fd/3 3<&0")), r#"{"a":5}"#);
    // `<(…)` as for `sops -d`. Not every `sh` has it.
    let bash = "command -v bash >/dev/null || { echo '{\"a\":6,\"b\":7}'; exit; }\n\
                bash -c 'dropforge render ctx.tera -f <(echo \"a: 6\") -f <(echo \"{b: 7}\")'";
    assert_eq!(values(shell("-c", bash)), r#"{"a":6,"b":7}"#);
}

#[test]
fn values_from_the_environment() {
    let sandbox = sandbox();
    let variables = [
        ("P_image__tag", "v2"),
        ("P_Replicas", "3"),
        ("P_on", "true"),
        ("P_zip", "012"),
        ("P_list", "{a,b}"),
        ("P_gone", "null"),
        ("P_empty", ""),
        ("p_other", "1"),
    ];
    sandbox.write("v.yaml", "image: {tag: v1, name: x}\ngone: 1\nempty: 2\n");
    let found = values(render(&sandbox, &["-f", "v.yaml", "--env-prefix", "P_"], &variables));
    let expected = r#"{"Replicas":3,"empty":2,"image":{"name":"x","tag":"v2"},"list":"{a,b}","on":true,"zip":"012"}"#;
    assert_eq!(found, expected);
    assert_eq!(values(render(&sandbox, &["-f", "v.yaml"], &variables)).matches("v2").count(), 0);
    let two = values(render(&sandbox, &["--env-prefix", "P_", "--env-prefix", "p_"], &variables));
    assert!(two.contains(r#""other":1"#), "{two}");
}

#[test]
fn the_environment_wins_over_clusters_and_loses_to_set() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "{{ a }} {{ b }} {{ c }}"),
        ("v.yaml", "a: file\nb: file\nc: file\n"),
        ("fleet.ndjson", "{\"name\":\"x\",\"b\":\"cluster\",\"c\":\"cluster\"}\n"),
    ]);
    let args = ["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out", "-f", "v.yaml"];
    let more = ["--set", "c=set", "--env-prefix", "P_"];
    let mut command = sandbox.command(&[&args[..], &more].concat());
    command.envs([("P_b", "env"), ("P_c", "env")]);
    outcome(command).expect(0);
    assert_eq!(sandbox.read("out/x/a.yaml"), "file env set");
}

#[test]
fn mistakes_in_the_environment_are_named() {
    let sandbox = sandbox();
    let none = render(&sandbox, &["--env-prefix", "NOBODY_"], &[]).expect(0);
    none.says(&["warning", "no environment variable begins with `NOBODY_`"]);
    for name in ["P_", "P_a____b", "P_a__"] {
        let wrong = render(&sandbox, &["--env-prefix", "P_"], &[(name, "1")]).expect(2);
        wrong.says(&["E0802", &format!("environment variable `{name}`: empty name")]);
    }
    let deep = format!("P_{}a", "a__".repeat(40));
    render(&sandbox, &["--env-prefix", "P_"], &[(&deep, "1")]).expect(2).says(&["more than 30 nested names"]);
    render(&sandbox, &["--env-prefix", "P_"], &[("P_a", "1"), ("P_a__b", "s3cret")]).expect(1).says(&[
        "E0803",
        "P_a__b",
        "found integer",
    ]);
    render(&sandbox, &["--env-prefix", ""], &[]).expect(2);
}

#[test]
fn terraform_options_are_answered() {
    let sandbox = sandbox();
    let answered = |args: &[&str]| render(&sandbox, args, &[]).expect(2);
    answered(&["-var", "a=1"]).says(&["`-var` is not an option", "`--var 'a=1'`", "`--set 'a=1'`"]);
    answered(&["-var=a=1"]).says(&["`--var 'a=1'`"]);
    answered(&["-var-file=x.tfvars"]).says(&["`-var-file`", "`--var-file 'x.tfvars'`", "`-f 'x.tfvars'`"]);
    answered(&["-var-file", "x.tfvars", "--error-format", "json"]).says(&["\"code\":\"E0921\""]);
    let stamp = ["stamp", "t", "--fleet", "f", "-o", "out", "-var", "a=1"];
    sandbox.run(&stamp).expect(2).says(&["`--var 'a=1'`"]);
    sandbox.write("a.tftpl", "${a}${b}");
    sandbox.write("x.tfvars", "b = 2\n");
    let same = sandbox.run(&["render", "a.tftpl", "--var", "a=1", "--var-file", "x.tfvars"]);
    assert_eq!(same.expect(0).stdout, "12");
}

#[test]
fn terraform_variables_are_read_only_with_their_prefix() {
    let sandbox = Sandbox::with(&[
        ("a.tftpl", "${region.name} ${tag}"),
        ("b.tera", "{{ tag }}"),
        ("fleet.csv", "name,region.name\na,eu\n"),
        ("v.yaml", "region: {name: eu}\n"),
    ]);
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.command(args);
        command.envs(variables.iter().copied());
        outcome(command)
    };
    let hint = ["`TF_VAR_tag` is set", "`--env-prefix TF_VAR_`"];
    let tag = [("TF_VAR_tag", "v7")];
    let missing = run(&["render", "a.tftpl", "-f", "v.yaml"], &tag).expect(1).says(&hint);
    assert!(!missing.stderr.contains("v7"), "values may be secret");
    run(&["render", "a.tftpl"], &[("TF_VAR_region", "{}"), tag[0]])
        .expect(1)
        .says(&hint)
        .says(&["`TF_VAR_region` is set"]);
    let stamp = ["stamp", "a.tftpl", "--fleet", "fleet.csv", "-o", "out"];
    run(&stamp, &tag).expect(4).says(&hint);
    let none = run(&stamp, &[]).expect(4);
    assert!(!none.stderr.contains("TF_VAR"), "{}", none.stderr);
    let tera = run(&["render", "b.tera"], &tag).expect(1);
    assert!(!tera.stderr.contains("TF_VAR"), "{}", tera.stderr);
    let given = run(&["render", "a.tftpl", "-f", "v.yaml", "--env-prefix", "TF_VAR_"], &tag);
    assert_eq!(given.expect(0).stdout, "eu v7");
}
