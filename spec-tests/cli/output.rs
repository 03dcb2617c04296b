//! Error output.

use crate::support::{Sandbox, clusters};

#[test]
fn one_bad_cluster_of_many() {
    let sandbox = Sandbox::fleet(50);
    sandbox.write("fleet.ndjson", &clusters(50, |n| if n == 17 { "\"nn\":1".into() } else { "\"n\":1".into() }));
    let outcome = sandbox.stamp(&[]).expect(4);
    let outcome = outcome.says(&[
        "E0201",
        "a.yaml.tera:2",
        "`n`",
        "cluster: c17",
        "98 files for 49 clusters",
        "1 cluster failed",
    ]);
    assert_eq!(outcome.stdout, "");
    assert_eq!(sandbox.outputs("out").len(), 98);
    assert!(!sandbox.path("out/c17").exists());
}

#[test]
fn one_cause_is_reported_once() {
    let sandbox = Sandbox::fleet(500);
    sandbox.write("fleet.ndjson", &clusters(500, |n| if n < 412 { "\"m\":1".into() } else { "\"n\":1".into() }));
    let outcome = sandbox.stamp(&[]).expect(4);
    let outcome = outcome.says(&["412 clusters: ", "c0, c1, c2, c3, c4 and 407 more", "also at t/b.yaml.tera:1:60"]);
    assert_eq!(outcome.stderr.matches("error[E0201]").count(), 1, "{}", outcome.stderr);
    let errors = sandbox.stamp(&["--error-format", "json"]).expect(4).json();
    assert_eq!(errors.len(), 3);
    assert_eq!((errors[0]["count"].as_u64(), errors[0]["clusters"][411].as_str()), (Some(412), Some("c411")));
    assert_eq!((errors[0]["template"].as_str(), errors[0]["line"].as_u64()), (Some("a.yaml.tera"), Some(2)));
    assert_eq!(
        (errors[2]["summary"]["failed"].as_u64(), errors[2]["summary"]["unchanged"].as_u64()),
        (Some(412), Some(176))
    );
}

#[test]
fn fail_fast_stops_with_1() {
    let sandbox = Sandbox::fleet(1);
    sandbox.write("fleet.ndjson", &clusters(200, |n| if n == 3 { "\"m\":1".into() } else { "\"n\":1".into() }));
    let said = ["cluster: c3", " for 3 clusters: ", "1 cluster failed; 196 clusters not reached"];
    sandbox.stamp(&["--fail-fast", "-j", "1"]).expect(1).says(&said);
    assert!(!sandbox.path("out/c199").exists());
}

#[test]
fn quiet_prints_errors_only() {
    let sandbox = Sandbox::fleet(2);
    assert_eq!(sandbox.stamp(&["-q"]).expect(0).stderr, "");
    sandbox.write("fleet.ndjson", "{\"name\":\"x\"}\n");
    let outcome = sandbox.stamp(&["-q"]).expect(4).says(&["error[E0201]"]);
    assert!(!outcome.stderr.contains("unchanged"));
}

#[test]
fn a_line_of_the_fleet_that_is_wrong_is_pointed_at() {
    let sandbox = Sandbox::fleet(2);
    sandbox.write("fleet.ndjson", "{\"name\":\"a\",\"n\":1}\n{\"name\":\"b\" \"n\":1}\n");
    sandbox.stamp(&[]).expect(1).says(&["fleet.ndjson:2:", "invalid JSON"]);
    sandbox.write("fleet.ndjson", "{\"name\":\"a\",\"n\":1}\n[1]\n");
    sandbox.stamp(&[]).expect(1).says(&["fleet.ndjson:2:1", "expected a cluster as a map"]);
    let deep = format!("{{\"name\":\"b\",\"n\":{}{}}}\n", "[".repeat(2_000), "]".repeat(2_000));
    sandbox.write("fleet.ndjson", &format!("{{\"name\":\"a\",\"n\":1}}\n{deep}"));
    sandbox.stamp(&[]).expect(4).says(&["E0602", "cluster: b"]);
    assert!(sandbox.path("out/a/a.yaml").exists());
}

