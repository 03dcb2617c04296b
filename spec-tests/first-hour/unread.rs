//! Values that nobody reads and names that nobody gives are named, with what was likely meant.

use crate::support::Sandbox;

/// A fleet of three clusters, of which `b` and `c` have a misspelled name.
fn sandbox() -> Sandbox {
    Sandbox::with(&[
        (
            "t/app.yaml.tera",
            "image: {{ image.repository }}:{{ image.tag | default(value='latest') }}\nregion: {{ region | default(value='eu') }}\n",
        ),
        ("v.yaml", "image:\n  repository: web\n"),
        ("typo.yaml", "imge:\n  tag: v2\n"),
        (
            "fleet.ndjson",
            concat!(
                "{\"name\":\"a\",\"rack\":7,\"owner\":{\"team\":\"x\"}}\n",
                "{\"name\":\"b\",\"regoin\":\"us\"}\n",
                "{\"name\":\"c\",\"regoin\":\"us\"}\n",
            ),
        ),
    ])
}

#[test]
fn a_value_that_no_template_reads_is_a_warning_with_the_likely_name() {
    let sandbox = sandbox();
    let render = |more: &[&str]| sandbox.run(&[&["render", "t/app.yaml.tera", "-f", "v.yaml"], more].concat());
    assert_eq!(render(&[]).expect(0).stderr, "");
    let typo = render(&["-f", "typo.yaml"]).expect(0);
    typo.says(&["warning[E0809]: no template reads `imge.tag`", "typo.yaml:2:8", "did you mean `image.tag`?"]);
    let set = render(&["--set", "image.repositroy=api,image.tga=v3"]).expect(0);
    set.says(&["no template reads `image.tga`", "did you mean `image.tag`?", "no template reads `image.repositroy`"]);
    assert_eq!(render(&["-f", "typo.yaml", "-q"]).expect(0).stderr, "");
}

#[test]
fn a_clusters_unread_value_is_a_warning_only_if_it_looks_like_a_mistake() {
    let sandbox = sandbox();
    let said = sandbox.stamp(&["-f", "v.yaml"]).expect(0);
    said.says(&["warning[E0809]: 2 clusters: no template reads `regoin`", "did you mean `region`?", "fleet.ndjson:2:"])
        .says(&["note: a template reads `region` (t/app.yaml.tera:2:12)"]);
    let said = sandbox.stamp(&["-f", "v.yaml"]).expect(0).stderr;
    assert!(!said.contains("rack") && !said.contains("owner"), "{said}");
    // A name that resembles one of the shared values does not override it.
    sandbox.write("fleet.yaml", "- {name: d, image: {repositroy: api}, nodes: 3}\n- {name: e, regions: [eu]}\n");
    let said =
        sandbox.run(&["stamp", "t", "--fleet", "fleet.yaml", "-f", "v.yaml", "--set", "region=eu", "-o", "out2"]);
    let said = said.expect(0).says(&["no template reads `image.repositroy`", "did you mean `image.repository`?"]);
    assert!(said.says(&["did you mean `region`?"]).stderr.matches("warning[").count() == 2);
    // Selectors and layouts read values, too.
    let said = sandbox.stamp(&["-f", "v.yaml", "-l", "regoin=us"]).expect(0).stderr;
    assert!(!said.contains("E0809"), "{said}");
    sandbox.write("fleet.csv", "name,image.tga\nd,v1\n");
    let said = sandbox.run(&["stamp", "t", "--fleet", "fleet.csv", "-f", "v.yaml", "-o", "out"]).expect(0);
    said.says(&["no template reads `image.tga`", "did you mean `image.tag`?"]);
}

