//! `dropforge console`: lines from a pipe, and keys typed on a terminal.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::Sandbox;

const VALUES: &str = "name: api\nimage: {tag: v2, repo: r}\nports: [80, 443]\nratio: 0.5\n";

/// Types `lines` into a console without a terminal. Returns what it prints.
#[track_caller]
fn answers(options: &[&str], lines: &[&str]) -> String {
    let sandbox = Sandbox::with(&[("values.yaml", VALUES)]);
    let args = [&["console", "-f", "values.yaml"], options].concat();
    sandbox.feed(&args, &(lines.join("\n") + "\n")).expect(0).stdout
}

/// Types `lines`. Returns the messages of a console in which one failed.
#[track_caller]
fn refusals(options: &[&str], lines: &[&str]) -> String {
    let sandbox = Sandbox::with(&[("values.yaml", VALUES)]);
    let args = [&["console", "-f", "values.yaml"], options].concat();
    sandbox.feed(&args, &(lines.join("\n") + "\n")).expect(1).stderr
}

#[test]
fn expressions_of_every_language_are_printed_as_json() {
    let of = |language: &str, lines: &[&str]| answers(&["--lang", language], lines);
    assert_eq!(
        of("tera", &["name", "image", "ports.0 + 1", "ratio"]),
        "\"api\"\n{\"tag\":\"v2\",\"repo\":\"r\"}\n81\n0.5\n"
    );
    assert_eq!(of("helm", &[".name | upper", "index .ports 0", ".ratio"]), "\"API\"\n80\n0.5\n");
    assert_eq!(of("hcl", &["upper(name)", "[for p in ports : p * 2]"]), "\"API\"\n[160,886]\n");
    assert_eq!(of("cel", &["ports.map(p, p + 1)", "name + '!'"]), "[81,444]\n\"api!\"\n");
    assert_eq!(of("cel-yaml", &["image.tag"]), "\"v2\"\n");
    let params = answers(&["--lang", "tower", "--set", "params.app=shop"], &["params.app", "run ${params.app}"]);
    assert_eq!(params, "\"shop\"\nrun shop\n");
}

#[test]
fn templates_are_rendered_and_silent_ones_stay_in_force() {
    let lines =
        ["{% set x = 3 %}", "{% macro m(a) %}<{{ a }}>{% endmacro %}", "{{ self::m(a=x) }}", "x + 1", ":clear", "name"];
    assert_eq!(answers(&[], &lines), "<3>\n4\n\"api\"\n");
    let lines = ["$x := .image", "$x.tag", "{{ define \"t\" }}[{{ . }}]{{ end }}", "include \"t\" 5"];
    assert_eq!(answers(&["--lang", "helm"], &lines), "\"v2\"\n\"[5]\"\n");
    let lines = ["\"{{ a }}\" ~ name", "'{%' ~ 1", "\"a\" ~ {{ name }}"];
    assert_eq!(answers(&[], &lines), "\"{{ a }}api\"\n\"{%1\"\n\"a\" ~ api\n");
    assert_eq!(answers(&["--lang", "hcl"], &[":template port ${ports[0]}"]), "port 80\n");
    assert_eq!(answers(&["--lang", "cel-yaml"], &[":template a: ${name} \\", "b: 1"]), "a: api\nb: 1\n");
}

#[test]
fn types() {
    let of = |language: &str, line: &str| answers(&["--lang", language], &[&format!(":type {line}")]);
    assert_eq!(of("tera", "image"), "map of 2 keys\n");
    assert_eq!(of("tera", "name"), "string of 3 characters\n");
    assert_eq!(of("helm", ".ports"), "list of 2 elements\n");
    assert_eq!(of("hcl", "image"), "object({repo = string, tag = string})\n");
    assert_eq!(of("hcl", "ports"), "tuple([number, number])\n");
    assert_eq!(of("hcl", "toset([name])"), "set(string)\n");
    assert_eq!(of("cel", "ports.size() > 1"), "bool\n");
}

