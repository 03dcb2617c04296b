//! Hostile charts and Go templates. Each ends in a result or a coded error, on a thread with half of the usual stack and
//! within the limits.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use dropforge::diagnostics::{Diagnostic, Diagnostics};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
use dropforge::engine::{Dialect, Engine};
use dropforge::limits::Limits;
use serde_json::json;

const STACK: usize = 1 << 20;
/// Maximum duration of a case, in a build without optimisation on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

fn limits() -> Limits {
    Limits { fuel: 2_000_000, memory: 64 << 20, output_bytes: 16 << 20, ..Limits::default() }
}

fn on_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let started = Instant::now();
    let thread = thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    let done = thread.join().expect("no panic");
    assert!(started.elapsed() < LONGEST, "it took {:?}", started.elapsed());
    done
}

/// Prints an error as people and tools see it, and returns its code.
fn told(error: &Diagnostic) -> String {
    let (text, json) = (error.render(false), error.to_json().to_string());
    assert!(text.len() < 100_000 && json.len() < 20_000_000, "{} {}", text.len(), json.len());
    error.code.name().to_owned()
}

fn first(errors: &Diagnostics) -> String {
    errors.first().map_or_else(|| "none".to_owned(), told)
}

/// Renders a template. Returns the length of the output or the code of the first error.
fn template(text: impl Into<String>) -> Result<usize, String> {
    let text = text.into();
    on_small_stack(move || {
        let engine = Engine::builder().limits(limits()).build();
        let template = engine.compile(Dialect::Helm, "t.gotmpl", &text).map_err(|errors| first(&errors))?;
        let defines = "{{ define \"a\" }}{{ end }}{{ tpl .d . }}";
        let data = json!({
            "x": "ab", "l": [1, 2], "m": {"a": 1}, "n": 1, "t": "{{ tpl .t . }}{{ tpl .t . }}", "d": defines,
        });
        template.render(&data).map(|text| text.len()).map_err(|error| told(&error))
    })
}

/// Renders a chart with values. Returns the length of the output or the code of the first error.
fn chart(files: Vec<(String, String)>, values: &'static str) -> Result<usize, String> {
    on_small_stack(move || {
        let own = [("Chart.yaml".to_owned(), "apiVersion: v2\nname: c\nversion: 1.0.0\n".to_owned())];
        let is_given = files.iter().any(|(name, _)| name == "Chart.yaml");
        let files = own.into_iter().filter(|_| !is_given).chain(files);
        let source = ChartSource::from_files(files).map_err(|error| told(&error))?;
        let chart = Engine::builder().limits(limits()).build().chart(&source).map_err(|errors| first(&errors))?;
        let mut user = UserValues::default();
        user.file("v.yaml", values).map_err(|errors| first(&errors))?;
        let render = chart.render(&user, &Release::default(), &Capabilities::default());
        let output = render.map_err(|errors| first(&errors))?.output().map_err(|error| told(&error))?;
        Ok(output.text().len())
    })
}

fn file(name: &str, text: impl Into<String>) -> (String, String) {
    (name.to_owned(), text.into())
}

fn of_template(text: impl Into<String>) -> Result<usize, String> {
    chart(vec![file("templates/a.yaml", text)], "")
}

fn limit(code: &str) -> Result<usize, String> {
    Err(format!("limit.{code}"))
}

