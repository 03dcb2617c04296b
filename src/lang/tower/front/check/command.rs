//! Simple commands in the text of a field: the values that a program runs as code, and those that may be options;
//! programs that run a part of their arguments as code, or as another command.

use std::iter::Peekable;
use std::str::Chars;

use dropforge_base::text::Span;

/// The use of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// A shell, or another program, runs it.
    pub(super) is_code: bool,
    /// It might be taken for an option: it begins a word that is not the first, does not follow an option whose value
    /// it may be, and does not follow `--`.
    pub(super) may_be_option: bool,
}

/// Returns the uses of the values in a field, in order.
pub(super) fn uses(text: &str, expressions: &[Span]) -> Vec<Use> {
    let mut reader = Reader { uses: Vec::with_capacity(expressions.len()), outer: Vec::new(), frame: Frame::default() };
    let mut end = 0;
    for span in expressions {
        reader.read(text.get(end..span.start as usize).unwrap_or(""));
        end = span.end as usize;
        reader.value();
    }
    reader.read(text.get(end..).unwrap_or(""));
    while !reader.outer.is_empty() {
        reader.close();
    }
    reader.end_command();
    reader.uses
}

/// A word of a command.
#[derive(Debug, Default)]
struct Word {
    /// The text, without quotes and values.
    text: String,
    /// The values in it, by index.
    values: Vec<usize>,
    is_quoted: bool,
}

impl Word {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.values.is_empty() && !self.is_quoted
    }

    fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text != "-"
    }
}

/// The target of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    File,
    /// A text for standard input: `<<<`.
    Text,
}

/// The text between two parentheses, or the whole: its last command.
#[derive(Debug, Default)]
struct Frame {
    words: Vec<Word>,
    has_double_dash: bool,
    word: Word,
    quote: Option<char>,
    target: Option<Target>,
    /// The values that the command reads from standard input.
    input: Vec<usize>,
}

struct Reader {
    uses: Vec<Use>,
    outer: Vec<Frame>,
    frame: Frame,
}

impl Reader {
    /// Reads the text between two values.
    fn read(&mut self, gap: &str) {
        let mut rest = gap.chars().peekable();
        while let Some(c) = rest.next() {
            match (self.frame.quote, c) {
                (Some('\''), '\'') => self.frame.quote = None,
                (Some('\''), c) => self.frame.word.text.push(c),
                (_, '\\') => self.frame.word.text.extend(rest.next().filter(|&c| c != '\n')),
                (_, '$') if rest.next_if_eq(&'(').is_some() => self.open(),
                (Some('"'), '"') => self.frame.quote = None,
                (Some(_), c) => self.frame.word.text.push(c),
                (None, '\'' | '"') => {
                    self.frame.quote = Some(c);
                    self.frame.word.is_quoted = true;
                }
                (None, c) => self.unquoted(c, &mut rest),
            }
        }
    }

    fn unquoted(&mut self, c: char, rest: &mut Peekable<Chars<'_>>) {
        match c {
            '#' if self.frame.word.is_empty() => while rest.next_if(|&c| c != '\n').is_some() {},
            ' ' | '\t' | '\r' => self.end_word(),
            '|' if rest.next_if_eq(&'|').is_none() => {
                let printed = self.end_command();
                self.frame.input = printed;
            }
            '&' if rest.peek() == Some(&'>') => {}
            '\n' | ';' | '|' | '&' => drop(self.end_command()),
            '(' => self.open(),
            ')' => self.close(),
            '<' | '>' => self.redirect(c, rest),
            c => self.frame.word.text.push(c),
        }
    }

    fn open(&mut self) {
        self.outer.push(std::mem::take(&mut self.frame));
    }

    fn close(&mut self) {
        self.end_command();
        if let Some(outer) = self.outer.pop() {
            self.frame = outer;
        }
    }

    /// Reads the rest of `<`, `>>`, `2>&1` or `<<<`.
    fn redirect(&mut self, first: char, rest: &mut Peekable<Chars<'_>>) {
        let number = &mut self.frame.word;
        if number.values.is_empty() && number.text.bytes().all(|byte| byte.is_ascii_digit()) {
            number.text.clear();
        }
        self.end_word();
        let mut length = 1;
        while rest.next_if(|c| matches!(c, '<' | '>' | '&')).is_some() {
            length += 1;
        }
        let target = if (first, length) == ('<', 3) { Target::Text } else { Target::File };
        // `<(command)` is a word.
        self.frame.target = (rest.peek() != Some(&'(')).then_some(target);
    }

    fn value(&mut self) {
        let frame = &mut self.frame;
        let after_option = frame.words.last().is_none_or(Word::is_option);
        let begins_word = frame.word.is_empty() && frame.target.is_none();
        let may_be_option = begins_word && !frame.has_double_dash && !after_option;
        frame.word.values.push(self.uses.len());
        self.uses.push(Use { is_code: false, may_be_option });
    }

