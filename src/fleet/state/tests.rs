use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;
use crate::output_files::Change;

/// Path, cluster and template of an entry. Its digest is that of its path.
type Shown = (String, Option<(String, String)>);

fn shown(state: &State) -> Vec<Shown> {
    let mut all = Vec::new();
    let each = &mut |entry: Entry<'_>| {
        assert!(entry.has_content(&blake3::hash(entry.path.as_bytes())));
        assert_eq!(entry.tag.is_empty(), entry.path.contains('/') || entry.maker.is_none());
        let maker = entry.maker.map(|(cluster, template)| (cluster.to_owned(), template.to_owned()));
        all.push((entry.path.to_owned(), maker));
        Ok(())
    };
    state.each(each).unwrap();
    all
}

fn run(argument: &str) -> RunOptions {
    RunOptions { arguments: vec![argument.to_owned()], ..RunOptions::default() }
}

/// Writes a state over the one in `dir`: rows of path, cluster and template, and those that `kept` keeps.
fn rewrite(dir: &OutputDir, made: &[(&str, &str, &str)], kept: &dyn Fn(&str) -> bool) -> State {
    let old = State::read(Some(dir)).unwrap();
    let (mut rows, mut makers) = (Rows::default(), Vec::new());
    for (path, cluster, template) in made {
        let row = Row {
            cluster: (*cluster).to_owned(),
            path: (*path).to_owned(),
            template: makers.len() as u32,
            hash: *blake3::hash(path.as_bytes()).as_bytes(),
            tag: if path.contains('/') { String::new() } else { "\"tag\"".to_owned() },
        };
        rows.add(row).unwrap();
        makers.push(MadeBy { release: "r".to_owned(), template: (*template).to_owned() });
    }
    let kept = |entry: Entry<'_>| Ok(kept(entry.path));
    let new = NewState { to: dir, shard: None, fsync: true, incomplete: false, run: Some(run("stamp")) };
    write(&old, &kept, (rows, makers), &new).unwrap();
    State::read(Some(dir)).unwrap()
}

/// Returns the names and texts of the files of clusters.
fn files(root: &Path) -> Vec<(String, String)> {
    let all = fs::read_dir(root.join(CLUSTERS)).into_iter().flatten().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut all: Vec<_> = all.map(|path| (name(&path), fs::read_to_string(path).unwrap())).collect();
    all.sort();
    all
}

fn of((path, cluster, template): (&str, &str, &str)) -> Shown {
    (path.to_owned(), Some((cluster.to_owned(), template.to_owned())))
}

#[test]
fn entries_survive_a_round_trip_and_each_cluster_has_a_file() {
    let temp = tempfile::tempdir().unwrap();
    let dir = OutputDir::create(temp.path()).unwrap();
    let made = [("eu/y", "US", "t/b"), ("eu/x", "eu", "t/b"), ("us/\"", "eu", "t/a"), ("one", "", "t/a")];
    let state = rewrite(&dir, &made, &|_| false);
    assert_eq!(shown(&state), [of(made[0]), of(made[3]), of(made[1]), of(made[2])]);
    assert!(state.contains("eu/x").unwrap() && !state.contains("eu").unwrap());
    let texts = files(temp.path());
    assert_eq!(texts.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["!u!s.state", "@none.state", "eu.state"]);
    let digest = |path: &str| blake3::hash(path.as_bytes()).to_hex().to_string();
    let id = fs::read_to_string(temp.path().join(RUNS)).unwrap().split('"').nth(5).unwrap().to_owned();
    let expected = format!("# cluster eu\neu/x r t/b {} {id}\nus/\" r t/a {} {id}\n", digest("eu/x"), digest("us/\""));
    assert_eq!(texts[2].1, expected);
    // What is kept is written as before, and a cluster without files has none in the state.
    rewrite(&dir, &[], &|_| true);
    assert_eq!(files(temp.path()), texts);
    let state = rewrite(&dir, &[("n", "a", "t/c")], &|path| path == "eu/x");
    assert_eq!(shown(&state), [of(("n", "a", "t/c")), of(made[1])]);
    assert_eq!(shown(&rewrite(&dir, &[], &|_| false)), []);
    assert!(files(temp.path()).is_empty());
}

