//! A project file in place of options.

use crate::support::Sandbox;

const PROJECT: &str = "templates = ['t/']\nfleet = ['fleet.ndjson']\nvalues = ['v.yaml']\n[output]\ndir = 'out'\n";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("dropforge.toml", PROJECT),
        ("t/a.yaml.tera", "{{ name }}: {{ tag }} {{ env }}\n"),
        ("v.yaml", "tag: v1\nenv: dev\n"),
        ("fleet.ndjson", "{\"name\":\"eu\",\"env\":\"prod\"}\n{\"name\":\"us\"}\n"),
    ])
}

#[test]
fn stamp_alone_does_everything() {
    let sandbox = sandbox();
    sandbox.run(&["stamp"]).expect(0).says(&["2 files for 2 clusters"]);
    assert_eq!(sandbox.read("out/eu/a.yaml"), "eu: v1 prod\n");
    sandbox.run(&["stamp", "--check"]).expect(0);
    sandbox.run(&["-v", "stamp"]).expect(0).says(&["project: dropforge.toml"]);
    sandbox.run(&["check"]).expect(0).says(&["checked 1 template"]);
    assert_eq!(sandbox.run(&["values"]).expect(0).stdout, "tag: v1\nenv: dev\n");
    let of_cluster = sandbox.run(&["values", "--cluster", "eu", "--output-format", "json"]).expect(0);
    assert!(of_cluster.stdout.contains("\"prod\""), "{}", of_cluster.stdout);
}

#[test]
fn templates_are_not_specialised_if_the_project_says_so() {
    let sandbox = sandbox();
    let plan = || sandbox.run(&["stamp", "--explain-plan"]).expect(0).stdout;
    assert!(plan().contains("not specialised: 2 clusters only"), "{}", plan());
    for (value, reason) in [("true", "switched off"), ("false", "2 clusters only")] {
        sandbox.write("dropforge.toml", &format!("no-specialise = {value}\n{PROJECT}"));
        assert!(plan().contains(&format!("not specialised: {reason}")), "{}", plan());
    }
    sandbox.write("dropforge.toml", &format!("no-specialise = 'yes'\n{PROJECT}"));
    sandbox.run(&["stamp"]).expect(2).says(&["`no-specialise` must be `true` or `false`"]);
}

#[test]
fn the_command_line_wins() {
    let sandbox = sandbox();
    sandbox.write("w.yaml", "tag: v2\n");
    sandbox.write("u/b.yaml.tera", "b: {{ tag }}\n");
    sandbox.write("one.csv", "name\none\n");
    sandbox.run(&["stamp", "-f", "w.yaml", "-o", "two", "-l", "name=eu"]).expect(0).says(&["1 file for 1 cluster"]);
    assert_eq!(sandbox.read("two/eu/a.yaml"), "eu: v2 prod\n", "the project's values lie below");
    sandbox.run(&["stamp", "u", "--fleet", "one.csv", "--set", "tag=v3"]).expect(0);
    assert_eq!(sandbox.read("out/one/b.yaml"), "b: v3\n");
    let outputs = || sandbox.tree("out").into_keys().filter(|path| path.ends_with(".yaml")).collect::<Vec<_>>();
    assert_eq!(outputs(), ["one/b.yaml"]);
    std::fs::remove_dir_all(sandbox.path("out")).unwrap();
    sandbox.run(&["stamp"]).expect(0);
    sandbox.write(
        "dropforge.toml",
        &format!(
            "merge = 'replace'\nselector = 'name=eu'\n{PROJECT}prune = true\nlayout = 'x/{{cluster}}/{{template}}'\n"
        ),
    );
    sandbox.run(&["stamp"]).expect(2).says(&["E0919", "pruning would delete 2 of 2 files"]);
    sandbox.run(&["stamp", "--prune", "--prune-force"]).expect(0);
    assert_eq!(outputs(), ["x/eu/a.yaml"]);
    sandbox.write("dropforge.toml", &format!("{PROJECT}diff-format = 'json'\n"));
    sandbox.run(&["stamp", "--dry-run"]).expect(0);
    let diff = sandbox.run(&["stamp", "--diff", "--set", "tag=v9"]).expect(3);
    assert!(diff.stdout.starts_with('{'), "{}", diff.stdout);
    let single = sandbox.run(&["stamp", "--layout", "single", "-o", "-", "-l", "name=us"]).expect(0);
    assert!(single.stdout.contains("us: v1 dev"), "{}", single.stdout);
}

