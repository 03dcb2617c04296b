//! Help texts, help for words, the version.

use clap::Command;

use crate::pages::Page;
use crate::support::{Sandbox, outcome};

/// Calls `check` with each command and the words of its name.
fn for_each(command: &mut Command, words: &[String], check: &mut impl FnMut(&mut Command, &[String])) {
    check(command, words);
    for sub in command.get_subcommands_mut() {
        let words = [words, &[sub.get_name().to_owned()]].concat();
        for_each(sub, &words, check);
    }
}

fn definition() -> Command {
    let mut command = dropforge_cli::definition();
    command.build();
    command
}

#[test]
fn help_texts_begin_with_an_example_end_with_exit_codes_and_fit_in_80_columns() {
    let mut wrong = Vec::new();
    for_each(&mut definition(), &[], &mut |command, words| {
        let (long, short) = (command.render_long_help().to_string(), command.render_help().to_string());
        let wide = long.lines().chain(short.lines()).filter(|line| line.chars().count() > 80);
        wrong.extend(wide.map(|line| format!("{words:?} is too wide: {line}")));
        let mut start = long.lines();
        let (purpose, gap, example) = (start.next().unwrap(), start.next().unwrap(), start.next().unwrap());
        if purpose.starts_with(' ') || !gap.is_empty() || !example.starts_with("    ") {
            wrong.push(format!("{words:?} does not begin with a line and an example: {long}"));
        }
        let (_, codes) = long.rsplit_once("\nExit codes:\n").unwrap_or_default();
        if !["  0 ", "  1 ", "  2 ", "  141 "].iter().all(|code| codes.contains(code)) {
            wrong.push(format!("{words:?} has no exit codes"));
        }
        let is_code = |line: &&str| line.starts_with("  ") && line.as_bytes().get(2).is_some_and(u8::is_ascii_digit);
        wrong.extend(codes.lines().filter(|line| !is_code(line)).map(|line| format!("{words:?}: {line}")));
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A screen has 50 lines.
#[test]
fn short_help_fits_on_a_screen_and_lists_each_command_once() {
    let mut command = definition();
    let visible: Vec<String> =
        command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(|sub| sub.get_name().to_owned()).collect();
    let list = command.render_help().to_string();
    for name in visible {
        assert_eq!(list.lines().filter(|line| line.starts_with(&format!("  {name} "))).count(), 1, "{name}: {list}");
    }
    for name in ["stamp", "diff"] {
        let short = command.find_subcommand_mut(name).unwrap().render_help().to_string();
        assert!(short.lines().count() <= 50, "{short}");
        let headings: Vec<&str> = short.lines().filter(|line| !line.starts_with(' ') && line.ends_with(':')).collect();
        assert!(headings.join(" ").contains("Inputs: Output: Review: Checks:") || name == "diff", "{headings:?}");
    }
}

/// Splits the words of a command with a shell, up to the next command, and parses them.
fn parse(sandbox: &Sandbox, line: &str) -> Result<(), String> {
    let one = line.split(" && ").next().unwrap().split([';', '|', '>', '&']).next().unwrap();
    let words = outcome(sandbox.shell("-c", &format!("printf '%s\\n' {one}"))).expect(0).stdout;
    let parsed = definition().try_get_matches_from(words.lines());
    parsed.map(drop).map_err(|error| format!("{line}: {error}"))
}

/// The commands of `sh` blocks are not run, but the command line accepts them.
#[test]
fn the_commands_of_other_blocks_in_the_docs_can_be_parsed() {
    let (sandbox, mut lines, mut wrong) = (Sandbox::new(), 0, Vec::new());
    for page in Page::all() {
        let blocks = page.blocks().filter(|(language, _)| *language == "sh").map(|(_, block)| block);
        // `…` and `<(` are for readers and for other shells. A project gives what its commands leave out.
        let commands = blocks.flat_map(str::lines).filter(|line| line.starts_with("dropforge "));
        let whole = commands.filter(|line| {
            !line.contains('…')
                && !line.contains("<(")
                && !["docs/project.md", "docs/dependencies.md"].contains(&&*page.path)
        });
        for line in whole {
            wrong.extend(
                parse(&sandbox, line.split(" #").next().unwrap()).err().map(|error| format!("{}: {error}", page.path)),
            );
            lines += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines >= 45, "{lines}");
}

#[test]
fn the_examples_of_help_texts_can_be_parsed() {
    let mut examples = Vec::new();
    for_each(&mut definition(), &[], &mut |command, _| {
        let about = command.get_long_about().or(command.get_about()).unwrap().to_string();
        let lines = about.lines().filter_map(|line| line.strip_prefix("    "));
        examples.extend(lines.filter(|line| line.starts_with("dropforge ")).map(str::to_owned));
    });
    assert!(examples.len() > 60, "{}", examples.len());
    let sandbox = Sandbox::new();
    let wrong: Vec<String> = examples.iter().filter_map(|example| parse(&sandbox, example).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn help(words: &[&str]) -> String {
    Sandbox::new().run(&[&["help"], words].concat()).expect(0).stdout
}

#[test]
fn help_knows_every_command() {
    let sandbox = Sandbox::new();
    let mut names = Vec::new();
    for_each(&mut definition(), &[], &mut |_, words| names.push(words.to_vec()));
    assert!(names.len() > 40);
    for words in names.iter().filter(|words| !words.is_empty()) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let printed = sandbox.run(&[&*words, &["--help"]].concat()).expect(0).stdout;
        assert!(help(&words).starts_with(&printed), "{words:?}");
    }
    assert_eq!(help(&["fmt"]), help(&["hcl", "fmt"]));
    assert_eq!(help(&["hcl fmt"]), help(&["hcl", "fmt"]));
    let list = help(&["rotate"]) + &help(&["revoke"]) + &help(&["history"]);
    assert!(list.contains("catalog generator rotate") && list.contains("catalog key revoke"), "{list}");
    assert!(help(&["create"]).contains("dropforge help catalog key create\n    Create a key"));
}

#[test]
fn help_knows_options_errors_functions_and_variables() {
    let layout = help(&["--layout"]);
    assert!(layout.starts_with("--layout (stamp") && layout.contains("{cluster}"), "{layout}");
    assert_eq!(help(&["layout"]), layout);
    assert!(help(&["-l"]).starts_with("-l (stamp"));
    assert!(help(&["--jobs"]).starts_with("--jobs (every command)"));
    assert!(help(&["--version"]).contains("--version (every other command)"));
    assert!(help(&["--skip-schema-validation"]).contains("--no-schema"));
    assert!(help(&["--expires"]).starts_with("--expires (catalog key create)"));
    assert!(help(&["--error-format"]).contains("sarif: A SARIF log"));
    assert!(help(&["DROPFORGE_DB"]).contains("--db <DB>"));
    assert!(help(&["e0201"]).starts_with("E0201 "));
    let nindent = help(&["nindent"]);
    assert!(nindent.contains("(tera)") && nindent.contains("(helm)"), "{nindent}");
    assert!(help(&["values"]).ends_with("`dropforge functions values`\n"));
    assert!(help(&["exit-codes"]).contains("\n  4  ") && help(&["exit", "codes"]) == help(&["exit-codes"]));
}

#[test]
fn languages_are_listed_and_options_have_their_headings() {
    let (render, trace) = (help(&["render"]), help(&["trace"]));
    let (options, others) = render.split_once("\nFolders:\n").unwrap();
    let values = "[possible values: tower, tera, hcl, cel, cel-yaml, helm]";
    assert!(options.contains("--lang <LANG>") && options.contains(values), "{options}");
    assert!(!others.contains("--lang"), "{others}");
    let (options, others) = trace.split_once("\nFolders:\n").unwrap();
    assert!(options.contains("--step") && !others.contains("--step"), "{trace}");
    let sandbox = Sandbox::new();
    sandbox.run(&["render", "x", "--lang", "gotmpl"]).expect(2).says(&["'gotmpl'", "Go templates are `helm`"]);
    sandbox.run(&["check", "x", "--lang", "jinja"]).expect(2).says(&["expected one of tower, tera, hcl"]);
}

#[test]
fn help_knows_languages_and_files() {
    for (word, part) in [
        ("tera", "Tera 1.20"),
        ("svc.yaml.tera", "Tera 1.20"),
        ("app.cel.yaml", "CEL in YAML"),
        ("hcl", "dropforge hcl fmt"),
        ("hcl", "The language HCL"),
        ("Chart.yaml", "Helm charts"),
        ("dropforge.toml", "The options of a project"),
        ("web.test.yaml", "`--update` writes"),
        (".dropforge", "Commit it"),
        ("SOURCE_DATE_EPOCH", "since 1970"),
        ("limits", "--max-source"),
        ("secrets", "writeOnly"),
    ] {
        assert!(help(&[word]).contains(part), "{word}");
    }
}

#[test]
fn help_knows_tags_directives_and_objects() {
    for (word, parts) in [
        ("if", &["tag `if` (tera)", "action `if` (helm)", "directive `if` (hcl)", "%{ endif }"][..]),
        ("$for", &["directive `$for` (cel-yaml)", "Repeats `$do`."]),
        ("range", &["action `range` (helm)", "function `range` (tera)"]),
        (".Files.Get", &["object `Files.Get` (helm)", "  .Files.Get\n"]),
        ("template", &["action `template` (helm)", "See also: "]),
        ("loop.index", &["from 1"]),
        ("params", &["${params.NAME}"]),
    ] {
        let text = help(&[word]);
        parts.iter().for_each(|part| assert!(text.contains(part), "{word}: {text}"));
    }
}

#[test]
fn an_unknown_word_has_a_suggestion() {
    let sandbox = Sandbox::new();
    for (word, near) in [
        ("stmp", "stamp"),
        ("--layuot", "--layout"),
        ("nindnt", "nindent"),
        ("dropforge.tml", "dropforge.toml"),
        ("name.undefined_variabel", "name.undefined_variable"),
        ("hcl fmtt", "hcl fmt"),
        ("$fro", "$for"),
    ] {
        sandbox.run(&["help", word]).expect(2).says(&[&format!("`{word}`"), &format!("did you mean `{near}`?")]);
    }
}

#[test]
fn commands_of_other_tools_name_what_does_their_work() {
    let sandbox = Sandbox::new();
    for (command, instead) in [
        ("lint", "dropforge check"),
        ("template", "dropforge render"),
        ("upgrade", "kubectl apply"),
        ("plan", "dropforge diff"),
        ("version", "dropforge --version"),
    ] {
        let error = sandbox.run(&[command, "web"]).expect(2).stderr;
        assert!(error.contains("unrecognized subcommand") && error.contains(instead), "{error}");
        assert!(!error.contains("similar"), "{error}");
        assert!(help(&[command]).contains(instead));
    }
    sandbox.run(&["stmp"]).expect(2).says(&["'stamp'"]);
}

#[test]
fn options_of_helm_name_what_does_their_work() {
    let sandbox = Sandbox::with(&[("shop/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")]);
    for (args, instead) in [
        (&["rel", "shop"][..], "`--name NAME` is the name of the release"),
        (&["shop", "--generate-name"], "`--name NAME` is the name of the release"),
        (&["shop", "--release-name"], "`dropforge stamp -o DIR` writes files"),
        (&["shop", "--post-renderer", "x"], "pipe the output"),
        (&["shop", "--kubeconfig", "x"], "dropforge talks to no cluster"),
    ] {
        let error = sandbox.run(&[&["render"], args].concat()).expect(2).says(&[instead]).stderr;
        assert!(!error.contains("similar") && !error.contains("'-- --"), "{error}");
    }
    let far = sandbox.run(&["render", "shop", "--cel-prsnz-mode"]).expect(2).stderr;
    assert!(!far.contains("similar"), "{far}");
    sandbox.run(&["render", "shop", "--vlues", "x"]).expect(2).says(&["'--values'"]);
    sandbox.run(&["render", "shop", "--name-spa", "x"]).expect(2).says(&["'--namespace'"]);
}

/// The examples about languages and files print what they show.
#[test]
fn the_examples_of_topics_run() {
    let sandbox = Sandbox::new();
    let topics = include_str!("../../cli/src/help/topics.md");
    let mut commands = 0;
    for example in topics.split("    $ ").skip(1) {
        let (command, rest) = example.split_once('\n').unwrap();
        let wanted: String =
            rest.lines().map_while(|line| line.strip_prefix("    ")).map(|line| format!("{line}\n")).collect();
        assert_eq!(outcome(sandbox.shell("-c", command)).expect(0).stdout, wanted, "{command}");
        commands += 1;
    }
    assert!(commands >= 13, "{commands}");
    assert!(topics.lines().all(|line| line.chars().count() <= 80));
    // The pages that they name exist.
    for page in topics.split("docs/").skip(1).filter_map(|rest| rest.split_once(".md")) {
        let path = format!("{}/../docs/{}.md", env!("CARGO_MANIFEST_DIR"), page.0);
        assert!(std::path::Path::new(&path).is_file(), "{path}");
    }
}

#[test]
fn the_version_has_details() {
    let sandbox = Sandbox::new();
    let short = sandbox.run(&["--version"]).expect(0).stdout;
    let long = sandbox.run(&["--version", "-v"]).expect(0).stdout;
    assert!(long.starts_with(&short) && short.lines().count() == 1, "{short}{long}");
    assert_eq!(long, sandbox.run(&["-vV"]).expect(0).stdout);
    for part in [
        "features: catalog, remote, arrow, lsp, console\n",
        "tera (Tera 1.20)",
        "helm (Helm 4.2)",
        "cel (CEL ",
        "\ndata: Unicode ",
        ", time zones 20",
        ", Kubernetes v1.",
        "artifacts: format ",
        "\nbuilt by: rustc 1.",
    ] {
        assert!(long.contains(part), "{part}: {long}");
    }
}
