//! Charts in artifacts: `compile`, and the commands that take the artifact in place of the chart.

use std::fs;
use std::process::Command;

use crate::support::{Outcome, Sandbox};

const ROOT: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n\
                    - {name: cache, version: 1.0.0, repository: '', condition: cache.enabled}\n\
                    - {name: queue, version: 2.0.0, repository: '', condition: queue.enabled}\n";

const SERVICE: &str = "kind: Service\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{ include \"web.labels\" . }}\n\
                       port: {{ .Values.port }}\nnote: {{ .Files.Get \"notes/a.txt\" | quote }}\n\
                       raw: {{ .Files.Get \"raw.bin\" | b64enc }}\n";

/// A chart in `web` with a chart that is enabled, one that is not and is packed, files, definitions and notes.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with(&[
        ("web/Chart.yaml", ROOT),
        ("web/values.yaml", "port: 80\ncache: {enabled: true, size: 5}\nqueue: {enabled: false}\ntext: plain\n"),
        ("web/values.schema.json", "{\"properties\": {\"port\": {\"type\": \"integer\", \"maximum\": 9999}}}"),
        ("web/templates/service.yaml", SERVICE),
        ("web/templates/_labels.tpl", "{{ define \"web.labels\" }}{a: {{ tpl .Values.text . }}}{{ end }}"),
        ("web/templates/job.yaml", "kind: Job\nmetadata: {name: j, annotations: {helm.sh/hook: pre-install}}\n"),
        ("web/templates/NOTES.txt", "Thank you.\n"),
        ("web/crds/thing.yaml", "kind: CustomResourceDefinition\nmetadata: {name: things}\n"),
        ("web/notes/a.txt", "a note"),
        ("web/charts/cache/Chart.yaml", "apiVersion: v2\nname: cache\nversion: 1.0.0\n"),
        ("web/charts/cache/values.yaml", "size: 1\nkeep: yes\n"),
        ("web/charts/cache/templates/pod.yaml", "kind: Pod\nsize: {{ .Values.size }}\nkeep: {{ .Values.keep }}\n"),
        ("queue/Chart.yaml", "apiVersion: v2\nname: queue\nversion: 2.0.0\n"),
        ("queue/templates/q.yaml", "kind: Queue\nname: {{ .Release.Name }}\n"),
        ("prod.yaml", "port: 8080\nqueue: {enabled: true}\n"),
        (
            "fleet.ndjson",
            "{\"name\": \"eu-1\", \"port\": 9000}\n{\"name\": \"us-1\", \"cache\": {\"enabled\": false}}\n",
        ),
    ]);
    fs::write(sandbox.path("web/raw.bin"), [0xFF, 0, 0xFE]).unwrap();
    pack(&sandbox, "queue", "web/charts/queue-2.0.0.tgz");
    sandbox
}

fn pack(sandbox: &Sandbox, directory: &str, to: &str) {
    let mut tar = Command::new("tar");
    tar.args(["czf", to, directory]).current_dir(sandbox.path("."));
    assert!(tar.status().unwrap().success());
}

/// A sandbox with the artifact `web.mpk`.
fn compiled(more: &[&str]) -> Sandbox {
    let sandbox = sandbox();
    sandbox.run(&[&["compile", "web", "-o", "web.mpk"], more].concat()).expect(0);
    sandbox
}

#[test]
fn an_artifact_renders_as_its_chart() {
    let sandbox = compiled(&[]);
    pack(&sandbox, "web", "web.tgz");
    for options in [
        &[][..],
        &["-f", "prod.yaml", "--set", "cache.enabled=false"],
        &["-f", "prod.yaml", "--include-crds", "--no-hooks", "--name", "shop", "-n", "store"],
        &["-s", "templates/service.yaml", "--set", "text=x{{ .Release.Name }}"],
        &["--set", "port=70000"],
        &["--set-json", "port={}", "--error-format", "json"],
        &["--kube-version", "1.20.0", "--api-versions", "a/v1", "--is-upgrade"],
    ] {
        let render = |chart: &str| sandbox.run(&[&["render", chart], options].concat());
        let expected = render("web");
        assert_eq!(expected.code == 0, !options.contains(&"port=70000") && !options.contains(&"port={}"));
        for chart in ["web.mpk", "web.tgz"] {
            let Outcome { code, stdout, stderr } = render(chart);
            // A file of a directory has its path from here. One of a packed chart begins with its name.
            assert_eq!((code, stdout, stderr), (expected.code, expected.stdout.clone(), expected.stderr.clone()));
        }
    }
    let files = |chart: &str, out: &str| {
        sandbox.run(&["render", chart, "-o", out]).expect(0);
        sandbox.outputs(out)
    };
    assert_eq!(files("web.mpk", "a"), files("web", "b"));
}