#[test]
fn it_is_looked_for_in_the_current_directory_only() {
    let sandbox = sandbox();
    sandbox.write("below/x.txt", "");
    let missing = ["required arguments", "<TEMPLATES>", "--fleet", "dropforge.toml", "dropforge init"];
    sandbox.run(&["-C", "below", "stamp"]).expect(2).says(&missing);
    sandbox.run(&["stamp", "--no-project"]).expect(2).says(&missing);
    sandbox.run(&["stamp", "--no-project", "--project", "x"]).expect(2).says(&["cannot be used with"]);
    // Paths are relative to the file, not to the current directory.
    sandbox.run(&["-C", "below", "stamp", "--project", "../dropforge.toml"]).expect(0);
    assert_eq!(sandbox.read("out/us/a.yaml"), "us: v1 dev\n");
    // The name of a command as the value of an option is no command.
    std::fs::rename(sandbox.path("below"), sandbox.path("stamp")).unwrap();
    std::fs::copy(sandbox.path("dropforge.toml"), sandbox.path("stamp/dropforge.toml")).unwrap();
    sandbox.run(&["-C", "stamp", "stamp"]).expect(1).says(&["t", "cannot read"]);
    sandbox.run(&["stamp", "--project", "none.toml"]).expect(2).says(&["E0901", "cannot read `none.toml`"]);
    // A template to render needs no project, even a broken one.
    sandbox.write("dropforge.toml", "broken");
    sandbox.run(&["render", "t/a.yaml.tera", "-f", "v.yaml", "--set", "name=x"]).expect(0);
    sandbox.run(&["stamp"]).expect(2).says(&["E0801", "invalid TOML", "dropforge.toml:1:"]);
}

#[test]
fn the_environment_lies_between() {
    let sandbox = sandbox();
    sandbox.write("dropforge.toml", &format!("cache-dir = 'cache'\n{PROJECT}"));
    let run = |cache: Option<&str>| {
        let mut command = sandbox.command(&["stamp"]);
        match cache {
            Some(dir) => command.env("DROPFORGE_CACHE", dir),
            None => command.env_remove("DROPFORGE_CACHE"),
        };
        crate::support::outcome(command).expect(0)
    };
    run(Some("other"));
    assert!(sandbox.path("other").is_dir() && !sandbox.path("cache").exists());
    run(None);
    assert!(sandbox.path("cache").is_dir());
    sandbox.run(&["stamp", "--no-cache"]).expect(0);
}

#[test]
fn all_mistakes_are_named_with_their_places() {
    let sandbox = sandbox();
    sandbox.write(
        "dropforge.toml",
        "template = ['t']\nfleet = 3\nvalues = ['v.yaml', true]\nallow = ['clock']\nenv-prefix = 'P_'\nforce = true\n\
         layout = 'x'\n[output]\ndri = 'out'\nprune = 'yes'\n[outptu]\n[tera]\ndialect = 'jinja'\n[limits]\nmerge = 'deep'\n",
    );
    let wrong = sandbox.run(&["stamp"]).expect(2).says(&[
        "unknown key `template`",
        "dropforge.toml:1:1",
        "did you mean `templates`?",
        "`fleet` must be a list of strings, found integer",
        "dropforge.toml:2:9",
        "`values` must be a list of strings, found boolean",
        "dropforge.toml:3:21",
        "`allow` cannot be set in a project file",
        "give `--env-prefix` on the command line",
        "`force` cannot be set in a project file",
        "unknown key `layout`",
        "write `layout` in `[output]`",
        "unknown key `dri` in `[output]`",
        "did you mean `dir`?",
        "`prune` must be `true` or `false`, found string",
        "unknown key `outptu`",
        "did you mean `output`?",
        "invalid value `jinja` for `dialect`: expected `tera+` or `plain`",
        "dropforge.toml:13:11",
        "`merge` stands above all tables",
    ]);
    assert_eq!(wrong.stderr.matches("error[E0921]").count(), 12, "{}", wrong.stderr);
    let json = sandbox.run(&["stamp", "--error-format", "json"]).expect(2).json();
    assert_eq!((json.len(), json[0]["code"].as_str()), (12, Some("E0921")));
    // Values are checked by the options they stand for.
    sandbox.write("dropforge.toml", &format!("merge = 'shallow'\nlang = 'jinja'\n{PROJECT}[cel]\npresence = 'x'\n"));
    let refused = sandbox.run(&["stamp"]).expect(2);
    refused.says(&[
        "invalid value `shallow` for `merge`: expected `deep` or `replace`",
        "dropforge.toml:1:9",
        "invalid value `jinja` for `lang`: expected one of ",
        "invalid value `x` for `presence`",
        "lenient",
    ]);
    // Mistakes of the command line are told as always.
    sandbox.write("dropforge.toml", PROJECT);
    sandbox.run(&["stamp", "--merge", "shallow"]).expect(2).says(&["'--merge <HOW>'"]);
    sandbox.run(&["stamp", "--nothing"]).expect(2).says(&["unexpected argument '--nothing'"]);
}

