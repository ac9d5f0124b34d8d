//! The directory of a server's program, which no client needs to know.

use std::{
    fs,
    path::{Path, PathBuf},
};

use conform_wire::process::descendants::descendants;

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

/// The directories of the programs of all processes below this one: the command may be a script or `npx`, which start
/// another program.
pub fn of_processes() -> Vec<String> {
    let of = |process: u32| {
        let place = PathBuf::from(format!("/proc/{process}"));
        let line = fs::read_to_string(place.join("cmdline")).ok()?;
        let argv: Vec<String> = line.split_terminator('\0').map(str::to_owned).collect();
        directory(&argv, &fs::read_link(place.join("cwd")).ok()?)
    };
    descendants().into_iter().filter_map(of).collect()
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

    #[cfg(target_os = "linux")]
    #[test]
    fn the_program_is_found_behind_what_starts_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let inner = directory.path().join("packages/server");
        fs::create_dir_all(&inner).expect("a directory");
        let program = inner.join("serve");
        fs::copy("/bin/sleep", &program).expect("a program");
        let mut starts = std::process::Command::new("sh")
            .args(["-c", "\"$0\" 60 & read line; kill $!"])
            .arg(&program)
            .current_dir("/")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("a shell");
        let expected = format!("{}/", inner.canonicalize().expect("a path").display());
        let found = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            of_processes().contains(&expected)
        });
        drop(starts.stdin.take());
        starts.wait().expect("an end");
        assert!(found, "{expected}");
    }
}
