//! The example fleet does what the README says, and the commands in the docs print what they show.

use std::path::Path;

use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Scanner, yaml};

use crate::support::Sandbox;

#[test]
fn the_example_fleet_makes_five_thousand_sound_files() {
    let sandbox = Sandbox::new();
    let fleet = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("examples/fleet");
    let path = |name: &str| fleet.join(name).display().to_string();
    let (templates, clusters, values) = (path("templates"), path("clusters.ndjson"), path("values.yaml"));
    let args = ["stamp", &templates, "--fleet", &clusters, "-f", &values, "-o", "out"];
    sandbox.run(&args).expect(0).says(&["5,000 files for 1,000 clusters"]);
    let files = sandbox.tree("out");
    assert_eq!(files.len(), 5_001);
    let mut scanner = Scanner::new();
    let unusual = files.iter().find(|(path, text)| path.ends_with(".yaml") && !scanner.is_yaml(text));
    assert_eq!(unusual, None, "a full reader has to decide");
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".yaml")).step_by(37) {
        let source = Source::new(path.as_str(), text.as_str());
        let documents =
            yaml::read(&source, &Limits::default()).unwrap_or_else(|errors| panic!("{path}: {}", errors[0]));
        for document in documents {
            let data = document.to_data();
            assert!(data.at_path("metadata.name").is_some() && data.get("kind").is_some(), "{path}: {text}");
        }
    }
    let probe = files.iter().find(|(path, _)| path.ends_with("deployment.yaml")).unwrap().1;
    let data = yaml::read(&Source::new("deployment.yaml", probe.as_str()), &Limits::default()).unwrap()[0].to_data();
    let container = data.at_path("spec.template.spec.containers").and_then(|list| list.index(0)).unwrap();
    assert_eq!(container.at_path("livenessProbe.httpGet.path").and_then(|path| path.as_str()), Some("/live"));
}

/// A shell runs the commands of every `console` block of the README and of `docs/` in order, in one directory. They
/// print what stands below them. A `yaml` block is the file that its first line names.
#[test]
fn the_commands_in_the_docs_print_the_output_shown() {
    let (sandbox, readme) = Sandbox::of_pages();
    let mut commands = 0;
    for block in readme.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for part in block.split("$ ").skip(1) {
            let (command, wanted) = part.split_once('\n').unwrap();
            let mut shell = sandbox.shell("-c", &format!("{{ {command}; }} 2>&1"));
            shell.env("DROPFORGE_CACHE", "").env("NO_COLOR", "1");
            assert_eq!(crate::support::outcome(shell).stdout, wanted, "{command}");
            commands += 1;
        }
    }
    assert!(commands >= 8, "{commands}");
}

/// A shell runs the commands of the README's tour in order, in a copy of `examples/tour/`.
#[test]
fn the_tour_runs_as_printed() {
    let (_, readme) = Sandbox::of_pages();
    let tour = readme.split("## A tour in a minute\n").nth(1).and_then(|rest| rest.split("```").nth(1)).unwrap();
    let sandbox = Sandbox::of_example("tour");
    let mut commands = 0;
    for line in tour.lines().filter(|line| line.starts_with("dropforge ")) {
        let mut shell = sandbox.shell("-c", line);
        shell.env("DROPFORGE_CACHE", "").env("NO_COLOR", "1");
        // The first command leaves clusters out and sets a tag, so the output of the next two is out of date.
        let code = if line.contains(" --check") || line.contains(" --diff") { 3 } else { 0 };
        let outcome = crate::support::outcome(shell);
        assert_eq!(outcome.code, code, "{line}\n{}{}", outcome.stdout, outcome.stderr);
        assert!(!outcome.stderr.contains("warning"), "{line}\n{}", outcome.stderr);
        commands += 1;
    }
    assert!(commands >= 20, "{commands}");
    assert!(sandbox.read("out/eu-1/Service-cart.yaml").contains("targetPort: 8080"));
    assert!(sandbox.read("out/us-1/deployment.yaml").contains("cart:1.4.1"));
}
