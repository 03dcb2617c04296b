//! A directory for each test, and the binary run in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

pub struct Sandbox {
    temp: TempDir,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Fails unless the run exited with `code`.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Fails unless standard error contains all of `parts`.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in: {}", self.stderr);
        }
        self
    }

    /// Returns the JSON lines of standard error.
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
    }
}

impl Sandbox {
    pub fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    /// Creates a sandbox with files, given as name and content in turn.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::new();
        files.iter().for_each(|(name, text)| sandbox.write(name, text));
        sandbox
    }

    /// Creates a fleet of `count` clusters `c0`, `c1` … and two templates that use `name` and `n`.
    pub fn fleet(count: usize) -> Self {
        let sandbox = Self::with(&[
            ("t/a.yaml.tera", "name: {{ name }}\nn: {{ n }}\n"),
            ("t/b.yaml.tera", "{% for i in range(end=20) %}line {{ i }} of {{ name }}: {{ n }}\n{% endfor %}"),
        ]);
        sandbox.write("fleet.ndjson", &clusters(count, |_| String::from("\"n\":1")));
        sandbox
    }

    /// Creates a sandbox with the files of a folder of `examples/`.
    pub fn of_example(name: &str) -> Self {
        let sandbox = Self::new();
        let files = tree(&repository().join("examples").join(name));
        files.iter().for_each(|(name, text)| sandbox.write(name, text));
        sandbox
    }

    /// Returns a shell that runs `script` in the sandbox and finds the binary.
    pub fn shell(&self, flags: &str, script: &str) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_dropforge")).parent().unwrap();
        let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.args([flags, script]).current_dir(self.temp.path()).env("PATH", path);
        shell
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Creates a named pipe.
    pub fn pipe(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
    }

    /// Replaces a file at once, so that nobody reads a part of it.
    pub fn replace(&self, name: &str, text: &str) {
        let (path, new) = (self.path(name), self.temp.path().with_extension("new"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&new, text).unwrap();
        fs::rename(new, path).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropforge"));
        command.current_dir(self.temp.path()).args(args).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        // Tests share no compile cache.
        command.env("DROPFORGE_CACHE", "");
        command
    }

    pub fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args))
    }

    /// Runs with `input` on standard input.
    pub fn feed(&self, args: &[&str], input: &str) -> Outcome {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        from(child.wait_with_output().unwrap())
    }

    /// Runs `stamp t --fleet fleet.ndjson -o out` with more arguments.
    pub fn stamp(&self, more: &[&str]) -> Outcome {
        self.run(&[&["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out"], more].concat())
    }

    /// Returns every file below `name` with its content, by path. A state is without its runs.
    pub fn tree(&self, name: &str) -> BTreeMap<String, String> {
        let mut files = tree(&self.path(name));
        for (path, text) in files.iter_mut().filter(|(path, _)| path.contains(".dropforge/")) {
            let lines = text.lines().filter(|line| !path.ends_with("/runs") && !line.starts_with("# values"));
            *text = lines.map(|line| line.split(' ').take(4).collect::<Vec<_>>().join(" ") + "\n").collect();
        }
        files
    }

    /// Returns every output below `name` with its content, by path.
    pub fn outputs(&self, name: &str) -> BTreeMap<String, String> {
        let mut files = self.tree(name);
        files.retain(|path, _| !path.starts_with(".dropforge/"));
        files
    }

    /// Returns the whole state of the directory `name`: its runs, and the files of clusters by name.
    pub fn state(&self, name: &str) -> String {
        tree(&self.path(&format!("{name}/.dropforge"))).into_values().rev().collect()
    }
}

/// Returns the root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn outcome(mut command: Command) -> Outcome {
    loop {
        match command.output() {
            // A copied program is still open in a process that another test has forked and that has not begun.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            output => return from(output.unwrap()),
        }
    }
}

fn from(output: std::process::Output) -> Outcome {
    use std::os::unix::process::ExitStatusExt;
    Outcome {
        code: output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0)),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn tree(root: &Path) -> BTreeMap<String, String> {
    let (mut left, mut files) = (vec![root.to_owned()], BTreeMap::new());
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                left.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                files.insert(name, fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    files
}

/// Returns NDJSON of clusters `c0`, `c1` … with additional keys.
pub fn clusters(count: usize, more: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| format!("{{\"name\":\"c{n}\",{}}}\n", more(n))).collect()
}
