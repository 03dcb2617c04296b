//! Programs that run a part of their arguments as code, or as another command.

/// What a program does with its arguments.
#[derive(Debug)]
pub(super) struct Program {
    names: &'static [&'static str],
    /// Options before code: the value of `su -c CODE`, the first operand after `sh -c`.
    pub(super) code: &'static [&'static str],
    /// Other options with a value.
    valued: &'static [&'static str],
    pub(super) operands: Operands,
    /// Words after which nothing is code.
    pub(super) ends: &'static [&'static str],
}

/// The operands of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// A script and its arguments. Without one, the program reads code from standard input.
    Script,
    /// A script and its arguments, in another language.
    Program,
    /// Words that are neither code nor a command.
    Words,
    /// As many words, then code.
    Code(usize),
    /// Code, then words.
    CodeFirst,
    /// As many words, then another command.
    Command(usize),
    /// Words, then another command after one of these.
    CommandAfter(&'static [&'static str]),
}

const fn row(names: &'static [&'static str], code: &'static [&'static str], operands: Operands) -> Program {
    Program { names, code, valued: &[], operands, ends: &[] }
}

impl Program {
    const fn valued(mut self, options: &'static [&'static str]) -> Self {
        self.valued = options;
        self
    }

    const fn ends(mut self, words: &'static [&'static str]) -> Self {
        self.ends = words;
        self
    }
}

/// The programs. Versions (`python3.11`) are left out of the names.
static PROGRAMS: [Program; 28] = [
    row(&["sh", "bash", "rbash", "dash", "ash", "ksh", "mksh", "zsh", "fish"], &["-c"], Operands::Script).valued(&[
        "-o",
        "-O",
        "--rcfile",
        "--init-file",
    ]),
    row(&["python"], &["-c"], Operands::Program).valued(&["-W", "-X"]).ends(&["-m"]),
    row(&["perl"], &["-e", "-E"], Operands::Program).valued(&["-I"]),
    row(&["ruby", "lua"], &["-e"], Operands::Program).valued(&["-I", "-r", "-l"]),
    row(&["node"], &["-e", "-p", "--eval", "--print"], Operands::Program).valued(&["-r", "--require", "--import"]),
    row(&["php"], &["-r"], Operands::Program).valued(&["-d"]).ends(&["-f"]),
    row(&["pwsh"], &["-c", "-Command", "-command"], Operands::Program),
    row(&["su"], &["-c", "--command"], Operands::Words).valued(&["-s", "-g", "-G", "-w", "--shell"]),
    row(&["runuser"], &["-c", "--command"], Operands::CommandAfter(&["--"])).valued(&["-u", "-s", "-g", "-G", "-w"]),
    row(&["script", "sg"], &["-c", "--command"], Operands::Words).valued(&["-E", "-I", "-O", "-B", "-T", "-m", "-o"]),
    row(&["flock"], &["-c", "--command"], Operands::Command(1)).valued(&["-w", "-E", "--timeout"]),
    row(&["gcloud"], &["--command"], Operands::Words),
    row(&["ssh", "slogin", "rsh", "autossh"], &[], Operands::Code(1)).valued(&[
        "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-M", "-O", "-o", "-P", "-p",
        "-Q", "-R", "-S", "-W", "-w",
    ]),
    row(&["eval"], &[], Operands::Code(0)),
    row(&["trap"], &[], Operands::CodeFirst),
    row(&["watch"], &[], Operands::Code(0)).valued(&["-n", "--interval", "-q", "--equexit"]).ends(&["-x", "--exec"]),
    row(&["parallel"], &[], Operands::Code(0))
        .valued(&["-a", "-C", "-I", "-j", "-L", "-N", "-n", "-P", "-S", "--arg-file", "--colsep", "--jobs", "--delay"])
        .ends(&[":::", ":::+", "::::", "::::+"]),
    row(&["env"], &["-S", "--split-string"], Operands::Command(0)).valued(&["-u", "-C", "--unset", "--chdir"]),
    row(&["sudo", "doas"], &[], Operands::Command(0))
        .valued(&["-u", "-g", "-p", "-C", "-R", "-T", "-U", "-D", "-r", "-t", "-h", "--user", "--group", "--chdir"]),
    row(&["xargs"], &[], Operands::Command(0)).valued(&[
        "-a",
        "-d",
        "-E",
        "-I",
        "-L",
        "-n",
        "-P",
        "-s",
        "--max-args",
        "--max-procs",
        "--delimiter",
    ]),
    row(&["command", "builtin", "exec", "nohup", "setsid", "busybox"], &[], Operands::Command(0)).valued(&["-a"]),
    row(&["time", "stdbuf"], &[], Operands::Command(0)).valued(&["-f", "-o", "-i", "-e"]),
    row(&["nice", "ionice", "sshpass"], &[], Operands::Command(0)).valued(&["-c", "-d", "-e", "-f", "-n", "-p", "-P"]),
    row(&["timeout", "chroot"], &[], Operands::Command(1)).valued(&["-k", "-s", "--kill-after", "--signal"]),
    row(&["kubectl", "oc", "lxc", "incus", "nsenter", "unshare"], &[], Operands::CommandAfter(&["--"])),
    row(&["find"], &[], Operands::CommandAfter(&["-exec", "-execdir", "-ok", "-okdir"])),
    row(&["echo", "printf"], &[], Operands::Words),
    row(&["grep", "man", "which", "type", "apt-get", "apt", "apk", "dnf"], &[], Operands::Words),
];

