//! Language ids, and sets of languages as letters of the instruction table.

use std::fmt;

/// A language. The discriminant is its id in artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Dialect {
    /// `${params.x}` substitution, literal or shell-quoted.
    Tower = 1,
    /// Tera 1 templates.
    Tera = 2,
    /// HCL expressions, templates and configurations.
    Hcl = 3,
    /// CEL expressions.
    Cel = 4,
    /// YAML with CEL expressions and directives in it.
    CelYaml = 5,
    /// Go's text/template with the functions of Helm.
    Helm = 6,
}

impl Dialect {
    /// Every language.
    pub const ALL: [Dialect; 6] =
        [Dialect::Tower, Dialect::Tera, Dialect::Hcl, Dialect::Cel, Dialect::CelYaml, Dialect::Helm];

    /// Returns the id on the command line: `tera`.
    pub fn id(self) -> &'static str {
        match self {
            Dialect::Tower => "tower",
            Dialect::Tera => "tera",
            Dialect::Hcl => "hcl",
            Dialect::Cel => "cel",
            Dialect::CelYaml => "cel-yaml",
            Dialect::Helm => "helm",
        }
    }

    /// Returns the cargo features that enable it.
    #[doc(hidden)]
    pub const fn features(self) -> &'static [&'static str] {
        match self {
            Dialect::Tower => &["tower"],
            Dialect::Tera => &["tera"],
            Dialect::Hcl => &["hcl"],
            Dialect::Cel => &["cel"],
            Dialect::CelYaml => &["cel"],
            Dialect::Helm => &["helm"],
        }
    }

    /// Returns the language with this id.
    pub fn from_id(id: &str) -> Option<Dialect> {
        Self::ALL.into_iter().find(|dialect| dialect.id() == id)
    }

    /// Returns `true` if a render surely fails at a path of this name whose value is missing. `left` is the number of
    /// steps after the missing one, and `in_map` tells if a map lacks it.
    #[doc(hidden)]
    pub fn fails_without(self, path: &str, left: usize, in_map: bool) -> bool {
        match (self, path.as_bytes().first()) {
            (Dialect::Helm, Some(b'!')) => true,
            (Dialect::Helm, Some(b'?')) => false,
            // A missing key is null, which has no keys.
            (Dialect::Helm, _) => in_map && left > 0,
            _ => true,
        }
    }

    /// Returns `true` if the value of a path of this name is nil if the map before its last step lacks that.
    pub(crate) fn has_nil(self, path: &str) -> bool {
        self == Dialect::Helm && !path.starts_with('!')
    }

    /// Returns `true` if a chunk with a name reads inputs by itself, not only what it is given.
    pub(crate) fn has_inputs_in_named_chunks(self) -> bool {
        self != Dialect::Helm
    }

    /// Returns the name of a path without the mark that tells what a missing key is, and without the name of a root that
    /// templates write as `.`.
    #[doc(hidden)]
    pub fn unmarked(self, path: &str) -> &str {
        match self {
            Dialect::Helm => {
                let path = path.strip_prefix(['?', '!']).unwrap_or(path);
                let of_dot = ["dot", "data", "item"].into_iter().find_map(|root| path.strip_prefix(root));
                of_dot.filter(|rest| rest.starts_with(['.', '$'])).unwrap_or(path)
            }
            _ => path,
        }
    }

    /// Returns the language of a file, by its name.
    ///
    /// ```
    /// use dropforge::Dialect;
    /// assert_eq!(Dialect::of_name("a/app.yaml.tera"), Some(Dialect::Tera));
    /// assert_eq!(Dialect::of_name("app.yaml"), None);
    /// ```
    pub fn of_name(name: &str) -> Option<Dialect> {
        let base = name.rsplit('/').next().unwrap_or(name);
        let parts: Vec<String> = base.split('.').skip(1).map(str::to_ascii_lowercase).collect();
        let last = parts.len().saturating_sub(1);
        let is_yaml = parts.last().is_some_and(|last| matches!(last.as_str(), "yaml" | "yml"));
        let told = |(at, part): (usize, &String)| match Dialect::from_id(part) {
            Some(Dialect::Hcl) => (at < last).then_some(Dialect::Hcl),
            Some(Dialect::Cel) if at < last && is_yaml => Some(Dialect::CelYaml),
            // A part `helm` says nothing: charts have values and scripts of such names.
            None | Some(Dialect::Helm) => {
                let by_extension = |dialect: &Dialect| part == dialect.extension();
                [Dialect::Hcl, Dialect::Helm].into_iter().find(by_extension).filter(|_| at == last)
            }
            told => told,
        };
        parts.iter().enumerate().rev().take(2).find_map(told)
    }

    /// Returns the file name extension of the language.
    pub const fn extension(self) -> &'static str {
        match self {
            Dialect::Tower => "tower",
            Dialect::Tera => "tera",
            Dialect::Hcl => "tftpl",
            Dialect::Cel => "cel",
            Dialect::CelYaml => "cel.yaml",
            Dialect::Helm => "gotmpl",
        }
    }

    /// Returns the language with this number in artifacts.
    pub(super) fn from_number(number: u8) -> Option<Dialect> {
        Self::ALL.into_iter().find(|dialect| *dialect as u8 == number)
    }

    /// Returns the language as a bit of a set.
    #[inline(always)]
    pub(super) const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Returns the letter in the instruction table. A language that another one lowers shares its letter.
    const fn letter(self) -> u8 {
        match self {
            Dialect::Tower => b'W',
            Dialect::Tera => b'T',
            Dialect::Hcl => b'H',
            Dialect::Cel | Dialect::CelYaml => b'C',
            Dialect::Helm => b'G',
        }
    }
}

/// A set of languages, written as letters: `"WT"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialects(u8);

impl Dialects {
    pub(super) const fn of(letters: &'static str) -> Self {
        let (letters, mut set, mut at) = (letters.as_bytes(), 0, 0);
        while at < Dialect::ALL.len() {
            let dialect = Dialect::ALL[at];
            let mut letter = 0;
            while letter < letters.len() {
                if letters[letter] == dialect.letter() {
                    set |= dialect.bit();
                }
                letter += 1;
            }
            at += 1;
        }
        Self(set)
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    /// Returns `true` if `dialect` is in the set.
    #[inline(always)]
    pub fn contains(self, dialect: Dialect) -> bool {
        self.0 & dialect.bit() != 0
    }
}

impl fmt::Display for Dialects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Dialect::ALL.into_iter().filter(|d| self.contains(*d)).map(Dialect::id).collect();
        f.write_str(&names.join(", "))
    }
}
