//! Projects that are imported from other tools render what those render, and say what they leave out.

mod applicationset;
mod helmfile;
mod hostile;
mod kustomize;

use crate::support::Sandbox;

/// A chart whose output shows its names and values.
const CHART: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
    ("values.yaml", "replicas: 1\n"),
    (
        "templates/web.yaml",
        "kind: Deployment\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\nspec: {{ .Values | toJson }}\nkube: {{ .Capabilities.KubeVersion.Version }}\n",
    ),
    ("crds/crd.yaml", "kind: CustomResourceDefinition\nmetadata: {name: c}\n"),
];

/// Adds the chart to a folder.
fn add_chart(sandbox: &Sandbox, folder: &str) {
    CHART.iter().for_each(|(name, text)| sandbox.write(&format!("{folder}/{name}"), text));
}

/// Imports a project without a warning, checks it and stamps it.
#[track_caller]
fn import(sandbox: &Sandbox, tool: &str, path: &str) {
    let imported = sandbox.run(&["init", "new", "--from", tool, path]).expect(0);
    assert_eq!(imported.stderr, "");
    assert!(imported.stdout.ends_with("; next: dropforge -C new stamp\n"), "{}", imported.stdout);
    sandbox.run(&["-C", "new", "check"]).expect(0);
    sandbox.run(&["-C", "new", "stamp"]).expect(0);
    sandbox.run(&["-C", "new", "stamp", "--check"]).expect(0);
}
