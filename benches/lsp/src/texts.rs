//! A file of 10,000 lines in each language: one block again and again, with other names, and a few others between.

use std::fmt::Write as _;

/// The number of lines of a file.
const LINES: usize = 10_000;

/// A file to change, and the files around it.
pub struct Language {
    pub name: &'static str,
    /// The path of the file.
    pub file: &'static str,
    /// The other files.
    pub files: &'static [(&'static str, &'static str)],
    /// The text before the blocks.
    head: &'static str,
    /// The block. `@` is its number.
    block: &'static str,
    /// The name that is misspelt by one more character.
    pub changed: &'static str,
    /// The text before a name that is shown and completed.
    pub path: &'static str,
}

impl Language {
    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = self.head.to_owned();
        let blocks = (LINES - self.head.lines().count()) / self.block.lines().count();
        (0..blocks).for_each(|number| text += &self.block.replace('@', &number.to_string()));
        (text.lines().count()..LINES).for_each(|number| {
            let _ = writeln!(text, "# {number}");
        });
        text
    }
}

/// The settings of a project with templates in the folder `t`.
const PROJECT: (&str, &str) = ("dropforge.toml", "templates = [\"t\"]\nvalues = [\"values.yaml\"]\n");

/// The values of all languages.
const VALUES: (&str, &str) = (
    "values.yaml",
    "name: shop\nenv: prod\nreplicas: 2\nimage:\n  repo: registry.example.com/shop\n  tag: \"1.4.2\"\n  pull: Always\n\
     labels: {team: web, tier: front}\nports:\n- {name: http, number: 80}\n- {name: metrics, number: 9090}\n\
     limits: {cpu: 500m, memory: 256Mi}\n",
);

pub const LANGUAGES: [Language; 5] = [
    Language {
        name: "tera",
        file: "t/app.yaml.tera",
        files: &[PROJECT, VALUES],
        head: "{% set zone = env | upper %}\n",
        block: "\
{# Service @ #}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ name | lower }}-@
  labels:
    team: {{ labels.team }}
    zone: {{ zone }}
spec:
  replicas: {% if env == 'prod' and replicas > 1 %}{{ replicas * 2 }}{% else %}1{% endif %}
  template:
    spec:
      containers:
      - name: main
        image: {{ image.repo }}:{{ image.tag }}
        imagePullPolicy: {{ image.pull }}
        ports:
{% for port in ports %}        - name: {{ port.name | upper }}
          containerPort: {{ port.number }}
{% endfor %}        resources:
          limits:
            cpu: {{ limits.cpu }}
            memory: {{ limits.memory | upper }}
",
        changed: "lower",
        path: "image.",
    },
    Language {
        name: "chart",
        file: "templates/app.yaml",
        files: &[("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"), VALUES],
        head: "{{- define \"web.zone\" -}}\n{{ .Values.env | upper }}\n{{- end -}}\n",
        block: "\
{{- /* Service @ */}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Values.name | lower }}-@
  labels:
    team: {{ .Values.labels.team }}
    zone: {{ include \"web.zone\" . }}
spec:
  replicas: {{ if and (eq .Values.env \"prod\") (gt (int .Values.replicas) 1) }}{{ mul .Values.replicas 2 }}{{ else }}1{{ end }}
  template:
    spec:
      containers:
      - name: main
        image: \"{{ .Values.image.repo }}:{{ .Values.image.tag }}\"
        imagePullPolicy: {{ .Values.image.pull }}
        ports:
        {{- range $port := .Values.ports }}
        - name: {{ $port.name | quote }}
          containerPort: {{ $port.number }}
        {{- end }}
        resources:
          limits:
            {{- toYaml .Values.limits | nindent 12 }}
            storage: @Gi
",
        changed: "lower",
        path: ".Values.image.",
    },
    Language {
        name: "hcl-template",
        file: "t/app.yaml.tftpl",
        files: &[PROJECT, VALUES],
        head: "# ${upper(env)}\n",
        block: "\
# Service @
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${lower(name)}-@
  labels:
    team: ${labels.team}
    zone: ${try(labels.zone, \"none\")}
spec:
  replicas: ${env == \"prod\" && replicas > 1 ? replicas * 2 : 1}
  template:
    spec:
      containers:
      - name: main
        image: ${image.repo}:${image.tag}
        imagePullPolicy: ${image.pull}
        ports:
%{ for port in ports ~}
        - name: ${upper(port.name)}
          containerPort: ${port.number}
%{ endfor ~}
        resources:
          limits:
            cpu: ${limits.cpu}
            memory: ${jsonencode(limits.memory)}
",
        changed: "lower",
        path: "image.",
    },
    Language {
        name: "hcl-configuration",
        file: "main.tf",
        files: &[],
        head: "\
variable \"image\" {
  type = object({ repo = string, tag = string, names = list(string) })
}
variable \"env\" {
  type    = string
  default = \"prod\"
}
locals {
  zone = upper(var.env)
}
",
        block: "\
# Service @
resource \"service\" \"app_@\" {
  name     = lower(\"${var.env}-app-@\")
  replicas = var.env == \"prod\" ? 2 * 3 : 1
  zone     = local.zone
  tags = {
    team = \"web\"
    env  = var.env
    tier = var.env == \"prod\" || @ > 3 ? \"front\" : \"back\"
  }
  container {
    image   = \"${var.image.repo}:${var.image.tag}\"
    pull    = \"Always\"
    command = [\"run\", \"--port\", \"80\", \"--zone=${local.zone}\"]
    port {
      name   = \"http\"
      number = 80
    }
    limits = { cpu = \"500m\", memory = \"256Mi\" }
  }
  names = [for name in var.image.names : upper(name) if name != \"\"]
}
output \"name_@\" {
  value = service.app_@.name
}
",
        changed: "lower",
        path: "var.",
    },
    Language {
        name: "cel-yaml",
        file: "t/app.cel.yaml",
        files: &[PROJECT, VALUES],
        head: "$let: { zone: '${env.upperAscii()}' }\nkind: List\nitems:\n",
        block: "\
# Service @
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: ${name.lowerAscii()}-@
    labels:
      team: ${labels.team}
      zone: ${zone}
  spec:
    replicas: \"${env == 'prod' && replicas > @ ? replicas * 2 : 1}\"
    template:
      spec:
        containers:
        - name: main
          image: ${image.repo}:${image.tag}-@
          imagePullPolicy: ${image.pull}
          ports:
            $for: port in ports
            $do: { name: '${port.name.upperAscii()}', containerPort: '${port.number}' }
          resources:
            limits:
              cpu: ${limits.cpu + '-@'}
              memory: ${limits.memory}
        terminationGracePeriodSeconds: 30
        dnsPolicy: ClusterFirst
",
        changed: "lowerAscii",
        path: "image.",
    },
];
