//! `compile`, `inspect`, `disasm`, and artifacts in place of templates.

use std::fs;

use crate::support::{Outcome, Sandbox, outcome};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with(&[
        ("t/app.yaml.tera", "{% include \"_l.tera\" %}\nn: {{ n | upper }}\n"),
        ("t/_l.tera", "name: {{ name }}"),
        ("t/cd.tower", "cd ${params.dir}"),
        ("v.yaml", "name: eu-1\nn: one\nparams: {dir: a b}\n"),
        ("fleet.csv", "name,n\neu-1,one\nus-1,two\n"),
    ]);
    sandbox.run(&["compile", "t", "-o", "b.mpk"]).expect(0).says(&["compiled 3 templates into"]);
    sandbox
}

fn bytes(sandbox: &Sandbox, name: &str) -> Vec<u8> {
    fs::read(sandbox.path(name)).unwrap()
}

fn render(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    sandbox.run(&[&["render"], args, &["-f", "v.yaml"]].concat())
}

#[test]
fn an_artifact_renders_as_its_sources_do_whatever_it_is_called() {
    let sandbox = sandbox();
    let from_source = render(&sandbox, &["t/app.yaml.tera"]).expect(0).stdout;
    fs::rename(sandbox.path("t"), sandbox.path("gone")).unwrap();
    fs::rename(sandbox.path("b.mpk"), sandbox.path("app.tera")).unwrap();
    assert_eq!(render(&sandbox, &["app.tera", "-t", "app.yaml.tera"]).expect(0).stdout, from_source);
    assert_eq!(render(&sandbox, &["app.tera", "--template", "cd.tower"]).expect(0).stdout, "cd a b");
    assert_eq!(
        render(&sandbox, &["app.tera", "-t", "_l.tera", "-v"]).expect(0).says(&["artifact"]).stdout,
        "name: eu-1"
    );
}

#[test]
fn the_template_is_named_where_there_are_several() {
    let sandbox = sandbox();
    render(&sandbox, &["b.mpk"]).expect(2).says(&["--template", "app.yaml.tera, cd.tower"]);
    render(&sandbox, &["b.mpk", "-t", "app.yml.tera"]).expect(1).says(&["E0501", "did you mean `app.yaml.tera`?"]);
    sandbox.run(&["compile", "t/_l.tera", "-o", "one.mpk"]).expect(0).says(&["compiled 1 template into"]);
    assert_eq!(render(&sandbox, &["one.mpk"]).expect(0).stdout, "name: eu-1");
    render(&sandbox, &["t/app.yaml.tera", "-t", "x"]).expect(2).says(&["`--template` does not apply to"]);
}

#[test]
fn a_fleet_is_stamped_from_an_artifact_beside_sources() {
    let sandbox = sandbox();
    let stamp = |what: &[&str], out: &str| {
        let rest = ["--fleet", "fleet.csv", "--set", "params.dir=x", "-o", out];
        sandbox.run(&[&["stamp"], what, &rest].concat())
    };
    stamp(&["t"], "a").expect(0);
    stamp(&["b.mpk"], "b").expect(0);
    // The states name the templates, which have other paths.
    let files = |out: &str| sandbox.outputs(out);
    assert_eq!(files("b").len(), 4);
    assert_eq!(files("a"), files("b"));
    sandbox.write("more/extra.yaml.tera", "{{ name }}");
    stamp(&["b.mpk", "more"], "c").expect(0);
    assert_eq!(sandbox.read("c/us-1/extra.yaml"), "us-1");
    stamp(&["b.mpk", "t"], "d").expect(2).says(&["two templates are named"]);
}

#[test]
fn the_same_sources_give_the_same_bytes_and_stripping_leaves_out_lines() {
    let sandbox = sandbox();
    let names = ["t/cd.tower", "t/app.yaml.tera", "t/_l.tera"];
    sandbox.run(&[&["compile"], &names[..], &["-o", "c.mpk"]].concat()).expect(0);
    assert_eq!(bytes(&sandbox, "b.mpk"), bytes(&sandbox, "c.mpk"));
    let mut command = sandbox.command(&["compile", "t", "-o", "-"]);
    assert_eq!(command.output().unwrap().stdout, bytes(&sandbox, "b.mpk"));
    sandbox.run(&["compile", "t", "-o", "s.mpk", "--strip"]).expect(0);
    assert!(bytes(&sandbox, "s.mpk").len() < bytes(&sandbox, "b.mpk").len());
    let error = |artifact| sandbox.run(&["render", artifact, "-t", "app.yaml.tera", "--set", "name=x"]).expect(1);
    error("b.mpk").says(&["app.yaml.tera:2:7", "{{ n | upper }}"]);
    assert!(!error("s.mpk").says(&["`n`"]).stderr.contains("upper }}"));
}