#[test]
fn a_typo_in_a_template_is_one_error_and_no_warning_about_the_right_name() {
    let shared = "replicaCount: 3\nimage: {repository: web, tag: v1}\n";
    let fleet = "[{\"name\":\"a\",\"zone\":\"x\"},{\"name\":\"b\",\"zone\":\"y\"}]";
    let sandbox = Sandbox::with(&[("v.yaml", shared), ("fleet.json", fleet)]);
    for (file, text) in [
        ("t/a.yaml.tera", "n: {{ replicaCont }}\ni: {{ image.repositry }}\nt: {{ image.tag }}\nz: {{ zoen }}\n"),
        ("t/a.yaml.tftpl", "n: ${replicaCont}\ni: ${image.repositry}\nt: ${image.tag}\nz: ${zoen}\n"),
        ("t/a.cel.yaml", "n: ${replicaCont}\ni: ${image.repositry}\nt: ${image.tag}\nz: ${zoen}\n"),
    ] {
        sandbox.write(file, text);
        let run = ["stamp", file, "--fleet", "fleet.json", "-f", "v.yaml", "-o", "out"];
        let said = sandbox.run(&run).says(&["did you mean `replicaCount`?"]);
        assert!(said.stderr.matches("warning[").count() == 0 && said.code != 0, "{file}: {}", said.stderr);
        // In a branch that nothing takes, no error names it.
        let branch = text.replace("{{ replicaCont }}", "{% if image.tag == 'x' %}{{ replicaCont }}{% endif %}");
        if branch != text {
            sandbox.write(file, branch.lines().next().unwrap());
            sandbox.run(&run).expect(0).says(&["one of `replicaCount` and `replicaCont` is likely misspelled"]);
        }
    }
    // A chart in the same run makes no difference.
    sandbox.write("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    sandbox.write("c/templates/a.yaml", "kind: {{ .Values.image.tag }}\n");
    sandbox.write("c/values.yaml", "image: {tag: a}\n");
    sandbox.write("u/a.yaml.tera", "n: {{ replicaCont }}\nt: {{ image.tag }}{{ image.repository }}\n");
    let releases = "[[release]]\nname = \"c\"\nchart = \"c\"\n[[release]]\nname = \"u\"\ntemplates = [\"u\"]\n";
    let project = "fleet = [\"fleet.json\"]\nvalues = [\"v.yaml\"]\n[output]\ndir = \"o\"\n";
    sandbox.write("dropforge.toml", &[project, releases].concat());
    let said = sandbox.run(&["stamp"]).says(&["did you mean `replicaCount`?"]);
    assert!(said.stderr.matches("warning[").count() == 0 && said.code != 0, "{}", said.stderr);
}

#[test]
fn strict_makes_warnings_errors_before_anything_is_written() {
    let sandbox = sandbox();
    sandbox.stamp(&["-f", "v.yaml", "--strict"]).expect(1).says(&["nothing is written: 1 warning"]);
    assert!(sandbox.tree("out").is_empty());
    sandbox.stamp(&["-f", "v.yaml", "--strict", "-l", "name=a"]).expect(0);
    let render = ["render", "t/app.yaml.tera", "--strict", "-f", "v.yaml"];
    assert!(!sandbox.run(&render).expect(0).stdout.is_empty());
    let refused = sandbox.run(&[&render[..], &["-f", "typo.yaml"]].concat()).expect(1);
    assert_eq!(refused.stdout, "");
}

#[test]
fn the_example_fleet_has_no_warnings() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/fleet");
    let sandbox = Sandbox::new();
    let path = |name: &str| format!("{example}/{name}");
    let (templates, fleet, values) = (path("templates"), path("clusters.ndjson"), path("values.yaml"));
    let said = sandbox.run(&["stamp", &templates, "--fleet", &fleet, "-f", &values, "-o", "out", "--strict"]).expect(0);
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);
    let said = sandbox.run(&["check", &templates, "--fleet", &fleet, "-f", &values, "--strict"]).expect(0);
    said.says(&["no errors"]);
}