#[test]
fn hostile_files_are_refused() {
    let sandbox = sandbox();
    let deep = format!("templates = {}", "[".repeat(100_000));
    for (text, code) in [(deep.as_str(), "E0602"), ("a = 1\na = 2\n", "E0805"), ("templates = [", "E0801")] {
        sandbox.write("dropforge.toml", text);
        sandbox.run(&["stamp"]).expect(2).says(&[code, "dropforge.toml:"]);
    }
    std::fs::write(sandbox.path("dropforge.toml"), b"a = '\xff'").unwrap();
    sandbox.run(&["stamp"]).expect(2).says(&["not valid UTF-8"]);
    sandbox.write("dropforge.toml", "");
    sandbox.run(&["stamp"]).expect(2).says(&["required arguments", "set them in `dropforge.toml`"]);
    // A text is no option.
    sandbox.write("dropforge.toml", "templates = ['--set=a=1', '-x']\nfleet = 'fleet.ndjson'\n[output]\ndir = '--x'\n");
    sandbox.run(&["stamp"]).expect(1).says(&["cannot read", "--set=a=1"]);
}

#[test]
fn render_takes_the_folder_of_the_project() {
    let sandbox = sandbox();
    let rendered = sandbox.run(&["render", "--set", "name=x"]).expect(0);
    assert!(rendered.stdout.contains("x: v1 dev\n"), "{}", rendered.stdout);
    sandbox.run(&["render", "--set", "name=x", "-o", "flat"]).expect(0);
    assert_eq!(sandbox.read("flat/a.yaml"), "x: v1 dev\n");
    sandbox.write("dropforge.toml", "templates = ['t', 'u']\n[output]\nkeep-empty = true\n");
    sandbox.run(&["render"]).expect(2).says(&["takes one template or folder", "has 2", "dropforge.toml:1:13"]);
    sandbox.run(&["render", "--no-project"]).expect(2).says(&["<TEMPLATE>"]);
    let one = ["render", "t/a.yaml.tera", "--project", "dropforge.toml", "-f", "v.yaml", "--set", "name=y"];
    assert_eq!(sandbox.run(&one).expect(0).stdout, "y: v1 dev\n");
}

#[test]
fn some_outputs_are_not_checked() {
    let sandbox = sandbox();
    sandbox.write("t/raw/b.yaml.tera", "{{ name }}: [\n");
    sandbox.run(&["stamp"]).expect(4).says(&["E0906", "raw/b.yaml"]);
    sandbox.write("dropforge.toml", &format!("{PROJECT}unchecked = ['*/raw/**']\n"));
    sandbox.run(&["stamp"]).expect(0);
    assert_eq!(sandbox.read("out/us/raw/b.yaml"), "us: [\n");
    sandbox.run(&["stamp", "--unchecked", "**/c.yaml"]).expect(4);
    sandbox.run(&["stamp", "--unchecked", "[a"]).expect(2).says(&["expected a pattern"]);
}
