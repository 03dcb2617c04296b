//! `stamp --watch`: each change is stamped again where it reaches.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};

use crate::support::Sandbox;

/// A running `stamp --watch` and its lines on standard error.
struct Watched {
    child: Child,
    lines: Receiver<String>,
}

impl Watched {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(&[&["stamp", "--watch"], args].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stderr: ChildStderr = child.stderr.take().unwrap();
        let (send, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Self { child, lines }
    }

    /// Waits for a line that contains `part`. Returns it and those before it.
    #[track_caller]
    fn until(&self, part: &str) -> String {
        let mut text = String::new();
        while !text.contains(part) {
            let line = self.lines.recv_timeout(Duration::from_secs(30));
            text += &line.unwrap_or_else(|error| panic!("{error}: no {part:?} in {text}"));
            text.push('\n');
        }
        text
    }

    /// Sends a signal and returns the exit code.
    fn stop(mut self, signal: rustix::process::Signal) -> Option<i32> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("dropforge.toml", "templates = ['t']\nfleet = ['f.ndjson']\nvalues = ['v.yaml']\n[output]\ndir = 'out'\n"),
        ("t/a.yaml.tera", "a: {{ name }} {{ tag }}{% include '_l.tera' %}\n"),
        ("t/b.yaml.tera", "b: {{ name }} {{ n }}\n"),
        ("t/_l.tera", ""),
        ("v.yaml", "tag: v1\n"),
        ("f.ndjson", "{\"name\":\"x\",\"n\":1}\n{\"name\":\"y\",\"n\":1}\n{\"name\":\"z\",\"n\":1}\n"),
    ])
}

/// Makes a file look unwritten: a run that writes it again shows in its content.
fn mark(sandbox: &Sandbox, name: &str) {
    sandbox.write(name, "marked\n");
}

#[test]
fn a_change_reaches_its_outputs_only() {
    let sandbox = sandbox();
    let watched = Watched::start(&sandbox, &[]);
    watched.until("6 files for 3 clusters: 6 new");
    watched.until("watching 6 files");
    // An included template reaches the templates that include it, in every cluster.
    for name in ["out/x/b.yaml", "out/x/a.yaml"] {
        mark(&sandbox, name);
    }
    sandbox.replace("t/_l.tera", " # l");
    let line = watched.until("t/_l.tera: 3 files updated in ");
    assert_eq!(line.lines().count(), 1, "{line}");
    let (hour, rest) = line.split_at(8);
    assert!(hour.chars().all(|c| c.is_ascii_digit() || c == ':') && rest.ends_with(" ms\n"), "{line}");
    assert_eq!(
        (sandbox.read("out/x/a.yaml"), sandbox.read("out/x/b.yaml")),
        ("a: x v1 # l\n".into(), "marked\n".into())
    );
    // A cluster's record reaches that cluster.
    mark(&sandbox, "out/x/a.yaml");
    sandbox.replace(
        "f.ndjson",
        "{\"name\":\"x\",\"n\":1}\n{\"name\":\"y\",\"n\":2}\n{\"name\":\"z\",\"n\":1}\n{\"name\":\"w\",\"n\":1}\n",
    );
    watched.until("f.ndjson: 1 file updated, 2 files new in ");
    assert_eq!((sandbox.read("out/x/a.yaml"), sandbox.read("out/y/b.yaml")), ("marked\n".into(), "b: y 2\n".into()));
    // A shared value reaches everything.
    sandbox.replace("v.yaml", "tag: v2\n");
    watched.until("v.yaml: 5 files updated in ");
    assert_eq!(sandbox.read("out/x/b.yaml"), "b: x 1\n");
    // A new template is stamped.
    sandbox.replace("t/sub/c.tera", "c\n");
    watched.until("t/sub/c.tera: 4 files new in ");
    assert_eq!(watched.stop(rustix::process::Signal::INT), Some(130));
}

