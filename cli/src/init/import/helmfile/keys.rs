//! The keys of Helmfile that are not translated, and what to do about each.

/// Keys that act when releases are installed, and change nothing that is rendered.
const AT_INSTALLATION: [&str; 62] = [
    "args",
    "atomic",
    "cascade",
    "cleanupOnFail",
    "context",
    "createNamespace",
    "deleteTimeout",
    "deleteWait",
    "deprecated",
    "description",
    "devel",
    "diffArgs",
    "disableAutoDetectedKubeVersionForDiff",
    "disableOpenAPIValidation",
    "disableValidation",
    "disableValidationOnInstall",
    "enableDNS",
    "force",
    "forceUpdate",
    "helmBinary",
    "historyMax",
    "insecureSkipTLSVerify",
    "insecureSkipTLSverify",
    "keyring",
    "kubeContext",
    "kustomizeBinary",
    "lockFile",
    "lockFilePath",
    "minimumHelmVersion",
    "name",
    "passCredentials",
    "plainHttp",
    "recreatePods",
    "resetValues",
    "reuseValues",
    "rollbackOnFailure",
    "serverSide",
    "showOnly",
    "skipDeps",
    "skipRefresh",
    "suppressDiff",
    "suppressOutputLineRegex",
    "syncArgs",
    "syncReleaseLabels",
    "takeOwnership",
    "templateArgs",
    "tillerNamespace",
    "tillerless",
    "timeout",
    "tls",
    "tlsCACert",
    "tlsCert",
    "tlsKey",
    "trackLogs",
    "trackMode",
    "unitTests",
    "updateStrategy",
    "verify",
    "version",
    "wait",
    "waitForJobs",
    "waitRetries",
];

/// Returns `true` for a key that changes nothing that is rendered.
pub(super) fn is_at_installation(key: &str) -> bool {
    AT_INSTALLATION.contains(&key)
}

/// Returns the advice for a key that is not translated.
pub(super) fn advice(key: &str) -> &'static str {
    match key {
        "hooks" => "run the commands in the pipeline that stamps or applies",
        "needs" => "files have no order: let the tool that applies them wait, with sync waves or `dependsOn`",
        "transformers" | "postRenderer" | "postRendererArgs" | "postRendererHooks" => {
            "write what it changes to `patches` of the release"
        }
        "dependencies" => "add the charts to `dependencies` of the chart's `Chart.yaml`",
        "adopt" | "forceNamespace" => "set the namespace in the chart's values",
        "selectors" => "select with `-r` when you stamp, or remove the releases that are not meant",
        "commonLabels" | "labels" => "give the releases `labels`",
        "kubeContext" => "name the context where the files are applied",
        _ => "look it up in Helmfile's documentation, and write it by hand if it changes what is rendered",
    }
}
