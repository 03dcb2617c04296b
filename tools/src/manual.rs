//! Pages of the manual, and completions for shells.

use std::fs;
use std::path::Path;

use anyhow::Result;
use clap_complete::Shell;

/// The name of the command.
const NAME: &str = "dropforge";

/// Writes the pages to `out/man1` and the completions to `out/completions`.
pub fn write(out: &Path) -> Result<()> {
    let (pages, completions) = (out.join("man1"), out.join("completions"));
    fs::create_dir_all(&pages)?;
    fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(dropforge_cli::definition(), &pages)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
        clap_complete::generate_to(shell, &mut dropforge_cli::definition(), NAME, &completions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the pages of a command and of the commands below it.
    fn names(command: &clap::Command, name: &str) -> Vec<String> {
        let below = command.get_subcommands().flat_map(|sub| names(sub, &format!("{name}-{}", sub.get_name())));
        std::iter::once(format!("{name}.1")).chain(below).collect()
    }

    #[test]
    fn every_command_has_a_page_with_its_exit_codes() {
        let out = tempfile::tempdir().unwrap();
        write(out.path()).unwrap();
        let wanted = names(&dropforge_cli::definition(), NAME);
        assert!(wanted.contains(&"dropforge-catalog-key-create.1".to_owned()), "{wanted:?}");
        for name in wanted {
            let page = fs::read_to_string(out.path().join("man1").join(&name)).expect(&name);
            assert!(page.contains("Exit codes:"), "{name}");
        }
        assert_eq!(fs::read_dir(out.path().join("completions")).unwrap().count(), 4);
    }
}
