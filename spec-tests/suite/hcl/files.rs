//! File functions: the files they can read, and those they cannot.

use std::fs;
use std::path::Path;

use dropforge::diagnostics::Code;
use dropforge::dialect::hcl::{Expression, registry};
use dropforge::engine::{Dialect, Engine};
use dropforge::files::Files;
use dropforge::function::Capabilities;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, Inputs};
use dropforge::vm::Space;

/// A directory of files, next to one that must stay unreachable.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |path: &str, bytes: &[u8]| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("secret.txt", b"secret");
    write("root/a.txt", b"e\xcc\x81\r\n");
    write("root/b.md", b"");
    write("root/.hidden", b"h");
    write("root/bytes", b"ok\xff");
    write("root/we[ird].txt", b"w");
    write("root/sub/deep/c.txt", b"c");
    write("root/sub/d.txt", b"d");
    for (path, text) in [
        ("one.tftpl", "${a}-${b}"),
        ("list.tftpl", "${[for x in xs : x + 1]}"),
        ("outer.tftpl", "<${templatefile(\"sub/inner.tftpl\", { n = n })}>"),
        ("sub/inner.tftpl", "${n + 1}"),
        ("self.tftpl", "${templatefile(\"self.tftpl\", {})}"),
        ("ping.tftpl", "${try(templatefile(\"pong.tftpl\", {}), 1)}"),
        ("pong.tftpl", "${templatefile(\"./ping.tftpl\", {})}"),
        (
            "down.tftpl",
            "${n}${join(\"\", [for m in range(0, n, 1) : templatefile(\"down.tftpl\", { n = m }) if m == n - 1])}",
        ),
        ("unsound.tftpl", "a\n${"),
        ("wrong.tftpl", "a\n${a + true}"),
        ("text.tftpl", "${templatestring(\"$${x}\", { x = 1 })}"),
    ] {
        write(&format!("root/{path}"), text.as_bytes());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let root = dir.path().join("root");
        symlink("../secret.txt", root.join("out.txt")).unwrap();
        symlink("..", root.join("sub/up")).unwrap();
        symlink("/", root.join("sub/all")).unwrap();
        symlink("sub/deep", root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling.txt")).unwrap();
    }
    dir
}

/// Evaluates to JSON, or to the codes and details of the errors.
fn eval(root: &Path, text: &str, limits: &Limits) -> Result<String, Vec<(Code, String)>> {
    let files = Files::below(root).expect("the root is there");
    let space = Space::new();
    let expression = Expression::new(&Source::new("t", text), &registry(), limits).expect("it is an expression");
    let allow = Capabilities::NONE.with_files(&files);
    let answer = expression.evaluate_allowing(allow, &space, Inputs::default(), limits);
    let answer = answer.map_err(|error| vec![(error.code, error.render(false))])?;
    if answer.errors.is_empty() {
        return Ok(serde_json::to_string(&answer.value.to_data()).unwrap());
    }
    Err(answer.errors.iter().map(|error| (error.code, error.detail.clone().unwrap_or_default())).collect())
}

