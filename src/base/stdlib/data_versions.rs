//! The versions of tables in a build.

/// Returns names of tables and their versions.
pub fn data_versions() -> Vec<(&'static str, String)> {
    let unicode = |major: u64, minor: u64| format!("{major}.{minor}");
    let (major, minor, _) = unicode_segmentation::UNICODE_VERSION;
    Vec::from([
        ("Unicode characters", unicode(major, minor)),
        ("Unicode normalization", {
            let (major, minor, _) = unicode_normalization::UNICODE_VERSION;
            unicode(major.into(), minor.into())
        }),
        ("time zones", super::zones::VERSION.to_owned()),
    ])
}