/// Words of the shell after which a command still has to come.
const KEYWORDS: [&str; 10] = ["!", "if", "then", "else", "elif", "while", "until", "do", "{", "coproc"];

/// Returns `true` for a word before a command: a keyword, or an assignment.
pub(super) fn is_before_command(word: &str) -> bool {
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'));
    is_assignment || KEYWORDS.contains(&word)
}

/// An option of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// Without a value, or with it in the same word.
    Flag,
    /// The next word is its value.
    Valued,
    /// The next word is code.
    Code,
    /// The rest of its own word is code.
    CodeHere,
}

impl Program {
    /// Returns the program of the command at a path.
    pub(super) fn named(path: &str) -> Option<&'static Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        PROGRAMS.iter().find(|program| program.names.contains(&bare))
    }

    /// Returns `true` for programs that are recognised among the operands of another one, too: an unknown program may
    /// run a command, and these names are seldom mere words.
    pub(super) fn is_run_by(&self, other: Option<&Self>) -> bool {
        let is_shell = self.operands == Operands::Script || self.names.contains(&"su");
        match other.map(|other| other.operands) {
            None | Some(Operands::Command(_)) => is_shell || self.operands == Operands::Program,
            Some(Operands::CommandAfter(_)) => is_shell,
            Some(_) => false,
        }
    }

    /// Returns `true` for programs that run their standard input, if no operand says otherwise.
    pub(super) fn reads_code(&self) -> bool {
        matches!(self.operands, Operands::Script | Operands::Program | Operands::Code(1))
    }

    /// Returns `true` for programs whose output is their arguments.
    pub(super) fn prints(&self) -> bool {
        self.names.contains(&"echo")
    }

    /// Reads an option: a word that begins with `-`. `has_value` is `true` if the word ends with an expression.
    pub(super) fn option(&self, word: &str, has_value: bool) -> Choice {
        let (name, is_assigned) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
        let of = |name: &str| (self.code.contains(&name), self.valued.contains(&name));
        let next = |is_last: bool| match (has_value, is_last) {
            (true, _) => Choice::CodeHere,
            (false, true) => Choice::Code,
            (false, false) => Choice::Flag,
        };
        match of(name) {
            (true, _) => return next(!is_assigned),
            (_, true) => return if is_assigned || has_value { Choice::Flag } else { Choice::Valued },
            _ if word.starts_with("--") => return Choice::Flag,
            _ => {}
        }
        // A cluster of letters. All letters of a shell are flags.
        let letters = word.get(1..).unwrap_or("");
        let mut choice = Choice::Flag;
        for (at, letter) in letters.char_indices() {
            let is_last = at + letter.len_utf8() == letters.len();
            match of(&format!("-{letter}")) {
                (true, _) if self.operands == Operands::Script => return Choice::Code,
                (true, _) => return next(is_last),
                (_, true) if is_last && !has_value => choice = Choice::Valued,
                (_, true) if self.operands != Operands::Script => return Choice::Flag,
                _ => {}
            }
        }
        choice
    }
}
