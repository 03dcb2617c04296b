//! Damaged artifacts of charts. With the digest recomputed, each is refused or renders within its limits.

use std::sync::OnceLock;

use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
use dropforge::engine::Engine;
use proptest::prelude::*;

use crate::artifacts::{Damage, apply, damage, limits};
use crate::sealing::reseal;

/// A chart with every kind of file.
const CHART: &[(&str, &[u8])] = &[
    (
        "Chart.yaml",
        b"apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.0.0, alias: s, condition: s.on}\n",
    ),
    ("values.yaml", b"num: 2\nl: [a, b]\ns: {on: true}\ntext: '{{ .Values.num }}'\n"),
    ("values.schema.json", b"{\"properties\": {\"num\": {\"type\": \"number\"}}}"),
    (
        "templates/a.yaml",
        b"kind: A\nl: {{ range .Values.l }}{{ . }}-{{ end }}\nt: {{ tpl .Values.text . }}\ni: {{ include \"x\" (dict \"v\" 1) }}\n",
    ),
    ("templates/_x.tpl", b"{{ define \"x\" }}{{ set . \"w\" 2 | toJson }}{{ end }}"),
    ("templates/NOTES.txt", b"{{ .Files.Get \"f\" | b64enc }}"),
    ("crds/c.yaml", b"kind: CustomResourceDefinition\n"),
    ("f", b"\xFF\x00"),
    ("charts/sub/Chart.yaml", b"apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
    ("charts/sub/templates/b.yaml", b"kind: B\nname: {{ .Release.Name }}\nc: {{ .Chart.Name }}\n"),
];

/// The artifact, whole and stripped.
fn artifacts() -> &'static [Vec<u8>; 2] {
    static ARTIFACTS: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    ARTIFACTS.get_or_init(|| {
        let source = ChartSource::from_files(CHART.iter().copied()).expect("a chart");
        [false, true].map(|strip| {
            let bundle = Engine::new().bundle_chart(&source, &[UserValues::default()]).expect("it compiles");
            bundle.strip(strip).encode().expect("an artifact")
        })
    })
}

fn rendered(bytes: Vec<u8>) -> Result<String, Diagnostics> {
    let artifact = Engine::builder().limits(limits()).build().open(bytes)?;
    let chart = artifact.chart()?;
    let render = chart.render(&UserValues::default(), &Release::default(), &Capabilities::default())?;
    Ok(render.output()?.text())
}

#[test]
fn intact_artifacts_render_as_the_chart() {
    let source = ChartSource::from_files(CHART.iter().copied()).expect("a chart");
    let chart = Engine::new().chart(&source).expect("it loads");
    let render = chart.render(&UserValues::default(), &Release::default(), &Capabilities::default());
    let text = render.expect("it renders").output().expect("documents").text();
    assert!(text.contains("t: 2\ni: {\"v\":1,\"w\":2}\n") && text.contains("c: s\n"), "{text}");
    for artifact in artifacts() {
        assert_eq!(rendered(artifact.clone()).map_err(|errors| errors.to_string()), Ok(text.clone()));
    }
}

proptest! {
    #![proptest_config(crate::cases(3_000))]

    #[test]
    fn a_damaged_chart_is_refused_or_does_no_harm(
        strip in any::<bool>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mut bytes = artifacts()[usize::from(strip)].clone();
        damages.iter().for_each(|damage: &Damage| apply(&mut bytes, damage));
        reseal(&mut bytes);
        if let Err(errors) = rendered(bytes) {
            prop_assert!(errors.iter().all(|error| error.code != Code::Internal), "{}", errors);
        }
    }
}
