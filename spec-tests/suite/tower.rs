//! `tower`: intents as case files, step-by-step executors, audit events, quoting parsed by a real shell, and hostile
//! inputs.
//!
//! `spec-tests/tower/documents.intents` has intents and, for those that are resolved, their inputs. The expected
//! results are the resolved fields as `path: text`, or the errors as `line:column name field expression`, and warnings.

use std::path::Path;
use std::process::Command;

use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, thousands};
use dropforge::dialect::tower::RenderMode;
use dropforge::dialect::tower::intent::{AuditEvent, Inputs, Intent, Report, ValidateOptions};
use dropforge::engine::{Dialect, Engine};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap, yaml};

/// The sections of a case, by heading.
struct Case(Vec<(String, String)>);

impl Case {
    fn get(&self, heading: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == heading).map(|(_, text)| text.as_str())
    }
}

fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("spec-tests/tower").join(file);
    let mut cases: Vec<Case> = Vec::new();
    for line in std::fs::read_to_string(path).expect("a case file").lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            cases.push(Case(vec![("name".to_owned(), name.to_owned())]));
        } else if let (Some(heading), Some(case)) = (line.strip_prefix("--- "), cases.last_mut()) {
            case.0.push((heading.to_owned(), String::new()));
        } else if let Some((_, text)) = cases.last_mut().and_then(|case| case.0.last_mut()) {
            text.push_str(line);
            text.push('\n');
        }
    }
    cases
}

fn intent(text: &str) -> Intent {
    Intent::parse(&Source::new("intent.yaml", text)).expect("an intent")
}

fn inputs(text: &str) -> Inputs {
    Inputs::from_yaml(&Source::new("inputs.yaml", text), &Limits::default()).expect("inputs")
}

fn error_line(error: &Diagnostic) -> String {
    let field = |name| error.fields.get(name).map_or("-", String::as_str);
    let place = error.position().map_or("-".to_owned(), |at| at.to_string());
    format!("{place} {} {} {}\n", error.code.name(), field("field"), field("expression"))
}

fn error_lines(errors: &[Box<Diagnostic>]) -> String {
    errors.iter().map(|error| error_line(error)).collect()
}

/// Returns the result of a case: resolved fields or errors, and warnings.
fn outcome(case: &Case) -> (Result<String, String>, String) {
    let intent = intent(case.get("intent").expect("an intent"));
    let strict = case.get("options") != Some("strict: false\n");
    let options = ValidateOptions { strict, ..ValidateOptions::default() };
    let Report { errors, warnings } = intent.validate(&options);
    let warnings = warnings.iter().map(|each| format!("{} {}\n", each.code.name(), each.fields["field"])).collect();
    let Some(given) = case.get("inputs") else { return (Err(error_lines(&errors)), warnings) };
    let lines = |(path, text): (&String, &String)| format!("{path}: {text}\n");
    let resolved = match intent.resolve_with(&inputs(given), &options, &mut |_| {}) {
        Ok(resolved) => Ok(resolved.fields.iter().map(lines).collect()),
        Err(errors) => Err(error_lines(&errors)),
    };
    (resolved, warnings)
}

#[test]
fn cases_of_strings() {
    crate::cases::run_folder(Dialect::Tower, "tower");
}

#[test]
fn a_name_does_not_switch_to_shell_mode() {
    let template = Engine::new().compile(Dialect::Tower, "page.html", "${params.x}").unwrap();
    assert_eq!(template.render(&params("a b")).unwrap(), "a b");
}