#[test]
fn check_names_what_rendering_would_miss_folded_over_clusters() {
    let sandbox = sandbox();
    let check = |more: &[&str]| sandbox.run(&[&["check", "t"], more].concat());
    check(&["-f", "v.yaml"]).expect(0);
    check(&["-f", "typo.yaml"]).expect(1).says(&["error[E0201]: nothing gives `image`", "app.yaml.tera:1:11"]);
    sandbox.write("t/b.tera", "{% if tls.on %}{{ tls.cret }}{% endif %}{{ zones.0 }}{{ rack }}{{ rakc }}\n");
    let check = |more: &[&str]| check(&[&["-f", "v.yaml", "--fleet", "fleet.ndjson"], more].concat());
    // All of them at once, for those clusters that lack them.
    check(&["--set", "tls.on=true,tls.cert=x,zones[0]=z"]).expect(1).says(&[
        "3 clusters: nothing gives `tls.cret`",
        "did you mean `tls.cert`?",
        "2 clusters: nothing gives `rack`",
        "3 clusters: nothing gives `rakc`",
        "did you mean `rack`?",
    ]);
    // A branch that is never taken.
    let said = check(&["--set", "tls.on=false,zones[0]=z,rack=1,rakc=2"]).expect(0).stderr;
    assert!(!said.contains("cret"), "{said}");
}

#[test]
fn check_finds_a_misspelled_condition() {
    let sandbox = sandbox();
    sandbox.write("v.yaml", "ingress: {enabled: true, host: x}\n");
    for (template, found) in [
        ("{% if ingress.enabld %}{{ ingress.host }}{% endif %}", true),
        ("{% if not ingress.enabld and ingress.host %}{% endif %}", true),
        ("{% if ingress.enabled %}{{ ingress.host }}{% endif %}{% if ingress.enabld %}{% endif %}", true),
        // Optional features are no mistakes.
        ("{% if ingress.enabled and ingress.tls %}{{ ingress.host }}{% endif %}", false),
        ("{% if ingress.enabled %}{{ ingress.host }}{% if ingress.hosts %}{% endif %}{% endif %}", false),
        ("{% if ingres %}{% endif %}{% if ingress.enabled %}{{ ingress.host }}{% endif %}", false),
        ("{% if ingress.hostt is defined %}{% endif %}{{ ingress.enabled }}{{ ingress.host }}", false),
    ] {
        sandbox.write("c.tera", template);
        let said = sandbox.run(&["check", "c.tera", "-f", "v.yaml"]).expect(0);
        assert_eq!(said.stderr.contains("E0204"), found, "{template}: {}", said.stderr);
        if found {
            said.says(&["nothing gives `ingress.enabld`", "did you mean `ingress.enabled`?"]);
            sandbox.run(&["check", "c.tera", "-f", "v.yaml", "--strict"]).expect(1);
        }
    }
}

#[test]
fn an_input_in_place_of_a_field_is_told_by_every_command() {
    let sandbox = sandbox();
    sandbox.write("v.yaml", "svc: {port: 80}\nservices: [{port: 1}, {}]\n");
    sandbox.write("p/part.tera", "{% for svc in services %}{{ svc.port }} {% endfor %}");
    sandbox.write("p/a.txt.tera", "{% include \"part.tera\" %}\n");
    sandbox.write("fleet.ndjson", "{\"name\": \"a\"}\n{\"name\": \"b\", \"services\": []}\n");
    for run in [
        &["check", "p", "-f", "v.yaml"][..],
        &["render", "p/a.txt.tera", "--include-root", "p", "-f", "v.yaml"],
        &["render", "p", "-f", "v.yaml", "-o", "one"],
        &["stamp", "p", "-f", "v.yaml", "--fleet", "fleet.ndjson", "-o", "out"],
        &["diff", "p", "-f", "v.yaml", "--fleet", "fleet.ndjson", "-o", "other", "--strict"],
    ] {
        let said = sandbox.run(run).stderr;
        let told = said.matches("warning[E0205]: an item has no `port`, so the input `svc.port` is read").count();
        assert_eq!(told, 1, "{run:?}: {said}");
        assert!(said.contains("part.tera:1:33"), "{said}");
    }
    let strict = ["stamp", "p", "-f", "v.yaml", "--fleet", "fleet.ndjson", "-o", "strict", "--strict"];
    sandbox.run(&strict).expect(1).says(&["nothing is written"]);
    sandbox.write("v.yaml", "svc: {port: 80}\nservices: [{port: 1}]\n");
    let said = sandbox.run(&["render", "p/a.txt.tera", "--include-root", "p", "-f", "v.yaml"]).expect(0).stderr;
    assert!(!said.contains("E0205"), "{said}");
}

