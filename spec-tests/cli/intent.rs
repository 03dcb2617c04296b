//! `intent validate` and `intent resolve`.

use serde_json::json;

use crate::support::Sandbox;

const INTENT: &str = "\
spec:
  parameters:
    - {name: app, type: string, required: true}
  controls:
    lock: ${params.app}-lock
  runbook:
    - name: build
      exec: {command: 'make APP=${params.app} REV=${context.rev}'}
      outputs: [{name: tag, value: 'r/${params.app}'}]
    - name: push
      exec: {command: 'push -- ${steps.build.outputs.tag}'}
";

fn sandbox() -> Sandbox {
    let inputs = "params: {app: it's}\ncontext: {rev: 7}\nfacts: {execution_id: e1}\n";
    Sandbox::with(&[("i.yaml", INTENT), ("in.yaml", inputs)])
}

const RESOLVE: [&str; 5] = ["intent", "resolve", "i.yaml", "--inputs", "in.yaml"];

#[test]
fn every_field_is_printed_in_document_order() {
    let sandbox = sandbox();
    let outcome = sandbox.run(&RESOLVE).expect(0);
    let wanted = "\
spec.controls.lock: it's-lock
spec.runbook[0].exec.command: make APP='it'\\''s' REV='7'
spec.runbook[0].outputs[0].value: r/it's
spec.runbook[1].exec.command: push -- 'r/it'\\''s'
";
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), (wanted, ""));
    let printed = sandbox.run(&[&RESOLVE[..], &["--format", "json"]].concat()).expect(0).stdout;
    let fields: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(fields["spec.controls.lock"], "it's-lock");
    let piped = sandbox.feed(&["intent", "resolve", "-", "--inputs", "in.yaml"], INTENT).expect(0);
    assert_eq!(piped.stdout, wanted);
}

#[test]
fn given_outputs_are_those_of_the_steps_that_ran() {
    let sandbox = sandbox();
    let resolve = |steps: &str| {
        sandbox.write("steps.yaml", steps);
        sandbox.run(&[&RESOLVE[..], &["--outputs", "steps.yaml"]].concat())
    };
    let outcome = resolve("build: {outputs: {tag: real}}").expect(0);
    assert!(outcome.stdout.contains("push -- 'real'"), "{}", outcome.stdout);
    let outcome = resolve("build: {status: running, outputs: {tag: real}}").expect(1);
    let outcome = outcome.says(&["error[E0701]", "i.yaml:11:32", "step 'build' has not completed"]);
    assert_eq!(outcome.stdout, "");
    resolve("[]").expect(1).says(&["error[E0801]", "steps.yaml"]);
}

#[test]
fn errors_have_the_fields_of_the_specification() {
    let sandbox = sandbox();
    sandbox.write("i.yaml", "metadata: {name: '${params.a}'}\nspec:\n  controls: {lock: '${context.rve}'}\n");
    let errors = sandbox.run(&["intent", "validate", "i.yaml", "--error-format", "json"]).expect(1).json();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (&errors[0]["error"], &errors[0]["field"]),
        (&json!("template_disallowed_field"), &json!("metadata.name"))
    );
    let keys = ["validate", "i.yaml", "--context-keys", "rev,actor", "--error-format", "json"];
    let errors = sandbox.run(&[&["intent"], &keys[..]].concat()).expect(1).json();
    let wanted = json!({
        "error": "template_missing_variable", "expression": "${context.rve}", "scope": "context",
        "available": ["actor", "rev"], "message": "Variable 'rve' not found in context scope",
        "file": "i.yaml", "line": 3, "column": 21, "field": "spec.controls.lock", "help": "did you mean `rev`?",
        "code": "E0701", "severity": "error",
    });
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&errors[1][key], value, "{key}");
    }
}

#[test]
fn errors_have_the_format_of_all_commands() {
    let sandbox = sandbox();
    sandbox.write("i.yaml", "metadata: {name: '${params.a}'}\n");
    let outcome = sandbox.run(&["intent", "validate", "i.yaml", "--error-format", "sarif"]).expect(1);
    let log: serde_json::Value = serde_json::from_str(&outcome.stderr).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!((log["version"].as_str(), results.len()), (Some("2.1.0"), 1));
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "i.yaml");
    for format in ["short", "github"] {
        let outcome = sandbox.run(&["intent", "validate", "i.yaml", "--error-format", format]).expect(1);
        outcome.says(&["i.yaml", results[0]["ruleId"].as_str().unwrap()]);
    }
}

#[test]
fn audit_events_are_appended() {
    let sandbox = sandbox();
    sandbox.write("in.yaml", "params: {app: S3CRET}\nfacts: {execution_id: e1}\n");
    let audited = [&RESOLVE[..], &["--audit", "audit.log"]].concat();
    sandbox.run(&audited).expect(1);
    sandbox.run(&audited).expect(1);
    let log = sandbox.read("audit.log");
    let events: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 2);
    assert_eq!((&events[0]["event"], &events[0]["execution_id"]), (&json!("template_error"), &json!("e1")));
    assert_eq!(events[0]["error"]["expression"], "${context.rev}");
    assert!(!log.contains("S3CRET"));
    sandbox.run(&[&RESOLVE[..], &["--audit", "no/where"]].concat()).expect(1).says(&["E0902"]);
}

#[test]
fn unprotected_expressions_are_refused_by_default() {
    let sandbox = sandbox();
    sandbox.write("q.yaml", "spec:\n  runbook:\n    - {name: s, exec: {command: 'echo \"${context.rev}\"'}}\n");
    let resolve = ["intent", "resolve", "q.yaml", "--inputs", "in.yaml"];
    sandbox.write("in.yaml", "context: {rev: 7}\n");
    sandbox.run(&resolve).expect(1).says(&["error[E0706]", "q.yaml:3:40"]);
    let outcome = sandbox.run(&[&resolve[..], &["--strict", "false"]].concat()).expect(0);
    let outcome = outcome.says(&["warning[E0743]"]);
    assert_eq!(outcome.stdout, "spec.runbook[0].exec.command: echo \"'7'\"\n");
}
