//! Archives, directories, and hostile charts.

use std::io::Write;

use super::*;

/// Returns an archive of files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        // The checked setter refuses `..`.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    packed(&tar.into_inner().unwrap())
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn archives_are_unpacked_within_bounds() {
    let sub = archive(&[("sub/Chart.yaml", SUB.as_bytes()), ("sub/templates/x.yaml", b"")]);
    let whole = archive(&[("app/Chart.yaml", ROOT.as_bytes()), ("app/charts/sub-1.0.7.tgz", &sub)]);
    let chart = Chart::load(&ChartSource::archive(&whole, Bounds::default()).unwrap()).unwrap();
    assert_eq!(chart.charts().map(|chart| chart.metadata().name.as_str()).collect::<Vec<_>>(), ["sub"]);

    let code = |bytes: &[u8], bounds: Bounds| ChartSource::archive(bytes, bounds).unwrap_err().code;
    for path in ["app/../x", "/app/x", "../app/x", "app/a/../../x", "app\\x/y\\z"] {
        assert_eq!(code(&archive(&[(path, b"")]), Bounds::default()), Code::OutsideRoot, "{path}");
    }
    let zeros = vec![0; 1 << 20];
    let large = archive(&[("app/a", &zeros), ("app/b", &zeros)]);
    assert!(large.len() < 100_000);
    let bounds = Bounds { file_bytes: 1000, ..Bounds::default() };
    assert_eq!(code(&large, bounds), Code::LimitSourceBytes);
    assert_eq!(code(&large, Bounds { total_bytes: (1 << 20) + 9, ..Bounds::default() }), Code::LimitSourceBytes);
    assert_eq!(code(&large, Bounds { files: 1, ..Bounds::default() }), Code::LimitTemplates);
    assert_eq!(code(b"no archive", Bounds::default()), Code::InputSyntax);
    assert_eq!(code(&whole[..whole.len() / 2], Bounds::default()), Code::InputSyntax);
    assert_eq!(code(&archive(&[("loose", b"")]), Bounds::default()), Code::InputStructure);

    let mut link = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    link.append_link(&mut header, "app/link", "/etc/passwd").unwrap();
    assert_eq!(code(&packed(&link.into_inner().unwrap()), Bounds::default()), Code::OutsideRoot);
}

#[test]
fn charts_in_charts_have_a_bound() {
    let mut inner = archive(&[("c/Chart.yaml", b"name: c\nversion: 1.0.0\n")]);
    for _ in 0..40 {
        inner = archive(&[("c/Chart.yaml", b"name: c\nversion: 1.0.0\n"), ("c/charts/c.tgz", &inner)]);
    }
    let errors = Chart::load(&ChartSource::archive(&inner, Bounds::default()).unwrap()).err().unwrap();
    assert_eq!(errors.first().unwrap().code, Code::LimitDepth);
    let path = "charts/c/".repeat(100) + "Chart.yaml";
    let source = ChartSource::from_files([("Chart.yaml", ROOT), (&path, ROOT)]).unwrap();
    assert!(Chart::load(&source).is_err());
}

#[test]
fn hostile_values_are_errors() {
    let deep = "{a: ".repeat(5000) + &"}".repeat(5000);
    let long_path = with_dependency(&format!("  import-values:\n  - {{child: a, parent: {}b}}\n", "a.".repeat(5000)));
    let level = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "));
    let bomb = "a0: &a0 x\n".to_owned() + &(1..10).map(level).collect::<String>();
    assert!(chart(&[("values.yaml", &deep)]).is_err() && chart(&[("Chart.yaml", &deep)]).is_err());
    assert!(chart(&[("values.yaml", &bomb)]).is_err());
    assert!(chart(&[("Chart.yaml", &format!("{ROOT}description: {}\n", "x".repeat(6 << 20)))]).is_err());
    let sub = [("charts/sub/Chart.yaml", SUB), ("charts/sub/values.yaml", "a: {b: 1}\n")];
    let files = [("Chart.yaml", long_path.as_str()), sub[0], sub[1]];
    assert_eq!(failure(plan(&files, "{}")).0, "dependencies");
    for path in ["../x", "/x", "a//b", "a/./b", "", "a\\b"] {
        let source = ChartSource::from_files([(path, "")]);
        assert_eq!(source.unwrap_err().code, Code::OutsideRoot, "{path}");
    }
    assert_eq!(failure(Chart::load(&ChartSource::from_files([("Chart.yaml", vec![0xff])]).unwrap())).0, "load");
}

#[cfg(unix)]
#[test]
fn directories_are_read_without_what_is_ignored_or_outside() {
    use std::fs;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("app");
    fs::create_dir_all(root.join("templates/tests")).unwrap();
    for (path, text) in [
        ("Chart.yaml", ROOT),
        (".helmignore", "*.bak\ntests/\n"),
        ("a.bak", ""),
        ("templates/a.yaml", "kind: A\n"),
        ("templates/.hidden", ""),
        ("templates/tests/t.yaml", ""),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("templates/a.yaml", root.join("link.yaml")).unwrap();
    let source = ChartSource::open(&root).unwrap();
    let paths: Vec<_> = source.files().iter().map(ChartFile::path).collect();
    assert_eq!(paths, [".helmignore", "Chart.yaml", "link.yaml", "templates/a.yaml"]);
    assert!(Chart::load(&source).is_ok());

    std::os::unix::fs::symlink(".", root.join("circle")).unwrap();
    assert_eq!(ChartSource::open(&root).unwrap_err().code, Code::LimitDepth);
    fs::remove_file(root.join("circle")).unwrap();
    fs::write(dir.path().join("secret"), "").unwrap();
    std::os::unix::fs::symlink("../secret", root.join("out")).unwrap();
    assert_eq!(ChartSource::open(&root).unwrap_err().code, Code::OutsideRoot);
    assert_eq!(ChartSource::open(dir.path().join("absent")).unwrap_err().code, Code::ReadFailed);
}
