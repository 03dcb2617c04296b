//! The built-in objects of templates: `.Capabilities`, `.Release` and `.Files`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Stage;
use super::source::{ChartFile, Content};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::globs::PathGlob;
use dropforge_base::stdlib::small_sort::tree_map;
use dropforge_value::Data;

/// A version of Kubernetes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeVersion {
    /// The version with the suffixes of vendors: `v1.29.4-gke.1043002`.
    pub version: String,
    /// The version without them: `v1.29.4`.
    pub normalized: String,
    /// The major number.
    pub major: String,
    /// The minor number.
    pub minor: String,
}

impl KubeVersion {
    /// Parses a version of two numbers or more, with or without `v`. Vendors' suffixes need not be valid.
    ///
    /// # Errors
    /// `usage` for a text that is not a version.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            let message = format!("`{text}` is not a version of Kubernetes: {why}");
            Stage::KubeVersion.error(Code::Usage, message).with_help("write a version such as `1.34.0`")
        };
        let plain = text.strip_prefix('v').unwrap_or(text);
        let start = text.trim_start();
        let start = start.strip_prefix('v').unwrap_or(start);
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (mut numbers, mut rest) = (Vec::new(), start);
        loop {
            let (number, after) = rest.split_at(digits(rest));
            if number.is_empty() {
                break;
            }
            numbers.push(number.parse::<u64>().map_err(|_| wrong("one of its numbers is too large"))?);
            match after.strip_prefix('.') {
                Some(after) => rest = after,
                None => break,
            }
        }
        if start.starts_with('0') && digits(start) > 1 {
            return Err(wrong("its first number has a zero before it"));
        }
        let [major, minor, ..] = numbers[..] else { return Err(wrong("it has no major and minor number")) };
        let patch = numbers.get(2).copied().unwrap_or_default();
        Ok(Self {
            version: format!("v{plain}"),
            normalized: format!("v{major}.{minor}.{patch}"),
            major: major.to_string(),
            minor: minor.to_string(),
        })
    }
}

/// The version of the tool that templates see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelmVersion {
    /// The version: `v4.3.1`.
    pub version: String,
    /// The commit of the build.
    pub git_commit: String,
    /// The state of the sources of the build.
    pub git_tree_state: String,
    /// The version of the compiler.
    pub go_version: String,
    /// The version of the Kubernetes client.
    pub kube_client_version: String,
}

impl HelmVersion {
    /// Returns the version of the newest release of a line.
    fn of(line: HelmLine) -> Self {
        let [version, git_commit, go_version, kube_client_version] = match line {
            HelmLine::V4_2 => ["v4.2.3", "43e8b7feece8beb0fcba47059ec9b522fd929a64", "go1.26.5", "v1.36"],
            HelmLine::V4_3 => ["v4.3.1", "c0d08d0d6d9424d4a14febb5e8a3e51b0dd00dff", "go1.27.2", "v1.37"],
        };
        Self {
            version: version.to_owned(),
            git_commit: git_commit.to_owned(),
            git_tree_state: "clean".to_owned(),
            go_version: go_version.to_owned(),
            kube_client_version: kube_client_version.to_owned(),
        }
    }
}

impl Default for HelmVersion {
    fn default() -> Self {
        Self::of(HelmLine::default())
    }
}

/// A minor version of Helm, which decides what charts see of the tool and of a cluster that is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HelmLine {
    /// Helm 4.2, with Kubernetes 1.36.
    V4_2,
    /// Helm 4.3, with Kubernetes 1.37.
    #[default]
    V4_3,
}

impl std::str::FromStr for HelmLine {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "4.2" => Ok(Self::V4_2),
            "4.3" => Ok(Self::V4_3),
            _ => Err("expected `4.2` or `4.3`".to_owned()),
        }
    }
}

