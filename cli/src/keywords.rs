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

/// A word.
#[derive(Debug)]
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    /// How it is written, or empty for objects.
    pub(crate) form: &'static str,
    /// What it does or is, in a sentence.
    pub(crate) about: &'static str,
}

const fn word(name: &'static str, form: &'static str, about: &'static str) -> Keyword {
    Keyword { name, form, about }
}

/// A word that is written with a dot before it.
const fn object(name: &'static str, about: &'static str) -> Keyword {
    word(name, "", about)
}

/// The tags of Tera.
pub(crate) const TAGS: Keywords = Keywords {
    lang: Dialect::Tera,
    kind: "tag",
    rows: &[
        word("if", "{% if a %}…{% elif b %}…{% else %}…{% endif %}", "Writes the body if the condition holds."),
        word("elif", "{% elif b %}", "The next condition, if those before it do not hold."),
        word("else", "{% else %}", "Begins the body for when no condition holds, or when `for` has nothing to repeat."),
        word("endif", "{% endif %}", "Ends `if`."),
        word(
            "for",
            "{% for item in list %}…{% endfor %}",
            "Repeats the body. For a map: `{% for key, value in map %}`.",
        ),
        word("break", "{% break %}", "Leaves the loop."),
        word("continue", "{% continue %}", "Goes on with the next item."),
        word("endfor", "{% endfor %}", "Ends `for`."),
        word("set", "{% set x = 1 %}", "Defines a variable. In a loop, it lasts until the turn ends."),
        word("set_global", "{% set_global x = 1 %}", "Defines a variable that lasts beyond the loop."),
        word(
            "include",
            "{% include \"part.tera\" %}",
            "Writes the output of another template, which sees the same variables.",
        ),
        word("extends", "{% extends \"base.tera\" %}", "Names the parent of this template, whose blocks it replaces."),
        word("block", "{% block name %}…{% endblock %}", "A part that templates which extend this one can replace."),
        word("endblock", "{% endblock %}", "Ends `block`."),
        word("import", "{% import \"m.tera\" as m %}", "Imports the macros of a file: `{{ m::name() }}`."),
        word("macro", "{% macro name(a, b=1) %}…{% endmacro %}", "Defines a macro: `{{ self::name(a=1) }}`."),
        word("endmacro", "{% endmacro %}", "Ends `macro`."),
        word("filter", "{% filter upper %}…{% endfilter %}", "Applies a filter to the body."),
        word("endfilter", "{% endfilter %}", "Ends `filter`."),
        word("raw", "{% raw %}…{% endraw %}", "Writes the body as it is."),
        word("endraw", "{% endraw %}", "Ends `raw`."),
    ],
};

/// The fields of `loop` in Tera.
pub(crate) const LOOP: Keywords = Keywords {
    lang: Dialect::Tera,
    kind: "variable",
    rows: &[
        word("loop.index", "{{ loop.index }}", "The number of the turn, from 1."),
        word("loop.index0", "{{ loop.index0 }}", "The number of the turn, from 0."),
        word("loop.first", "{{ loop.first }}", "`true` in the first turn."),
        word("loop.last", "{{ loop.last }}", "`true` in the last turn."),
    ],
};

/// The actions of Go templates.
pub(crate) const ACTIONS: Keywords = Keywords {
    lang: Dialect::Helm,
    kind: "action",
    rows: &[
        word("if", "{{ if A }}…{{ else if B }}…{{ else }}…{{ end }}", "Writes the body if the value is not empty."),
        word(
            "else",
            "{{ else }}",
            "Begins the body for when the value is empty, or when `range` has nothing to repeat.",
        ),
        word("end", "{{ end }}", "Ends `if`, `range`, `with`, `define` or `block`."),
        word(
            "range",
            "{{ range $key, $value := A }}…{{ end }}",
            "Repeats the body for each item. The dot is the item.",
        ),
        word("with", "{{ with A }}…{{ end }}", "Writes the body if the value is not empty. The dot is the value."),
        word("define", "{{ define \"NAME\" }}…{{ end }}", "Defines a template."),
        word(
            "template",
            "{{ template \"NAME\" . }}",
            "Writes the output of a template. `include` returns it, for other functions.",
        ),
        word("block", "{{ block \"NAME\" . }}…{{ end }}", "Defines a template and writes its output."),
        word("break", "{{ break }}", "Leaves the loop."),
        word("continue", "{{ continue }}", "Goes on with the next item."),
    ],
};

