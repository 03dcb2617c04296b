//! The decoder on hand-made bytes, and errors that only appear with a valid digest.

use super::super::header::Dialect;
use super::super::isa::Op;
use super::super::program::Program;
use super::super::rows::ChunkInfo;
use super::super::sections::{Parts, Properties};
use super::super::verify::{Rule, Rules};
use super::messagepack::Decoder;
use super::open::Bytes;
use super::write::seal;
use super::{Bundle, Entry, FileEntry, FileSet, encode, encode_specialised, encode_with_files, owner, resources};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_value::{Data, DataMap};

fn program() -> Program {
    let mut parts = Parts {
        dialect: Dialect::ALL[0],
        properties: Properties::default(),
        pool: "main".into(),
        words: vec![Op::Text as u32, Op::Return as u32],
        paths: vec![],
        sites: vec![],
        keys: vec![],
        scopes: vec![0],
        strings: vec![[0, 4]],
        numbers: vec![],
        chunks: vec![ChunkInfo { end: 2, ..ChunkInfo::default() }.row()],
        globals: vec![],
        imports: vec![],
        failures: vec![],
        handlers: vec![],
        spans: vec![],
        details: vec![],
        inlined: vec![],
        regions: vec![],
        sources: vec![],
        names: vec![],
    };
    Program::new(&mut parts, Vec::new()).unwrap()
}

/// Encodes the templates `a` and `b`, replaces `from` with `to`, and recomputes the digest.
fn resealed(from: &[u8], to: &[u8]) -> Vec<u8> {
    let program = program();
    let reaches = ["x".to_owned(), "y".to_owned()];
    let entry =
        |name| Entry { name, program: &program, escape: false, executable: false, reaches: &reaches, residual: None };
    let bytes = encode(&[entry("b"), entry("a")], false).unwrap();
    let at = bytes.windows(from.len()).position(|bytes| bytes == from).unwrap();
    let mut changed = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
    seal(&mut changed).unwrap();
    changed
}

fn opened(bytes: &[u8], rules: Rules) -> std::result::Result<Bundle, String> {
    let opened = Bundle::open_with(Bytes::from(bytes.to_vec()), rules);
    opened.map_err(|error| error.fields.get("rule").cloned().unwrap_or_else(|| error.code.name().to_owned()))
}

#[test]
fn names_are_paths_in_order() {
    for (from, to) in [
        (&b"\xA4name\xA1a"[..], &b"\xA4name\xA1."[..]),
        (b"\xA4name\xA1a", b"\xA4name\xA1c"),
        (b"\xA4name\xA1a", b"\xA4name\xA1b"),
        (b"\xA1x\xA1y", b"\xA1x\xA1x"),
        (b"\xA1x\xA1y", b"\xA1x\xA1\n"),
    ] {
        let bytes = resealed(from, to);
        assert_eq!(opened(&bytes, Rules::ALL).unwrap_err(), "V14", "{to:?}");
        assert!(opened(&bytes, Rules::without(Rule::V14)).is_ok(), "{to:?}");
    }
    assert!(opened(&resealed(b"main", b"niam"), Rules::ALL).is_ok());
}

#[test]
fn tables_fill_the_words() {
    // Sections of `a`: code, …, one scope word, one string of two words, …, one chunk of eight words, …
    let sections = b"\xDC\x00\x12\x02\x00\x00\x00\x01\x02\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";
    for changed in [
        b"\xDC\x00\x12\x02\x00\x00\x00\x01\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", // half a string
        b"\xDC\x00\x12\x02\x00\x00\x00\x01\x02\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x7E", // missing words
    ] {
        let bytes = resealed(sections, changed);
        assert_eq!(opened(&bytes, Rules::ALL).unwrap_err(), "V15");
    }
    let fewer = resealed(b"\x92\x88\xA4name\xA1a", b"\x91\x88\xA4name\xA1a");
    assert_eq!(opened(&fewer, Rules::ALL).unwrap_err(), "artifact.encoding");
}

#[test]
fn a_program_of_a_sealed_file_is_verified() {
    let word = |op: Op| (op as u32).to_le_bytes();
    let bytes = resealed(&word(Op::Text), &word(Op::EndCapture));
    let error = Bundle::open(bytes).unwrap_err();
    assert_eq!(error.code, Code::CorruptProgram);
    assert_eq!(error.fields.get("rule").map(String::as_str), Some("V1"));
    assert_eq!(error.notes, ["in the template `a` of the artifact"]);
}