/// The cluster that templates are rendered for: `.Capabilities`.
#[derive(Debug, Clone, PartialEq)]
pub struct Capabilities {
    /// The version of Kubernetes.
    pub kube_version: KubeVersion,
    /// The available APIs: `apps/v1`, also with a kind: `batch/v1/CronJob`.
    pub api_versions: Vec<String>,
    /// The version of the tool.
    pub helm_version: HelmVersion,
    /// The objects that `lookup` finds. Only tests give some.
    pub objects: Vec<Data>,
}

impl Capabilities {
    /// Returns `true` if the cluster has an API.
    pub fn has(&self, api: &str) -> bool {
        self.api_versions.iter().any(|known| known == api)
    }

    /// Adds APIs to those of the defaults.
    pub fn with_apis<S: Into<String>>(mut self, apis: impl IntoIterator<Item = S>) -> Self {
        self.api_versions.extend(apis.into_iter().map(Into::into));
        self
    }

    /// Sets the version of Kubernetes.
    ///
    /// # Errors
    /// `usage` for a text that is not a version.
    pub fn with_kube_version(mut self, version: &str) -> Result<Self> {
        self.kube_version = KubeVersion::parse(version)?;
        Ok(self)
    }
}

impl Capabilities {
    /// Returns a cluster that is not asked, as a line of Helm supposes it.
    pub fn of_helm(line: HelmLine) -> Self {
        let minor = match line {
            HelmLine::V4_2 => "36",
            HelmLine::V4_3 => "37",
        };
        let version = format!("v1.{minor}.0");
        let normalized = version.clone();
        let kube_version = KubeVersion { version, normalized, major: "1".to_owned(), minor: minor.to_owned() };
        let apis = APIS.iter().filter(|(_, lines)| lines.is_none_or(|only| only == line));
        let api_versions = apis.map(|(api, _)| (*api).to_owned()).collect();
        Self { kube_version, api_versions, helm_version: HelmVersion::of(line), objects: Vec::new() }
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::of_helm(HelmLine::default())
    }
}

/// The APIs of a cluster that is not asked, some in one line of Helm only.
const APIS: &[(&str, Option<HelmLine>)] = &[
    ("v1", None),
    ("admissionregistration.k8s.io/v1", None),
    ("admissionregistration.k8s.io/v1alpha1", None),
    ("admissionregistration.k8s.io/v1beta1", None),
    ("internal.apiserver.k8s.io/v1alpha1", None),
    ("apps/v1", None),
    ("apps/v1beta1", None),
    ("apps/v1beta2", None),
    ("authentication.k8s.io/v1", None),
    ("authentication.k8s.io/v1alpha1", None),
    ("authentication.k8s.io/v1beta1", None),
    ("authorization.k8s.io/v1", None),
    ("authorization.k8s.io/v1beta1", None),
    ("autoscaling/v1", None),
    ("autoscaling/v2", None),
    ("batch/v1", None),
    ("batch/v1beta1", None),
    ("certificates.k8s.io/v1", None),
    ("certificates.k8s.io/v1beta1", None),
    ("certificates.k8s.io/v1alpha1", None),
    ("coordination.k8s.io/v1alpha2", None),
    ("coordination.k8s.io/v1beta1", None),
    ("coordination.k8s.io/v1", None),
    ("discovery.k8s.io/v1", None),
    ("discovery.k8s.io/v1beta1", None),
    ("events.k8s.io/v1", None),
    ("events.k8s.io/v1beta1", None),
    ("extensions/v1beta1", None),
    ("flowcontrol.apiserver.k8s.io/v1", None),
    ("flowcontrol.apiserver.k8s.io/v1beta1", None),
    ("flowcontrol.apiserver.k8s.io/v1beta2", None),
    ("flowcontrol.apiserver.k8s.io/v1beta3", None),
    ("lifecycle.k8s.io/v1alpha1", Some(HelmLine::V4_3)),
    ("networking.k8s.io/v1", None),
    ("networking.k8s.io/v1beta1", None),
    ("node.k8s.io/v1", None),
    ("node.k8s.io/v1alpha1", None),
    ("node.k8s.io/v1beta1", None),
    ("policy/v1", None),
    ("policy/v1beta1", None),
    ("rbac.authorization.k8s.io/v1", None),
    ("rbac.authorization.k8s.io/v1beta1", None),
    ("rbac.authorization.k8s.io/v1alpha1", None),
    ("resource.k8s.io/v1", None),
    ("resource.k8s.io/v1beta2", None),
    ("resource.k8s.io/v1beta1", None),
    ("resource.k8s.io/v1alpha3", None),
    ("scheduling.k8s.io/v1alpha2", Some(HelmLine::V4_2)),
    ("scheduling.k8s.io/v1alpha3", Some(HelmLine::V4_3)),
    ("scheduling.k8s.io/v1beta1", None),
    ("scheduling.k8s.io/v1", None),
    ("storage.k8s.io/v1beta1", None),
    ("storage.k8s.io/v1", None),
    ("storage.k8s.io/v1alpha1", None),
    ("storagemigration.k8s.io/v1", Some(HelmLine::V4_3)),
    ("storagemigration.k8s.io/v1beta1", None),
    ("apiextensions.k8s.io/v1beta1", None),
    ("apiextensions.k8s.io/v1", None),
];