#[test]
fn nothing_is_written_on_errors_unless_that_is_asked_for() {
    let sandbox = Sandbox::with(&[("t/a.tera", "{% if %}"), ("t/b.tera", "{{ }}"), ("odd/a.tera", "{{ 1 | shuot }}")]);
    sandbox.run(&["compile", "t", "-o", "b.mpk"]).expect(1).says(&["a.tera:1", "b.tera:1"]);
    sandbox.run(&["compile", "none", "-o", "b.mpk"]).expect(1);
    sandbox.run(&["compile", "odd"]).expect(2).says(&["--output"]);
    sandbox.run(&["compile", "odd", "-o", "b.mpk"]).expect(1).says(&["shuot"]);
    sandbox.write("risky/a.tower", "rm \"${params.x}\"");
    sandbox
        .run(&["compile", "risky", "-o", "b.mpk", "--render-mode", "shell", "--strict"])
        .expect(1)
        .says(&["warning"]);
    assert!(!sandbox.path("b.mpk").exists());
    sandbox.run(&["compile", "risky", "-o", "b.mpk", "--render-mode", "shell"]).expect(0).says(&["warning"]);
    sandbox.run(&["compile", "odd", "-o", "b.mpk", "--lenient"]).expect(0).says(&["shuot", "1 template"]);
    sandbox.run(&["render", "b.mpk"]).expect(1).says(&["filter `shuot` not found"]);
    sandbox.run(&["compile", "b.mpk", "-o", "c.mpk"]).expect(2).says(&["already an artifact"]);
}

#[test]
fn declared_functions_are_linked_by_the_rendering_engine() {
    let sandbox = Sandbox::with(&[("a.tera", "{{ 1 | shout }}")]);
    let declared = ["--declare", "filter:shout"];
    let outcome = sandbox.run(&[&["compile", "a.tera", "-o", "b.mpk", "--strict"], &declared[..]].concat()).expect(0);
    assert!(!outcome.stderr.contains("shout"));
    sandbox.run(&["render", "b.mpk"]).expect(1).says(&["E0401", "filter `shout` not found", "a.tera"]);
    sandbox.run(&["check", "b.mpk"]).expect(1).says(&["E0401"]);
    sandbox.run(&[&["check", "a.tera", "--strict"], &declared[..]].concat()).expect(0);
    sandbox.run(&["compile", "a.tera", "-o", "b.mpk", "--declare", "shout"]).expect(2).says(&["`filter:NAME`"]);
}

#[test]
fn options_of_sources_are_refused_for_artifacts() {
    let sandbox = sandbox();
    for option in [
        &["--lang", "tera"][..],
        &["--render-mode", "shell"],
        &["--strict-let"],
        &["--cel-presence", "lenient"],
        &["--cel-dialect", "spec"],
        &["-I", "t"],
        &["--declare", "test:x"],
    ] {
        let args = [&["render", "b.mpk", "-t", "cd.tower", "-f", "v.yaml"], option].concat();
        sandbox.run(&args).expect(2).says(&["does not apply to the artifact"]);
    }
    sandbox.run(&["compile", "t/cd.tower", "-o", "shell.mpk", "--render-mode", "shell"]).expect(0);
    assert_eq!(render(&sandbox, &["shell.mpk"]).expect(0).stdout, "cd 'a b'");
}

