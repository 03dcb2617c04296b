//! Arguments of benches.

/// The arguments of a bench.
#[derive(Debug)]
pub struct Arguments {
    /// `true` to write the results to the pages.
    pub write: bool,
    /// The number of rounds.
    pub rounds: usize,
    /// The wanted tasks. All, if empty.
    pub only: Vec<String>,
}

impl Arguments {
    /// Reads the arguments of the process. `rounds` is the default number of rounds.
    ///
    /// # Panics
    /// Panics on an unknown argument.
    pub fn read(rounds: usize) -> Self {
        let mut arguments = Self { write: false, rounds, only: Vec::new() };
        let mut given = std::env::args().skip(1);
        while let Some(argument) = given.next() {
            match argument.as_str() {
                "--bench" => (),
                "--write" => arguments.write = true,
                "--rounds" => {
                    let rounds = given.next().and_then(|rounds| rounds.parse().ok());
                    arguments.rounds = rounds.expect("--rounds takes a number");
                }
                "--only" => arguments.only.extend(given.by_ref()),
                other => panic!("{other:?} is not known here"),
            }
        }
        arguments
    }

    /// Returns `true` if a task is wanted.
    pub fn wants(&self, task: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == task)
    }
}