#[test]
fn a_fleet_is_stamped_from_an_artifact_as_from_its_chart() {
    let sandbox = compiled(&[]);
    for more in [&[][..], &["-f", "prod.yaml"], &["--layout", "{cluster}/{kind}"]] {
        let stamp = |chart: &str, out: &str| {
            sandbox.run(
                &[&["stamp", chart, "--fleet", "fleet.ndjson", "-o", out, "--prune-force", "--prune"], more].concat(),
            );
            let mut files = sandbox.tree(out);
            files.retain(|path, _| !path.starts_with('.'));
            files
        };
        let made = stamp("web.mpk", "a");
        assert!(made.len() > 3);
        assert_eq!(made, stamp("web", "b"), "{more:?}");
    }
    sandbox.run(&["stamp", "web.mpk", "--fleet", "fleet.ndjson", "-o", "a", "--check"]).expect(3);
}

#[test]
fn errors_are_those_of_the_chart() {
    let sandbox = sandbox();
    sandbox.write("web/templates/y.yaml", "x: 1\ny: {{ .Values.none.deep }}\n");
    sandbox.run(&["compile", "web", "-o", "web.mpk"]).expect(0);
    let error = |chart: &str| sandbox.run(&["render", chart]).expect(1).says(&["web/templates/y.yaml:2:"]).stderr;
    assert_eq!(error("web.mpk"), error("web"));
    let check = |chart: &str| sandbox.run(&["check", chart]).expect(1).stderr;
    assert_eq!(check("web.mpk"), check("web"));
    sandbox.write("web/templates/z.yaml", "{{ if }}\n{{ nofunction }}\n");
    sandbox.run(&["compile", "web", "-o", "bad.mpk"]).expect(1).says(&["z.yaml:1:", "z.yaml:2:"]);
    assert!(!sandbox.path("bad.mpk").exists());
}

#[test]
fn an_artifact_is_linted_as_its_chart() {
    let sandbox = sandbox();
    sandbox.write("web/templates/job.yaml", "{{ if .Values.no }}{{ include \"web.lables\" . }}{{ end }}\n");
    for options in [&[][..], &["--strip"]] {
        sandbox.run(&[&["compile", "web", "-o", "web.mpk"], options].concat()).expect(0);
        let check = |chart: &str| sandbox.run(&["check", chart, "--set", "no=false"]).expect(0).stderr;
        let (told, expected) = (check("web.mpk"), check("web"));
        assert!(expected.contains("did you mean `web.labels`?") && expected.contains("web/templates/job.yaml:1:"));
        match options.is_empty() {
            true => assert_eq!(told, expected),
            // A stripped one has no sources.
            false => assert!(told.contains("no errors"), "{told}"),
        }
    }
}

