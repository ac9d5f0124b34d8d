//! The directory of a server's program, which no client needs to know.

use std::path::{Path, PathBuf};

/// Programs that run another one.
const RUNNERS: [&str; 9] = ["node", "python", "python3", "bun", "deno", "ruby", "php", "tsx", "ts-node"];

/// The directory of the program that this command starts, with a slash at its end; `None` if it runs in that directory,
/// where its arguments may be about the same files.
pub fn directory(argv: &[String], cwd: &Path) -> Option<String> {
    let command = argv.first()?;
    let name = Path::new(command).file_name()?.to_str()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let program = if RUNNERS.contains(&name) || name == "python" {
        argv.iter().skip(1).find(|argument| !argument.starts_with('-'))?
    } else {
        command
    };
    let path = cwd.join(program);
    let path: PathBuf = path.is_file().then(|| path.canonicalize().ok())??;
    let directory = path.parent()?;
    let elsewhere = cwd.canonicalize().is_ok_and(|cwd| !cwd.starts_with(directory));
    // Directories of the system are not secret.
    (elsewhere && directory.components().count() > 2 && !directory.starts_with("/usr"))
        .then(|| format!("{}/", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_command_or_what_it_runs() {
        let own = std::env::current_exe().expect("a path").canonicalize().expect("a path");
        let path = own.display().to_string();
        let expected = own.parent().map(|parent| format!("{}/", parent.display()));
        let of = |argv: &[&str], cwd: &Path| {
            directory(&argv.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>(), cwd)
        };
        let root = Path::new("/");
        assert_eq!(of(&[&path], root), expected);
        assert_eq!(of(&["/usr/bin/python3.11", "-u", &path], root), expected);
        assert_eq!(
            [of(&["cat", &path], root), of(&["node", "-e", "1"], root), of(&["node"], root)],
            [None, None, None]
        );
        assert_eq!(of(&[&path], own.parent().expect("a directory")), None);
    }
}
