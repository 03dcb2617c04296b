//! Large fleets are stamped by templates that are specialised to shared values. Nothing but the time tells.

use crate::support::Sandbox;

/// Enough clusters for specialised templates to pay.
const CLUSTERS: usize = 2_000;

/// A fleet whose shared values some clusters override, remove or replace.
fn sandbox() -> Sandbox {
    let cluster = |n: usize| {
        let more = match n % 50 {
            7 => r#","image":{"tag":"own"}"#,
            8 => r#","image":null"#,
            9 => r#","ports":"none""#,
            10 => r#","owner":"team""#,
            _ => "",
        };
        format!("{{\"name\":\"c{n:04}\",\"size\":{}{more}}}\n", n % 3)
    };
    let fleet: String = (0..CLUSTERS).map(cluster).collect();
    let app = "\
name: {{ name }}
image: {{ image.name }}:{{ image.tag }}
{% for p in ports %}- {{ p.name }}: {{ p.port * size }}
{% endfor %}{% if env == 'prod' %}owner: {{ owner | default(value=org) }}
{% endif %}";
    Sandbox::with(&[
        ("t/app.txt.tera", app),
        ("t/name.txt.tera", "{{ name }}\n"),
        (
            "v.yaml",
            "image: {name: web, tag: v1}\nports:\n- {name: a, port: 80}\n- {name: b, port: 443}\nenv: prod\norg: acme\n",
        ),
        ("fleet.ndjson", &fleet),
    ])
}

/// Standard error without the time that the run took.
fn untimed(text: &str) -> String {
    text.lines().map(|line| line.split(" in ").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[test]
fn files_and_errors_are_the_same_without() {
    let sandbox = sandbox();
    for more in [&[][..], &["--merge", "replace"], &["--set", "image.tag=v2"], &["--error-format", "json", "-q"]] {
        let stamp = |out: &str, flags: &[&str]| {
            let args = ["stamp", "t", "--fleet", "fleet.ndjson", "-f", "v.yaml", "-o", out];
            let said = sandbox.run(&[&args[..], more, flags].concat()).expect(4);
            (untimed(&said.stderr).replace(out, "out"), sandbox.tree(out))
        };
        let (fast, slow) = (stamp("fast", &[]), stamp("slow", &["--no-specialise"]));
        assert_eq!(fast, slow, "{more:?}");
        assert!(fast.1.len() > CLUSTERS, "{more:?}");
    }
}

#[test]
fn a_preview_is_the_same_without() {
    let sandbox = sandbox();
    sandbox.stamp(&["-f", "v.yaml"]).expect(4);
    sandbox.write("v.yaml", &sandbox.read("v.yaml").replace("v1", "v2"));
    let diff = |flags: &[&str]| sandbox.stamp(&[&["-f", "v.yaml", "--diff"], flags].concat()).expect(4).stdout;
    let text = diff(&[]);
    assert!(text.contains("+image: web:v2"), "{text}");
    assert_eq!(text, diff(&["--no-specialise"]));
}

#[test]
fn the_plan_names_values_sizes_and_reasons_and_writes_nothing() {
    let sandbox = sandbox();
    let explain = |more: &[&str]| sandbox.stamp(&[&["-f", "v.yaml", "--explain-plan"], more].concat()).expect(0).stdout;
    let text = explain(&[]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "looked at 128 of 2,000 clusters");
    assert_eq!(lines[1], "known to most clusters: image, ports, env, org");
    assert_eq!(lines[2], "classes of clusters by: size (3 values)");
    assert!(lines[3].starts_with("app.txt.tera: ") && lines[3].contains(" → "), "{text}");
    assert!(lines[4].ends_with("not specialised: it reads no shared value that clusters leave alone"), "{text}");
    assert!(sandbox.tree("out").is_empty());
    assert!(explain(&["--no-specialise"]).contains("not specialised: switched off"));
    let few = explain(&["-l", "name=c0001"]);
    assert!(few.contains("not specialised: 1 cluster only: it pays from "), "{few}");
    sandbox.write("own.ndjson", &sandbox.read("fleet.ndjson").replace("\"size\"", "\"env\":\"dev\",\"size\""));
    let args = ["stamp", "t", "--fleet", "own.ndjson", "-f", "v.yaml", "-o", "out", "--explain-plan"];
    let text = sandbox.run(&args).expect(0).stdout;
    assert!(text.contains("left open: env (set by 128)\n"), "{text}");
}