#[test]
fn values_are_listed_with_their_origins_and_can_be_changed() {
    let lines = [":inputs image", ":set image.tag=v3", ":inputs image.tag", ":let n = ports | length", "n"];
    let printed = answers(&[], &lines);
    let expected = "image.tag: \"v2\"  # values.yaml:2:14\nimage.repo: \"r\"  # values.yaml:2:24\n\
                    image.tag: \"v3\"  # --set image.tag=v3; overrides values.yaml:2:14\n2\n";
    assert_eq!(printed, expected);
    let text = refusals(
        &[],
        &[":inputs imag", ":set", ":load none.yaml", ":let x", ":frob", ":lang go", ":explain E9", ":cluster a"],
    );
    for part in
        ["no value `imag`", "`:set K=V`", "none.yaml", "`:let x = 1`", "unknown command `:frob`", "`go`", "`E9`"]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(text.contains("--fleet FLEET"), "{text}");
}

#[test]
fn a_cluster_of_a_fleet() {
    let sandbox = Sandbox::with(&[
        ("fleet.csv", "name,zone\neu,a\nus,b\n"),
        ("t/a.tera", "{{ zone }}"),
        ("t/values.schema.json", r#"{"properties":{"size":{"default":3}}}"#),
    ]);
    let args = ["console", "t", "--fleet", "fleet.csv", "--cluster", "eu", "--schema-defaults"];
    let lines = "zone\n:cluster us\nzone\nsize\n{% include \"a.tera\" %}\n:cluster\n";
    assert_eq!(sandbox.feed(&args, lines).expect(0).stdout, "\"a\"\n\"b\"\n3\nb\neu\nus\n");
    sandbox.feed(&args, ":cluster ue\nzone\n").expect(1).says(&["no cluster is named `ue`"]);
    sandbox.write("dropforge.toml", "templates = [\"t\"]\nfleet = [\"fleet.csv\"]\n");
    sandbox.feed(&["console"], ":cluster eu\nzone\n{% include \"a.tera\" %}\n").expect(0);
    sandbox.feed(&["console", "--fleet", "fleet.csv", "--cluster", "x"], "").expect(2).says(&["`x`"]);
}

#[test]
fn a_chart_has_its_values_and_named_templates() {
    let sandbox = Sandbox::with(&[
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/values.yaml", "image:\n  tag: v1\n"),
        ("c/templates/_h.tpl", "{{ define \"c.tag\" }}tag={{ .Values.image.tag }}{{ end }}"),
        ("c/templates/bad.yaml", "{{ fail \"not run\" }}"),
    ]);
    let lines =
        "include \"c.tag\" .\n.Release.Name\n:inputs\n:set image.tag=v2\n.Values.image.tag\n{{ .Chart.Name }}\n";
    let outcome = sandbox.feed(&["console", "c", "--name", "web"], lines).expect(0);
    assert_eq!(outcome.stdout, "\"tag=v1\"\n\"web\"\nimage.tag: \"v1\"\n\"v2\"\nc\n");
    let outcome = sandbox.feed(&["console", "c"], ".Values.imge.tag\n").expect(1);
    outcome.says(&["E0201", "did you mean `.Values.image`?", "c/values.yaml:1:1", "--> <console>:1:8"]);
    let lines = "tpl \"{{ .Values.image.tag }}\" .\nx={{ .Values.image.tag }}\n$x := \"{{ .Chart.Name }}\"\ntpl $x .\n";
    assert_eq!(sandbox.feed(&["console", "c"], lines).expect(0).stdout, "\"v1\"\nx=v1\n\"c\"\n");
    // A misspelled function beside a string with tags is an error of an expression. Text is not.
    let outcome = sandbox.feed(&["console", "c"], "tpl \"{{ .Values }}\" . | uper\n").expect(1);
    outcome.says(&["function \"uper\" not defined", "--> <console>:1:25", "did you mean `upper`?"]);
    for text in ["name: \"{{ .Chart.Name }}\"", "list \"{{ .Chart.Name }}\" of | {{ .Chart.Name }}"] {
        let printed = sandbox.feed(&["console", "c"], &format!("{text}\n")).expect(0).stdout;
        assert_eq!(printed, text.replace("{{ .Chart.Name }}", "c") + "\n");
    }
    sandbox.feed(&["console", "c", "--lang", "tera"], "").expect(2).says(&["--lang"]);
}

#[test]
fn instructions_functions_and_explanations() {
    let printed =
        answers(&[], &[":bytecode name | upper", ":functions upper", ":explain E0201", ":help", ":quit", "name"]);
    for part in ["load_path name", "filter `upper` (tera)", "E0201", ":bytecode EXPR"] {
        assert!(printed.contains(part), "no {part} in {printed}");
    }
    assert!(!printed.ends_with("\"api\"\n"), "{printed}");
}

#[test]
fn errors_show_only_the_line_and_the_console_goes_on() {
    let text = refusals(&[], &["imge.tag", "name |", "{% if %}"]);
    assert!(text.contains("imge.tag\n  | ^^^^^^^^") && text.contains("did you mean `image`?"), "{text}");
    assert!(!text.contains("dropforge_console"), "{text}");
    let lines = [
        "{% set y = 1 %}",
        "{% macro m(a) %}{{ a.b }}{% endmacro %}",
        "1 + zz",
        "y + ",
        "self::m(a=1)",
        "stä",
        "a {{ q }}",
    ];
    let text = refusals(&[], &lines);
    for part in [
        "--> <console>:1:5\n  |\n1 | 1 + zz\n",
        "--> <console>:1:4\n  |\n1 | y +\n  |    ^\n",
        "--> <console>:1:22\n  |\n1 | {% macro m(a) %}{{ a.b }}{% endmacro %}\n",
        "::: <console>:1:1\n  |\n1 | self::m(a=1)\n",
        "--> <console>:1:3\n  |\n1 | stä\n",
        "--> <console>:1:6\n  |\n1 | a {{ q }}\n",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let text = refusals(&["--lang", "helm"], &["$x := 1", ".image.tag.x", "upper |", ":bytecode uper 1"]);
    assert!(text.matches("<console>:1:").count() == 3 && !text.contains("console.txt"), "{text}");
    let sandbox = Sandbox::new();
    sandbox.feed(&["console", "-f", "-"], "").expect(2).says(&["both read standard input"]);
    sandbox.feed(&["console", "--name", "x"], "").expect(2).says(&["--name"]);
}

#[test]
fn a_prefix_without_variables_is_told_once() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.feed(&["console", "--env-prefix", "NONE_OF_THEM_"], "1\n2\n:set a=3\n").expect(0);
    assert_eq!(outcome.stderr.matches("no environment variable begins with `NONE_OF_THEM_`").count(), 1, "{outcome:?}");
}

#[test]
fn hostile_lines() {
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let long = format!("name | replace(from=\"a\", to=\"{}\") | length", "b".repeat(1 << 20));
    let nested = format!("{}x{}", "{{ ".repeat(50_000), " }}".repeat(50_000));
    for language in ["tera", "helm", "hcl", "cel", "cel-yaml", "tower"] {
        for line in [
            deep.as_str(),
            &nested,
            "\u{0}",
            "%}{{ name",
            "}}{{ 1",
            "*/}}",
            "#}",
            "\u{202e}x",
            ":",
            ": x",
            ":type",
            "\\",
        ] {
            let sandbox = Sandbox::with(&[("values.yaml", VALUES)]);
            let outcome =
                sandbox.feed(&["console", "-f", "values.yaml", "--lang", language], &format!("{line}\n:help\n"));
            assert!(
                matches!(outcome.code, 0 | 1) && outcome.stdout.contains(":quit"),
                "{language} {line:.20}: {outcome:?}"
            );
        }
    }
    assert_eq!(answers(&[], &[&long]), format!("{}\n", (1 << 20) + 2));
}

/// A console on a terminal.
struct Terminal {
    keys: File,
    screen: Receiver<String>,
    seen: String,
}

impl Terminal {
    fn start(sandbox: &Sandbox, args: &[&str]) -> (Self, std::process::Child) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("a path");
        let side = || OpenOptions::new().read(true).write(true).open(&name).expect("a terminal");
        let mut command: Command = sandbox.command(args);
        command.env("XDG_STATE_HOME", sandbox.path("state")).env("TERM", "xterm").env("NO_COLOR", "1");
        command.stdin(Stdio::from(side())).stdout(Stdio::from(side())).stderr(Stdio::from(side()));
        let child = command.spawn().expect("started");
        let keys = File::from(master);
        let mut output = keys.try_clone().expect("a terminal");
        let (sender, screen) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The terminal ends with the console.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                if sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                    return;
                }
            }
        });
        (Self { keys, screen, seen: String::new() }, child)
    }

    /// Waits until `text` is on the screen, and forgets what was there before.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            match self.screen.recv_timeout(Duration::from_secs(60)) {
                Ok(more) => self.seen.push_str(&more),
                Err(_) => panic!("no {text:?} in {:?}", self.seen),
            }
        }
        let end = self.seen.find(text).map_or(0, |at| at + text.len());
        self.seen.drain(..end);
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("typed");
    }
}

