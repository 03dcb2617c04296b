//! The action of GitHub and the hooks of pre-commit.

use std::path::Path;

use serde_json::Value;

use crate::support::{Outcome, Sandbox, outcome};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn yaml(name: &str) -> Value {
    let source = dropforge::text::Source::new(name, std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap());
    let documents = dropforge::value::yaml::read(&source, &dropforge::limits::Limits::default()).unwrap();
    serde_json::to_value(documents[0].to_data()).unwrap()
}

/// Runs the step of the action as GitHub does, with these inputs.
fn action(sandbox: &Sandbox, inputs: &[(&str, &str)]) -> Outcome {
    let action = yaml("action.yml");
    let step = &action["runs"]["steps"][0];
    let mut shell = sandbox.shell("-c", step["run"].as_str().unwrap());
    shell.env("GITHUB_ACTION_PATH", ROOT);
    for (name, expression) in step["env"].as_object().unwrap() {
        let of = |input: &&String| expression.as_str() == Some(&format!("${{{{ inputs.{input} }}}}"));
        let declared = action["inputs"].as_object().unwrap();
        let input = declared.keys().find(of).unwrap_or_else(|| panic!("{expression} is no input"));
        let given = inputs.iter().find(|(known, _)| known == input).map(|(_, value)| *value);
        shell.env(name, given.unwrap_or_else(|| declared[input]["default"].as_str().unwrap_or("")));
    }
    outcome(shell)
}

#[test]
fn the_action_annotates_errors_and_outputs_that_are_out_of_date() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "name: {{ name }}\nimage: {{ image }}\n"),
        ("fleet.ndjson", "{\"name\": \"eu-1\"}\n"),
        ("values.yaml", "image: shop\n"),
    ]);
    let inputs = [("templates", "t"), ("fleet", "fleet.ndjson"), ("values", "values.yaml")];
    action(&sandbox, &inputs).expect(0);
    let all = [&inputs[..], &[("output", "out")]].concat();
    action(&sandbox, &all).expect(3);
    sandbox.run(&["stamp", "t", "--fleet", "fleet.ndjson", "-f", "values.yaml", "-o", "out"]).expect(0);
    action(&sandbox, &all).expect(0);
    sandbox.write("t/a.yaml.tera", "name: {{ name }}\nimage: {{ imge }}\n");
    let wrong = action(&sandbox, &inputs).stderr;
    assert!(wrong.contains("::error file=t/a.yaml.tera,line=2,") && wrong.contains("did you mean `image`?"), "{wrong}");
}

#[test]
fn the_action_reads_all_lines_of_its_inputs() {
    let sandbox = Sandbox::with(&[("one/a.tera", "{{ a }}"), ("two/b.tera", "{{ a"), ("v.yaml", "a: 1\n")]);
    let (templates, values) = (("templates", "one\ntwo\n"), ("values", "v.yaml\nw.yaml"));
    action(&sandbox, &[templates]).expect(1).says(&["two/b.tera"]);
    sandbox.write("two/b.tera", "{{ b }}");
    action(&sandbox, &[templates, values]).expect(1).says(&["w.yaml"]);
    sandbox.write("w.yaml", "b: 2\n");
    action(&sandbox, &[templates, values]).expect(0);
}

#[test]
fn a_part_of_a_project_does_not_tell_values_that_nothing_reads() {
    let sandbox = Sandbox::with(&[
        ("dropforge.toml", "templates = [\"t\"]\nvalues = [\"v.yaml\"]\n[checks]\nstrict = true\n"),
        ("t/a.tera", "{{ a }}"),
        ("t/b.tera", "{{ b }}"),
        ("v.yaml", "a: 1\nb: 2\nc: 3\n"),
        ("fleet.ndjson", "{\"name\": \"eu-1\"}\n"),
    ]);
    let stamp = ["--fleet", "fleet.ndjson", "-o", "out"];
    for command in ["check", "stamp"] {
        let run = |templates: &[&str]| {
            let options = if command == "stamp" { &stamp[..] } else { &[] };
            sandbox.run(&[&[command], templates, options].concat())
        };
        run(&["t/a.tera"]).expect(0);
        run(&["t"]).expect(1).says(&["no template reads `c`"]);
        run(&[]).expect(1).says(&["no template reads `c`"]);
        run(&["t/a.tera", "--no-project", "-f", "v.yaml", "--strict"]).expect(1).says(&["no template reads `b`"]);
    }
}