#[test]
fn intents() {
    let cases = cases("documents.intents");
    assert!(cases.len() >= 10);
    let mut wrong = Vec::new();
    for case in cases {
        let name = case.get("name").unwrap_or("");
        let (result, warnings) = outcome(&case);
        let as_wanted = match (case.get("resolved"), case.get("errors")) {
            (Some(wanted), None) => result.as_deref() == Ok(wanted),
            (None, Some(wanted)) => result.as_ref().err().map(String::as_str) == Some(wanted),
            _ => panic!("{name} wants either fields or errors"),
        };
        if !as_wanted || case.get("warnings").is_some_and(|wanted| wanted != warnings) {
            let (Ok(text) | Err(text)) = result;
            wrong.push(format!("{name}\n{text}warnings:\n{warnings}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const STEPS: &str = "
spec:
  controls: {lock: 'l'}
  runbook:
    - name: one
      exec: {command: 'one'}
      rollback: {command: 'undo -- ${steps.one.outputs.id}'}
      outputs: [{name: id, value: '${params.p}'}]
    - name: two
      exec: {command: 'two -- ${steps.one.outputs.id}'}
";

#[test]
fn an_executor_resolves_step_by_step() {
    let mut intent = intent(STEPS);
    let inputs = inputs("params: {p: 5}");
    let silent = &mut |_: &AuditEvent| {};
    let one = intent.resolve_step("one", &inputs, silent).unwrap();
    let paths: Vec<&str> = one.fields.keys().map(String::as_str).collect();
    assert_eq!(paths, ["spec.runbook[0].exec.command", "spec.runbook[0].outputs[0].value"]);
    let early = intent.resolve_step("two", &inputs, silent).unwrap_err();
    assert_eq!(early[0].message, "Variable 'one.outputs.id' not found in steps scope: step 'one' has not completed");
    let outputs: DataMap = [("id".to_owned(), Data::Str("real".to_owned()))].into_iter().collect();
    intent.step_completed("one", outputs).unwrap();
    let two = intent.resolve_step("two", &inputs, silent).unwrap();
    assert_eq!(two.get("spec.runbook[1].exec.command"), Some("two -- 'real'"));
    let rollback = intent.resolve_step("one", &inputs, silent).unwrap();
    assert_eq!(rollback.get("spec.runbook[0].rollback.command"), Some("undo -- 'real'"));
    let unknown = intent.step_completed("tow", DataMap::default()).unwrap_err();
    assert_eq!((unknown.code, unknown.help.as_deref()), (Code::IntentUnknownStep, Some("did you mean `two`?")));
}

#[test]
fn every_template_error_is_audited_once_and_without_values() {
    let text = "spec:\n  controls: {lock: '${params.a}-${context.x}'}\n  outputs: {failure: '${facts.nope}'}\n";
    let intent = intent(text);
    let mut events = Vec::new();
    let given = "params: {a: S3CRET}\ncontext: {y: S3CRET}\nfacts: {execution_id: 7, failed_step: b}\n";
    let mut resolve = |given: &str| {
        events.clear();
        let tell = &mut |event: &AuditEvent| events.push(event.to_json());
        let errors = intent.resolve_with(&inputs(given), &ValidateOptions::default(), tell).unwrap_err();
        assert_eq!((errors.len(), events.len()), (1, 1));
        events[0].clone()
    };
    let event = resolve(given);
    assert_eq!((&event["event"], &event["execution_id"]), (&"template_error".into(), &"7".into()));
    assert_eq!(event["field"], "spec.controls.lock");
    assert_eq!(event["error"]["available"], serde_json::json!(["y"]));
    assert!(!event.to_string().contains("S3CRET"));
    let event = resolve("params: {a: 1}\ncontext: {x: 1}\nfacts: {failed_step: b}\n");
    assert_eq!((&event["field"], &event["cause"]), (&"spec.outputs.failure".into(), &"step 'b' failed".into()));
    let invalid = self::intent("metadata: {name: '${x}'}\nspec: {controls: {lock: '${}'}}\n");
    let mut count = 0;
    invalid.validate_with(&ValidateOptions::default(), &mut |_| count += 1);
    assert_eq!(count, 2);
}

#[test]
fn declared_context_and_facts_are_checked_before_anything_runs() {
    let intent = intent("spec: {outputs: {a: '${context.sha}', b: '${facts.node}', c: '${facts.current_step}'}}");
    assert!(intent.validate(&ValidateOptions::default()).is_valid());
    let options = ValidateOptions {
        context_keys: Some(vec!["git_sha".to_owned()]),
        custom_facts: Some(vec!["zone".to_owned()]),
        ..ValidateOptions::default()
    };
    let errors = intent.validate(&options).errors;
    let available: Vec<_> = errors.iter().map(|error| error.available.clone().unwrap()).collect();
    assert_eq!(available[0], ["git_sha"]);
    assert_eq!(available[1], ["current_step", "execution_id", "failed_step", "rollback_status", "zone"]);
    assert_eq!(available.len(), 2);
}

fn render(text: &str, mode: RenderMode, scopes: &Data) -> Result<String, Box<Diagnostic>> {
    let source = Source::new("t", text);
    let shell = Some(mode == RenderMode::Shell);
    let template = Engine::new().compile_source(Dialect::Tower, &source, shell).map_err(first)?;
    template.render(scopes)
}

fn first(errors: Diagnostics) -> Box<Diagnostic> {
    errors.into_vec().remove(0)
}

fn params(value: &str) -> Data {
    let scope = [("x".to_owned(), Data::Str(value.to_owned()))].into_iter().collect();
    Data::Map([("params".to_owned(), Data::Map(scope))].into_iter().collect())
}

/// Values that escape from their word if the quoting is careless.
fn sharp_values() -> Vec<String> {
    let fixed = [
        "",
        " ",
        "'",
        "''",
        "'''",
        "\\",
        "\\'",
        "'\\''",
        "\"",
        "$(id)",
        "`id`",
        "$x",
        "${x}",
        "a'; id; '",
        "!!",
        "*",
        "~",
        "-n",
        "\n",
        "a\nb\n",
        "\r\n",
        "\t",
        "#c",
        "a#b",
        "&",
        "|;<>()",
        "\u{1}\u{7f}",
        "é☃\u{202e}",
        "{a,b}",
        "=",
        "[!a]",
        "\\\n",
    ];
    let mut values: Vec<String> = fixed.map(str::to_owned).into();
    let alphabet = ['\'', '"', '\\', '$', '`', '\n', ' ', 'a', '(', ')', ';'];
    for first in alphabet {
        for second in alphabet {
            values.push([first, second, '\'', second, first].iter().collect());
        }
    }
    values
}

#[test]
fn a_shell_reads_every_value_back_as_one_word() {
    let values = sharp_values();
    let mut script = String::from("show() { for word in \"$@\"; do printf '%s\\0' \"$word\"; done; }\n");
    for value in &values {
        script.push_str(&render("show a${params.x}b\n", RenderMode::Shell, &params(value)).unwrap());
    }
    let wanted: Vec<String> = values.iter().map(|value| format!("a{value}b")).collect();
    let mut shells = 0;
    for shell in ["sh", "bash", "dash"] {
        let Ok(output) = Command::new(shell).arg("-c").arg(&script).output() else { continue };
        let text = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = text.strip_suffix('\0').unwrap().split('\0').collect();
        assert_eq!(words, wanted, "{shell}");
        shells += 1;
    }
    assert!(shells > 0, "no shell to read what was written for one");
}

#[test]
fn a_nul_is_refused_in_a_shell_and_kept_in_a_text() {
    let scopes = params("a\0b");
    assert_eq!(render("${params.x}", RenderMode::Literal, &scopes).unwrap(), "a\0b");
    let error = render("${params.x}", RenderMode::Shell, &scopes).unwrap_err();
    assert_eq!((error.fields["reason"].as_str(), error.available), ("nul_byte", Some(vec![])));
}

#[test]
fn huge_strings_end() {
    let code = |text: &str, scopes: &Data| render(text, RenderMode::Literal, scopes).unwrap_err().code;
    let many = "${params.x}".repeat(100_000);
    assert_eq!(render(&many, RenderMode::Shell, &params("v")).unwrap().len(), 300_000);
    assert_eq!(code(&many, &params(&"x".repeat(1 << 20))), Code::LimitOutputBytes);
    let quotes = "'".repeat(1 << 20);
    assert_eq!(render("${params.x}", RenderMode::Shell, &params(&quotes)).unwrap().len(), 2 + (4 << 20));
    assert_eq!(code("${", &Data::Null), Code::TemplateInvalidSyntax);
    assert_eq!(code("${params.x}", &Data::Null), Code::TemplateMissingVariable);
    let scalar = Data::Map([("params".to_owned(), Data::Int(1))].into_iter().collect());
    assert_eq!(render("${params.x}", RenderMode::Literal, &scalar).unwrap_err().available, Some(vec![]));
}

/// Returns the codes from reading, validating and resolving an intent.
fn codes(text: &str) -> Vec<Code> {
    let errors = match Intent::parse(&Source::new("intent.yaml", text)) {
        Err(errors) => errors,
        Ok(intent) => intent.resolve(&Inputs::default()).err().unwrap_or_default(),
    };
    errors.iter().map(|error| error.code).collect()
}

/// Runs `work` on a stack of 256 KiB.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_values_are_read_walked_and_written_on_a_small_stack() {
    on_a_small_stack(|| {
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("[{a: [", "]}]")] {
            let levels = 120 / open.matches(['[', '{', '-']).count();
            let text = format!("{}'${{x}}'{}\n", open.repeat(levels), close.repeat(levels));
            let source = Source::new("deep", text.as_str());
            let data = yaml::read_data(&source, &Limits::default()).unwrap();
            let written = Source::new("written", yaml::to_string(&data));
            assert_eq!(yaml::read_data(&written, &Limits::default()).unwrap(), data);
            let inside: String = text.lines().map(|line| format!("  {line}\n")).collect();
            assert_eq!(codes(&format!("metadata:\n{inside}")), [Code::TemplateDisallowedField]);
        }
    });
}

#[test]
fn hostile_intents_end_in_a_coded_error() {
    on_a_small_stack(hostile_intents);
}

fn hostile_intents() {
    let field = |text: &str| format!("spec: {{controls: {{lock: '{text}'}}}}");
    let long = "x".repeat((1 << 20) + 1);
    assert_eq!(codes(&field(&long)), [Code::LimitSourceBytes]);
    assert!(codes(&field(&long[2..])).is_empty());
    assert_eq!(codes(&field(&"${".repeat(100_000))), [Code::TemplateNestedExpression]);
    let deep = format!("{}x{}", "${".repeat(100_000), "}".repeat(100_000));
    assert_eq!(codes(&field(&deep)), [Code::TemplateNestedExpression]);
    assert_eq!(codes(&field(&"${params.x}".repeat(90_000))), [Code::TemplateMissingVariable]);
    assert_eq!(codes(&format!("spec: {}", "[".repeat(100_000))), [Code::LimitDepth]);
    for text in ["- a\n", "spec: 1\n", ""] {
        assert_eq!(codes(text), [Code::IntentStructure], "{text}");
    }
}

#[test]
fn many_large_fields_reach_a_limit() {
    let text = format!("spec: {{outputs: {{o: [{}]}}}}", "'${params.x}',".repeat(1000));
    let mut given = Inputs::default();
    given.params.insert("x".to_owned(), Data::Str("v".repeat(1 << 20)));
    assert_eq!(intent(&text).resolve(&given).unwrap_err()[0].code, Code::LimitOutputBytes);
    given.params.insert("x".to_owned(), Data::Str("v".repeat((1 << 20) + 1)));
    assert_eq!(intent(&text).resolve(&given).unwrap_err()[0].code, Code::LimitOutputBytes);
}

/// Builds a runbook of `count` steps with one output each. `command` makes the command of a step from its number.
fn runbook(count: usize, command: impl Fn(usize) -> String) -> String {
    let step = |n| {
        let command = command(n);
        format!(
            "  - {{name: s{n}, exec: {{command: '{command}'}}, outputs: [{{name: o, value: '${{params.p}}{n}'}}]}}\n"
        )
    };
    format!("spec:\n  runbook:\n{}", (0..count).map(step).collect::<String>())
}

#[test]
fn long_runbooks_end() {
    let (many, some) = if crate::is_thorough() { (20_000, 3_000) } else { (4_000, 1_500) };
    let wrong = runbook(many, |n| format!("x -- ${{steps.s{n}.outputs.o}}"));
    let found = codes(&wrong);
    assert_eq!(found.len(), 100);
    let report = intent(&wrong).validate(&ValidateOptions::default());
    assert_eq!(
        *report.errors[99].notes.last().unwrap(),
        format!("and {} more diagnostics: the limit is 100", thousands(many - 100))
    );
    assert!(found.iter().all(|code| *code == Code::TemplateMissingVariable));
    let right = runbook(some, |n| match n {
        0 => "x".to_owned(),
        n => format!("x -- ${{steps.s{}.outputs.o}}", n - 1),
    });
    let resolved = intent(&right).resolve(&inputs("params: {p: v}")).unwrap();
    let (last, found) = (format!("spec.runbook[{}].exec.command", some - 1), format!("x -- 'v{}'", some - 2));
    assert_eq!(resolved.get(&last), Some(found.as_str()));
}

#[test]
fn every_truncation_and_substitution_of_an_intent_gives_an_answer() {
    let text = cases("documents.intents")[0].get("intent").unwrap().to_owned();
    let given = inputs("params: {service: a}");
    let attempt = |text: &str| {
        if let Ok(intent) = Intent::parse(&Source::new("i", text)) {
            let _ = intent.resolve(&given);
        }
    };
    for (at, old) in text.char_indices() {
        attempt(&text[..at]);
        for new in ["\0", "\n", "\"", "$", "{", "}", "'", "\\", "é"] {
            attempt(&format!("{}{new}{}", &text[..at], &text[at + old.len_utf8()..]));
        }
    }
}

#[test]
fn resolved_fields_survive_a_round_trip() {
    let options = ValidateOptions { strict: false, ..ValidateOptions::default() };
    for case in cases("documents.intents") {
        let Some(given) = case.get("inputs").filter(|_| case.get("resolved").is_some()) else { continue };
        let intent = intent(case.get("intent").unwrap());
        let fields = intent.resolve_with(&inputs(given), &options, &mut |_| {}).unwrap().to_data();
        let written = Source::new("out", yaml::to_string(&fields));
        assert_eq!(yaml::read_data(&written, &Limits::default()).unwrap(), fields);
    }
}
