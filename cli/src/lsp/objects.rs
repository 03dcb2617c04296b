//! The objects that the templates of a chart get beside values, and the tags of Tera.

/// The objects, their fields and methods.
const OBJECTS: &[(&str, &str)] = &[
    ("Values", "The values of the chart, with those that were given."),
    ("Release", "The release that the chart is installed as."),
    ("Release.Name", "The name of the release."),
    ("Release.Namespace", "The namespace of the release."),
    ("Release.Service", "The program that renders: `Helm`."),
    ("Release.Revision", "The number of the revision, 1 for an installation."),
    ("Release.IsInstall", "`true` for an installation."),
    ("Release.IsUpgrade", "`true` for an upgrade or a rollback."),
    ("Chart", "The fields of `Chart.yaml`, with capitals."),
    ("Chart.Name", "The name of the chart."),
    ("Chart.Version", "The version of the chart."),
    ("Chart.AppVersion", "The version of what the chart installs."),
    ("Chart.IsRoot", "`true` if the chart is in no other."),
    ("Capabilities", "What the Kubernetes cluster can do."),
    ("Capabilities.APIVersions", "The versions of APIs that the cluster has."),
    ("Capabilities.APIVersions.Has", "`true` if there is this version or resource: `.Has \"batch/v1/Job\"`"),
    ("Capabilities.KubeVersion", "The version of Kubernetes."),
    ("Capabilities.KubeVersion.Version", "The whole version: `v1.30.0`"),
    ("Capabilities.KubeVersion.Major", "The major version, a string."),
    ("Capabilities.KubeVersion.Minor", "The minor version, a string."),
    ("Capabilities.KubeVersion.GitVersion", "The whole version; use `Version`."),
    ("Capabilities.HelmVersion", "The version of Helm."),
    ("Capabilities.HelmVersion.Version", "The whole version of Helm."),
    ("Files", "The files of the chart that are no templates."),
    ("Files.Get", "The text of a file: `.Get \"conf/a.ini\"`"),
    ("Files.GetBytes", "The bytes of a file: `.GetBytes \"logo.png\"`"),
    ("Files.Glob", "The files whose paths match a pattern: `.Glob \"conf/*.ini\"`"),
    ("Files.Lines", "The lines of a file, for `range`: `.Lines \"hosts.txt\"`"),
    ("Files.AsConfig", "The files as the data of a ConfigMap: `(.Files.Glob \"conf/*\").AsConfig`"),
    ("Files.AsSecrets", "The files as the data of a Secret, in Base64."),
    ("Template", "The template that is rendered."),
    ("Template.Name", "The path of the template, from the name of the chart on."),
    ("Template.BasePath", "The path of the chart's `templates` folder."),
    ("Subcharts", "The objects of each chart in the chart."),
];

/// The tags of Tera.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("if", "write the body if a condition holds"),
    ("elif", "another condition"),
    ("else", "otherwise, or for an empty loop"),
    ("endif", "end of `if`"),
    ("for", "repeat: `for item in list`, `for key, value in map`"),
    ("break", "leave the loop"),
    ("continue", "go on with the next item"),
    ("endfor", "end of `for`"),
    ("set", "define a variable: `set x = 1`"),
    ("set_global", "define a variable that lasts beyond a loop"),
    ("include", "the output of another file"),
    ("extends", "the parent of this template"),
    ("block", "a part that children replace"),
    ("endblock", "end of `block`"),
    ("import", "macros of another file: `import \"m.tera\" as m`"),
    ("macro", "define a macro"),
    ("endmacro", "end of `macro`"),
    ("filter", "apply a filter to the body"),
    ("endfilter", "end of `filter`"),
    ("raw", "write the body as it is"),
    ("endraw", "end of `raw`"),
];

/// The fields of `loop` in Tera.
pub(super) const LOOP: &[(&str, &str)] = &[
    ("index", "the number of the turn, from 1"),
    ("index0", "the number of the turn, from 0"),
    ("first", "`true` in the first turn"),
    ("last", "`true` in the last turn"),
];

/// Returns the documentation of an object of a chart, or of a field or method of one.
pub(super) fn about(path: &str) -> Option<&'static str> {
    OBJECTS.iter().find(|(known, _)| *known == path).map(|(_, about)| *about)
}

/// Returns the names of the objects, or of the members of one, with their documentation.
pub(super) fn members(path: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let below = move |known: &'static str| match path {
        "" => Some(known),
        path => known.strip_prefix(path)?.strip_prefix('.'),
    };
    let members = OBJECTS.iter().filter_map(move |(known, about)| Some((below(known)?, *about)));
    members.filter(|(name, _)| !name.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_one_step_below() {
        let names = |path| members(path).map(|(name, _)| name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(""), "Values Release Chart Capabilities Files Template Subcharts");
        assert_eq!(names("Capabilities"), "APIVersions KubeVersion HelmVersion");
        assert_eq!(names("Template"), "Name BasePath");
        assert_eq!(
            (names("Files.Get"), about("Files.Lines").is_some(), about("Files.lines")),
            (String::new(), true, None)
        );
    }
}
