//! A run that would change nothing is left out. Whatever may change something makes it a run again.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::Sandbox;

const PROJECT: &str = r#"id = "p"
fleet = ["clusters.yaml"]
layers = ["base.yaml", "env/{env}.yaml?"]
[output]
dir = "out"

[[release]]
name = "web"
chart = "web"
values = ["web.yaml", "web-{env}.yaml?"]
patches = [{ target = { kind = "Pod" }, merge = "patch.yaml" }]

[[release]]
name = "tools"
templates = ["tools"]
when = "size > 0"
"#;

const POD: &str =
    "kind: Pod\nmetadata: {name: web}\nvalues: {{ .Values | toJson }}\nfile: {{ .Files.Get \"f.txt\" | quote }}\n";

fn project() -> Sandbox {
    Sandbox::with(&[
        ("dropforge.toml", PROJECT),
        ("clusters.yaml", "- {name: eu, env: prod}\n- {name: us, env: dev}\n"),
        ("base.yaml", "size: 1\n"),
        ("env/prod.yaml", "size: 2\n"),
        ("web.yaml", "a: 1\n"),
        ("web-dev.yaml", "a: 2\n"),
        ("patch.yaml", "patched: true\n"),
        ("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("web/values.yaml", "b: 1\n"),
        ("web/f.txt", "text"),
        ("web/templates/pod.yaml", POD),
        ("tools/run.sh.tera", "{% include 'part.tera' %} {{ name }} {{ size }}\n"),
        ("tools/part.tera", "part"),
    ])
}

const CACHED: &[&str] = &["stamp", "-v", "--cache-dir", ".cache"];
const LEFT_OUT: &str = "nothing has changed since the last run";

/// Stamps with the cache. Returns `true` if the run was left out.
#[track_caller]
fn is_left_out(sandbox: &Sandbox, more: &[&str]) -> bool {
    sandbox.run(&[CACHED, more].concat()).expect(0).stderr.contains(LEFT_OUT)
}

/// A project that was stamped, so that the next run is left out.
fn stamped() -> Sandbox {
    let sandbox = project();
    assert!(!is_left_out(&sandbox, &[]));
    let said = sandbox.run(CACHED).expect(0).says(&[LEFT_OUT, "4 files for 2 clusters: 4 unchanged"]).stderr;
    // The patch matches nothing because nothing was rendered.
    assert!(!said.contains("warning"), "{said}");
    sandbox
}

#[test]
fn a_change_of_any_input_makes_a_run() {
    let changes: &[(&str, &[(&str, &str)])] = &[
        ("a layer", &[("base.yaml", "size: 3\n")]),
        ("an optional layer", &[("env/dev.yaml", "size: 4\n")]),
        ("a condition", &[("env/dev.yaml", "size: 0\n")]),
        ("the fleet", &[("clusters.yaml", "- {name: eu, env: prod}\n- {name: us, env: prod}\n")]),
        ("values of a release", &[("web.yaml", "a: 3\n")]),
        ("the same values for others", &[("web-dev.yaml", ""), ("web-prod.yaml", "a: 2\n")]),
        ("a patch", &[("patch.yaml", "patched: false\n")]),
        ("the project", &[("dropforge.toml", &PROJECT.replace("size > 0", "size > 1"))]),
        ("defaults of a chart", &[("web/values.yaml", "b: 2\n")]),
        ("a file of a chart", &[("web/f.txt", "other")]),
        ("a template of a chart", &[("web/templates/pod.yaml", &format!("{POD}more: 1\n"))]),
        ("a new template of a chart", &[("web/templates/more.yaml", "kind: More\nmetadata: {name: more}\n")]),
        ("a template", &[("tools/run.sh.tera", "{{ name }}\n")]),
        ("an included file", &[("tools/part.tera", "other")]),
        ("a new template", &[("tools/more.yaml.tera", "size: {{ size }}\n")]),
    ];
    for (what, files) in changes {
        let sandbox = stamped();
        files.iter().for_each(|(name, text)| sandbox.write(name, text));
        assert!(!is_left_out(&sandbox, &["--prune"]), "{what}");
        sandbox.run(&["stamp", "--no-cache", "-o", "fresh"]).expect(0);
        let outputs = |dir: &str| {
            let files = sandbox.tree(dir).into_iter();
            files.filter(|(name, _)| !name.starts_with(".dropforge")).collect::<Vec<_>>()
        };
        assert_eq!(outputs("out"), outputs("fresh"), "{what}");
        assert!(is_left_out(&sandbox, &["--prune"]), "{what}");
    }
    let sandbox = stamped();
    for more in [&["--set", "size=5"][..], &["--layout", "{release}/{cluster}/{template}"], &["--kube-version", "1.30"]]
    {
        assert!(!is_left_out(&sandbox, more), "{more:?}");
    }
    // A part of the fleet is not what was noted.
    assert!(!is_left_out(&sandbox, &["-l", "name=eu"]) && !is_left_out(&sandbox, &["-r", "web"]));
}

#[test]
fn a_change_of_any_output_makes_a_run() {
    let (pod, run) = ("out/eu/web/pod.yaml", "out/us/tools/run.sh");
    let touched = |sandbox: &Sandbox| {
        let text = sandbox.read(pod);
        sandbox.write(pod, &text.replace("true", "twue"));
    };
    type Change<'c> = (&'c str, &'c dyn Fn(&Sandbox));
    let changes: &[Change<'_>] = &[
        ("edited, with the same size", &touched),
        ("replaced", &|sandbox| sandbox.replace(pod, "gone")),
        ("removed", &|sandbox| fs::remove_file(sandbox.path(run)).unwrap()),
        ("a folder removed", &|sandbox| fs::remove_dir_all(sandbox.path("out/us")).unwrap()),
        ("unreadable", &|sandbox| fs::set_permissions(sandbox.path(pod), fs::Permissions::from_mode(0o444)).unwrap()),
        ("no state", &|sandbox| fs::remove_dir_all(sandbox.path("out/.dropforge")).unwrap()),
        ("no state of a cluster", &|sandbox| {
            fs::remove_file(sandbox.path("out/.dropforge/clusters/us.state")).unwrap()
        }),
        ("an unfinished run", &|sandbox| sandbox.write("out/.dropforge/unfinished", "eu/web/pod.yaml\n")),
    ];
    for (what, change) in changes {
        let sandbox = stamped();
        let before = sandbox.tree("out");
        change(&sandbox);
        assert!(!is_left_out(&sandbox, &["--force"]), "{what}");
        assert_eq!(sandbox.tree("out"), before, "{what}");
        assert!(is_left_out(&sandbox, &["--force"]), "{what}");
    }
}

#[test]
fn a_comparison_is_never_left_out() {
    let sandbox = stamped();
    sandbox.write("out/eu/web/pod.yaml", "edited");
    sandbox.run(&["stamp", "--check", "--cache-dir", ".cache"]).expect(3);
    sandbox.run(&["stamp", "--force", "--cache-dir", ".cache"]).expect(0);
}

#[test]
fn a_run_that_is_left_out_warns_as_the_one_before() {
    // Two releases make one object, a patch is for none, and a kind has no schema.
    let both = PROJECT.replace(
        "[[release]]\nname = \"tools\"",
        "[[release]]\nname = \"again\"\nchart = \"web\"\npatches = [{ target = { kind = \"Pdo\" }, merge = \"patch.yaml\" }]\n\n\
         [[release]]\nname = \"tools\"",
    );
    let sandbox = project();
    sandbox.write("dropforge.toml", &both);
    sandbox.write("web/templates/pod.yaml", &format!("apiVersion: v1\n{POD}"));
    sandbox.write("deployment-apps-v1.json", r#"{"type": "object"}"#);
    // Threads may find the same object in any of the clusters first.
    let more: &[&str] = &["-j1", "--kube-schemas", "deployment-apps-v1.json"];
    let warnings = |text: &str| {
        let parts = ["compiled", "loaded", "stamp", LEFT_OUT];
        let is_note = |line: &&str| parts.iter().any(|part| line.contains(part));
        text.lines().filter(|line| !is_note(line)).collect::<Vec<_>>().join("\n")
    };
    let first = sandbox.run(&[CACHED, more].concat()).expect(0).stderr;
    for part in ["the object `Pod web`", "`Pdo/*` is for no object", "Pod/web", "dropforge.toml:", "has no schema"] {
        assert!(first.contains(part), "{part} is not in {first}");
    }
    assert!(!first.contains(LEFT_OUT), "{first}");
    let again = sandbox.run(&[CACHED, more].concat()).expect(0).stderr;
    assert!(again.contains(LEFT_OUT), "{again}");
    assert_eq!(warnings(&again), warnings(&first));
    // Programs get the same warnings.
    let json = |cache: &[&str]| {
        let args = [&["stamp", "--error-format", "json"], cache, more].concat();
        sandbox
            .run(&args)
            .expect(0)
            .stderr
            .lines()
            .filter(|line| !line.contains("summary"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let fresh = json(&["--no-cache"]);
    assert!(fresh.contains("E0914"), "{fresh}");
    assert_eq!(json(&["--cache-dir", ".cache"]), fresh);
}

#[test]
fn a_run_that_may_look_at_the_time_is_never_left_out() {
    let sandbox = project();
    for _ in 0..3 {
        assert!(!is_left_out(&sandbox, &["--allow", "clock"]));
    }
    assert!(!is_left_out(&sandbox, &[]) && is_left_out(&sandbox, &[]));
    // Without a cache there is no note.
    assert!(!sandbox.run(&["stamp", "-v", "--no-cache"]).expect(0).stderr.contains(LEFT_OUT));
}

#[test]
fn another_owner_of_the_files_makes_a_run() {
    let sandbox = stamped();
    sandbox.write("dropforge.toml", &PROJECT.replace("id = \"p\"", "id = \"q\""));
    let outcome = sandbox.run(CACHED);
    assert!(outcome.code != 0 && outcome.stderr.contains("E0922"), "{}", outcome.stderr);
    assert!(!is_left_out(&sandbox, &["--force"]));
}

#[test]
fn a_neighbour_in_the_folder_is_left_alone() {
    let sandbox = stamped();
    for (name, text) in [
        ("n/dropforge.toml", "id = \"n\"\nfleet = [\"f.csv\"]\ntemplates = [\"t\"]\n[output]\ndir = \"../out\"\n"),
        ("n/f.csv", "name\nzz\n"),
        ("n/t/a.yaml.tera", "a: {{ name }}\n"),
    ] {
        sandbox.write(name, text);
    }
    sandbox.run(&["stamp", "-C", "n"]).expect(0);
    // The folder has files of two projects now.
    assert!(!is_left_out(&sandbox, &[]));
    assert!(sandbox.path("out/zz/a.yaml").exists());
}