/// The release: `.Release`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// `true` for an upgrade, `false` for an installation.
    pub is_upgrade: bool,
    /// The number of the revision.
    pub revision: i64,
    /// The service that makes the release.
    pub service: String,
}

impl Default for Release {
    fn default() -> Self {
        Self {
            name: "release-name".to_owned(),
            namespace: "default".to_owned(),
            is_upgrade: false,
            revision: 1,
            service: "Helm".to_owned(),
        }
    }
}

impl Release {
    /// Checks the name: at most 53 characters of a DNS name.
    ///
    /// # Errors
    /// `input.type`.
    pub fn check_name(&self) -> Result<()> {
        let is_label = |label: &str| {
            let ends = |end: Option<char>| end.is_some_and(|end| end.is_ascii_lowercase() || end.is_ascii_digit());
            ends(label.chars().next())
                && ends(label.chars().last())
                && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        if self.name.len() <= 53 && self.name.split('.').all(is_label) {
            return Ok(());
        }
        Err(Diagnostic::new(Code::InputType, format!("`{}` cannot be the name of a release", self.name)).with_help(
            "use at most 53 lower-case letters, digits, `-` and `.`, and begin and end with a letter or digit",
        ))
    }
}

/// Files by path, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSet(Arc<BTreeMap<String, Content>>);

/// The error of the lines of an empty file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyFile;

impl FileSet {
    pub(super) fn of(files: impl IntoIterator<Item = ChartFile>) -> Self {
        Self(Arc::new(tree_map(files.into_iter().map(|file| (file.path, file.content)))))
    }

    /// Returns the content of a file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(Content::bytes)
    }

    /// Returns the files with their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, content)| (path.as_str(), content.bytes()))
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the files whose paths match a pattern; all of them if the pattern is malformed.
    pub fn glob(&self, pattern: &str) -> FileSet {
        let Some(glob) = PathGlob::parse(pattern) else { return self.clone() };
        let matching = self.0.iter().filter(|(path, _)| glob.matches(path));
        Self(Arc::new(tree_map(matching.map(|(path, content)| (path.clone(), content.clone())))))
    }

    /// Returns the lines of a file without a final line end. A file that does not exist has none.
    ///
    /// # Errors
    /// The file is empty.
    pub fn lines(&self, path: &str) -> std::result::Result<Vec<&[u8]>, EmptyFile> {
        match self.get(path) {
            None => Ok(Vec::new()),
            Some([]) => Err(EmptyFile),
            Some(bytes) => Ok(bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n').collect()),
        }
    }
}
