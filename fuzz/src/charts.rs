//! Charts in archives and in texts.

use dropforge::Engine;
use dropforge::diagnostics::Diagnostics;
use dropforge::dialect::helm::chart::{Bounds, Capabilities, ChartSource, Release, UserValues};

use super::{limits, report};

/// The files that every chart of a text has, unless the text has others.
const USUAL: [(&str, &str); 3] = [
    ("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
    ("values.yaml", "a: {b: 1, l: [x, y]}\nt: \"{{ .Values.a }}\"\nglobal: {g: 1}\n"),
    ("templates/_h.tpl", "{{ define \"h\" }}{{ .Values.a.b }}{{ end }}"),
];

/// Renders a chart: an archive, or a text of files that `--- path` divides. The part `user` has the values of a user. The
/// first part is a template.
pub fn chart(bytes: &[u8]) {
    let bounds = Bounds { total_bytes: 1 << 20, file_bytes: 1 << 18, files: 100, depth: 4, charts: 100 };
    match ChartSource::archive(bytes, bounds) {
        Ok(source) => rendered(&source, ""),
        Err(error) => report([&*error]),
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (mut files, mut user) = (Vec::new(), "");
    for (at, part) in text.split("\n--- ").enumerate() {
        let (name, content) = match at {
            0 => ("templates/a.yaml", part),
            _ => part.split_once('\n').unwrap_or((part, "")),
        };
        if name == "user" { user = content } else { files.push((name, content)) }
    }
    files.extend(USUAL.into_iter().filter(|(usual, _)| !text.contains(&format!("\n--- {usual}\n"))));
    match ChartSource::from_files(files) {
        Ok(source) => rendered(&source, user),
        Err(error) => report([&*error]),
    }
}

fn rendered(source: &ChartSource, user: &str) {
    if let Err(errors) = render(source, user) {
        report(errors.iter());
    }
}

fn render(source: &ChartSource, user: &str) -> Result<(), Diagnostics> {
    let chart = Engine::builder().limits(limits()).build().chart(source)?;
    let mut values = UserValues::default();
    values.file("user.yaml", user)?;
    let render = chart.render(&values, &Release::default(), &Capabilities::default())?;
    report(render.warnings().iter().map(|warning| &**warning));
    let output = render.output()?;
    assert!(output.text().ends_with('\n'), "the text of a chart is lines");
    Ok(())
}
