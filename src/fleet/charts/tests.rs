use super::repeats::Repeats;
use super::*;
use dropforge_engine::Engine;
use dropforge_helm::chart::ChartSource;
use dropforge_machine::function::Capabilities as Allowed;

/// Returns a chart of these files. Each cluster is one text.
fn chart<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> ChartSet {
    let source = ChartSource::from_files(files).unwrap();
    ChartSet {
        template: Engine::builder().allow(Allowed::ALL).build().chart(&source).unwrap(),
        values: UserValues::default(),
        groups: Vec::new(),
        namespace: None,
        kube_version: None,
        api_versions: Vec::new(),
        is_one_of_many: false,
        release: Release::default(),
        capabilities: Capabilities::default(),
        selection: Selection::default(),
        name: None,
        namespace_key: None,
        single: true,
        check: DocumentCheck::new(false),
    }
}

/// Renders clusters one after another. Returns the texts of each, or its errors, and the number of clusters that shared the
/// plan of a form.
fn stamped(chart: &ChartSet, clusters: &[String], forms: bool) -> (Vec<std::result::Result<String, String>>, usize) {
    stamped_with(chart, clusters, forms.then_some(&Repeats::default()))
}

/// Works like [`stamped`], and shares the texts of releases that repeat.
fn stamped_with(
    chart: &ChartSet,
    clusters: &[String],
    repeats: Option<&Repeats>,
) -> (Vec<std::result::Result<String, String>>, usize) {
    let mut found = Vec::new();
    let layers = Layers::default();
    let shared = super::stamper::work((chart, &layers), (&[], None, repeats), &mut |renderer| {
        for (at, own) in clusters.iter().enumerate() {
            let (cluster, mut text, mut results) =
                (Cluster::new(format!("c{at}"), DataMap::default()), String::new(), Vec::new());
            renderer.render(None, &cluster, &Overlay::Json(own), &mut text, &mut results).unwrap();
            let ends: std::result::Result<Vec<usize>, String> =
                results.into_iter().map(|result| result.map_err(|error| error.to_string())).collect();
            found.push(ends.map(|ends| format!("{ends:?}\n{text}")));
        }
    });
    (found, shared)
}

/// Checks that clusters have the same texts and errors with forms and without. Returns the number that shared a plan.
fn agrees(chart: &ChartSet, clusters: &[String]) -> usize {
    let ((plain, none), (shared, count)) = (stamped(chart, clusters, false), stamped(chart, clusters, true));
    assert_eq!(none, 0);
    for ((plain, shared), own) in plain.iter().zip(&shared).zip(clusters) {
        assert_eq!(plain, shared, "{own}");
    }
    count
}

const META: (&str, &str) = (
    "Chart.yaml",
    "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.0.0, condition: sub.on}\n",
);