#[test]
fn files_are_read_in_every_form() {
    let dir = tree();
    let root = dir.path().join("root");
    for (text, wanted) in [
        (r#"file("a.txt")"#, r#""é\r\n""#),
        (r#"file("./sub/../b.md")"#, r#""""#),
        (r#"file("${abspath("sub")}/d.txt")"#, r#""d""#),
        (r#"filebase64("bytes")"#, r#""b2v/""#),
        (r#"filemd5("b.md") == md5("")"#, "true"),
        (r#"filebase64sha512("bytes") == filebase64sha512("./bytes")"#, "true"),
        (r#"[fileexists("a.txt"), fileexists("none"), fileexists("none/none")]"#, "[true,false,false]"),
        (r#"issensitive(file(sensitive("a.txt")))"#, "true"),
        (
            r#"fileset(".", "*")"#,
            concat!(
                r#"[".hidden","a.txt","b.md","bytes","down.tftpl","list.tftpl","one.tftpl","outer.tftpl","ping.tftpl","#,
                r#""pong.tftpl","self.tftpl","text.tftpl","unsound.tftpl","we[ird].txt","wrong.tftpl"]"#
            ),
        ),
        (r#"fileset("", "*.{txt,md}")"#, r#"["a.txt","b.md","we[ird].txt"]"#),
        (r#"fileset("sub", "../?.md")"#, r#"["../b.md"]"#),
        (r#"fileset("sub", "**")"#, r#"["d.txt","deep/c.txt","inner.tftpl"]"#),
        (r#"fileset(".", "**/*.txt")"#, r#"["a.txt","link/c.txt","sub/d.txt","sub/deep/c.txt","we[ird].txt"]"#),
        (r#"fileset(".", "{sub/deep,sub}/*.txt")"#, r#"["sub/d.txt","sub/deep/c.txt"]"#),
        (r#"fileset(".", "we\\[*")"#, r#"["we[ird].txt"]"#),
        (r#"fileset(".", "sub/up/[ab].*")"#, r#"["sub/up/a.txt","sub/up/b.md"]"#),
        (r#"fileset("none", "**")"#, "[]"),
        (r#"fileset(".", "{a,a}.txt")"#, r#"["a.txt"]"#),
    ] {
        assert_eq!(eval(&root, text, &Limits::default()).as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn templates_in_files_are_rendered_by_the_same_rules() {
    let dir = tree();
    let root = dir.path().join("root");
    for (text, wanted) in [
        (r#"templatefile("one.tftpl", { a = 1, b = "x", more = null })"#, r#""1-x""#),
        (r#"templatefile("one.tftpl", tomap({ a = "p", b = "q" }))"#, r#""p-q""#),
        (r#"[for n in [1, 2] : templatefile("outer.tftpl", { n = n })]"#, r#"["<2>","<3>"]"#),
        (r#"templatefile("list.tftpl", { xs = [1, 2] })"#, "[2,3]"),
        (r#"templatefile("down.tftpl", { n = 3 })"#, r#""3210""#),
        (r#"templatefile("text.tftpl", {})"#, "1"),
        (r#"issensitive(templatefile("one.tftpl", { a = sensitive("p"), b = "q" }))"#, "true"),
    ] {
        assert_eq!(eval(&root, text, &Limits::default()).as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn unreadable_files_are_errors_of_the_call() {
    let dir = tree();
    let root = dir.path().join("root");
    let long = format!("file(\"{}\")", "n".repeat(5000));
    for (text, code, parts) in [
        (r#"file("none.txt")"#, Code::BadArgument, &["`none.txt` does not exist"][..]),
        (r#"filesha1("none")"#, Code::BadArgument, &["`none` does not exist"]),
        (r#"file("dangling.txt")"#, Code::BadArgument, &["does not exist"]),
        (r#"file("sub")"#, Code::BadArgument, &["is a directory, not a file"]),
        (r#"fileexists("sub")"#, Code::BadArgument, &["is a directory, not a file"]),
        (r#"file("bytes")"#, Code::BadArgument, &["is not valid UTF-8 at byte 2", "filebase64"]),
        (r#"file("a.txt\u0000")"#, Code::BadArgument, &["cannot be read", "\\0"]),
        (&long, Code::BadArgument, &["nnn…`", "too long"]),
        (r#"file(sensitive("none"))"#, Code::BadArgument, &["the file does not exist"]),
        (r#"file("../secret.txt")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"file("../none")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"file("/etc/hostname")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"fileexists("sub/../../secret.txt")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"filemd5("out.txt")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"file("sub/all/etc/hostname")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"fileset("..", "*")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"fileset(".", "{a,../*}")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"fileset("/", "*")"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"fileset(".", "[")"#, Code::BadArgument, &["is not a valid file name pattern"]),
        (r#"fileset(".", "{a")"#, Code::BadArgument, &["is not a valid file name pattern"]),
        (r#"templatefile("../secret.txt", {})"#, Code::BadArgument, &["leads out of the directory"]),
        (r#"templatefile("one.tftpl", [])"#, Code::BadArgument, &["an object or a map is required"]),
        (r#"templatefile("one.tftpl", { a = 1 })"#, Code::BadArgument, &["`b` is missing", "one.tftpl:1:8"]),
        (r#"templatefile("one.tftpl", { a = 1, b = 2, "c d" = 3 })"#, Code::BadArgument, &["\"c d\""]),
        (r#"templatefile("unsound.tftpl", {})"#, Code::FunctionFailed, &["unsound.tftpl:2:3"]),
        (r#"templatefile("wrong.tftpl", { a = 1 })"#, Code::FunctionFailed, &["wrong.tftpl:2:7"]),
        (r#"templatefile("outer.tftpl", { n = "x" })"#, Code::FunctionFailed, &["inner.tftpl:1:3", "outer.tftpl:1:4"]),
        (r#"templatestring("$${templatefile(\"one.tftpl\", {})}", {})"#, Code::FunctionFailed, &["templatefile"]),
    ] {
        let errors = eval(&root, text, &Limits::default()).expect_err(text);
        let (found, detail) = errors.first().expect(text);
        assert_eq!((errors.len(), *found), (1, code), "{text}: {errors:?}");
        assert!(parts.iter().all(|part| detail.contains(part)), "{text}: {detail}");
    }
}

#[test]
fn recursive_template_files_are_errors_with_their_chain() {
    let dir = tree();
    let root = dir.path().join("root");
    for (text, chain) in [
        (r#"templatefile("self.tftpl", {})"#, "self.tftpl → self.tftpl → …"),
        (r#"try(templatefile("ping.tftpl", {}), 1)"#, "ping.tftpl → pong.tftpl → ./ping.tftpl → pong.tftpl → …"),
        (r#"templatefile("down.tftpl", { n = 40 })"#, "down.tftpl → down.tftpl → …"),
    ] {
        let run = || eval(&root, text, &Limits::default()).expect_err(text);
        // It fits the stack of an ordinary thread.
        let errors = std::thread::scope(|scope| scope.spawn(run).join()).expect(text);
        let (code, said) = &errors[0];
        assert!(*code == Code::LimitRecursion && said.contains(chain), "{text}: {said}");
    }
}

#[test]
fn a_file_is_paid_for_before_it_is_read() {
    let dir = tree();
    let root = dir.path().join("root");
    fs::File::create(root.join("huge")).unwrap().set_len(1 << 40).unwrap();
    fs::write(root.join("big.tftpl"), "a".repeat(4000)).unwrap();
    for call in [r#"file("huge")"#, r#"filebase64("huge")"#, r#"filesha256("huge")"#, r#"templatefile("huge", {})"#] {
        let errors = eval(&root, call, &Limits::default()).expect_err(call);
        assert_eq!(errors[0].0, Code::LimitMemory, "{call}");
    }
    let small = Limits { source_bytes: 3000, ..Limits::default() };
    assert_eq!(eval(&root, r#"templatefile("big.tftpl", {})"#, &small).unwrap_err()[0].0, Code::LimitSourceBytes);
    let twice = r#"[for n in range(200) : length([templatefile("big.tftpl", {})])]"#;
    let poor = Limits { memory: 600_000, ..Limits::default() };
    assert_eq!(eval(&root, twice, &poor).unwrap_err()[0].0, Code::LimitMemory);
    for at in 0..300 {
        fs::write(root.join(format!("sub/deep/{at}")), "").unwrap();
    }
    let tired = Limits { fuel: 10_000, ..Limits::default() };
    assert_eq!(eval(&root, r#"fileset(".", "**")"#, &tired).unwrap_err()[0].0, Code::LimitFuel);
}

#[test]
#[cfg(unix)]
fn a_template_that_is_kept_is_that_of_the_file_as_it_is() {
    let dir = tree();
    let root = dir.path().join("root");
    let render = |text: &str| {
        fs::write(root.join("now.tftpl"), text).unwrap();
        eval(&root, r#"templatefile("now.tftpl", { a = 2 })"#, &Limits::default())
    };
    assert_eq!(render("${a}").as_deref(), Ok("2"));
    assert_eq!(render("${a + 1}").as_deref(), Ok("3"));
    assert_eq!(render("${a}").as_deref(), Ok("2"));
    // A template cached under other limits is not reused.
    let limits = Limits { nesting: 2, ..Limits::default() };
    fs::write(root.join("now.tftpl"), "${[[[[[a]]]]]}").unwrap();
    assert!(eval(&root, r#"templatefile("now.tftpl", { a = 2 })"#, &Limits::default()).is_ok());
    assert!(eval(&root, r#"templatefile("now.tftpl", { a = 2 })"#, &limits).is_err());
}

#[test]
fn engines_read_files_only_if_allowed() {
    let dir = tree();
    let text = "${file(\"sub/d.txt\")}-${plantimestamp() == plantimestamp()}";
    let arena = Arena::new();
    let inputs = Inputs::new(arena.map(&[]));
    let render = |engine: Engine| {
        let template = engine.compile(Dialect::Hcl, "t", text).expect("it compiles");
        let (mut out, mut session) = (String::new(), dropforge::vm::Session::new());
        template.render_inputs(&mut session, inputs, &mut out).map(|()| out)
    };
    let closed = render(Engine::new()).unwrap_err();
    assert_eq!((closed.code, closed.also.len()), (Code::CapabilityOff, 2));
    let files = || Files::below(dir.path().join("root")).unwrap();
    assert_eq!(render(Engine::builder().files(files()).build()).unwrap_err().code, Code::CapabilityOff);
    let open = Engine::builder().files(files()).allow(Capabilities::CLOCK).build();
    assert_eq!(render(open).unwrap(), "d-true");

    let check = |text: &str| {
        let source = Source::new("t", text);
        dropforge::dialect::hcl::check::check_template(&source, &registry(), None, &Limits::default()).unwrap()
    };
    assert!(check("${timestamp()} ${upper(file(x))} ${bcrypt(\"a\", n)} ${templatefile(\"a\", {}).b}").is_empty());
    assert_eq!(check("${file([])}${uuid() + true}${fileset(\"a\")}").len(), 3);
}