#[test]
fn values_add_the_program_for_the_charts_that_they_enable() {
    let sandbox = compiled(&["-f", "prod.yaml", "--strip"]);
    let programs = |artifact: &str| {
        let text = sandbox.run(&["inspect", artifact, "--json"]).expect(0).stdout;
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["templates"].as_array().unwrap().len()
    };
    assert_eq!(programs("web.mpk"), 2);
    let render = |chart: &str, more: &[&str]| sandbox.run(&[&["render", chart], more].concat());
    for more in [&[][..], &["-f", "prod.yaml"]] {
        assert_eq!(render("web.mpk", more).expect(0).stdout, render("web", more).expect(0).stdout);
    }
    render("web.mpk", &["--set", "cache.enabled=false"]).expect(1).says(&[
        "the artifact has no program for the enabled charts (`web`)",
        "no sources",
        "dropforge compile CHART -f VALUES",
    ]);
    let whole = fs::metadata(sandbox.path("web.mpk")).unwrap().len();
    sandbox.run(&["compile", "web", "-o", "web.mpk", "-f", "prod.yaml"]).expect(0);
    assert!(fs::metadata(sandbox.path("web.mpk")).unwrap().len() > whole);
    // Values that enable the same charts need no program of their own.
    sandbox.write("same.yaml", "port: 1\n");
    sandbox
        .run(&["compile", "web", "-o", "web.mpk", "-f", "same.yaml"])
        .expect(0)
        .says(&["the chart web with 1 program"]);
    assert_eq!(programs("web.mpk"), 1);
}

#[test]
fn the_same_chart_gives_the_same_bytes_packed_or_not() {
    let sandbox = compiled(&[]);
    pack(&sandbox, "web", "web.tgz");
    sandbox.run(&["compile", "web.tgz", "-o", "packed.mpk"]).expect(0);
    assert!(fs::read(sandbox.path("packed.mpk")).unwrap() == fs::read(sandbox.path("web.mpk")).unwrap());
    let standard = sandbox.command(&["compile", "web", "-o", "-"]).output().unwrap().stdout;
    assert!(standard == fs::read(sandbox.path("web.mpk")).unwrap());
}

#[test]
fn mistakes_in_packed_charts_are_named_by_the_chart() {
    let sandbox = sandbox();
    sandbox.write("queue/templates/q.yaml", "kind: {{ nosuch }}\n");
    pack(&sandbox, "queue", "web/charts/queue-2.0.0.tgz");
    for args in [&["render", "web", "-f", "prod.yaml"][..], &["compile", "web", "-o", "web.mpk", "-f", "prod.yaml"]] {
        let error = sandbox.run(args).expect(1).stderr;
        assert!(error.contains("--> web/charts/queue/templates/q.yaml:1:10"), "{error}");
    }
}

