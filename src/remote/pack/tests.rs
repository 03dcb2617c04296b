//! Tests of packs.

use super::*;

type Outputs = Vec<(String, Vec<u8>)>;

/// Makes a pack of `count` outputs of up to `size` random bytes.
fn pack_of(count: usize, size: usize) -> (Outputs, Vec<u8>, PackIndex) {
    let mut random = fastrand::Rng::with_seed(7);
    let mut outputs = Vec::new();
    let mut pack = Pack::new(Vec::new()).expect("a pack");
    for number in 0..count {
        let long = "long/".repeat(if number % 10 == 0 { 40 } else { 0 });
        let path = format!("{long}c{}/{number}.yaml", number % 3);
        let bytes: Vec<u8> = (0..random.usize(..=size)).map(|_| random.u8(..)).collect();
        let (cluster, template) = (format!("c{}", number % 3), format!("t{}", number % 2));
        let executable = number % 2 == 0;
        let output =
            Packed { path: &path, bytes: &bytes, executable, cluster: &cluster, template: &template, release: "" };
        pack.add(&output).expect("added");
        outputs.push((path, bytes));
    }
    let (bytes, index) = pack.finish().expect("finished");
    (outputs, bytes, index)
}

#[test]
fn every_output_is_read_back_alone_and_from_the_whole() {
    let (outputs, pack, index) = pack_of(120, 300_000);
    assert!(index.frames.len() > 2, "{:?}", index.frames);
    assert_eq!((index.files.len(), index.bytes), (120, pack.len() as u64));
    for (path, bytes) in &outputs {
        let entry = index.find(path).expect("an entry");
        assert!(index.read(entry, &pack).expect("read") == *bytes, "{path}");
        let span = index.span(entry);
        let part = &pack[span.start as usize..span.end as usize];
        assert!(part.len() < pack.len());
        assert!(index.read(entry, part).expect("read") == *bytes, "{path}");
    }
}

#[test]
fn other_programs_unpack_it() {
    let (outputs, pack, _) = pack_of(120, 100_000);
    let tar = zstd::stream::decode_all(&pack[..]).expect("zstd");
    let mut archive = tar::Archive::new(&tar[..]);
    let mut found = Vec::new();
    for entry in archive.entries().expect("entries") {
        let mut entry = entry.expect("an entry");
        let header = entry.header().clone();
        let numbers = [header.mtime(), header.uid(), header.gid()].map(|number| number.expect("a number"));
        assert_eq!(numbers, [TIME, 0, 0]);
        let path = entry.path().expect("a path").display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("content");
        found.push((path, bytes));
    }
    assert!(found == outputs);
}

#[test]
fn the_same_outputs_give_the_same_bytes() {
    let (_, pack, index) = pack_of(50, 200_000);
    let again = pack_of(50, 200_000);
    assert!(again.1 == pack && again.2.to_json() == index.to_json());
    assert_eq!(PackIndex::parse(&index.to_json()), Some(index));
    let (_, empty, index) = pack_of(0, 0);
    assert!(
        zstd::stream::decode_all(&empty[..]).expect("zstd").iter().all(|byte| *byte == 0) && index.files.is_empty()
    );
}

#[test]
fn paths_that_leave_the_pack_and_duplicates_are_refused() {
    let mut pack = Pack::new(Vec::new()).expect("a pack");
    let mut add = |path: &str| {
        let output = Packed { path, bytes: b"x", executable: false, cluster: "c", template: "t", release: "" };
        pack.add(&output).map_err(|error| error.code)
    };
    for path in ["", "/a", "a/../b", "./a", "a//b", "a/", "a\\b", "a\0"] {
        assert_eq!(add(path), Err(Code::BadOutputName), "{path}");
    }
    assert_eq!((add("a"), add("a")), (Ok(()), Err(Code::DuplicateOutput)));
}

#[test]
fn damaged_packs_and_indexes_are_noticed() {
    let (outputs, pack, index) = pack_of(20, 10_000);
    let entry = index.find(&outputs[7].0).expect("an entry");
    for cut in [0, 1, 100, pack.len() / 2] {
        assert_eq!(index.read(entry, &pack[..cut]).map_err(|error| error.code), Err(Code::WrongDigest));
    }
    for at in 0..pack.len() / 100 {
        let mut damaged = pack.clone();
        damaged[at * 100] ^= 1;
        let read = index.read(entry, &damaged);
        assert!(read.is_ok_and(|bytes| bytes == outputs[7].1) || index.read(entry, &damaged).is_err());
    }
    let far = PackEntry { offset: u64::MAX, size: u64::MAX, ..entry.clone() };
    assert!(index.read(&far, &pack).is_err());
    let json = String::from_utf8(index.to_json()).expect("text");
    let version = json.replace("\"version\":1", "\"version\":2");
    for bad in
        ["", "{}", "[]", &json[..json.len() / 2], &version, &json.replace("\"clusters\":[", "\"clusters\":[],\"x\":[")]
    {
        assert_eq!(PackIndex::parse(bad.as_bytes()), None);
    }
}

/// Fails after some bytes, as a full disk does.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("full"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let mut pack = Pack::new(Full(1_000)).expect("a pack");
    let bytes: Vec<u8> = (0..9 << 20).map(|_| fastrand::u8(..)).collect();
    let add = |pack: &mut Pack<Full>, path| {
        pack.add(&Packed { path, bytes: &bytes, executable: false, cluster: "c", template: "t", release: "" })
    };
    let result = add(&mut pack, "a").and_then(|()| add(&mut pack, "b"));
    assert_eq!(result.map_err(|error| error.code), Err(Code::WriteFailed));
    assert_eq!(pack.finish().map(|_| ()).map_err(|error| error.code), Err(Code::WriteFailed));
}
