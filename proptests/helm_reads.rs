//! The paths that templates of `helm` read: without the values that count as not read, the text is the same. Templates pass
//! maps and lists that they make to others, change them, and take values out of them.

use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
use dropforge::engine::Engine;
use dropforge::engine::chart::ChartTemplate;
use dropforge::value::ReadPaths;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

use super::machines;

const EXPRESSIONS: &[&str] = &[
    "$.s",
    "$.m.a",
    "$.m",
    "$",
    ".",
    "(.m).a",
    "((.root).m).a",
    "((.root).m).b",
    "(.root).l",
    ".k",
    "(index $l 0)",
    "(index $l 1)",
    "(index $d \"root\")",
    "(index $d \"root\" \"m\" \"a\")",
    "((index $l 0).m).b",
    "((index (list $ 1) 0).m).c",
    "(index $.m \"b\")",
    "(index $.l 0)",
    "(index $.l $.n)",
    "(index $d $.s)",
    "$d.root.m.b",
    "($d.k).a",
    "(dict \"root\" $ \"k\" $.s)",
    "(dict \"root\" (dict \"m\" $.m))",
    "(list $.m $.s)",
    "(dict \"k\" $.n \"k\" $.m)",
    "(tuple $ $.l)",
    "(get $d \"k\")",
    "(ternary $d $.m true)",
    "(default $.m $d.gone)",
    "(or $d.gone $d $.s)",
    "(and $.n $d)",
    "(len $.l)",
    "(first $l)",
    "(pick $d \"root\")",
    "(deepCopy $d)",
    "(tpl \"text\" .)",
    "(include \"u\" (dict \"root\" $ \"k\" $.m.a))",
];

/// Patterns of nodes. `E` is an expression, `T` a body.
const NODES: &[&str] = &[
    "{{ E }}",
    "{{ E | toJson }}",
    "{{ if E }}T{{ else }}T{{ end }}",
    "{{ with E }}T{{ end }}",
    "{{ range E }}T{{ end }}",
    "{{ range $i, $x := E }}{{ $i }}{{ $x }}T{{ end }}",
    "{{ if E }}{{ $d = dict \"root\" E \"k\" E }}{{ end }}T",
    "{{ $d = dict \"root\" $d.root \"k\" E }}T",
    "{{ $l = list E E }}T",
    "{{ $l = append $l E }}T",
    "{{ $_ := set $d \"k\" E }}T",
    "{{ $_ := set $d \"root\" E }}T",
    "{{ $_ := unset $d \"k\" }}T",
    "{{ $_ := merge $d (dict \"new\" E) }}{{ $d.new }}T",
    "{{ $_ := mergeOverwrite $d (dict \"root\" E) }}T",
    "{{ $e := $d }}{{ $_ := set $e \"k\" E }}{{ $d.k }}T",
    "{{ include \"u\" E }}",
    "{{ include (print \"u\" \"\") E }}",
    "{{ template \"u\" $d }}",
    "{{ template \"u\" (dict \"root\" E \"k\" E) }}",
];

/// The beginning of each template.
const START: &str = "{{ $d := dict \"root\" $ \"k\" 1 }}{{ $l := list $ 1 }}";

fn body() -> BoxedStrategy<String> {
    let leaf = select(NODES).prop_map(|node| node.replace('T', ""));
    let nested = leaf.prop_recursive(3, 10, 3, |inner| {
        (select(NODES), vec(inner, 1..3)).prop_map(|(node, bodies)| node.replace('T', &bodies.concat()))
    });
    let expressions = vec(select(EXPRESSIONS), 24);
    (nested, expressions)
        .prop_map(|(text, expressions)| {
            let mut next = expressions.into_iter().cycle();
            text.split(" E").collect::<Vec<_>>().into_iter().enumerate().fold(String::new(), |text, (at, part)| {
                let with = if at == 0 { "" } else { next.next().unwrap_or(".") };
                text + if at == 0 { "" } else { " " } + with + part
            })
        })
        .boxed()
}

/// A template with another one that it calls.
fn template() -> impl Strategy<Value = String> {
    (body(), vec(body(), 1..4)).prop_map(|(u, main)| {
        let u = u.replace("\"u\"", "\"v\"");
        let other = "{{ define \"v\" }}{{ .k }}{{ ((.root).m).c }}";
        format!("{START}{}{{{{ end }}}}{{{{ define \"u\" }}}}{START}{u}{{{{ end }}}}{other}", main.concat())
    })
}

fn inputs() -> Json {
    json!({"s": "k", "n": 1, "l": [{"a": "x"}, {"b": "y"}], "m": {"a": {"a": "1", "b": "2"}, "b": ["3"], "c": "4"}, "z": 5})
}

/// The name of the template with the text to test, and its data in the chart.
const TEMPLATE: &str = "c/templates/x.yaml";