#[test]
fn inspect_and_disasm_show_a_chart() {
    let sandbox = compiled(&[]);
    let text = sandbox.run(&["inspect", "web.mpk"]).expect(0).stdout;
    assert!(text.contains("files     15 files of web (helm), ") && text.contains("\nweb@"), "{text}");
    let text = sandbox.run(&["inspect", "web.mpk", "--json"]).expect(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let paths: Vec<_> = json["resources"]["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert!(paths.contains(&&"charts/queue-2.0.0.tgz/templates/q.yaml".into()), "{text}");
    assert!(
        sandbox
            .run(&["disasm", "web.mpk"])
            .expect(0)
            .stdout
            .contains("; web/templates/service.yaml:3  name: {{ .Release.Name }}")
    );
}

#[test]
fn commands_and_options_that_take_no_charts_say_so() {
    let sandbox = compiled(&[]);
    sandbox.write("t/a.tera", "a");
    for (args, says) in [
        (&["compile", "web.mpk", "-o", "x"][..], "`web.mpk` is already an artifact"),
        (&["compile", "web", "t", "-o", "x"], "cannot be combined with other templates"),
        (&["compile", "web", "-o", "x", "--lang", "helm"], "`--lang` does not apply to `web`"),
        (&["compile", "web", "-o", "x", "--specialise", "prod.yaml"], "`--specialise` does not apply to `web`"),
        (&["compile", "t", "-o", "x", "-f", "prod.yaml"], "`--values` applies to Helm charts only"),
        (&["inspect", "web"], "`web` is a Helm chart, not an artifact"),
        (&["disasm", "web"], "dropforge compile web -o chart.mpk"),
        (&["values", "web", "-f", "prod.yaml"], "`web` is a Helm chart, which this command does not take"),
        (&["values", "web.mpk"], "`web.mpk` is a Helm chart"),
        (&["stamp", "web.mpk", "t", "--fleet", "fleet.ndjson", "-o", "o"], "cannot be combined with other templates"),
        (&["render", "web.mpk", "--template", "web"], "`--template` does not apply to `web.mpk`"),
    ] {
        sandbox.run(args).expect(2).says(&[says]);
    }
    let mut command = sandbox.command(&["render", "-"]);
    command.stdin(fs::File::open(sandbox.path("web.mpk")).unwrap());
    crate::support::outcome(command).expect(2).says(&["standard input is the artifact of a Helm chart"]);
}

#[test]
fn damaged_artifacts_of_charts_are_errors() {
    let sandbox = compiled(&[]);
    let sound = fs::read(sandbox.path("web.mpk")).unwrap();
    let damaged = |bytes: &[u8]| {
        fs::write(sandbox.path("damaged.mpk"), bytes).unwrap();
        let said = sandbox.run(&["render", "damaged.mpk"]);
        assert!(said.code == 1 || said.code == 2, "{said:?}");
        assert!(said.stderr.contains("error"), "{}", said.stderr);
    };
    for at in (0..sound.len()).step_by(sound.len() / 60) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x20;
        damaged(&bytes);
        damaged(&sound[..at]);
    }
    damaged(&[sound.as_slice(), b"x"].concat());
}

#[test]
fn a_hostile_archive_in_a_chart_is_an_error() {
    let sandbox = sandbox();
    // An archive in an archive in an archive: too deep.
    sandbox.write("deep/Chart.yaml", "apiVersion: v2\nname: deep\nversion: 1.0.0\n");
    for _ in 0..34 {
        pack(&sandbox, "deep", "deep.tgz");
        fs::create_dir_all(sandbox.path("deep/charts")).unwrap();
        fs::rename(sandbox.path("deep.tgz"), sandbox.path("deep/charts/deep.tgz")).unwrap();
    }
    sandbox.run(&["compile", "deep", "-o", "x"]).expect(1).says(&["nest deeper than 32 levels"]);
    // A file that grows a thousand times.
    fs::create_dir_all(sandbox.path("bomb/templates")).unwrap();
    sandbox.write("bomb/Chart.yaml", "apiVersion: v2\nname: bomb\nversion: 1.0.0\n");
    fs::write(sandbox.path("bomb/templates/a.yaml"), vec![b'a'; 6 << 20]).unwrap();
    pack(&sandbox, "bomb", "web/charts/bomb.tgz");
    sandbox.run(&["compile", "web", "-o", "x"]).expect(1).says(&["larger than 5,242,880 bytes"]);
    fs::write(sandbox.path("web/charts/bomb.tgz"), b"no archive").unwrap();
    sandbox.run(&["compile", "web", "-o", "x"]).expect(1).says(&["cannot unpack the chart archive"]);
}

#[test]
fn errors_of_packed_charts_name_the_chart() {
    let sandbox = Sandbox::with(&[
        ("dir/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n"),
        ("dir/values.schema.json", "{\"properties\": {\"port\": {\"type\": \"integer\"}}}"),
        ("dir/templates/a.yaml", "a: 1\n"),
        ("dir/charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
        ("dir/charts/db/values.yaml", "size: 1\n"),
        ("dir/charts/db/values.schema.json", "{\"properties\": {\"size\": {\"type\": \"integer\"}}}"),
    ]);
    pack(&sandbox, "dir", "x.tgz");
    for command in ["render", "check"] {
        let says = |set: &str, place: &str| sandbox.run(&[command, "x.tgz", "--set", set]).expect(1).says(&[place]);
        says("port=x", "--> shop/values.schema.json:1:34");
        says("db.size=x", "--> shop/charts/db/values.schema.json:1:34");
    }
    sandbox.write("dir/charts/db/values.yaml", "size: [\n");
    pack(&sandbox, "dir", "y.tgz");
    sandbox.run(&["render", "y.tgz"]).expect(1).says(&["--> shop/charts/db/values.yaml:1:"]);
    sandbox.run(&["render", "dir"]).expect(1).says(&["--> dir/charts/db/values.yaml:1:"]);
}