#[test]
fn hooks_judge_the_files_that_they_match() {
    let cases = [
        ("dropforge-check", "a.yaml.tera", "name: {{ name }}\n", 0),
        ("dropforge-check", "b.gotmpl", "{{ if .a }}", 1),
        ("dropforge-check", "c.cel.yaml", "$if: x\n$then: 1\n", 0),
        ("dropforge-hcl-fmt", "d.tf", "a   = 1\n", 0),
        ("dropforge-hcl-fmt", "e.tofu", "a   = 1\n", 0),
        ("dropforge-hcl-fmt", "f.nomad", "a   = 1\n", 0),
    ];
    let hooks = yaml(".pre-commit-hooks.yaml");
    for (id, name, text, code) in cases {
        let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == id).unwrap();
        assert!(regex::Regex::new(hook["files"].as_str().unwrap()).unwrap().is_match(name), "{id} {name}");
        let sandbox = Sandbox::with(&[(name, text)]);
        let shell = sandbox.shell("-c", &format!("{} {name}", hook["entry"].as_str().unwrap()));
        outcome(shell).expect(code);
        assert!(!sandbox.read(name).contains("a   = 1"), "{name}");
    }
}

#[test]
fn the_hook_matches_every_name_that_tells_a_language() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == "dropforge-check").unwrap();
    let files = regex::Regex::new(hook["files"].as_str().unwrap()).unwrap();
    let extensions = ["tera", "gotmpl", "tftpl", "tower", "cel", "hcl", "helm", "yaml", "tf", "TERA", "json", "tmpl"];
    for (one, other) in extensions.iter().flat_map(|one| extensions.map(|other| (*one, other))) {
        for name in [format!("t/app.{one}"), format!("t/app.{one}.{other}"), format!("t/a.tera/b.{one}")] {
            let expected = dropforge::engine::dialect_of(&name).is_some();
            assert_eq!(files.is_match(&name), expected, "{name}");
        }
    }
}

#[test]
fn files_of_a_commit_have_the_include_root_of_the_project() {
    let sandbox = Sandbox::with(&[
        ("t/_inc.tera", "x"),
        ("t/sub/a.yaml.tera", "{% include '_inc.tera' %}"),
        ("other/b.yaml.tera", "{% include '_inc.tera' %}"),
    ]);
    let check = |files: &[&str]| sandbox.run(&[&["check"], files].concat());
    check(&["t/sub/a.yaml.tera"]).expect(1).says(&["E0501", "a folder above has it: use `-I t`"]);
    check(&["t/sub/a.yaml.tera", "-I", "t"]).expect(0);
    for args in [&["render", "t/sub/a.yaml.tera"][..], &["stamp", "t/sub", "--fleet", "f.csv", "-o", "out"]] {
        sandbox.write("f.csv", "name\na\n");
        sandbox.run(args).says(&["E0501", "a folder above has it: use `-I t`"]);
    }
    let outcome = check(&["other/b.yaml.tera"]).expect(1);
    assert!(!outcome.stderr.contains("-I"), "{}", outcome.stderr);
    sandbox.write("dropforge.toml", "templates = [\"t\"]\n");
    check(&["t/sub/a.yaml.tera"]).expect(0);
    check(&["t/sub/a.yaml.tera", "t/_inc.tera"]).expect(0);
    check(&["other/b.yaml.tera"]).expect(1);
    sandbox.run(&["-C", "t", "check", "sub/a.yaml.tera", "--project", "../dropforge.toml"]).expect(0);
}

#[test]
fn the_hook_for_outputs_reads_the_project() {
    let sandbox = Sandbox::with(&[
        ("dropforge.toml", "templates = [\"t\"]\nfleet = [\"fleet.ndjson\"]\n[output]\ndir = \"out\"\n"),
        ("t/a.yaml.tera", "name: {{ name }}\n"),
        ("fleet.ndjson", "{\"name\": \"eu-1\"}\n"),
    ]);
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == "dropforge-stamp-check").unwrap();
    let entry = hook["entry"].as_str().unwrap();
    outcome(sandbox.shell("-c", entry)).expect(3);
    sandbox.run(&["stamp"]).expect(0);
    outcome(sandbox.shell("-c", entry)).expect(0);
}

/// Every step of a workflow is an action, or one script that runs elsewhere, too.
#[test]
fn workflows_run_scripts_of_this_repository() {
    for entry in std::fs::read_dir(Path::new(ROOT).join(".github/workflows")).unwrap() {
        let name = format!(".github/workflows/{}", entry.unwrap().file_name().display());
        for (job, content) in yaml(&name)["jobs"].as_object().unwrap() {
            for step in content["steps"].as_array().unwrap() {
                let script = |run: &str| run.split(' ').next().is_some_and(|name| Path::new(ROOT).join(name).is_file());
                let is_script =
                    |run: &str| run.starts_with(".ci/") && !run.contains(['\n', ';', '|', '&']) && script(run);
                assert!(
                    step["uses"].is_string() || step["run"].as_str().is_some_and(is_script),
                    "{name} {job}: {step}"
                );
            }
        }
    }
}