/// The directives of HCL templates.
pub(crate) const SEQUENCES: Keywords = Keywords {
    lang: Dialect::Hcl,
    kind: "directive",
    rows: &[
        word("if", "%{ if a }…%{ else }…%{ endif }", "Writes the body if the condition holds."),
        word("else", "%{ else }", "Begins the body for when the condition does not hold."),
        word("endif", "%{ endif }", "Ends `if`."),
        word("for", "%{ for item in list }…%{ endfor }", "Repeats the body. For a map: `%{ for key, value in map }`."),
        word("endfor", "%{ endfor }", "Ends `for`."),
    ],
};

/// The roots of addresses in configurations.
pub(crate) const ROOTS: Keywords = Keywords {
    lang: Dialect::Hcl,
    kind: "address",
    rows: &[
        word("var", "var.NAME", "The value of a `variable` block."),
        word("local", "local.NAME", "A value of a `locals` block."),
        word("module", "module.NAME.OUTPUT", "An output of a `module` block."),
        word("data", "data.TYPE.NAME", "The result of a `data` block."),
    ],
};

/// The directives of CEL in YAML.
pub(crate) const DIRECTIVES: Keywords = Keywords {
    lang: Dialect::CelYaml,
    kind: "directive",
    rows: &[
        word("$let", "$let: { x: '${a + 1}' }", "Defines variables."),
        word("$if", "$if: CONDITION", "Keeps the map if the condition holds, or chooses `$then` or `$else`."),
        word("$then", "$then: VALUE", "The value if the condition of `$if` holds."),
        word("$else", "$else: VALUE", "The value if the condition of `$if` does not hold."),
        word("$for", "$for: x in list", "Repeats `$do`. Also `i, x in list`, and `k, v in map`."),
        word("$do", "$do: VALUE", "The value of each turn of `$for`."),
        word("$include", "$include: part.cel.yaml", "The value of another file."),
        word("$with", "$with: { x: '${a}' }", "The values that the file of `$include` sees."),
        word("$assert", "$assert: CONDITION", "Stops with `$msg` unless the condition holds."),
        word("$msg", "$msg: TEXT", "The message of `$assert`."),
        word("$schema", "$schema: { x: string }", "The types of the inputs: JSON Schemas or names of types."),
    ],
};

/// The scopes of intents.
const SCOPES: Keywords = Keywords {
    lang: Dialect::Tower,
    kind: "scope",
    rows: &[
        word("params", "${params.NAME}", "The parameters of the intent."),
        word("context", "${context.NAME}", "The context of the run, captured before it begins."),
        word("facts", "${facts.NAME}", "Facts of the run: `execution_id`, `current_step`, `failed_step`, …"),
        word("steps", "${steps.STEP.outputs.NAME}", "The outputs of steps that have run."),
    ],
};

