//! The action of GitHub and the hooks of pre-commit.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::{Outcome, Sandbox, outcome};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn yaml(name: &str) -> Value {
    let source = dropforge::text::Source::new(name, std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap());
    let documents = dropforge::value::yaml::read(&source, &dropforge::limits::Limits::default()).unwrap();
    serde_json::to_value(documents[0].to_data()).unwrap()
}

/// Runs the step of the action as GitHub does, with these inputs.
fn action(sandbox: &Sandbox, inputs: &[(&str, &str)]) -> Outcome {
    action_with(sandbox, inputs, &[])
}

fn action_with(sandbox: &Sandbox, inputs: &[(&str, &str)], around: &[(&str, &str)]) -> Outcome {
    let action = yaml("action.yml");
    let step = &action["runs"]["steps"][0];
    let mut shell = sandbox.shell("-c", step["run"].as_str().unwrap());
    shell.env("GITHUB_ACTION_PATH", ROOT).env_remove("GITLAB_CI").envs(around.iter().copied());
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

/// A server that keeps comments as GitHub and GitLab do: a list in pages of 100, new ones, changed ones.
struct Comments {
    address: String,
    /// The method, path, secret and text of each change.
    changes: Arc<Mutex<Vec<[String; 4]>>>,
}

impl Comments {
    /// Starts a server whose first page has other comments.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let changes = Arc::new(Mutex::new(Vec::new()));
        let kept = changes.clone();
        std::thread::spawn(move || {
            let mut comments: Vec<Value> = (0..100).map(|id| json!({"id": id, "body": "LGTM"})).collect();
            listener.incoming().for_each(|stream| answer(stream.unwrap(), &mut comments, &kept));
        });
        Self { address, changes }
    }

    fn changes(&self) -> Vec<[String; 4]> {
        std::mem::take(&mut self.changes.lock().unwrap())
    }
}

fn answer(stream: TcpStream, comments: &mut Vec<Value>, changes: &Mutex<Vec<[String; 4]>>) {
    let mut reader = BufReader::new(&stream);
    let (mut first, mut secret, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some(("Authorization" | "PRIVATE-TOKEN", value)) => secret = value.to_owned(),
            Some(("Content-Length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let [method, path] = [0, 1].map(|at| first.split(' ').nth(at).unwrap().to_owned());
    let answer = if method == "GET" {
        let page: usize = path.rsplit("&page=").next().unwrap().parse().unwrap();
        json!(comments.chunks(100).nth(page - 1).unwrap_or_default())
    } else {
        let text = serde_json::from_slice::<Value>(&body).unwrap()["body"].as_str().unwrap().to_owned();
        match path.rsplit('/').next().unwrap().parse() {
            Ok::<usize, _>(id) if method != "POST" => comments[id]["body"] = text.clone().into(),
            _ => comments.push(json!({"id": comments.len(), "body": text})),
        }
        changes.lock().unwrap().push([method, path, secret, text]);
        Value::Null
    };
    let answer = answer.to_string();
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", answer.len());
    (&stream).write_all((head + &answer).as_bytes()).unwrap();
}

#[test]
fn the_action_keeps_one_comment_with_the_changes() {
    let (sandbox, server) = (Sandbox::new(), Comments::start());
    sandbox.write("site/dropforge.toml", "templates = [\"t\"]\nfleet = [\"f.yaml\"]\n[output]\ndir = \"out\"\n");
    sandbox.write("site/t/a.yaml.tera", "replicas: {{ replicas }}\n");
    sandbox.write("site/f.yaml", "- {name: eu, replicas: 1}\n- {name: us, replicas: 1}\n");
    sandbox.write("event.json", "{\"pull_request\": {\"number\": 7}}");
    sandbox.run(&["-C", "site", "stamp"]).expect(0);
    let run = || {
        let inputs = [("project", "site"), ("comment", "true"), ("token", "t0ken")];
        let around = [
            ("GITHUB_API_URL", server.address.as_str()),
            ("GITHUB_REPOSITORY", "acme/site"),
            ("GITHUB_EVENT_PATH", "event.json"),
        ];
        action_with(&sandbox, &inputs, &around).expect(0);
        server.changes()
    };
    sandbox.write("site/f.yaml", "- {name: eu, replicas: 3}\n- {name: us, replicas: 3}\n");
    let [[method, path, secret, text]] = <[_; 1]>::try_from(run()).unwrap();
    assert_eq!([method, path, secret], ["POST", "/repos/acme/site/issues/7/comments", "Bearer t0ken"]);
    assert!(text.starts_with("<!-- dropforge: site -->\n") && text.contains("replicas 1 → 3"), "{text}");
    // The next push replaces the comment, which is on the second page now.
    sandbox.write("site/f.yaml", "- {name: eu, replicas: 1}\n- {name: us, replicas: 1}\n");
    let [[method, path, _, text]] = <[_; 1]>::try_from(run()).unwrap();
    assert_eq!([method, path], ["PATCH", "/repos/acme/site/issues/comments/100"]);
    assert!(text.ends_with("\n### No changes"), "{text}");
    // A push to a branch has no pull request.
    sandbox.write("event.json", "{}");
    assert!(run().is_empty());
    // Without a comment, changes fail the check. An error does so with one, too, and names the file from the repository's root.
    sandbox.write("site/f.yaml", "- {name: eu, replicas: 3}\n");
    action(&sandbox, &[("project", "site")]).expect(3);
    sandbox.write("site/t/a.yaml.tera", "replicas: {{ replics }}\n");
    let wrong = action(&sandbox, &[("project", "site"), ("comment", "true")]);
    assert!(wrong.code != 0 && wrong.stderr.contains("::error file=site/t/a.yaml.tera,line=1,"), "{}", wrong.stderr);
}

#[test]
fn the_job_of_gitlab_keeps_one_note_with_the_changes() {
    let (sandbox, server) = (Sandbox::new(), Comments::start());
    let job = &yaml("examples/gitlab/dropforge.gitlab-ci.yml")["dropforge"];
    sandbox.write("dropforge.toml", "templates = [\"t\"]\nfleet = [\"f.yaml\"]\n[output]\ndir = \"out\"\n");
    sandbox.write("t/a.yaml.tera", "replicas: {{ replicas }}\n");
    sandbox.write("f.yaml", "- {name: eu, replicas: 1}\n");
    sandbox.run(&["stamp"]).expect(0);
    sandbox.write("f.yaml", "- {name: eu, replicas: 3}\n");
    std::fs::copy(Path::new(ROOT).join(".ci/comment"), sandbox.path("comment")).unwrap();
    let script: Vec<&str> = job["script"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut shell = sandbox.shell("-ec", &script.join("\n"));
    let around = [
        ("GITLAB_CI", "true"),
        ("CI_API_V4_URL", server.address.as_str()),
        ("CI_PROJECT_ID", "3"),
        ("CI_PROJECT_NAME", "site"),
        ("CI_MERGE_REQUEST_IID", "9"),
        ("DROPFORGE_TOKEN", "glpat"),
    ];
    shell.envs(around);
    outcome(shell).expect(0);
    let [[method, path, secret, text]] = <[_; 1]>::try_from(server.changes()).unwrap();
    assert_eq!([method, path, secret], ["POST", "/projects/3/merge_requests/9/notes", "glpat"]);
    assert!(text.contains("replicas 1 → 3"), "{text}");
}
