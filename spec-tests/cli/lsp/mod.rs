//! The language server: a client over standard input and output, with a session for each feature.

mod client;
mod completion;
mod diagnostics;
mod hints;
mod hover;
mod navigation;
mod robust;
mod text;

use client::Client;

/// A project with Tera templates, values, a schema and a fleet.
pub const PROJECT: &[(&str, &str)] = &[
    ("dropforge.toml", "templates = [\"t\"]\nvalues = [\"values.yaml\"]\nfleet = [\"fleet.ndjson\"]\n"),
    ("values.yaml", "image:\n  tag: \"1.4\"\n  pull: Always\nports:\n- {name: http, number: 80}\ntoken: abc\n"),
    ("fleet.ndjson", "{\"name\":\"eu-1\"}\n{\"name\":\"us-1\",\"image\":{\"tag\":\"1.5\"}}\n"),
    (
        "t/values.schema.json",
        r#"{"properties": {"image": {"properties": {"tag": {"type": "string", "description": "The tag to run."},
            "digest": {"type": "string"}}}, "token": {"type": "string", "writeOnly": true}}}"#,
    ),
    (
        "t/app.yaml.tera",
        "{% import \"m.tera\" as m %}\nname: {{ name }}\ntag: {{ image.tag }}\npull: {{ image.pull | lower }}\n\
         token: {{ token }}\n{% for port in ports %}\n- {{ port.number }} {{ port.name }}\n{% endfor %}\n{{ m::label(text=name) }}\n\
         {% set zone = name %}{{ zone }}\n",
    ),
    ("t/m.tera", "{% macro label(text, kind=\"x\") %}{{ text }}{{ kind }}{% endmacro %}\n"),
];

/// A chart.
pub const CHART: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
    ("values.yaml", "image:\n  tag: \"1.4\"\nports:\n- {name: http, number: 80}\npassword: secret\n"),
    (
        "values.schema.json",
        r#"{"properties": {"image": {"properties": {"tag": {"type": "string", "description": "The tag to run."}}},
            "password": {"type": "string", "format": "password"}}}"#,
    ),
    (
        "templates/app.yaml",
        "name: {{ include \"web.name\" . }}\ntag: {{ .Values.image.tag | quote }}\npassword: {{ .Values.password }}\n\
         release: {{ .Release.Name }}\nports:\n{{- range $i, $port := .Values.ports }}\n- {{ .number }}\n- {{ $port.name }}\n\
         {{- end }}\nencoded: {{ include \"web.secret\" . }}\n",
    ),
    (
        "templates/_helpers.tpl",
        "{{- define \"web.name\" -}}\n{{ .Chart.Name }}\n{{- end -}}\n\
         {{- define \"web.secret\" -}}\n{{ .Values.password | b64enc }}\n{{- end -}}\n",
    ),
];

/// Opens a file of a project whose check finds nothing.
pub fn opened(files: &[(&str, &str)], name: &str) -> Client {
    let mut client = Client::new(files);
    client.open(name);
    client.codes(name, &[]);
    client
}