#[test]
fn invalid_artifacts_are_refused_with_a_reason() {
    let sandbox = sandbox();
    let sound = bytes(&sandbox, "b.mpk");
    sandbox.run(&["inspect", "v.yaml"]).expect(1).says(&[
        "E0931",
        "not an artifact",
        "file: v.yaml",
        "dropforge compile",
    ]);
    sandbox.run(&["inspect", "none"]).expect(1).says(&["E0901"]);
    for (cut, commands) in
        [(sound.len() - 1, ["render", "check"]), (100, ["inspect", "disasm"]), (8, ["render", "inspect"])]
    {
        fs::write(sandbox.path("cut.mpk"), &sound[..cut]).unwrap();
        for command in commands {
            let outcome = sandbox.run(&[command, "cut.mpk"]).expect(1).says(&["cut.mpk"]);
            assert!(outcome.stderr.contains("E093"), "{command} {cut}: {}", outcome.stderr);
        }
    }
    let mut other = sound.clone();
    let version = other.windows(5).position(|window| window == b"0.1.0").unwrap();
    other[version] = b'7';
    fs::write(sandbox.path("other.mpk"), &other).unwrap();
    sandbox.run(&["render", "other.mpk"]).expect(1).says(&["another version", "7.1.0", "compile it again"]);
    let mut changed = sound;
    let last = changed.len() - 1;
    changed[last] ^= 1;
    fs::write(sandbox.path("changed.mpk"), &changed).unwrap();
    sandbox.run(&["check", "changed.mpk"]).expect(1).says(&["changed.mpk"]);
}

#[test]
fn an_artifact_comes_from_standard_input_too() {
    let sandbox = sandbox();
    let mut command = sandbox.command(&["render", "-", "-t", "cd.tower", "-f", "v.yaml"]);
    command.stdin(fs::File::open(sandbox.path("b.mpk")).unwrap());
    assert_eq!(outcome(command).expect(0).stdout, "cd a b");
}

#[test]
fn inspect_shows_the_content_of_an_artifact() {
    let sandbox = sandbox();
    let text = sandbox.run(&["inspect", "b.mpk"]).expect(0).stdout;
    for part in [
        "app.yaml.tera (tera)",
        "inputs  n, name",
        "filter upper",
        "uses    _l.tera",
        "included",
        "of bytecode",
        "params",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["inspect", "b.mpk", "--json"]).expect(0).stdout).unwrap();
    let app = json["templates"].as_array().unwrap().iter().find(|one| one["name"] == "app.yaml.tera").unwrap();
    assert_eq!(app["inputs"], serde_json::json!(["n", "name"]));
    assert_eq!(app["imports"][0]["name"], "upper");
    assert_eq!(app["sources"], serde_json::json!(["app.yaml.tera", "_l.tera"]));
    assert_eq!(
        (json["stripped"].as_bool(), json["bytes"].as_u64()),
        (Some(false), Some(bytes(&sandbox, "b.mpk").len() as u64))
    );
    assert!(app["limits"]["words"].as_u64() > Some(2));
}

#[test]
fn disasm_lists_instructions_below_their_lines() {
    let sandbox = sandbox();
    let of = |args: &[&str]| sandbox.run(&[&["disasm"], args].concat());
    let listing = of(&["b.mpk", "-t", "app.yaml.tera"]).expect(0).stdout;
    let at = |part: &str| listing.find(part).unwrap_or_else(|| panic!("no {part:?} in {listing}"));
    assert!(at("; _l.tera:1  name: {{ name }}") < at("; app.yaml.tera:2  n: {{ n | upper }}"), "{listing}");
    assert!(at("; app.yaml.tera:2") < at("upper["));
    assert_eq!(of(&["t", "-t", "app.yaml.tera"]).expect(0).stdout, listing);
    assert!(of(&["t"]).expect(0).stdout.contains("; cd.tower (tower)"));
    of(&["b.mpk", "-t", "cd.towr"]).expect(1).says(&["did you mean `cd.tower`?"]);
}

#[test]
fn check_takes_artifacts_and_sources() {
    let sandbox = sandbox();
    sandbox.run(&["check", "b.mpk", "t"]).expect(0).says(&["checked 6 templates: no errors"]);
}

#[test]
fn a_file_has_one_name_however_it_is_included() {
    let sandbox =
        Sandbox::with(&[("t/a.yaml.tera", "{% include \"./p.tera\" %}"), ("t/p.tera", "p"), ("f.csv", "name\nc\n")]);
    sandbox.run(&["compile", "t", "-o", "b.mpk"]).expect(0);
    for templates in ["t", "b.mpk"] {
        sandbox
            .run(&["stamp", templates, "--fleet", "f.csv", "-o", if templates == "t" { "x" } else { "y" }])
            .expect(0);
    }
    let stamped = |out: &str| sandbox.tree(out).into_keys().filter(|path| path.ends_with(".yaml")).collect::<Vec<_>>();
    assert_eq!((stamped("x"), stamped("y")), (vec!["c/a.yaml".to_owned()], vec!["c/a.yaml".to_owned()]));
}