/// The objects that the templates of a chart get beside values, their fields and methods.
const OBJECTS: Keywords = Keywords {
    lang: Dialect::Helm,
    kind: "object",
    rows: &[
        object("Values", "The values of the chart, with those that were given."),
        object("Release", "The release that the chart is installed as."),
        object("Release.Name", "The name of the release."),
        object("Release.Namespace", "The namespace of the release."),
        object("Release.Service", "The program that renders: `Helm`."),
        object("Release.Revision", "The number of the revision, 1 for an installation."),
        object("Release.IsInstall", "`true` for an installation."),
        object("Release.IsUpgrade", "`true` for an upgrade or a rollback."),
        object("Chart", "The fields of `Chart.yaml`, with capitals."),
        object("Chart.Name", "The name of the chart."),
        object("Chart.Version", "The version of the chart."),
        object("Chart.AppVersion", "The version of what the chart installs."),
        object("Chart.IsRoot", "`true` if the chart is in no other."),
        object("Capabilities", "What the Kubernetes cluster can do."),
        object("Capabilities.APIVersions", "The versions of APIs that the cluster has."),
        object("Capabilities.APIVersions.Has", "`true` if there is this version or resource: `.Has \"batch/v1/Job\"`"),
        object("Capabilities.KubeVersion", "The version of Kubernetes."),
        object("Capabilities.KubeVersion.Version", "The whole version: `v1.30.0`"),
        object("Capabilities.KubeVersion.Major", "The major version, a string."),
        object("Capabilities.KubeVersion.Minor", "The minor version, a string."),
        object("Capabilities.KubeVersion.GitVersion", "The whole version; use `Version`."),
        object("Capabilities.HelmVersion", "The version of Helm."),
        object("Capabilities.HelmVersion.Version", "The whole version of Helm."),
        object("Files", "The files of the chart that are no templates."),
        object("Files.Get", "The text of a file: `.Get \"conf/a.ini\"`"),
        object("Files.GetBytes", "The bytes of a file: `.GetBytes \"logo.png\"`"),
        object("Files.Glob", "The files whose paths match a pattern: `.Glob \"conf/*.ini\"`"),
        object("Files.Lines", "The lines of a file, for `range`: `.Lines \"hosts.txt\"`"),
        object("Files.AsConfig", "The files as the data of a ConfigMap: `(.Files.Glob \"conf/*\").AsConfig`"),
        object("Files.AsSecrets", "The files as the data of a Secret, in Base64."),
        object("Template", "The template that is rendered."),
        object("Template.Name", "The path of the template, from the name of the chart on."),
        object("Template.BasePath", "The path of the chart's `templates` folder."),
        object("Subcharts", "The objects of each chart in the chart."),
    ],
};

const ALL: [&Keywords; 8] = [&TAGS, &LOOP, &ACTIONS, &OBJECTS, &SEQUENCES, &ROOTS, &DIRECTIVES, &SCOPES];

impl Keywords {
    /// Returns the word of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&'static Keyword> {
        self.rows.iter().find(|word| word.name == name)
    }

    /// Returns the documentation of one of the words.
    pub(crate) fn page(&self, word: &Keyword) -> String {
        let Keyword { name, form, about } = word;
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
    ALL.iter().flat_map(|words| words.rows).map(|word| word.name)
}

/// Returns the documentation of an object of a chart, or of a field or method of one.
#[cfg(feature = "lsp")]
pub(crate) fn about_object(path: &str) -> Option<&'static str> {
    OBJECTS.get(path).map(|word| word.about)
}

/// Returns the names of the objects, or of the members of one, with their documentation.
#[cfg(feature = "lsp")]
pub(crate) fn members(path: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let below = move |known: &'static str| match path {
        "" => Some(known),
        path => known.strip_prefix(path)?.strip_prefix('.'),
    };
    let members = OBJECTS.rows.iter().filter_map(move |word| Some((below(word.name)?, word.about)));
    members.filter(|(name, _)| !name.contains('.'))
}

#[cfg(all(test, feature = "lsp"))]
mod tests {
    use super::*;

    #[test]
    fn members_are_one_step_below() {
        let names = |path| members(path).map(|(name, _)| name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(""), "Values Release Chart Capabilities Files Template Subcharts");
        assert_eq!(names("Capabilities"), "APIVersions KubeVersion HelmVersion");
        assert_eq!(names("Template"), "Name BasePath");
        assert_eq!(
            (names("Files.Get"), about_object("Files.Lines").is_some(), about_object("Files.lines")),
            (String::new(), true, None)
        );
    }
}
