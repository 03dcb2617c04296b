//! Explanations of errors, help, the version.

use serde_json::Value;

use crate::support::{Sandbox, outcome};

/// Every code has a cause, an example that prints it, and a fix.
#[test]
fn every_error_is_explained_by_an_example_that_raises_it() {
    let told = Sandbox::new().run(&["explain", "--json"]).expect(0).stdout;
    let entries: Vec<Value> = serde_json::from_str(&told).unwrap();
    assert!(entries.len() > 100);
    let wrong: Vec<String> = entries.iter().filter_map(|entry| fault(entry).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let without = entries.iter().filter(|entry| entry["no_example"].is_string()).count();
    assert!(without < 32, "{without} errors have no example");
}

/// Runs the example of an error.
fn fault(entry: &Value) -> Result<(), String> {
    let code = entry["code"].as_str().unwrap();
    let said = |key: &str| entry[key].as_str().is_some_and(|text| text.len() > 20);
    if !said("cause") || !said("fix") {
        return Err(format!("{code} has no cause or no fix"));
    }
    let commands: Vec<&str> = entry["commands"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let Some((last, before)) = commands.split_last() else {
        return if entry["no_example"].is_string() { Ok(()) } else { Err(format!("{code} has no example")) };
    };
    let sandbox = Sandbox::new();
    for file in entry["files"].as_array().unwrap() {
        sandbox.write(file["path"].as_str().unwrap(), file["content"].as_str().unwrap());
    }
    let run = |command: &str| {
        let mut shell = sandbox.shell("-c", command);
        shell.env("DROPFORGE_CACHE", "").env("NO_COLOR", "1");
        outcome(shell)
    };
    for command in before {
        let done = run(command);
        if done.code != 0 {
            return Err(format!("{code}: {command} ends with {}: {}", done.code, done.stderr));
        }
    }
    let done = run(&format!("{last} --error-format short"));
    if done.stderr.contains(&format!("[{code}]")) {
        Ok(())
    } else {
        Err(format!("{code}: {last} prints {}", done.stderr))
    }
}

#[test]
fn an_error_is_found_by_its_id_or_name() {
    let sandbox = Sandbox::new();
    let by_id = sandbox.run(&["explain", "e0201"]).expect(0).stdout;
    assert_eq!(by_id, sandbox.run(&["explain", "name.undefined_variable"]).expect(0).stdout);
    assert!(by_id.starts_with("E0201 (name.undefined_variable): ") && by_id.contains("\nFix: "), "{by_id}");
    sandbox.run(&["explain", "name.undefined_variabel"]).expect(2).says(&["did you mean `name.undefined_variable`?"]);
    assert!(sandbox.run(&["explain"]).expect(0).stdout.contains("E0603  "));
}

#[test]
fn help_knows_commands_options_errors_and_functions() {
    let sandbox = Sandbox::new();
    let help = |words: &[&str]| sandbox.run(&[&["help"], words].concat()).expect(0).stdout;
    let commands = help(&[]);
    for line in commands.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().unwrap();
        assert_eq!(help(&[name]), sandbox.run(&[name, "--help"]).expect(0).stdout, "{name}");
    }
    assert_eq!(help(&["hcl", "fmt"]), sandbox.run(&["hcl", "fmt", "--help"]).expect(0).stdout);
    let layout = help(&["--layout"]);
    assert!(layout.starts_with("--layout (stamp") && layout.contains("{cluster}"), "{layout}");
    assert!(help(&["-l"]).starts_with("-l (stamp"));
    assert!(help(&["e0201"]).starts_with("E0201 "));
    let nindent = help(&["nindent"]);
    assert!(nindent.contains("(tera)") && nindent.contains("(helm)"), "{nindent}");
    sandbox.run(&["help", "stmp"]).expect(2).says(&["`stmp`", "did you mean `stamp`?"]);
}

#[test]
fn the_version_has_details() {
    let sandbox = Sandbox::new();
    let short = sandbox.run(&["--version"]).expect(0).stdout;
    let long = sandbox.run(&["--version", "-v"]).expect(0).stdout;
    assert!(long.starts_with(&short) && short.lines().count() == 1, "{short}{long}");
    assert_eq!(long, sandbox.run(&["-vV"]).expect(0).stdout);
    for part in ["features: catalog, remote, arrow\n", "tera (Tera 1.20)", "helm (Helm 4.2)", "artifacts: format "] {
        assert!(long.contains(part), "{part}: {long}");
    }
}

/// `docs/errors.md` is what the command prints. `dropforge explain --markdown > docs/errors.md` writes it.
#[test]
fn the_page_of_errors_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/errors.md");
    let printed = Sandbox::new().run(&["explain", "--markdown"]).expect(0).stdout;
    assert!(std::fs::read_to_string(page).unwrap() == printed, "docs/errors.md is out of date");
}