/// Encodes a template with a residual, replaces `from` with `to`, and recomputes the digest.
fn specialised(from: &[u8], to: &[u8]) -> Vec<u8> {
    let (program, known) = (program(), DataMap::from_iter([("n".to_owned(), Data::Int(1))]));
    let residual = Some(&program);
    let entry = Entry { name: "a", program: &program, escape: false, executable: false, reaches: &[], residual };
    let bytes = encode_specialised(&[entry], &known, false).unwrap();
    let at = bytes.windows(from.len()).rposition(|bytes| bytes == from).unwrap();
    let mut changed = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
    seal(&mut changed).unwrap();
    changed
}

#[test]
fn known_inputs_are_a_map_and_residuals_need_them() {
    let sound = Bundle::open(specialised(b"{\"n\":1}", b"{\"n\":1}")).unwrap();
    assert_eq!(sound.known().and_then(|known| known.get("n")), Some(&Data::Int(1)));
    assert_eq!(sound.entries()[0].residual().map(|residual| residual.words().len()), Some(2));
    let text = b"\xA7{\"n\":1}";
    for damaged in [&b"\xA0"[..], b"\xA1x", b"\xA7[\"n\",1]", b"\xA7{\"n\":1x", b"\xA4null", b"\xA7{\"n\":9]"] {
        assert_eq!(opened(&specialised(text, damaged), Rules::ALL).unwrap_err(), "artifact.encoding", "{damaged:?}");
    }
    let deep = ["[".repeat(200), "]".repeat(200)].concat();
    let deep = [&b"\xDA\x01\x96"[..], b"{\"n\":", deep.as_bytes(), b"}"].concat();
    assert_eq!(opened(&specialised(text, &deep), Rules::ALL).unwrap_err(), "artifact.encoding");
    // Two residuals, and a residual of other words.
    let two = specialised(b"\xA8residual\x91", b"\xA8residual\x92");
    assert_eq!(opened(&two, Rules::ALL).unwrap_err(), "artifact.encoding");
    let word = |op: Op| (op as u32).to_le_bytes();
    let error = Bundle::open(specialised(&word(Op::Text), &word(Op::EndCapture))).unwrap_err();
    assert_eq!(error.fields.get("rule").map(String::as_str), Some("V1"));
}

#[test]
fn known_numbers_are_finite() {
    let program = program();
    let entry = Entry { name: "a", program: &program, escape: false, executable: false, reaches: &[], residual: None };
    for number in [f64::NAN, f64::INFINITY] {
        let known = DataMap::from_iter([("a".to_owned(), Data::Int(1)), ("b".to_owned(), Data::Float(number))]);
        let error = encode_specialised(&[entry], &known, false).unwrap_err();
        assert_eq!(error.code, Code::InputType);
        assert!(error.message.contains("`b`"), "{error}");
    }
}

/// The value of a file of [`with_files`].
fn value() -> Data {
    Data::Map(DataMap::from_iter([("n".to_owned(), Data::List(vec![Data::Float(1.0), Data::Null]))]))
}

/// The files of [`with_files`], in no order.
const FILES: [(&str, &[u8]); 3] = [("d/b", "é main".as_bytes()), ("a", &[0xFF, 0]), ("d/c", b"")];

/// Encodes a template with files, replaces `from` with `to`, and recomputes the digest.
fn with_files(from: &[u8], to: &[u8]) -> Vec<u8> {
    let program = program();
    let entry = Entry { name: "t", program: &program, escape: false, executable: false, reaches: &[], residual: None };
    let (value, list) = (value(), FILES.map(|(path, content)| FileEntry { path, content, value: None }));
    let list = list.map(|file| FileEntry { value: (file.path == "d/b").then_some(&value), ..file });
    let files = FileSet { dialect: Dialect::ALL[1], name: "set", files: &list };
    let bytes = encode_with_files(&[entry], &files, false).unwrap();
    let at = bytes.windows(from.len()).position(|bytes| bytes == from).unwrap();
    let mut changed = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
    seal(&mut changed).unwrap();
    changed
}

#[test]
fn files_are_read_as_they_were_written() {
    let bytes = with_files(b"set", b"set");
    let bundle = Bundle::open(bytes.clone()).unwrap();
    let resources = bundle.resources().unwrap();
    assert_eq!((resources.dialect(), resources.name()), (Dialect::ALL[1], "set"));
    let mut sorted = FILES;
    sorted.sort();
    assert_eq!(resources.files().map(|file| (file.path(), file.bytes())).collect::<Vec<_>>(), sorted);
    let texts: Vec<_> = resources.files().map(|file| file.text().map(|text| text.as_str().to_owned())).collect();
    assert_eq!(texts, [None, Some("é main".to_owned()), Some(String::new())]);
    let values: Vec<_> = resources.files().map(|file| file.value().map(|value| value.data().unwrap())).collect();
    assert_eq!(values, [None, Some(value()), None]);
    assert_eq!(owner(bytes.get(..super::HEAD.min(bytes.len())).unwrap()), Some(Dialect::ALL[1]));
    assert_eq!(owner(&resealed(b"main", b"main")), None);
    assert!(Bundle::open(resealed(b"main", b"main")).unwrap().resources().is_none());
}

