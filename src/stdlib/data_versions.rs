//! The versions of tables in a build.

/// Returns names of tables and their versions.
pub fn data_versions() -> Vec<(&'static str, String)> {
    let (major, minor, _) = unicode_segmentation::UNICODE_VERSION;
    let mut versions = vec![("Unicode characters", format!("{major}.{minor}"))];
    #[cfg(feature = "hcl")]
    {
        let (major, minor, _) = unicode_normalization::UNICODE_VERSION;
        versions.push(("Unicode normalization", format!("{major}.{minor}")));
    }
    #[cfg(feature = "clock")]
    versions.push(("time zones", super::zones::VERSION.to_owned()));
    versions
}