#[test]
fn chains_and_nesting_of_a_hundred_thousand_are_flat_or_end_in_a_limit() {
    let n = 100_000;
    assert_eq!(template(format!("{{{{ .x{} }}}}", " | upper".repeat(n))), limit("depth"));
    assert_eq!(template(format!("{{{{ .m{} }}}}", ".a".repeat(n))), limit("code"));
    assert_eq!(template(format!("{{{{ print{} }}}}", " 1".repeat(n))), limit("code"));
    assert_eq!(template(format!("{{{{ print{} | len }}}}", " 1".repeat(n / 10))), Ok(5));
    for (text, len) in [("a", n), ("\\\"", n), ("é", 2 * n)] {
        assert_eq!(template(format!("{{{{ print \"{}\" }}}}", text.repeat(n))), Ok(len));
    }
    assert_eq!(template(format!("{{{{ print `{}` }}}}", "é".repeat(n))), Ok(2 * n));
    assert_eq!(template(format!("{{{{{}1 }}}}", " ".repeat(n))), Ok(1));
    assert_eq!(template(format!("{{{{ {}1{} }}}}", "(".repeat(n), ")".repeat(n))), limit("depth"));
    assert!(template(format!("{{{{ {} }}}}", "(".repeat(n))).is_err());
    for (open, close) in [("if 1", "end"), ("with 1", "end"), ("range .l", "end")] {
        let (open, close) = (format!("{{{{ {open} }}}}"), format!("{{{{ {close} }}}}"));
        assert_eq!(template(format!("{}x{}", open.repeat(n), close.repeat(n))), limit("depth"), "{open}");
        assert!(template(open.repeat(n)).is_err(), "{open}");
        let few = Limits::default().nesting - 8;
        assert!(template(format!("{}x{}", open.repeat(few), close.repeat(few))).is_ok() || open.contains("range"));
    }
    let chain = format!("{{{{ if 0 }}}}{}{{{{ end }}}}", "{{ else if 0 }}".repeat(n));
    assert!(matches!(template(chain), Ok(0) | Err(_)));
}

#[test]
fn a_megabyte_of_delimiters_is_an_error() {
    for text in
        ["{{", "}}", "{{ }}", "{{/*", "{{- ", "{{\"", "{{`", "{{'", "{{(", "{{ end }}", "{{ $x := ", "{{define "]
    {
        let size = if text == "{{" { 1 << 20 } else { 1 << 17 };
        let told = template(text.repeat(size / text.len()));
        assert!(told.as_ref().is_err_and(|code| code != "internal") || text == "}}", "{text} {told:?}");
    }
}

#[test]
fn giant_loops_and_texts_end_in_limits() {
    let ends = |text: &str| {
        let told = template(text);
        assert!(told.as_ref().is_err_and(|code| code.starts_with("limit.")), "{text} {told:?}");
    };
    ends("{{ range $i := until 1000000000 }}{{ $i }}{{ end }}");
    ends("{{ range 1000000000 }}x{{ end }}");
    ends("{{ repeat 1000000000 \"ab\" }}");
    ends("{{ indent 1000000000 \"ab\" }}");
    ends("{{ nindent 1000000000 \"ab\" }}");
    ends("{{ untilStep 0 1000000000 1 | len }}");
    ends("{{ seq 1000000000 | len }}");
    ends("{{ $x := \"ab\" }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}");
    ends("{{ $x := list 1 }}{{ range 64 }}{{ $x = concat $x $x }}{{ end }}");
    ends("{{ define \"x\" }}{{ template \"x\" . }}{{ end }}{{ template \"x\" . }}");
    ends("{{ define \"x\" }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}");
    ends(
        "{{ define \"x\" }}{{ include \"y\" . }}{{ end }}{{ define \"y\" }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}",
    );
    ends("{{ define \"x\" }}{{ include \"x\" . }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}");
    for text in ["{{ printf \"%1000000000d\" 1 }}", "{{ printf \"%.1000000000f\" 1.0 }}", "{{ trunc -1000000000 .x }}"]
    {
        assert!(template(text).is_ok_and(|len| len < 1_000) || template(text).is_err(), "{text}");
    }
}

#[test]
fn texts_that_make_themselves_end_in_limits() {
    // A text without definitions is compiled once, however deep it nests.
    assert_eq!(template("{{ tpl .t . }}"), limit("recursion"));
    assert_eq!(template("{{ tpl .d . }}"), limit("fuel"));
    let doubling = "{{ $t := \"{{ . }}\" }}{{ range 40 }}{{ $t = print $t $t }}{{ end }}{{ tpl $t 1 }}";
    assert_eq!(template(doubling), limit("memory"));
    // Each text is new, so that none is compiled twice.
    let new = "{{ range $i := until 1000000 }}{{ tpl (printf \"{{/* %d */}}{{ . }}\" $i) 1 }}{{ end }}";
    assert_eq!(template(new), limit("fuel"));
    let mut nested = "{{ . }}".to_owned();
    for _ in 0..12 {
        nested = format!("{{{{ tpl {nested:?} . }}}}");
        if nested.len() > 100_000 {
            break;
        }
    }
    assert!(matches!(template(nested), Ok(_) | Err(_)));
}