const FILES: [(&str, &str); 12] = [
    META,
    ("values.yaml", "image: {name: web, tag: v1}\nlabels: {a: b}\nreplicas: 1\nsub: {on: true, port: 80}\nnote: ''\n"),
    ("values.schema.json", r#"{"properties": {"replicas": {"type": "integer", "maximum": 9}}}"#),
    (
        "templates/_h.tpl",
        "{{ define \"app.image\" }}{{ .image.name }}:{{ .image.tag }}{{ end }}{{ define \"app.l\" }}{{ toJson .Values.labels }}{{ end }}",
    ),
    (
        "templates/a.yaml",
        "kind: Deployment\nimage: {{ include \"app.image\" (dict \"image\" .Values.image \"context\" $) }}\nreplicas: {{ .Values.replicas }}\n",
    ),
    (
        "templates/b.yaml",
        "kind: Service\nlabels: {{ include (print \"app\" \".l\") . }}\n{{ $d := dict \"x\" 1 }}{{ $_ := set $d \"y\" 2 }}d: {{ toJson $d }}\n",
    ),
    ("templates/c.yaml", "{{ if .Values.extra }}kind: ConfigMap\nnote: {{ tpl .Values.note . | quote }}{{ end }}\n"),
    (
        "templates/d.yaml",
        "kind: Job\nmetadata: {name: {{ .Release.Name }}, annotations: {helm.sh/hook: pre-install}}\n---\nkind: Namespace\n",
    ),
    ("templates/NOTES.txt", "{{ required \"a note\" .Values.image.tag }}"),
    ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
    ("charts/sub/values.yaml", "port: 1\nglobal: {zone: a}\n"),
    ("charts/sub/templates/s.yaml", "kind: Secret\nport: {{ .Values.port }}\nzone: {{ .Values.global.zone }}\n"),
];

/// Returns clusters that differ in a tag, a number, a switch and a text.
fn clusters(count: usize) -> Vec<String> {
    let own = |n: usize| {
        let (replicas, extra, on) = (n % 4, n.is_multiple_of(2), !n.is_multiple_of(3));
        format!(
            r#"{{"image": {{"tag": "v{n}"}}, "replicas": {replicas}, "extra": {extra}, "note": "{{{{ .Values.image.tag }}}} {n}", "sub": {{"on": {on}}}}}"#
        )
    };
    (0..count).map(own).collect()
}

#[test]
fn releases_of_one_form_share_what_is_the_same() {
    let chart = chart(FILES);
    // Each of the four forms has one release that is rendered as a whole.
    assert_eq!(agrees(&chart, &clusters(24)), 20);
    let by_file = ChartSet { single: false, ..self::chart(FILES) };
    assert_eq!(agrees(&by_file, &clusters(24)), 20);
    let hooks = ChartSet {
        selection: Selection { hooks: false, tests: true, crds: true },
        name: Some(Pattern::parse("name", "one").unwrap()),
        ..chart
    };
    assert_eq!(agrees(&hooks, &clusters(24)), 20);
}

#[test]
fn folders_of_templates_may_be_called_crds_and_templates() {
    let chart = |crds| ChartSet {
        single: false,
        selection: Selection { crds, ..Selection::default() },
        ..chart([
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [{name: crds, version: 1.0.0}]\n"),
            ("crds/d.yaml", "kind: D\n"),
            ("templates/crds/a.yaml", "kind: A\n"),
            ("templates/templates/b.yaml", "kind: B\n"),
            ("charts/crds/Chart.yaml", "apiVersion: v2\nname: crds\nversion: 1.0.0\n"),
            ("charts/crds/crds/e.yaml", "kind: E\n"),
            ("charts/crds/templates/c.yaml", "kind: C\n"),
        ])
    };
    let of = |chart: &ChartSet| {
        let names: Vec<_> = chart.outputs().all.into_iter().map(|output| output.name).collect();
        (names, stamped(chart, &["{}".to_owned()], true).0)
    };
    let (names, texts) = of(&chart(false));
    assert_eq!(names, ["charts/crds/c.yaml", "crds/a.yaml", "templates/b.yaml"]);
    let [Ok(text)] = &texts[..] else { panic!("{texts:?}") };
    assert_eq!(text.matches("kind: ").count(), 3, "{text}");
    let (names, texts) = of(&chart(true));
    let all = ["charts/crds/crds/e.yaml", "charts/crds/c.yaml", "crds/d.yaml", "crds/a.yaml", "templates/b.yaml"];
    assert_eq!(names, all);
    let [Ok(text)] = &texts[..] else { panic!("{texts:?}") };
    assert_eq!(text.matches("kind: ").count(), 5, "{text}");
}

#[test]
fn documents_of_comments_make_no_file_of_their_own() {
    let chart = ChartSet {
        single: false,
        ..chart([
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
            ("templates/a.yaml", "# Not for this cluster\n---\nkind: A\n---\n\n# none\n"),
        ])
    };
    let (fields, mut text, mut results, mut pieces) = (["kind".to_owned()], String::new(), Vec::new(), Vec::new());
    super::stamper::work((&chart, &Layers::default()), (&fields, None, Some(&Repeats::default())), &mut |renderer| {
        let cluster = Cluster::new("c", DataMap::default());
        renderer.render(None, &cluster, &Overlay::Json("{}"), &mut text, &mut results).unwrap();
        renderer.take_pieces(&mut pieces);
    });
    assert!(results.iter().all(|result| result.is_ok()), "{results:?}");
    let files: Vec<_> = pieces.iter().map(|piece| (piece.blank, piece.fields.join(" "))).collect();
    let none = || (true, String::new());
    // Helm sorts those without a kind first.
    assert_eq!(files, [none(), none(), (false, "A".to_owned())]);
    assert_eq!(pieces.last().map(|piece| piece.end), Some(text.len()));
}

#[test]
fn a_strict_schema_need_not_know_the_keys_of_the_fleet() {
    let chart = |schema| {
        let mut chart = chart([
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
            ("values.schema.json", schema),
            ("templates/a.yaml", "kind: A\nname: {{ .Values.name }}\ntag: {{ .Values.tag }}\n"),
        ]);
        chart.values.of_fleet(["zone.name"]);
        chart
    };
    let cluster = |n: usize, more: &str| {
        let own = format!(r#""name": "c{n}", "cluster": {{"env": "e{n}"}}, "zone": {{"name": "z{n}"}}, "tag": "t{n}""#);
        format!("{{{own}{more}}}")
    };
    let clusters: Vec<_> = (0..20).map(|n| cluster(n, "")).collect();
    let strict = chart(r#"{"properties": {"tag": {"type": "string"}}, "additionalProperties": false}"#);
    assert_eq!(agrees(&strict, &clusters), 19);
    assert!(stamped(&strict, &clusters, false).0.iter().all(|found| found.is_ok()));
    let one = Cluster::new("c", DataMap::default());
    let identity = strict.identity(&Layers::default(), &one).unwrap();
    let notes = |chart: &ChartSet, own: &str| {
        let own = serde_json::from_str::<Data>(own).unwrap().into_map().unwrap();
        let errors = chart.documents(&mut Session::new(), (None, (&identity, &one)), (own, false)).unwrap_err();
        let error = errors.into_vec().remove(0);
        error.notes.into_iter().chain(error.help).collect::<Vec<_>>().join("; ")
    };
    let near = "app: at '': additional properties 'tga' not allowed; did you mean `tag`?";
    assert_eq!(notes(&strict, &cluster(1, r#", "tga": 1"#)), near);
    let none = "app: at '': additional properties 'env' not allowed; a key that only the fleet needs belongs below `cluster`: `cluster.env`";
    assert_eq!(notes(&strict, &cluster(1, r#", "env": 1"#)), none);
    // A schema that has a key checks it, and so do the schemas of other charts and of files.
    let known = chart(r#"{"properties": {"name": {"maxLength": 1}}}"#);
    assert_eq!(notes(&known, &cluster(1, "")), "app: at '/name': maxLength: got 2, want 1");
    let mut filed = chart(r#"{"properties": {"tag": {}}, "additionalProperties": false}"#);
    filed.values.map([("name".to_owned(), Data::Bool(true))].into_iter().collect());
    assert_eq!(notes(&filed, r#"{"tag": "t"}"#), "app: at '': additional properties 'name' not allowed");
}

#[test]
fn releases_that_repeat_have_one_text_unless_it_depends_on_more_than_values() {
    let chart = |template: &str| ChartSet {
        name: Some(Pattern::parse("name", "web").unwrap()),
        ..chart([("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"), ("templates/a.yaml", template)])
    };
    let of = |n: usize| format!(r#"{{"n": {n}, "of": {{"a": "x"}}}}"#);
    let clusters: Vec<_> = [1, 2, 1, 2, 1, 1, 3, 2].map(of).into();
    // A template that changes values has no form.
    let changing = chart("kind: A\n{{- $_ := set .Values.of \"b\" .Values.n }}\nof: {{ .Values.of | toJson }}\n");
    let repeats = Repeats::default();
    let (texts, shared) = stamped_with(&changing, &clusters, Some(&repeats));
    assert_eq!((shared, repeats.len()), (0, 2));
    assert_eq!(texts, stamped(&changing, &clusters, false).0);
    for varying in
        ["randAlphaNum 9", "now | unixEpoch", "uuidv4", "tpl \"{{ randAlphaNum 9 }}\" .", "genPrivateKey \"ed25519\""]
    {
        let text = format!("kind: A\n{{{{- $_ := set .Values.of \"b\" 1 }}}}\nof: {{{{ {varying} | quote }}}}\n");
        let repeats = Repeats::default();
        let (texts, _) = stamped_with(&chart(&text), &clusters, Some(&repeats));
        assert!(texts.iter().all(|text| text.is_ok()), "{texts:?}");
        assert_eq!(repeats.len(), 0, "{varying}");
    }
}

#[test]
fn values_that_do_not_fit_and_errors_are_those_of_a_whole_render() {
    let chart = chart(FILES);
    let mut own = clusters(8);
    own.extend([r#"{"image": {"tag": ""}, "replicas": 1, "extra": true, "note": "", "sub": {"on": true}}"#.to_owned()]);
    own.extend((5..15).map(|n| {
        format!(r#"{{"image": {{"tag": "t"}}, "replicas": {n}, "extra": true, "note": "{{{{", "sub": {{"on": true}}}}"#)
    }));
    own.extend((8..12).map(|n| format!(r#"{{"replicas": {n}}}"#)));
    own.extend([1, 2, 3].map(|n| format!(r#"{{"sub": {n}}}"#)));
    own.extend([1, 2, 3].map(|n| format!(r#"{{"image": null, "global": {{"zone": "z{n}"}}, "labels": [{n}]}}"#)));
    assert!(agrees(&chart, &own) > 4);
}

#[test]
fn options_and_namespaces_may_depend_on_values_of_clusters() {
    let mut chart = chart(FILES);
    chart.values.set("replicas=3").unwrap();
    chart.namespace_key = Some("image.tag".to_owned());
    assert_eq!(agrees(&chart, &clusters(24)), 0, "the option replaces a value of the clusters");
    let own: Vec<_> = (0..6).map(|n| format!(r#"{{"image": {{"tag": "v{n}"}}}}"#)).collect();
    assert_eq!(agrees(&chart, &own), 5);
    let other: Vec<_> = (0..6).map(|n| format!(r#"{{"note": "v{n}"}}"#)).collect();
    assert_eq!(agrees(&chart, &other), 5);
}

#[test]
fn a_template_that_changes_values_is_seen_by_others() {
    let files = |change: &'static str| {
        [
            META,
            ("values.yaml", "a: {b: 1}\nc: 2\n"),
            ("templates/z.yaml", change),
            ("templates/b.yaml", "kind: B\na: {{ toJson .Values.a }}\nx: {{ .Extra }}\n"),
            ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
        ]
    };
    let own: Vec<_> = (0..6).map(|n| format!(r#"{{"c": {n}}}"#)).collect();
    for (change, shared) in [
        ("{{ $_ := set .Values.a \"b\" .Values.c }}", 0),
        ("{{ if gt .Values.c 3.0 }}{{ $_ := set .Values.a \"b\" 7 }}{{ end }}", 3),
        ("{{ $_ := set . \"Extra\" \"e\" }}", 5),
        ("{{ if gt .Values.c 3.0 }}{{ $_ := set . \"Extra\" .Values.c }}{{ end }}", 4),
        ("{{ $_ := set . \"Values\" dict }}", 0),
        ("{{ $_ := unset . \"Values\" }}", 0),
        ("{{ $_ := set (deepCopy .Values.a) \"b\" 5 }}", 5),
    ] {
        assert_eq!(agrees(&chart(files(change)), &own), shared, "{change}");
    }
}

#[test]
fn forms_beyond_those_with_a_plan_are_rendered_as_a_whole() {
    let chart = chart(FILES);
    let own = |n: usize| {
        let flags: Vec<String> = (0..7).map(|bit| format!("\"f{bit}\": {}", n >> bit & 1 == 1)).collect();
        format!("{{\"extra\": {}, {}}}", n.is_multiple_of(3), flags.join(", "))
    };
    let own: Vec<String> = (0..3).flat_map(|_| (0..100).map(own)).collect();
    assert_eq!(agrees(&chart, &own), 2 * 64);
}

#[test]
fn changes_of_maps_are_seen_in_the_run_that_makes_them_only() {
    let template =
        "{{ define \"read\" }}{{ .x.a }}{{ .x.b }} {{ .z.a }}{{ .z.b }}{{ end }}a: {{ include \"read\" .Values }}
{{ if .Values.change }}{{ $_ := set .Values.x \"a\" 7 }}{{ end }}b: {{ include \"read\" .Values }}
{{ if .Values.change }}{{ $_ := set (unset .Values.x \"a\") \"a\" 8 }}{{ end }}c: {{ include \"read\" .Values }}
";
    let values = ("values.yaml", "x: {a: 1, b: 2}\nz: {a: 3, b: 4}\n");
    let chart =
        chart([("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"), values, ("templates/a.yaml", template)]);
    let own = |n: usize| format!("{{\"change\": {}}}", n.is_multiple_of(2));
    let (texts, _) = stamped(&chart, &(0..8).map(own).collect::<Vec<_>>(), true);
    for (n, text) in texts.into_iter().enumerate() {
        let expected =
            if n.is_multiple_of(2) { "a: 12 34\nb: 72 34\nc: 82 34\n" } else { "a: 12 34\nb: 12 34\nc: 12 34\n" };
        assert!(text.unwrap().ends_with(expected), "{n}");
    }
}

/// Pieces of templates. Each is the value of a key.
const PIECES: [&str; 51] = [
    "{{ $_ := set $ \"Extra\" .Values.y }}",
    "{{ if .Values.x }}{{ $_ := set $ \"Extra\" \"e\" }}{{ end }}{{ $.Extra }}",
    "{{ $.Extra }}",
    "{{ hasKey $ \"Extra\" }}",
    "{{ range $k, $v := $ }}{{ $k }}{{ end }}",
    "{{ len $ }}{{ keys $ | sortAlpha }}",
    "{{ get $ \"Extra\" }}",
    "{{ pluck \"Extra\" $ | len }}",
    "{{ $.Extra | default \"none\" }}",
    "{{ $_ := set .Values \"w\" 1 }}",
    "{{ .Values.w }}{{ omit $ \"Values\" | len }}",
    "{{ .Values.x.a }}",
    "{{ .Values.x.a.b }}",
    "{{ .Values.missing }}",
    "{{ if .Values.x.b }}yes{{ else }}no{{ end }}",
    "{{ toYaml .Values.x }}",
    "{{ toJson .Values }}",
    "{{ range $k, $v := .Values.x }}{{ $k }}={{ $v }};{{ end }}",
    "{{ range .Values.x.a }}{{ . }};{{ else }}none{{ end }}",
    "{{ $d := dict \"k\" .Values.x.a }}{{ $_ := set $d \"z\" .Values.y }}{{ toJson $d }}",
    "{{ $d := dict \"c\" $ }}{{ $d.c.Values.fixed }}{{ $d.c.Values.x.c }}",
    "{{ include \"named\" . }}",
    "{{ include (print \"na\" \"med\") (dict \"Values\" .Values) }}",
    "{{ tpl .Values.t . }}",
    "{{ tpl \"{{ .Values.fixed }}{{ .Values.y }}\" . }}",
    "{{ default \"d\" .Values.x.a }}",
    "{{ .Values.y | default .Values.fixed }}",
    "{{ hasKey .Values.x \"a\" }}{{ hasKey .Values \"n\" }}",
    "{{ kindOf .Values.x.a }}{{ kindIs \"map\" .Values.x }}",
    "{{ typeOf .Values.y }}",
    "{{ with .Values.y }}<{{ . }}>{{ end }}",
    "{{ merge (dict \"a\" 0) .Values.x | toJson }}",
    "{{ mergeOverwrite (dict \"a\" 0) .Values.x | toJson }}",
    "{{ index .Values \"x\" \"a\" }}",
    "{{ get .Values.x \"a\" }}{{ get .Values.x \"c\" }}",
    "{{ len .Values.x }}{{ keys .Values.x | sortAlpha }}",
    "{{ list 1 .Values.y | toJson }}",
    "{{ first (list .Values.x .Values.y) | toJson }}",
    "{{ ternary \"p\" \"q\" .Values.x.b }}",
    "{{ coalesce .Values.n .Values.x.a \"z\" }}",
    "{{ omit .Values.x \"a\" | toJson }}{{ pick .Values.x \"c\" }}",
    "{{ dig \"x\" \"a\" \"none\" .Values }}",
    "{{ .Release.Name }}",
    "{{ empty .Values.x }}{{ not .Values.y }}",
    "{{ required \"m\" .Values.y }}",
    "{{ and .Values.x .Values.y }}",
    "{{ eq .Values.fixed \"f\" }}{{ .Values.y | eq \"1\" }}",
    "{{ .Values.fixed | upper | quote }}",
    "{{ deepCopy .Values.x | toJson }}",
    "{{ printf \"%v-%s\" .Values.fixed .Template.Name }}",
    "{{ (dict \"a\" (list .Values.x)) | toJson | sha256sum }}",
];

/// Values of clusters, by key.
const VALUES: [(&str, &[&str]); 5] = [
    ("y", &["1", "\"1\"", "\"\"", "true", "null", "[1]", "2.5"]),
    ("n", &["null", "0", "\"n\""]),
    ("t", &["\"t\"", "\"{{ .Values.y }}\"", "\"{{\"", "7"]),
    (
        "x",
        &[
            "{\"a\": 1}",
            "{\"a\": \"s\", \"b\": true}",
            "{\"a\": null}",
            "{\"a\": [1, {\"b\": 2}]}",
            "{}",
            "5",
            "{\"a\": {\"b\": 3}}",
        ],
    ),
    ("global", &["{\"g\": 1}"]),
];

/// A generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn random_charts_have_the_same_texts_with_forms_and_without() {
    let (mut numbers, mut shared) = (Numbers(7), 0);
    for _ in 0..50 {
        let template = |numbers: &mut Numbers| {
            let piece = |n: usize, numbers: &mut Numbers| {
                let piece = PIECES[numbers.below(PIECES.len())];
                format!("{{{{ define \"p{n}\" }}}}{piece}{{{{ end }}}}k{n}: {{{{ include \"p{n}\" . | quote }}}}\n")
            };
            (0..1 + numbers.below(3)).map(|n| piece(n, numbers)).collect::<String>()
        };
        let texts: Vec<String> = (0..3).map(|_| template(&mut numbers)).collect();
        let named = "{{ define \"named\" }}{{ .Values.fixed }}/{{ .Values.x.c }}{{ end }}";
        let names = ["templates/a.yaml", "templates/b.yaml", "templates/c.yaml"];
        let files = names.into_iter().zip(texts.iter().enumerate());
        // Names of definitions are those of the chart: each file has its own.
        let files: Vec<(String, String)> =
            files.map(|(name, (nth, text))| (name.to_owned(), text.replace("\"p", &format!("\"{nth}p")))).collect();
        let fixed = [
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
            ("values.yaml", "x: {a: d, c: e}\nfixed: f\nn: 1\n"),
            ("templates/_n.tpl", named),
        ];
        let all = fixed.into_iter().chain(files.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let chart = chart(all);
        let cluster = |numbers: &mut Numbers| {
            let entries = VALUES.iter().filter_map(|(key, values)| {
                let pick = numbers.below(values.len() * 2);
                values.get(pick).map(|value| format!("\"{key}\": {value}"))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        };
        let some: Vec<String> = (0..5).map(|_| cluster(&mut numbers)).collect();
        let own: Vec<String> =
            (0..20).map(|_| some[numbers.below(some.len())].replace('1', ["1", "8"][numbers.below(2)])).collect();
        shared += agrees(&chart, &own);
    }
    assert!(shared > 100, "{shared}");
}