    fn end_word(&mut self) {
        let frame = &mut self.frame;
        if frame.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut frame.word);
        match frame.target.take() {
            Some(Target::Text) => frame.input.extend(word.values),
            Some(Target::File) => {}
            None => {
                frame.has_double_dash |= word.text == "--";
                frame.words.push(word);
            }
        }
    }

    /// Marks the code of the command. Returns the values that it prints.
    fn end_command(&mut self) -> Vec<usize> {
        self.end_word();
        let frame = std::mem::take(&mut self.frame);
        let mut run = Run { program: None, operands: 0, next: Next::Command, code: Vec::new() };
        frame.words.iter().for_each(|word| run.word(word));
        if run.next == Next::Word && run.program.is_some_and(Program::reads_code) {
            run.code.extend(&frame.input);
        }
        for at in run.code {
            if let Some(one) = self.uses.get_mut(at) {
                one.is_code = true;
            }
        }
        let prints = run.program.is_some_and(Program::prints);
        if prints { frame.words.into_iter().flat_map(|word| word.values).collect() } else { Vec::new() }
    }
}

/// The meaning of the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Word,
    /// A command, or an option of the program before it.
    Command,
    /// The value of an option.
    Value,
    /// Code, unless it is an option.
    Code,
    /// This word and all after it are code.
    AllCode,
    /// Neither this word nor one after it is code.
    Nothing,
}

/// The program that reads the words of a command.
struct Run {
    program: Option<&'static Program>,
    operands: usize,
    next: Next,
    /// The values that are run as code.
    code: Vec<usize>,
}

impl Run {
    fn word(&mut self, word: &Word) {
        let ends = self.program.is_some_and(|program| program.ends.contains(&word.text.as_str()));
        match self.next {
            Next::Nothing => {}
            Next::Value => self.next = self.after(self.operands),
            Next::Code if !word.is_option() => self.run_as_code(word),
            Next::AllCode if ends => self.next = Next::Nothing,
            Next::AllCode => self.code.extend(&word.values),
            _ if self.is_before_command(word) => self.next = Next::Command,
            _ if word.is_option() => self.option(word),
            Next::Command if is_before_command(&word.text) => {}
            Next::Command => self.start(Program::named(&word.text), word),
            _ => self.operand(word, ends),
        }
    }

    /// Returns `true` for `--` and `-exec` of programs that read a command after them.
    fn is_before_command(&self, word: &Word) -> bool {
        let Some(Program { operands: Operands::CommandAfter(words), .. }) = self.program else { return false };
        words.contains(&word.text.as_str())
    }

    fn run_as_code(&mut self, word: &Word) {
        self.code.extend(&word.values);
        // Arguments of the code follow, or more options.
        match self.program.map(|program| program.operands) {
            Some(Operands::Script | Operands::Program | Operands::CodeFirst) => self.next = Next::Nothing,
            _ => self.next = self.after(self.operands),
        }
    }

    fn start(&mut self, program: Option<&'static Program>, word: &Word) {
        // The name of the program may be a value.
        self.program = program.filter(|_| word.values.is_empty());
        self.operands = 0;
        self.next = self.after(0);
    }

    /// Returns the meaning of the word after so many operands.
    fn after(&self, operands: usize) -> Next {
        match self.program.map(|program| program.operands) {
            Some(Operands::Command(before)) if operands >= before => Next::Command,
            _ => Next::Word,
        }
    }

    fn option(&mut self, word: &Word) {
        let Some(program) = self.program else { return };
        match program.option(&word.text, !word.values.is_empty()) {
            _ if program.ends.contains(&word.text.as_str()) => self.next = Next::Nothing,
            Choice::Flag => {}
            Choice::Valued => self.next = Next::Value,
            Choice::Code => self.next = Next::Code,
            Choice::CodeHere => self.code.extend(&word.values),
        }
    }

    fn operand(&mut self, word: &Word, ends: bool) {
        let other = Program::named(&word.text).filter(|other| other.is_run_by(self.program));
        match self.program.map(|program| program.operands) {
            // The arguments themselves are commands if there is none before.
            Some(Operands::Code(0)) if ends => self.next = Next::AllCode,
            Some(Operands::Code(before)) if self.operands >= before => {
                self.code.extend(&word.values);
                self.next = Next::AllCode;
            }
            Some(Operands::CodeFirst) => self.run_as_code(word),
            _ if other.is_some() => self.start(other, word),
            // A script may run its arguments.
            Some(Operands::Script | Operands::Program) => self.program = None,
            _ => {
                self.operands += 1;
                self.next = self.after(self.operands);
            }
        }
    }
}

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
fn is_before_command(word: &str) -> bool {
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
