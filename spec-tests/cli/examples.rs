//! The example fleet does what the README says, and the commands in the docs print what they show.

use std::path::Path;

use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Scanner, yaml};

use crate::pages::{Page, charts, commands, file};
use crate::support::{Sandbox, outcome};

#[test]
fn the_example_fleet_makes_five_thousand_sound_files() {
    let sandbox = Sandbox::new();
    let fleet = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("examples/fleet");
    let path = |name: &str| fleet.join(name).display().to_string();
    let (templates, clusters, values) = (path("templates"), path("clusters.ndjson"), path("values.yaml"));
    let args = ["stamp", &templates, "--fleet", &clusters, "-f", &values, "-o", "out"];
    sandbox.run(&args).expect(0).says(&["5,000 files for 1,000 clusters"]);
    let files = sandbox.outputs("out");
    assert_eq!(files.len(), 5_000);
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

/// Returns a text with one duration for all.
fn timeless(text: &str) -> String {
    let second = regex::Regex::new(r"(?m)\d+\.\d+ s$").unwrap();
    second.replace_all(text, "0.01 s").into_owned()
}

/// A shell runs the commands of every `console` block of a page in order, in a folder of its own. They print what stands
/// below them. A block of another language whose first line is `# PATH` is that file.
#[test]
fn the_commands_in_the_docs_print_the_output_shown() {
    let (mut ran, mut wrong) = (0, Vec::new());
    for page in Page::all() {
        let sandbox = charts();
        for (language, block) in page.blocks() {
            if let Some((path, text)) = file(block) {
                sandbox.write(path, &text);
            }
            for (command, wanted) in commands(block).into_iter().filter(|_| language == "console") {
                let mut shell = sandbox.shell("-c", &format!("{{ {command}; }} 2>&1"));
                shell.env("DROPFORGE_CACHE", "").env("NO_COLOR", "1");
                let printed = timeless(&outcome(shell).stdout);
                if printed != timeless(&wanted) {
                    wrong.push(format!("{}: {command}\n{printed}", page.path));
                }
                ran += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran >= 170, "{ran}");
}

/// Five minutes of reading.
#[test]
fn the_readme_is_short() {
    let lines = Page::read("README.md").text.lines().count();
    assert!(lines <= 150, "README.md has {lines} lines");
}

/// A shell runs the commands of the tour in order, in a copy of `examples/tour/`.
#[test]
fn the_tour_runs_as_printed() {
    let page = Page::read("docs/cli.md").text;
    let tour = page.split("## A tour in a minute\n").nth(1).and_then(|rest| rest.split("```").nth(1)).unwrap();
    let sandbox = Sandbox::of_example("tour");
    let mut commands = 0;
    for line in tour.lines().filter(|line| line.starts_with("dropforge ")) {
        let mut shell = sandbox.shell("-c", line);
        shell.env("DROPFORGE_CACHE", "").env("NO_COLOR", "1");
        // The first command leaves clusters out and sets a tag, so the output of the next two is out of date.
        let code = if line.contains(" --check") || line.contains(" --diff") { 3 } else { 0 };
        let outcome = outcome(shell);
        assert_eq!(outcome.code, code, "{line}\n{}{}", outcome.stdout, outcome.stderr);
        assert!(!outcome.stderr.contains("warning"), "{line}\n{}", outcome.stderr);
        commands += 1;
    }
    assert!(commands >= 12, "{commands}");
    assert!(sandbox.read("out/eu-1/Service-cart.yaml").contains("targetPort: 8080"));
    assert!(sandbox.read("out/us-1/deployment.yaml").contains("cart:1.4.1"));
}