#[test]
fn a_terminal_has_completion_history_and_continued_lines() {
    let sandbox = Sandbox::with(&[("values.yaml", "certificate: {issuer: acme}\n")]);
    let args = ["console", "-f", "values.yaml"];
    let (mut terminal, mut child) = Terminal::start(&sandbox, &args);
    terminal.wait_for("`:help` lists commands");
    terminal.wait_for("Tera> ");
    terminal.press("certif\t.iss\t\r");
    terminal.wait_for("\"acme\"");
    terminal.wait_for("Tera> ");
    terminal.press("certificate.issuer | \\\rupper\r");
    terminal.wait_for("\"ACME\"");
    // Between two lines the terminal itself would act on control keys.
    terminal.wait_for("Tera> ");
    terminal.press("half a line\u{3}");
    terminal.wait_for("Tera> ");
    terminal.press("nme\r");
    terminal.wait_for("E0201");
    terminal.wait_for("Tera> ");
    // Tab reads the values.
    sandbox.write("values.yaml", "certificate: {issuer: acme}\nzonal: north\n");
    terminal.press("zona\t\r");
    terminal.wait_for("\"north\"");
    terminal.wait_for("Tera> ");
    terminal.press("\u{4}");
    assert_eq!(child.wait().expect("ended").code(), Some(0));
    let history = fs::read_to_string(sandbox.path("state/dropforge/console-history")).expect("a history");
    assert!(history.contains("certificate.issuer") && history.contains("nme"), "{history}");
    let (mut terminal, mut child) = Terminal::start(&sandbox, &args);
    terminal.wait_for("Tera> ");
    // The line above the last two, from the history of the first console.
    terminal.press("\u{1b}[A\u{1b}[A\u{1b}[A\r");
    terminal.wait_for("\"ACME\"");
    terminal.wait_for("Tera> ");
    terminal.press(":quit\r");
    assert_eq!(child.wait().expect("ended").code(), Some(0));
}