/// Returns a chart whose values are the data of a text.
fn load(text: &str, values: &Json) -> Option<ChartTemplate> {
    let values = values.to_string();
    let text = format!("{{{{ define \"main\" }}}}{text}{{{{ end }}}}{{{{ template \"main\" .Values }}}}");
    let source = ChartSource::from_files([
        ("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("values.yaml", values.as_str()),
        ("templates/x.yaml", text.as_str()),
    ]);
    Engine::builder().limits(machines::limits()).build().chart(&source.ok()?).ok()
}

fn render(chart: &ChartTemplate) -> Option<String> {
    let rendered = chart.render(&UserValues::default(), &Release::default(), &Capabilities::default()).ok()?;
    rendered.files().first().map(|(_, text)| text.as_str().to_owned())
}

/// Returns the inputs without each value that counts as not read, one at a time.
fn without_unread(inputs: &Json, read: &ReadPaths) -> Vec<(String, Json)> {
    let (mut found, mut open) = (Vec::new(), vec![Vec::new()]);
    while let Some(path) = open.pop() {
        let Some(Json::Object(map)) = path.iter().try_fold(inputs, |value: &Json, key: &String| value.get(key)) else {
            continue;
        };
        for key in map.keys() {
            let path: Vec<String> = path.iter().chain([key]).cloned().collect();
            // A program that changes maps reads the data of the chart, and others that of the template.
            let is_of_chart = read.node(ReadPaths::ROOT, "c").is_some_and(|node| read.has_children(node));
            let top = if is_of_chart { "c" } else { TEMPLATE };
            if read.reads([top, "Values"].into_iter().chain(path.iter().map(String::as_str)).map(Some)) {
                open.push(path);
                continue;
            }
            let mut changed = inputs.clone();
            let pointer = path[..path.len() - 1].iter().map(|key| format!("/{key}")).collect::<String>();
            changed.pointer_mut(&pointer).and_then(Json::as_object_mut).and_then(|map| map.remove(key));
            found.push((path.join("."), changed));
        }
    }
    found
}

/// Checks a template. Returns the number of values that it does not read, if it renders.
fn check(text: &str) -> Result<Option<usize>, TestCaseError> {
    let inputs = inputs();
    let Some(chart) = load(text, &inputs) else { return Ok(None) };
    let Some(expected) = render(&chart) else { return Ok(None) };
    let mut read = ReadPaths::default();
    let Ok(template) = chart.compile(&chart.chart().whole()) else { return Ok(None) };
    template.program().add_reads(&mut read);
    let unread = without_unread(&inputs, &read);
    for (path, changed) in &unread {
        let found = load(text, changed).and_then(|chart| render(&chart));
        prop_assert_eq!(found.as_ref(), Some(&expected), "`{}` is read by {}", path, text);
    }
    Ok(Some(unread.len()))
}

proptest! {
    #![proptest_config(crate::cases(800))]

    #[test]
    fn values_that_are_not_read_do_not_matter(text in template()) {
        check(&text)?;
    }
}

#[test]
fn values_that_pass_through_made_maps_and_lists_are_followed() {
    for (text, unread) in [
        ("{{ include \"u\" (dict \"root\" . \"k\" 1) }}{{ end }}{{ define \"u\" }}{{ .root.m.a }}{{ .k }}", 6),
        ("{{ include \"u\" (list . 1) }}{{ end }}{{ define \"u\" }}{{ (index . 0).m.a }}", 6),
        ("{{ template \"u\" (list $ 1) }}{{ end }}{{ define \"u\" }}{{ $r := index . 0 }}{{ $r.m.a }}", 6),
        ("{{ $d := dict \"root\" .m }}{{ $d.root.a }}{{ $e := dict }}{{ $_ := set $e \"k\" 1 }}", 6),
        ("{{ index .m \"a\" }}", 6),
        ("{{ tpl \"text\" . }}{{ .m.a }}", 6),
        // What a program may find in such a map by another way is read.
        ("{{ $d := dict \"k\" 1 }}{{ $_ := set $d \"root\" .m }}{{ $d.root.a }}", 4),
        ("{{ $d := dict \"root\" .m }}{{ $d | toJson }}", 4),
        ("{{ $d := dict \"root\" . }}{{ $_ := set $d \"k\" 1 }}{{ $d.root.m.a }}", 0),
        ("{{ $d := dict \"root\" .m }}{{ index $d .s }}", 3),
        ("{{ $d := dict \"root\" .m }}{{ range $d }}{{ .a }}{{ end }}", 4),
    ] {
        assert_eq!(check(text).expect("the same text"), Some(unread), "{text}");
    }
}

#[test]
fn many_generated_templates_render_and_leave_values_unread() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut rendered, mut unread) = (0, 0);
    let (tried, least) = if super::has_all_cases() { (200, [40, 10]) } else { (60, [12, 3]) };
    for _ in 0..tried {
        let text = template().new_tree(&mut runner).expect("a template").current();
        let found = check(&text).expect("the same text");
        rendered += usize::from(found.is_some());
        unread += found.unwrap_or(0);
    }
    let enough = rendered > least[0] && unread > least[1];
    assert!(enough, "{rendered} of {tried} render, {unread} values are not read");
}
