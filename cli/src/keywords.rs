//! Words of the languages that are no functions: tags, actions, directives, objects.

use dropforge::engine::Dialect;

/// Words of one kind.
#[derive(Debug)]
pub(crate) struct Keywords {
    lang: Dialect,
    /// What they are: a tag, an object.
    kind: &'static str,
    pub(crate) rows: &'static [Keyword],
}

/// A word: its name, how it is written (empty for objects, which have a dot before them), and what it does or is, in a sentence.
pub(crate) type Keyword = (&'static str, &'static str, &'static str);

/// The tags of Tera.
pub(crate) const TAGS: Keywords = Keywords {
    lang: Dialect::Tera,
    kind: "tag",
    rows: &[
        ("if", "{% if a %}…{% elif b %}…{% else %}…{% endif %}", "Writes the body if the condition holds."),
        ("elif", "{% elif b %}", "The next condition, if those before it do not hold."),
        ("else", "{% else %}", "Begins the body for when no condition holds, or when `for` has nothing to repeat."),
        ("endif", "{% endif %}", "Ends `if`."),
        ("for", "{% for item in list %}…{% endfor %}", "Repeats the body. For a map: `{% for key, value in map %}`."),
        ("break", "{% break %}", "Leaves the loop."),
        ("continue", "{% continue %}", "Goes on with the next item."),
        ("endfor", "{% endfor %}", "Ends `for`."),
        ("set", "{% set x = 1 %}", "Defines a variable. In a loop, it lasts until the iteration ends."),
        ("set_global", "{% set_global x = 1 %}", "Defines a variable that lasts beyond the loop."),
        (
            "include",
            "{% include \"part.tera\" %}",
            "Writes the output of another template, which sees the same variables.",
        ),
        ("extends", "{% extends \"base.tera\" %}", "Names the parent of this template, whose blocks it replaces."),
        ("block", "{% block name %}…{% endblock %}", "A part that templates which extend this one can replace."),
        ("endblock", "{% endblock %}", "Ends `block`."),
        ("import", "{% import \"m.tera\" as m %}", "Imports the macros of a file: `{{ m::name() }}`."),
        ("macro", "{% macro name(a, b=1) %}…{% endmacro %}", "Defines a macro: `{{ self::name(a=1) }}`."),
        ("endmacro", "{% endmacro %}", "Ends `macro`."),
        ("filter", "{% filter upper %}…{% endfilter %}", "Applies a filter to the body."),
        ("endfilter", "{% endfilter %}", "Ends `filter`."),
        ("raw", "{% raw %}…{% endraw %}", "Writes the body as it is."),
        ("endraw", "{% endraw %}", "Ends `raw`."),
    ],
};

/// The fields of `loop` in Tera.
pub(crate) const LOOP: Keywords = Keywords {
    lang: Dialect::Tera,
    kind: "variable",
    rows: &[
        ("loop.index", "{{ loop.index }}", "The number of the iteration, from 1."),
        ("loop.index0", "{{ loop.index0 }}", "The number of the iteration, from 0."),
        ("loop.first", "{{ loop.first }}", "`true` in the first iteration."),
        ("loop.last", "{{ loop.last }}", "`true` in the last iteration."),
    ],
};

/// The actions of Go templates.
pub(crate) const ACTIONS: Keywords = Keywords {
    lang: Dialect::Helm,
    kind: "action",
    rows: &[
        ("if", "{{ if A }}…{{ else if B }}…{{ else }}…{{ end }}", "Writes the body if the value is not empty."),
        ("else", "{{ else }}", "Begins the body for when the value is empty, or when `range` has nothing to repeat."),
        ("end", "{{ end }}", "Ends `if`, `range`, `with`, `define` or `block`."),
        ("range", "{{ range $key, $value := A }}…{{ end }}", "Repeats the body for each item. The dot is the item."),
        ("with", "{{ with A }}…{{ end }}", "Writes the body if the value is not empty. The dot is the value."),
        ("define", "{{ define \"NAME\" }}…{{ end }}", "Defines a template."),
        (
            "template",
            "{{ template \"NAME\" . }}",
            "Writes the output of a template. `include` returns it, for other functions.",
        ),
        ("block", "{{ block \"NAME\" . }}…{{ end }}", "Defines a template and writes its output."),
        ("break", "{{ break }}", "Leaves the loop."),
        ("continue", "{{ continue }}", "Goes on with the next item."),
    ],
};

/// The directives of HCL templates.
pub(crate) const SEQUENCES: Keywords = Keywords {
    lang: Dialect::Hcl,
    kind: "directive",
    rows: &[
        ("if", "%{ if a }…%{ else }…%{ endif }", "Writes the body if the condition holds."),
        ("else", "%{ else }", "Begins the body for when the condition does not hold."),
        ("endif", "%{ endif }", "Ends `if`."),
        ("for", "%{ for item in list }…%{ endfor }", "Repeats the body. For a map: `%{ for key, value in map }`."),
        ("endfor", "%{ endfor }", "Ends `for`."),
    ],
};

/// The roots of addresses in configurations.
pub(crate) const ROOTS: Keywords = Keywords {
    lang: Dialect::Hcl,
    kind: "address",
    rows: &[
        ("var", "var.NAME", "The value of a `variable` block."),
        ("local", "local.NAME", "A value of a `locals` block."),
        ("module", "module.NAME.OUTPUT", "An output of a `module` block."),
        ("data", "data.TYPE.NAME", "The result of a `data` block."),
    ],
};

/// The directives of CEL in YAML.
pub(crate) const DIRECTIVES: Keywords = Keywords {
    lang: Dialect::CelYaml,
    kind: "directive",
    rows: &[
        ("$let", "$let: { x: '${a + 1}' }", "Defines variables."),
        ("$if", "$if: CONDITION", "Keeps the map if the condition holds, or chooses `$then` or `$else`."),
        ("$then", "$then: VALUE", "The value if the condition of `$if` holds."),
        ("$else", "$else: VALUE", "The value if the condition of `$if` does not hold."),
        ("$for", "$for: x in list", "Repeats `$do`. Also `i, x in list`, and `k, v in map`."),
        ("$do", "$do: VALUE", "The value of each iteration of `$for`."),
        ("$include", "$include: part.cel.yaml", "The value of another file."),
        ("$with", "$with: { x: '${a}' }", "The values that the file of `$include` sees."),
        ("$assert", "$assert: CONDITION", "Stops with `$msg` unless the condition holds."),
        ("$msg", "$msg: TEXT", "The message of `$assert`."),
        ("$schema", "$schema: { x: string }", "The types of the inputs: JSON Schemas or names of types."),
    ],
};

/// The scopes of intents.
const SCOPES: Keywords = Keywords {
    lang: Dialect::Tower,
    kind: "scope",
    rows: &[
        ("params", "${params.NAME}", "The parameters of the intent."),
        ("context", "${context.NAME}", "The context of the run, captured before it begins."),
        ("facts", "${facts.NAME}", "Facts of the run: `execution_id`, `current_step`, `failed_step`, …"),
        ("steps", "${steps.STEP.outputs.NAME}", "The outputs of steps that have run."),
    ],
};

/// The objects that the templates of a chart get beside values, their fields and methods.
pub(crate) const OBJECTS: Keywords = Keywords {
    lang: Dialect::Helm,
    kind: "object",
    rows: &[
        ("Values", "", "The values of the chart, with those that were given."),
        ("Release", "", "The release that the chart is installed as."),
        ("Release.Name", "", "The name of the release."),
        ("Release.Namespace", "", "The namespace of the release."),
        ("Release.Service", "", "The program that renders: `Helm`."),
        ("Release.Revision", "", "The number of the revision, 1 for an installation."),
        ("Release.IsInstall", "", "`true` for an installation."),
        ("Release.IsUpgrade", "", "`true` for an upgrade or a rollback."),
        ("Chart", "", "The fields of `Chart.yaml`, with capitals."),
        ("Chart.Name", "", "The name of the chart."),
        ("Chart.Version", "", "The version of the chart."),
        ("Chart.AppVersion", "", "The version of what the chart installs."),
        ("Chart.IsRoot", "", "`true` if the chart is in no other."),
        ("Capabilities", "", "What the Kubernetes cluster can do."),
        ("Capabilities.APIVersions", "", "The versions of APIs that the cluster has."),
        ("Capabilities.APIVersions.Has", "", "`true` if there is this version or resource: `.Has \"batch/v1/Job\"`"),
        ("Capabilities.KubeVersion", "", "The version of Kubernetes."),
        ("Capabilities.KubeVersion.Version", "", "The whole version: `v1.30.0`"),
        ("Capabilities.KubeVersion.Major", "", "The major version, a string."),
        ("Capabilities.KubeVersion.Minor", "", "The minor version, a string."),
        ("Capabilities.KubeVersion.GitVersion", "", "The whole version; use `Version`."),
        ("Capabilities.HelmVersion", "", "The version of Helm."),
        ("Capabilities.HelmVersion.Version", "", "The whole version of Helm."),
        ("Files", "", "The files of the chart that are no templates."),
        ("Files.Get", "", "The text of a file: `.Get \"conf/a.ini\"`"),
        ("Files.GetBytes", "", "The bytes of a file: `.GetBytes \"logo.png\"`"),
        ("Files.Glob", "", "The files whose paths match a pattern: `.Glob \"conf/*.ini\"`"),
        ("Files.Lines", "", "The lines of a file, for `range`: `.Lines \"hosts.txt\"`"),
        ("Files.AsConfig", "", "The files as the data of a ConfigMap: `(.Files.Glob \"conf/*\").AsConfig`"),
        ("Files.AsSecrets", "", "The files as the data of a Secret, in Base64."),
        ("Template", "", "The template that is rendered."),
        ("Template.Name", "", "The path of the template, from the name of the chart on."),
        ("Template.BasePath", "", "The path of the chart's `templates` folder."),
        ("Subcharts", "", "The objects of each chart in the chart."),
    ],
};

const ALL: [&Keywords; 8] = [&TAGS, &LOOP, &ACTIONS, &OBJECTS, &SEQUENCES, &ROOTS, &DIRECTIVES, &SCOPES];

impl Keywords {
    /// Returns the word of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&'static Keyword> {
        self.rows.iter().find(|(known, ..)| *known == name)
    }

    /// Returns the documentation of one of the words.
    pub(crate) fn page(&self, word: &Keyword) -> String {
        let (name, form, about) = word;
        let form = if form.is_empty() { format!(".{name}") } else { (*form).to_owned() };
        format!("{} `{name}` ({})\n\n  {form}\n\n{about}\n", self.kind, self.lang.id())
    }
}

/// Returns the documentation of all words of a name. Objects may begin with a dot.
pub(crate) fn pages(name: &str) -> Option<String> {
    let object = name.strip_prefix('.').unwrap_or(name);
    let page = |words: &&Keywords| {
        let word = words.get(if words.kind == OBJECTS.kind { object } else { name })?;
        Some(words.page(word))
    };
    let pages: Vec<String> = ALL.iter().filter_map(page).collect();
    (!pages.is_empty()).then(|| pages.join("\n"))
}

/// Returns the names of all words.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|words| words.rows).map(|(name, ..)| *name)
}