#[test]
fn layers_follow_the_chosen_cluster() {
    let sandbox = Sandbox::with(&[
        ("fleet.yaml", "- {name: eu, env: prod}\n- {name: us, env: dev, size: 7}\n"),
        ("base.yaml", "size: 1\nzone: base\ndebug: false\n"),
        ("env/prod.yaml", "size: 5\ndebug: null\n"),
        ("env/dev.yaml", "zone: dev\n"),
        ("t/a.tera", "{{ size }}{{ zone }}"),
        (
            "dropforge.toml",
            "templates = [\"t\"]\nfleet = [\"fleet.yaml\"]\nlayers = [\"base.yaml\", \"env/{env}.yaml\"]\n",
        ),
    ]);
    let lines = ":cluster eu\nsize\nzone\ndebug is defined\n:cluster us\nsize\nzone\n{% include \"a.tera\" %}\n:set size=9\nsize\n";
    let outcome = sandbox.feed(&["console"], lines).expect(0);
    assert_eq!(outcome.stdout, "5\n\"base\"\nfalse\n7\n\"dev\"\n7dev\n9\n");
    // The origins of values are the layers of the cluster.
    let listed = sandbox.feed(&["console"], ":cluster us\n:inputs\n").expect(0).stdout;
    for part in ["fleet.yaml:2", "env/dev.yaml:1:7"] {
        assert!(listed.contains(part), "no {part} in {listed}");
    }
    assert!(!listed.contains("env/prod.yaml"), "{listed}");
    // The layer of another environment is missing only for its cluster.
    sandbox.replace("fleet.yaml", "- {name: eu, env: prod}\n- {name: us, env: qa}\n");
    let outcome = sandbox.feed(&["console"], ":cluster eu\nsize\n:cluster us\nsize\n").expect(1);
    assert_eq!(outcome.stdout, "5\n");
    outcome.says(&["env/qa.yaml", "env/{env}.yaml"]);
}