#[test]
fn ten_thousand_definitions_compile() {
    let mut text = String::new();
    for at in 0..10_000 {
        let next = at + 1;
        let _ = write!(
            text,
            "{{{{ define \"d{at}\" }}}}{{{{ if eq .n {at} }}}}{{{{ include \"d{next}\" . }}}}{{{{ end }}}}{{{{ end }}}}"
        );
    }
    text.push_str("{{ define \"d10000\" }}x{{ end }}{{ include \"d5\" (dict \"n\" 5) }}");
    assert_eq!(of_template(text).map(|len| len < 100), Ok(true));
    // Each unknown name is compared with those that are known.
    let calls: String =
        (0..10_000).map(|at| format!("{{{{ if 0 }}}}{{{{ include \"unknwn-{at}\" . }}}}{{{{ end }}}}")).collect();
    let defines: String = (0..10_000).map(|at| format!("{{{{ define \"unknown-{at}\" }}}}{{{{ end }}}}")).collect();
    assert_eq!(of_template(defines + &calls).map(|len| len < 100), Ok(true));
    // A chain of calls, each by a name that is known.
    let chain: String = (0..5_000)
        .map(|at| format!("{{{{ define \"c{at}\" }}}}{{{{ include \"c{}\" . }}}}{{{{ end }}}}", at + 1))
        .collect();
    let ended = of_template(format!("{chain}{{{{ define \"c5000\" }}}}x{{{{ end }}}}{{{{ include \"c0\" . }}}}"));
    assert!(ended.is_ok() || ended == limit("recursion"), "{ended:?}");
}

#[test]
fn values_that_nest_deeply_or_grow_by_anchors_end_in_limits() {
    let deep: &'static str = Box::leak(format!("a: {}1{}\n", "[".repeat(10_000), "]".repeat(10_000)).into_boxed_str());
    let told = chart(vec![file("templates/a.yaml", "a: {{ toJson .Values }}\n")], deep);
    assert!(told.is_err(), "{told:?}");
    let told = chart(vec![file("values.yaml", deep), file("templates/a.yaml", "a: 1\n")], "");
    assert!(told.is_err(), "{told:?}");
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for at in 1..12 {
        let _ = writeln!(bomb, "a{at}: &a{at} [{}]", format!("*a{},", at - 1).repeat(9));
    }
    let bomb: &'static str = Box::leak(bomb.into_boxed_str());
    let told = chart(vec![file("templates/a.yaml", "a: {{ len .Values.a11 }}\n")], bomb);
    assert!(told.is_err(), "{told:?}");
    let told = chart(vec![file("values.yaml", bomb), file("templates/a.yaml", "a: 1\n")], "");
    assert!(told.is_err(), "{told:?}");
    let told = of_template(format!("{{{{ fromYaml {bomb:?} | toYaml | len }}}}"));
    assert!(told.is_err() || told.is_ok_and(|len| len < 1_000));
    let told = of_template(format!("a: {}1{}\n", "[".repeat(10_000), "]".repeat(10_000)));
    assert!(told.is_err(), "{told:?}");
    let told = of_template(bomb);
    assert!(told.is_err(), "{told:?}");
    let nest = "{{ $x := dict }}{{ range 5000 }}{{ $x = dict \"a\" $x }}{{ end }}a: {{ toYaml $x | len }}\n";
    assert!(of_template(nest).is_ok() || of_template(nest).is_err());
    let circle = "{{ $x := dict }}{{ $_ := set $x \"a\" $x }}a: {{ toYaml $x | len }}\n";
    assert_eq!(of_template(circle).map(|len| len < 100), Ok(true));
}