#[test]
fn errors_have_a_format_for_each_reader() {
    let sandbox = Sandbox::fleet(3);
    sandbox.write("fleet.ndjson", &clusters(3, |n| if n < 2 { "\"m\":1".into() } else { "\"n\":1".into() }));
    let line = sandbox.stamp(&["--error-format", "short"]).expect(4).stderr;
    assert!(line.contains("a.yaml.tera:2:"), "{line}");
    assert!(line.contains(": error[E0201]: 2 clusters: ") && line.contains("[cluster c0, c1]\n"), "{line}");
    let annotation = sandbox.stamp(&["--error-format=github"]).expect(4).stderr;
    let first = annotation.lines().next().unwrap_or_default();
    assert!(first.starts_with("::error file=") && first.contains("a.yaml.tera,line=2,endLine=2,col="), "{first}");
    assert!(first.contains("title=E0201 ") && first.contains("%0Acluster: c0, c1"), "{first}");
    let log = sandbox.stamp(&["--error-format", "sarif"]).expect(4).json();
    let run = &log[0]["runs"][0];
    assert_eq!((log.len(), log[0]["version"].as_str()), (1, Some("2.1.0")));
    assert_eq!(run["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "E0201");
    assert!(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 2);
}

#[test]
fn one_cause_at_many_places_is_one_error_for_people() {
    let sandbox = Sandbox::with(&[("fleet.csv", "name,tier,zone\na,1,z\nb,1,\n"), ("t/_h.tera", "{{ teir }}\n")]);
    for n in 1..=8 {
        sandbox.write(&format!("t/a{n}.tera"), "{% include \"_h.tera\" %}{{ zone }}\n");
    }
    // A file that is included has its error once.
    let stamp =
        |more: &[&str]| sandbox.run(&[&["stamp", "t", "--fleet", "fleet.csv", "-o", "out", "-q"], more].concat());
    let outcome = stamp(&[]).expect(4).says(&["error[E0201]: 2 clusters: the variable `teir` is not defined"]);
    assert_eq!(outcome.stderr.matches("error[E0201]").count(), 1, "{}", outcome.stderr);
    sandbox.write("t/_h.tera", "{{ tier }}\n");
    let also = "also at t/a2.tera:1:27, t/a3.tera:1:27, t/a4.tera:1:27, t/a5.tera:1:27, t/a6.tera:1:27 and 2 more";
    for command in ["stamp", "check"] {
        let run = |more: &[&str]| match command {
            "stamp" => stamp(more).expect(4),
            _ => sandbox.run(&[&["check", "t", "--fleet", "fleet.csv"], more].concat()).expect(1),
        };
        let outcome = run(&[]).says(&["t/a1.tera:1:27", also, "cluster: b"]);
        assert_eq!(outcome.stderr.matches("error[E0201]").count(), 1, "{}", outcome.stderr);
        // Programs get each place.
        let outcome = run(&["--error-format", "short"]);
        assert_eq!(outcome.stderr.matches("error[E0201]").count(), 8, "{}", outcome.stderr);
    }
}

#[test]
fn each_format_explains_errors_whose_messages_are_summaries() {
    let sandbox = Sandbox::with(&[("a.tftpl", "${nmae}"), ("v.yaml", "name: x\n")]);
    for format in ["human", "json", "short", "github", "sarif"] {
        let outcome = sandbox.run(&["render", "a.tftpl", "-f", "v.yaml", "--error-format", format]).expect(1);
        outcome.says(&["Unknown variable", "There is no variable named `nmae`", "did you mean `name`?"]);
    }
}

#[test]
fn a_log_is_printed_whatever_the_outcome() {
    let sandbox = Sandbox::fleet(1);
    let results = |arguments: &[&str], exit| {
        let log = sandbox.run(&[arguments, &["--error-format", "sarif"]].concat()).expect(exit).json();
        log[0]["runs"][0]["results"].as_array().map(Vec::len)
    };
    assert_eq!(results(&["check", "t"], 0), Some(0));
    assert_eq!(results(&["render", "--nope"], 2), Some(1));
}

#[test]
fn an_output_never_replaces_an_input() {
    let files = [("a.yaml.tera", "a: {{ x }}\n"), ("v.yaml", "x: 1\n"), ("f.csv", "name\nc\n"), ("t/b.tera", "b\n")];
    let sandbox = Sandbox::with(&files);
    std::fs::hard_link(sandbox.path("v.yaml"), sandbox.path("second.yaml")).unwrap();
    std::fs::create_dir(sandbox.path("d")).unwrap();
    let render = ["render", "a.yaml.tera", "-f", "v.yaml", "-o"];
    let stamp = ["stamp", "t", "--fleet", "f.csv", "--layout", "single", "--no-check-output", "-o"];
    let text = ["render", "a.yaml.tera", "--set-file", "x=v.yaml", "-o"];
    for (args, output, input) in [
        (&render[..], "a.yaml.tera", "a.yaml.tera"),
        (&render, "./d/../v.yaml", "v.yaml"),
        (&render, "second.yaml", "v.yaml"),
        (&text, "v.yaml", "v.yaml"),
        (&stamp, "f.csv", "f.csv"),
        (&stamp, "t/b.tera", "t/b.tera"),
        (&["compile", "a.yaml.tera", "-o"], "a.yaml.tera", "a.yaml.tera"),
        (&["compile", "t", "--specialise", "v.yaml", "-o"], "v.yaml", "v.yaml"),
    ] {
        let outcome = sandbox.run(&[args, &[output]].concat()).expect(2);
        outcome.says(&[&format!("the output `{output}` is the input `{input}`")]);
    }
    files.iter().for_each(|(name, text)| assert_eq!(sandbox.read(name), *text));
    sandbox.run(&[&render[..], &["new.yaml"]].concat()).expect(0);
}