#[test]
fn damaged_and_hostile_files_are_errors_and_lead_nowhere() {
    let temp = tempfile::tempdir().unwrap();
    let dir = OutputDir::create(temp.path()).unwrap();
    rewrite(&dir, &[("eu/x", "eu", "t/b")], &|_| false);
    let (file, runs) = (temp.path().join(path_of("eu")), temp.path().join(RUNS));
    let good = fs::read_to_string(&file).unwrap();
    let read = || State::read(Some(&dir)).map(drop).map_err(|error| error.code);
    let line = good.lines().nth(1).unwrap().to_owned();
    let long = format!("# cluster {}\n", "x".repeat(1 << 17));
    let bad = ["x", "# cluster", "# other\n", &line, &good[..good.len() - 20], "\u{0}\u{1}", "# cluster eu\n\n", &long];
    for text in bad {
        fs::write(&file, text).unwrap();
        assert_eq!(read(), Err(Code::BadManifest), "{text:?}");
    }
    fs::write(&file, [0xff; 100]).unwrap();
    assert_eq!(read(), Err(Code::BadManifest));
    // A file of another cluster's name is read, and replaced by one of the right name.
    for text in [good.clone(), good.replace('\n', "\r\n"), good.trim_end().to_owned(), good.repeat(2), String::new()] {
        fs::write(&file, &text).unwrap();
        assert_eq!(read(), Ok(()), "{text}");
    }
    fs::write(&file, format!("{}{good}", good.replace("eu", "zz"))).unwrap();
    rewrite(&dir, &[], &|path| path == "eu/x");
    assert_eq!(files(temp.path()), [("eu.state".to_owned(), good.clone())]);
    fs::rename(&file, temp.path().join(path_of("us"))).unwrap();
    fs::write(temp.path().join(path_of("us")), &good).unwrap();
    rewrite(&dir, &[], &|_| true);
    assert_eq!(files(temp.path()), [("eu.state".to_owned(), good.clone())]);
    for text in ["", "{}", "[1]", "{\"version\":4,\"runs\":{}}", "\u{0}"] {
        fs::write(&runs, text).unwrap();
        assert_eq!(read(), Err(Code::BadManifest), "{text}");
    }
    // Without its run a file has no owner.
    fs::remove_file(&runs).unwrap();
    assert!(!State::read(Some(&dir)).unwrap().contains("eu/x").unwrap());
    // Links, and directories in the place of files.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(read(), Ok(()));
    fs::remove_dir(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    assert_eq!(read(), Err(Code::SymbolicLink));
    fs::remove_file(&file).unwrap();
    let other = tempfile::tempdir().unwrap();
    fs::remove_dir_all(temp.path().join(STATE)).unwrap();
    symlink(other.path(), temp.path().join(STATE)).unwrap();
    assert_eq!(read(), Err(Code::SymbolicLink));
    assert!(OwnFiles::write_own(&dir, RUNS, false, &mut |_| Ok(())).is_err());
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
}

/// Returns the old file of an entry.
fn old_file(clusters: &str, digest: &str) -> String {
    format!(
        "{{\"version\":2,\"hash\":\"blake3\",\"runs\":[{{\"templates\":[0],\"arguments\":[\"stamp\"]}}],\"templates\":[\"t/b\",\"t/c\"],\n\
         \"digests\":[\"12ab\",\"\"],\"clusters\":{{\n{clusters}\n}},\"files\":{{\"a\":\"{digest}\"}}}}\n"
    )
}

#[test]
fn the_one_file_of_earlier_versions_is_read_and_replaced() {
    let temp = tempfile::tempdir().unwrap();
    let dir = OutputDir::create(temp.path()).unwrap();
    let old = temp.path().join(OLD_STATE);
    let digest = |path: &str| blake3::hash(path.as_bytes()).to_hex().to_string();
    let eu = format!("\"eu\":[[\"eu/x\",0,\"{}\"],[\"y\",1,\"{}\",\"tag\"]]", digest("eu/x"), digest("y"));
    fs::write(&old, old_file(&eu, &digest("a"))).unwrap();
    let expected = [of(("eu/x", "eu", "t/b")), of(("y", "eu", "t/c")), ("a".to_owned(), None)];
    let state = State::read(Some(&dir)).unwrap();
    assert_eq!(shown(&state), expected);
    let maker = state.maker("eu/x", b"eu/x").unwrap().unwrap();
    assert_eq!(maker.run.unwrap().arguments, ["stamp"]);
    assert!(old.exists());
    let mut state = shown(&rewrite(&dir, &[], &|_| true));
    state.sort();
    assert_eq!(state, [("a".to_owned(), None), of(("eu/x", "eu", "t/b")), of(("y", "eu", "t/c"))]);
    assert!(!old.exists() && files(temp.path()).len() == 2);
    for text in [
        "",
        "{}",
        "[1]",
        r#"{"version":2,"files":[]}"#,
        r#"{"version":3,"files":{}}"#,
        r#"{"version":1,"files":{"a":"zz"}}"#,
        r#"{"version":2,"files":{},"templates":[],"clusters":{"c":[["c/a",0,""]]}}"#,
        r#"{"version":2,"files":{}} x"#,
    ] {
        fs::write(&old, text).unwrap();
        assert_eq!(State::read(Some(&dir)).unwrap_err().code, Code::BadManifest, "{text}");
    }
}

#[test]
fn both_sides_of_a_merge_are_read() {
    let temp = tempfile::tempdir().unwrap();
    let dir = OutputDir::create(temp.path()).unwrap();
    rewrite(&dir, &[("eu/x", "eu", "t/b"), ("eu/y", "eu", "t/b")], &|_| false);
    let file = temp.path().join(path_of("eu"));
    let good = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let other = lines[1].replace(&blake3::hash(b"eu/x").to_hex().to_string(), &"0".repeat(64));
    for base in [String::new(), "||||||| base\nwhat was there before\n".to_owned()] {
        let text = format!(
            "<<<<<<< HEAD\n{}\n{}\n{base}=======\n{}\n{other}\n>>>>>>> b\n{}\n",
            lines[0], lines[1], lines[0], lines[2]
        );
        fs::write(&file, text).unwrap();
        let state = State::read(Some(&dir)).unwrap();
        assert_eq!(shown(&state), [of(("eu/x", "eu", "t/b")), of(("eu/y", "eu", "t/b"))]);
        assert_eq!(state.notes().count(), 1);
        rewrite(&dir, &[("eu/x", "eu", "t/b")], &|path| path != "eu/x");
        assert_eq!(fs::read_to_string(&file).unwrap(), good);
    }
    let runs = temp.path().join(RUNS);
    let text = fs::read_to_string(&runs).unwrap();
    fs::write(&runs, text.replace("        \"stamp\"", "<<<<<<< HEAD\n\"stamp\"\n=======\n\"stamp\"\n>>>>>>> b"))
        .unwrap();
    assert_eq!(State::read(Some(&dir)).unwrap().notes().count(), 1);
    rewrite(&dir, &[], &|_| true);
    assert_eq!(fs::read_to_string(&runs).unwrap(), text);
}

#[test]
fn a_run_that_ended_early_leaves_a_mark() {
    let temp = tempfile::tempdir().unwrap();
    let dir = OutputDir::create(temp.path()).unwrap();
    for incomplete in [true, false] {
        let new = NewState { to: &dir, shard: None, fsync: false, incomplete, run: None };
        write(&State::default(), &|_| Ok(false), Default::default(), &new).unwrap();
        assert_eq!(State::read(Some(&dir)).unwrap().notes().count(), usize::from(incomplete));
    }
    let change = OwnFiles::write_own(&dir, RUNS, false, &mut |write| write(&fs::read(temp.path().join(RUNS)).unwrap()));
    assert_eq!(change.unwrap(), Change::Unchanged);
}

#[test]
fn half_may_go_more_may_not() {
    assert!(State::guard(1, 2, false).is_ok());
    assert_eq!(State::guard(2, 2, false).unwrap_err().code, Code::MassDelete);
    assert!(State::guard(2, 2, true).is_ok());
}