#[test]
fn changes_of_layers_and_releases_are_stamped() {
    let head = "fleet = ['f.ndjson']\nlayers = ['v/{env}.yaml']\n[output]\ndir = 'out'\n[[release]]\nname = 'a'\n";
    let sandbox = Sandbox::with(&[
        ("dropforge.toml", &format!("{head}templates = ['t']\nvalues = ['v/a.yaml', 'b.yaml.tera']\n")),
        ("f.ndjson", "{\"name\":\"x\",\"env\":\"e\"}\n{\"name\":\"y\",\"env\":\"d\"}\n"),
        ("v/e.yaml", "tag: v1\n"),
        ("v/d.yaml", "tag: v1\n"),
        ("v/a.yaml", "n: 1\n"),
        ("b.yaml.tera", "m: {{ env }}\n"),
        ("t/a.yaml.tera", "a: {{ tag }} {{ n }} {{ m }}\n"),
    ]);
    let watched = Watched::start(&sandbox, &[]);
    watched.until("2 files for 2 clusters: 2 new");
    watched.until("watching 7 files");
    // Clusters that no changed file reaches are not rendered: what someone has written to their files stays.
    sandbox.write("out/y/a/a.yaml", "marked");
    sandbox.replace("v/e.yaml", "tag: v2\n");
    watched.until("v/e.yaml: 1 file updated in ");
    sandbox.replace("f.ndjson", "{\"name\":\"x\",\"env\":\"e\",\"tag\":\"v3\"}\n{\"name\":\"y\",\"env\":\"d\"}\n");
    watched.until("f.ndjson: 1 file updated in ");
    assert_eq!(
        (sandbox.read("out/y/a/a.yaml"), sandbox.read("out/x/a/a.yaml")),
        ("marked".into(), "a: v3 1 e\n".into())
    );
    for (name, text, updated) in [
        ("v/e.yaml", "tag: v2\nn: 0\n", "no file changed"),
        ("v/a.yaml", "n: 2\n", "2 files"),
        ("b.yaml.tera", "m: m{{ env }}\n", "2 files"),
        ("t/a.yaml.tera", "b: {{ tag }} {{ n }} {{ m }}\n", "2 files"),
    ] {
        sandbox.replace(name, text);
        let updated = if updated.starts_with("no") { updated.to_owned() } else { format!("{updated} updated") };
        watched.until(&format!("{name}: {updated} in "));
    }
    assert_eq!(sandbox.read("out/x/a/a.yaml"), "b: v3 2 me\n");
    assert_eq!(watched.stop(rustix::process::Signal::INT), Some(130));
}

#[test]
fn errors_are_printed_and_watching_goes_on() {
    let sandbox = sandbox();
    sandbox.write("t/b.yaml.tera", "b: {{");
    let watched = Watched::start(&sandbox, &[]);
    watched.until("b.yaml.tera:1:");
    watched.until("watching 6 files");
    sandbox.replace("t/b.yaml.tera", "b: {{ nme }}\n");
    watched.until("did you mean `name`?");
    watched.until("t/b.yaml.tera: 3 clusters failed in ");
    sandbox.replace("t/b.yaml.tera", "b: {{ name }}\n");
    watched.until("t/b.yaml.tera: 6 files new in ");
    std::fs::remove_file(sandbox.path("v.yaml")).unwrap();
    watched.until("cannot read `v.yaml`");
    sandbox.replace("v.yaml", "tag: v3\n");
    watched.until("v.yaml: 3 files updated");
    // A broken project, then another one.
    sandbox.replace("dropforge.toml", "templates = ");
    watched.until("invalid TOML");
    sandbox.replace(
        "dropforge.toml",
        "templates = ['t/a.yaml.tera']\nfleet = 'f.ndjson'\nvalues = 'v.yaml'\n[output]\ndir = 'out'\nprune = true\n",
    );
    // The project no longer makes the files of the other template.
    watched.until("dropforge.toml: 3 files deleted in ");
    assert_eq!(sandbox.tree("out").keys().filter(|path| path.ends_with("b.yaml")).count(), 0);
    // A cluster that is gone takes its files along.
    sandbox.replace("f.ndjson", "{\"name\":\"x\",\"n\":1}\n{\"name\":\"y\",\"n\":1}\n");
    watched.until("f.ndjson: 1 file deleted in ");
    assert_eq!(sandbox.tree("out").keys().filter(|path| path.ends_with("a.yaml")).count(), 2);
    assert_eq!(watched.stop(rustix::process::Signal::TERM), Some(143));
}