#[test]
fn charts_in_charts_end_in_limits() {
    let chart_of = |name: &str, more: &str| format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n{more}");
    let mut files = Vec::new();
    for depth in 0..100 {
        let path = "charts/a/".repeat(depth);
        files.push(file(&format!("{path}Chart.yaml"), chart_of("a", "")));
    }
    assert_eq!(chart(files, ""), limit("depth"));
    // A chart that names itself, or the one around it, as a dependency.
    let circle = "dependencies:\n- {name: b, version: 1.0.0}\n- {name: a, version: 1.0.0}\n";
    let files = vec![
        file("Chart.yaml", chart_of("a", circle)),
        file("charts/b/Chart.yaml", chart_of("b", "dependencies:\n- {name: a, version: 1.0.0}\n")),
        file("charts/b/charts/a/Chart.yaml", chart_of("a", "")),
        file("charts/a/Chart.yaml", chart_of("a", "")),
        file("templates/x.yaml", "a: 1\n"),
    ];
    assert_eq!(chart(files, "").map(|len| len < 1_000), Ok(true));
    let many: Vec<_> = (0..2_000)
        .map(|at| file(&format!("charts/c{at}/Chart.yaml"), chart_of(&format!("c{at}"), "")))
        .chain([file("templates/x.yaml", "a: 1\n")])
        .collect();
    assert_eq!(chart(many, "").map(|len| len < 1_000), Ok(true));
    let files = (0..30_000).map(|at| file(&format!("x/{at}"), "")).collect();
    assert_eq!(chart(files, ""), limit("templates"));
    for path in ["../x", "/etc/passwd", "templates/../../x", "a//b", "a\\b", "./x", "templates/\0"] {
        assert_eq!(chart(vec![file(path, "x")], ""), Err("template.outside_root".into()), "{path}");
    }
}

#[test]
fn schemas_that_never_end_are_bounded() {
    let with = |schema: &str, values: &'static str| {
        chart(vec![file("values.schema.json", schema), file("templates/a.yaml", "a: 1\n")], values)
    };
    let circle = r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##;
    let told = with(circle, "x: 1\n");
    assert!(told.as_ref().is_ok_and(|len| *len < 100) || told.is_err(), "{told:?}");
    let own = r##"{"allOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"x": {"$ref": "#"}}}"##;
    let told = with(own, "x: {x: {x: 1}}\n");
    assert!(told.as_ref().is_ok_and(|len| *len < 100) || told.is_err(), "{told:?}");
    let long: &'static str = Box::leak(format!("x: {}!\n", "a".repeat(50_000)).into_boxed_str());
    for pattern in ["^(a+)+$", "^(a|a)*$", "(.*)*(.*)*x", "((a{0,100}){0,100}){0,100}"] {
        let schema = json!({"properties": {"x": {"pattern": pattern}}}).to_string();
        let told = with(&schema, long);
        assert!(told.as_ref().is_ok_and(|len| *len < 100) || told.is_err(), "{pattern} {told:?}");
    }
    let deep = format!("{}{}", r#"{"not": "#.repeat(100_000), "true".to_owned() + &"}".repeat(100_000));
    assert!(with(&deep, "x: 1\n").is_err());
}

#[test]
fn documents_of_the_output_are_bounded() {
    assert_eq!(of_template("{{ range 20000 }}---\na: 1\n{{ end }}").map(|len| len > 20_000), Ok(true));
    let told = of_template(format!("? {}\n", "? ".repeat(20_000)));
    assert!(told.is_err(), "{told:?}");
    let told = of_template(format!("a: &a {{x: {}}}\n", "{x: ".repeat(5_000)));
    assert!(told.is_err(), "{told:?}");
    let told = of_template("a: \"{{ range 100000 }}\\x41{{ end }}\"\n");
    assert!(told.is_ok(), "{told:?}");
    let keys = of_template("{{ range $i := until 50000 }}k{{ $i }}: 1\n{{ end }}");
    assert!(keys.is_ok(), "{keys:?}");
    let same = of_template("{{ range 50000 }}k: 1\n{{ end }}");
    assert!(same.is_ok(), "{same:?}");
}