/// A sandbox whose templates share values, and the artifact specialised to them.
fn specialised() -> Sandbox {
    let sandbox = Sandbox::with(&[
        (
            "t/app.yaml.tera",
            "name: {{ name }}\nimage: {{ image.name }}:{{ image.tag }}\n{% if env == 'prod' %}replicas: {{ 6 / parts }}\n{% endif %}",
        ),
        ("t/cd.txt.tower", "cd ${params.dir}\n"),
        ("t/size.txt.tftpl", "%{ for p in ports }${p + size} %{ endfor }\n"),
        ("t/name.txt.tera", "{{ name }}\n"),
        ("t/doc.cel.yaml", "name: ${name}\nenv: ${env}\n"),
        ("v.yaml", "image: {name: web, tag: v1}\nenv: prod\nparams: {dir: /srv}\nports: [80, 443]\n"),
        ("name.yaml", "name: a\nparts: 2\nsize: 1\n"),
        (
            "fleet.ndjson",
            "{\"name\":\"a\",\"parts\":2,\"size\":1}\n{\"name\":\"b\",\"size\":2}\n\
             {\"name\":\"c\",\"parts\":3,\"size\":3,\"image\":{\"tag\":\"v2\"}}\n\
             {\"name\":\"d\",\"parts\":0,\"size\":\"x\",\"env\":null}\n",
        ),
    ]);
    sandbox.run(&["compile", "t", "-o", "plain.mpk"]).expect(0);
    let args = ["compile", "t", "-o", "known.mpk", "--specialise", "v.yaml"];
    sandbox.run(&args).expect(0).says(&["compiled 5 templates into", ", 4 specialised"]);
    sandbox
}

#[test]
fn a_specialised_artifact_renders_as_the_plain_one_and_says_which_value_differs() {
    let sandbox = specialised();
    let names = ["app.yaml.tera", "cd.txt.tower", "size.txt.tftpl", "doc.cel.yaml", "name.txt.tera"];
    let same: &[&str] = &[];
    for (more, differs) in [
        (same, None),
        (&["--set", "image.tag=v2"], Some("image.tag")),
        (&["--set-string", "env=dev"], Some("env")),
        (&["--set", "ports=null"], Some("ports")),
        (&["--set", "parts=null"], None),
        (&["--set", "image.more=1"], Some("image")),
    ] {
        for name in names {
            let render = |artifact: &str, flags: &[&str]| {
                let args = ["render", artifact, "-t", name, "-f", "v.yaml", "-f", "name.yaml"];
                sandbox.run(&[&args[..], more, flags].concat())
            };
            let (plain, known) = (render("plain.mpk", &[]), render("known.mpk", &[]));
            assert_eq!((plain.code, &plain.stdout), (known.code, &known.stdout), "{name} {more:?}");
            assert_eq!(plain.stderr, known.stderr, "{name} {more:?}");
            let said = render("known.mpk", &["-v"]).stderr;
            match differs {
                _ if name == "name.txt.tera" => assert!(!said.contains("specialised"), "{said}"),
                None => assert!(said.contains(&format!("{name}: specialised to the known values")), "{said}"),
                Some(path) => {
                    let part = format!("{name}: not specialised: `{path}` differs from the known value");
                    assert!(said.contains(&part), "{part} {said}");
                }
            }
        }
    }
}