#[test]
fn what_a_template_guards_is_never_missing() {
    let sandbox = sandbox();
    sandbox.write("v.yaml", "m: {a: 1}\nl: [{a: 1, b: 2}, {a: 1}]\nk: x\n");
    for (name, template) in [
        ("a.tera", "{{ x | default(value=1) }}{{ m.x | default(value=1) }}{% if x is defined %}{{ x.y }}{% endif %}"),
        ("b.tera", "{% for i in l %}{% if i.b is defined %}{{ i.b }}{% else %}{{ i.a }}{% endif %}{% endfor %}"),
        ("c.tera", "{% set x = 1 %}{{ x }}{% if m.b %}{{ m.b.c }}{% endif %}{{ m | get(key='z', default=1) }}"),
        (
            "d.tera",
            "{% for i in l %}{% if i.a == 2 %}{{ i.c }}{% endif %}{% endfor %}{% if k != 'x' %}{{ gone }}{% endif %}",
        ),
        ("a.tftpl", "${try(x.y, 1)}%{ if can(m.b) }${m.b}%{ endif }${lookup(m, \"x\", 1)}${k == \"x\" ? 1 : m.c}"),
        ("b.tftpl", "%{ for i in l }${i.a}${try(i.b, 0)}%{ endfor }${m[\"a\"]}"),
        ("a.cel.yaml", "a: \"${has(m.b) ? m.b : 0}\"\nb: ${m.?c.orValue(1)}\nc: \"${l.map(i, has(i.b) ? i.b : i.a)}\""),
        ("b.cel.yaml", "$for: i in l\n$do: {a: \"${i.a}\", b: {$if: \"has(i.b)\", $then: \"${i.b}\"}}"),
    ] {
        sandbox.write(name, template);
        let said = sandbox.run(&["check", name, "-f", "v.yaml"]);
        assert!(!said.stderr.contains("nothing gives"), "{name}: {}", said.stderr);
    }
}

#[test]
fn every_language_is_checked() {
    let sandbox = sandbox();
    sandbox.write("v.yaml", "m: {tag: 1}\nl: [{name: a}, {nmae: b}]\nparams: {tag: 1}\n");
    for (name, template, missing) in [
        ("a.tera", "{{ m.tga }}{% for i in l %}{{ i.name }}{% endfor %}", ["`m.tga`", "`i.name`"]),
        ("a.tftpl", "${m.tga}%{ for i in l }${i.name}%{ endfor }", ["`m.tga`", "`i.name`"]),
        ("a.cel.yaml", "a: ${m.tga}\nb: \"${l.map(i, i.name)}\"", ["`m.tga`", "`i.name`"]),
        ("a.tower", "${params.tga} ${params.nmae}", ["`params.tga`", "`params.nmae`"]),
    ] {
        sandbox.write(name, template);
        let said = sandbox.run(&["check", name, "-f", "v.yaml"]).expect(1);
        said.says(&missing.map(|path| Box::leak(format!("nothing gives {path}").into_boxed_str()) as &str));
    }
}

#[test]
fn values_are_not_called_unread_while_a_template_does_not_compile() {
    let sandbox = sandbox();
    sandbox.write("t/bad.yaml.tera", "{% if %}");
    let check = sandbox.run(&["check", "t", "-f", "v.yaml", "-f", "typo.yaml"]).expect(1);
    assert!(!check.stderr.contains("E0809"), "{}", check.stderr);
}
