//! Explanations of errors, and the generated pages.

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

/// `docs/errors.md` is what the command prints. `dropforge explain --markdown > docs/errors.md` writes it.
#[test]
fn the_page_of_errors_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/errors.md");
    let printed = Sandbox::new().run(&["explain", "--markdown"]).expect(0).stdout;
    assert!(std::fs::read_to_string(page).unwrap() == printed, "docs/errors.md is out of date");
}

/// `docs/functions.md` is what the command prints. `dropforge functions --markdown > docs/functions.md` writes it.
#[test]
fn the_page_of_functions_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/functions.md");
    let printed = Sandbox::new().run(&["functions", "--markdown"]).expect(0).stdout;
    assert!(std::fs::read_to_string(page).unwrap() == printed, "docs/functions.md is out of date");
}