#[test]
fn files_stay_within_the_artifact_and_their_directory() {
    let opened = |from: &[u8], to: &[u8]| opened(&with_files(from, to), Rules::ALL).map(|_| ());
    // Path, kind, start, end and value: `é main` follows `main` in the text, and the value two bytes.
    let file = b"\x95\xA3d/b\xC3\x04\x0B\x92\x02\x10";
    assert_eq!(opened(file, file), Ok(()));
    for (changed, why) in [
        (&b"\x95\xA3d/b\xC3\x05\x0B\x92\x02\x10"[..], "V15"), // within a character
        (b"\x95\xA3d/b\xC3\x0B\x04\x92\x02\x10", "V15"),      // backwards
        (b"\x95\xA3d/b\xC3\x04\xCE\x00\xFF\xFF\xFF\x92\x02\x10", "V15"), // beyond the text
        (b"\x95\xA3d/b\xC2\x00\x11\x92\x02\x10", "V15"),      // beyond the bytes
        (b"\x95\xA3d/b\xC3\x04\x0B\x92\x02\x11", "V15"),      // a value beyond the bytes
        (b"\x95\xA3d/b\xC3\x04\x0B\x92\x10\x02", "V15"),      // a value backwards
        (b"\x95\xA3../\xC3\x04\x0B\x92\x02\x10", "V14"),
        (b"\x95\xA3/bc\xC3\x04\x0B\x92\x02\x10", "V14"),
        (b"\x95\xA3d/c\xC3\x04\x0B\x92\x02\x10", "V14"), // twice
        (b"\x95\xA2A9\xC3\x04\x0B\x92\x02\x10", "V14"),  // not in order
        (b"\x94\xA3d/b\xC3\x04\x0B", "artifact.encoding"),
        (b"\x95\xA3d/b\x01\x04\x0B\x92\x02\x10", "artifact.encoding"),
        (b"\x95\xA3d/b\xC3\x04\x0B\x91\x02", "artifact.encoding"),
    ] {
        assert_eq!(opened(file, changed), Err(why.to_owned()), "{changed:?}");
    }
    let set = b"\xA9resources\x91\x83\xA7dialect\x02";
    for (changed, why) in [
        (&b"\xA9resources\x92\x83\xA7dialect\x02"[..], "artifact.encoding"),
        (b"\xA9resources\x91\x83\xA7dialect\x09", "V1"),
        (b"\xA9resources\xDD\xFF\xFF\xFF\xFF\x83\xA7dialect\x02", "artifact.encoding"),
    ] {
        assert_eq!(opened(set, changed), Err(why.to_owned()), "{changed:?}");
    }
}

#[test]
fn values_are_read_as_they_were_written() {
    let ints =
        [0, 1, 0x7F, 0x80, 0xFFFF, 0x1_0000, 1 << 32, i64::MAX, -1, -0x20, -0x21, -0x80, -0x81, -0x8000, -0x8001];
    let ints = ints.into_iter().chain([i64::from(i32::MIN), i64::from(i32::MIN) - 1, i64::MIN]).map(Data::Int);
    let floats = [0.0, -0.0, 0.1, 1e300, f64::MIN_POSITIVE].map(Data::Float);
    let texts = [0, 31, 32, 255, 256, 70_000].map(|length| Data::Str("é".repeat(length)));
    let rest = [Data::Null, Data::Bool(true), Data::Bool(false), Data::Uint(u64::MAX), value()];
    let mut all = Data::List(ints.chain(floats).chain(texts).chain(rest).collect());
    for length in [0, 15, 16, 70_000] {
        let map = (0..length).rev().map(|at| (at.to_string(), Data::Null)).collect();
        all = Data::List(vec![all, Data::Map(map)]);
    }
    let read = resources::data(&rmp_serde::to_vec(&all).unwrap()).unwrap();
    // Also signs of zeros, kinds of numbers and the order of keys.
    assert_eq!(format!("{read:?}"), format!("{all:?}"));
}