#[test]
fn files_elsewhere_and_globs_are_watched() {
    let sandbox = sandbox();
    sandbox.write("lib/_m.tera", "1");
    sandbox.write("u/d.tera", "{% include 'lib/_m.tera' %}\n");
    sandbox.write("fleets/one.csv", "name\none\n");
    sandbox.write("below/x", "");
    let args =
        ["-C", "below", "--no-project", "../u/d.tera", "-I", "..", "--fleet", "../fleets/*.csv", "-o", "../u/out"];
    let watched = Watched::start(&sandbox, &args);
    watched.until("watching ");
    sandbox.replace("lib/_m.tera", "2");
    assert!(watched.until("1 file updated in ").contains("lib/_m.tera"));
    sandbox.replace("fleets/two.csv", "name\ntwo\n");
    assert!(watched.until("1 file new in ").contains("../fleets/two.csv"));
    let outputs = sandbox.tree("u/out");
    assert_eq!(outputs.values().filter(|text| *text == "2\n").count(), 2, "{outputs:?}");
}

#[test]
fn charts_and_templates_outside_the_project_are_watched() {
    let sandbox = Sandbox::with(&[
        (
            "live/dropforge.toml",
            "fleet = ['f.csv']\n[output]\ndir = 'out'\n[[release]]\nname = 'web'\nchart = '../charts/web'\n\
             [[release]]\nname = 'own'\ntemplates = ['../shared']\n",
        ),
        ("live/f.csv", "name\nx\n"),
        ("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("charts/web/values.yaml", "size: 1\n"),
        ("charts/web/templates/a.yaml", "size: {{ .Values.size"),
        ("shared/b.yaml.tera", "b: {{ name }}\n"),
    ]);
    let watched = Watched::start(&sandbox, &["-C", "live"]);
    // The file that mends the first run lies elsewhere.
    watched.until("a.yaml:1:");
    watched.until("watching ");
    sandbox.replace("charts/web/templates/a.yaml", "size: {{ .Values.size }}\n");
    watched.until("2 files new in ");
    sandbox.replace("charts/web/values.yaml", "size: 2\n");
    watched.until("../charts/web/values.yaml: 1 file updated in ");
    sandbox.replace("shared/b.yaml.tera", "b: b{{ name }}\n");
    watched.until("../shared/b.yaml.tera: 1 file updated in ");
    sandbox.replace("charts/web/templates/c.yaml", "c: 1\n");
    watched.until("../charts/web/templates/c.yaml: 1 file new in ");
    sandbox.replace("shared/d.yaml.tera", "d: 1\n");
    watched.until("../shared/d.yaml.tera: 1 file new in ");
    assert!(sandbox.read("live/out/x/web/a.yaml").contains("size: 2\n"));
}

#[test]
fn what_cannot_be_repeated_is_refused() {
    let sandbox = sandbox();
    sandbox.run(&["stamp", "--watch", "--check"]).expect(2).says(&["cannot be used with"]);
    sandbox.run(&["stamp", "--watch", "--fleet", "-"]).expect(2).says(&["does not apply to standard input"]);
    sandbox.run(&["stamp", "--watch", "-f", "-"]).expect(2).says(&["does not apply to standard input"]);
    sandbox.run(&["stamp", "--watch", "--layout", "single", "-o", "-"]).expect(2).says(&["does not apply to standard"]);
    sandbox.run(&["stamp", "--watch", "-l", "name=none"]).expect(2).says(&["selector"]);
    // An unchanged file with a new time is no change of an output.
    let watched = Watched::start(&sandbox, &[]);
    watched.until("watching ");
    std::fs::File::open(sandbox.path("v.yaml")).unwrap().set_modified(SystemTime::now()).unwrap();
    watched.until("v.yaml: no file changed in ");
}