#[test]
fn a_fleet_from_a_specialised_artifact_is_that_of_the_plain_one() {
    let sandbox = specialised();
    for more in
        [&[][..], &["--merge", "replace"], &["--set", "env=prod"], &["--set", "image.tag=v3"], &["--no-specialise"]]
    {
        let stamp = |artifact: &str| {
            let args = ["stamp", artifact, "--fleet", "fleet.ndjson", "-f", "v.yaml", "--layout", "single"];
            let said = sandbox.run(&[&args[..], more].concat()).expect(4);
            let errors: Vec<String> =
                said.stderr.lines().map(|line| line.split(" in ").next().unwrap_or("").to_owned()).collect();
            (said.stdout, errors)
        };
        assert_eq!(stamp("plain.mpk"), stamp("known.mpk"), "{more:?}");
    }
    // So many clusters are specialised to again, and the errors of either are explained.
    let cluster = |n: usize| {
        format!("{{\"name\":\"n{n}\",\"parts\":{},\"size\":{}}}\n", 1 + n % 3, if n == 7 { "{}" } else { "2" })
    };
    sandbox.write("large.ndjson", &(0..500).map(cluster).collect::<String>());
    let stamp = |artifact: &str, more: &[&str]| {
        let args = ["stamp", artifact, "--fleet", "large.ndjson", "-f", "v.yaml", "--layout", "single"];
        let said = sandbox.run(&[&args[..], more].concat()).expect(4).says(&["cluster: n7", "`size` is "]);
        let errors: Vec<String> =
            said.stderr.lines().map(|line| line.split(" in ").next().unwrap_or("").to_owned()).collect();
        (said.stdout, errors)
    };
    assert_eq!(stamp("plain.mpk", &["--no-specialise"]), stamp("known.mpk", &[]));
    assert_eq!(stamp("plain.mpk", &[]), stamp("known.mpk", &["--no-specialise"]));
    let said = |more: &[&str]| {
        let args = ["stamp", "known.mpk", "--fleet", "fleet.ndjson", "-f", "v.yaml", "--layout", "single", "-v"];
        sandbox.run(&[&args[..], more].concat()).expect(4)
    };
    said(&[]).says(&["2 of 4 clusters not specialised: values differ from the known ones: `env` (1), `image.tag` (1)"]);
    said(&["-l", "name in (a,b)"])
        .says(&["2 clusters with the known values of the artifact: templates are specialised"]);
    said(&["--set", "env=x"]).says(&["4 of 4 clusters not specialised", "`env` (3), `image.tag` (1)"]);
    assert!(!said(&["--no-specialise"]).stderr.contains("specialised"));
}

#[test]
fn inspect_lists_known_values_and_sizes() {
    let sandbox = specialised();
    let text = sandbox.run(&["inspect", "known.mpk"]).expect(0).stdout;
    for part in [
        "Specialised templates know these values, which are here in clear:\n  image.name = \"web\"\n  image.tag = \"v1\"\n  env = \"prod\"\n",
        "  ports = [80,443]\n",
        "; specialised: ",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let json = |artifact| -> serde_json::Value {
        serde_json::from_str(&sandbox.run(&["inspect", artifact, "--json"]).expect(0).stdout).unwrap()
    };
    let (known, plain) = (json("known.mpk"), json("plain.mpk"));
    assert_eq!(known["known"]["image"], serde_json::json!({"name": "web", "tag": "v1"}));
    let app = |of: &serde_json::Value| of["templates"].as_array().unwrap()[0].clone();
    assert!(app(&known)["specialised"]["words"].as_u64() < app(&known)["limits"]["words"].as_u64());
    assert_eq!(app(&known)["digest"], app(&plain)["digest"]);
    assert_eq!((&plain["known"], &app(&plain)["specialised"]), (&serde_json::json!(null), &serde_json::json!(null)));
    assert!(!sandbox.run(&["inspect", "plain.mpk"]).expect(0).stdout.contains("clear"));
}

#[test]
fn values_to_specialise_to_are_merged_and_checked() {
    let sandbox = specialised();
    sandbox.write("more.yaml", "image: {tag: v9}\n");
    let compile = |files: &[&str]| {
        let files = files.iter().flat_map(|file| ["--specialise", file]);
        sandbox.run(&["compile", "t", "-o", "x.mpk"].into_iter().chain(files).collect::<Vec<_>>())
    };
    compile(&["v.yaml", "more.yaml"]).expect(0);
    assert!(sandbox.run(&["inspect", "x.mpk"]).expect(0).stdout.contains("image.tag = \"v9\""));
    let bytes_of = |files: &[&str]| {
        compile(files).expect(0);
        bytes(&sandbox, "x.mpk")
    };
    assert_eq!(bytes_of(&["v.yaml"]), bytes(&sandbox, "known.mpk"), "the same bytes each time");
    sandbox.write("odd.yaml", "env: .inf\n");
    compile(&["odd.yaml"]).expect(1).says(&["cannot specialise to `env`"]);
    compile(&["none.yaml"]).expect(1).says(&["none.yaml"]);
    sandbox.write("unread.yaml", "other: 1\n");
    compile(&["unread.yaml"]).expect(0).says(&["warning: no template is specialised"]);
    let damaged = bytes(&sandbox, "known.mpk");
    for at in (0..damaged.len()).step_by(97) {
        let mut damaged = damaged.clone();
        damaged[at] ^= 0x20;
        fs::write(sandbox.path("damaged.mpk"), damaged).unwrap();
        let said = sandbox.run(&["inspect", "damaged.mpk"]).expect(1);
        assert!(said.stderr.contains("error[E"), "{}", said.stderr);
    }
}