#[test]
fn values_are_bounded_and_written_in_one_way() {
    let nested = |levels: usize| [&[0x91].repeat(levels)[..], &[0xC0]].concat();
    assert!(resources::data(&nested(128)).is_ok());
    let deep = nested(129);
    for (bytes, why) in [
        (&b""[..], "cut off"),
        (b"\xC0\xC0", "after its end"),
        (&deep, "too deep"),
        (b"\x82\xA1a\xC0\xA1a\xC0", "twice"),
        (b"\x81\xC0\xC0", "text is expected"),
        (b"\xDD\x00\x01\x00\x00\xC0", "cut off"),
        (b"\xDF\xFF\xFF\xFF\xFF\xC0", "cut off"),
        (b"\x92\x93\xC0\xC0\xC0", "cut off"),
        (b"\xD0\xFF", "shortest"),
        (b"\xD1\xFF\x80", "shortest"),
        (b"\xD0\x01", "shortest"),
        (b"\xDE\x00\x01\xA1a\xC0", "shortest"),
        (b"\xCB\x7F\xF0\x00\x00\x00\x00\x00\x00", "not finite"),
        (b"\xCB\x7F\xF8\x00\x00\x00\x00\x00\x00", "not finite"),
        (b"\xCA\x00\x00\x00\x00", "expected"),
        (b"\xC1", "expected"),
        (b"\xC4\x00", "expected"),
        (b"\xA1\xFF", "UTF-8"),
    ] {
        let error = resources::data(bytes).unwrap_err();
        assert!(error.code == Code::ArtifactEncoding && error.message.contains(why), "{bytes:?}: {error}");
    }
}

#[test]
fn files_need_distinct_relative_paths() {
    let files = |files: &[(&str, &[u8])]| {
        let files: Vec<_> = files.iter().map(|&(path, content)| FileEntry { path, content, value: None }).collect();
        encode_with_files(&[], &FileSet { dialect: Dialect::ALL[0], name: "set", files: &files }, false)
            .map_err(|error| error.code)
    };
    assert!(files(&[("a", b""), ("b", b"")]).is_ok());
    for bad in [&[("a", &b""[..]), ("a", b"")][..], &[("../a", b"")], &[("/a", b"")], &[("a\n", b"")]] {
        assert_eq!(files(bad), Err(Code::ArtifactName));
    }
}

fn read<T>(bytes: &[u8], read: impl Fn(&mut Decoder<'_>) -> Result<T>) -> std::result::Result<T, String> {
    let mut reader = Decoder::new(bytes);
    let value = read(&mut reader).map_err(|error| error.message)?;
    reader.end().map_err(|error| error.message)?;
    Ok(value)
}

#[test]
fn only_the_shortest_form_is_read() {
    for number in [0_u64, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x1_0000, u64::from(u32::MAX), 1 << 32, u64::MAX] {
        let bytes = rmp_serde::to_vec(&number).unwrap();
        assert_eq!(read(&bytes, |reader| reader.uint()), Ok(number));
    }
    for text in [0, 31, 32, 255, 256, 65_535, 65_536].map(|len| "x".repeat(len)) {
        let bytes = rmp_serde::to_vec(&text).unwrap();
        assert_eq!(read(&bytes, |reader| reader.str().map(str::len)), Ok(text.len()));
    }
    for list in [0, 15, 16, 65_535, 65_536].map(|len| vec![0_u8; len]) {
        let bytes = rmp_serde::to_vec(&list).unwrap();
        let mut reader = Decoder::new(&bytes);
        assert_eq!(reader.array().unwrap(), list.len());
    }
    let long: [&[u8]; 12] = [
        b"\xCC\x7F",
        b"\xCD\x00\xFF",
        b"\xCE\x00\x00\xFF\xFF",
        b"\xCF\x00\x00\x00\x00\xFF\xFF\xFF\xFF",
        b"\xD9\x01x",
        b"\xDA\x00\x01x",
        b"\xDB\x00\x00\x00\x01x",
        b"\xC5\x00\x01x",
        b"\xC6\x00\x00\x00\x01x",
        b"\xDC\x00\x01\x00",
        b"\xDD\x00\x00\x00\x01\x00",
        b"\xD0\x01",
    ];
    for bytes in long {
        assert!(read(bytes, |reader| reader.uint()).is_err(), "{bytes:?}");
        assert!(read(bytes, |reader| reader.str().map(str::len)).is_err(), "{bytes:?}");
        assert!(read(bytes, |reader| reader.bin().map(<[u8]>::len)).is_err(), "{bytes:?}");
        assert!(read(bytes, |reader| reader.array()).is_err(), "{bytes:?}");
    }
}

#[test]
fn lengths_are_held_against_the_bytes_that_are_left() {
    for bytes in [b"\xDB\xFF\xFF\xFF\xFF", b"\xC6\xFF\xFF\xFF\xFF", b"\xDD\xFF\xFF\xFF\xFF"] {
        for error in [
            read(bytes, |reader| reader.str().map(str::len)),
            read(bytes, |reader| reader.bin().map(<[u8]>::len)),
            read(bytes, |reader| reader.array()),
        ] {
            assert!(error.unwrap_err().starts_with("the artifact is damaged at byte"));
        }
    }
    assert!(read(b"\xA2\xFF\xFE", |reader| reader.str().map(str::len)).unwrap_err().ends_with("not UTF-8"));
}
