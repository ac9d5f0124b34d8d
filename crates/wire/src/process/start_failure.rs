//! Why a program could not be started, with a hint how to fix it.

use std::{io, path::Path};

use crate::OpenError;

pub fn start_failure(program: &str, cwd: Option<&Path>, error: &io::Error) -> OpenError {
    let tried = match cwd {
        Some(cwd) => format!("to start {program} in {}", cwd.display()),
        None => format!("to start {program}"),
    };
    let (came, help) = words(program, cwd, error);
    OpenError { tried, came, help, cause: None }
}

fn words(program: &str, cwd: Option<&Path>, error: &io::Error) -> (String, String) {
    if let Some(cwd) = cwd.filter(|cwd| !cwd.is_dir()) {
        return (format!("{} is not a directory", cwd.display()), "name a directory that exists".to_owned());
    }
    let is_path = program.contains(['/', '\\']);
    let path = cwd.map_or_else(|| program.into(), |cwd| cwd.join(program));
    match error.kind() {
        io::ErrorKind::NotFound if program.contains(char::is_whitespace) => (
            "command not found".to_owned(),
            "it contains spaces: is it a whole command line? Pass program and arguments separately".to_owned(),
        ),
        io::ErrorKind::NotFound if program.starts_with("http://") || program.starts_with("https://") => {
            ("it is a URL and not a command".to_owned(), format!("did you mean --http {program}?"))
        }
        io::ErrorKind::NotFound if is_path && path.exists() => (
            "the file exists, but its interpreter or loader is missing".to_owned(),
            "does its first line name an interpreter that exists? Is it built for this system?".to_owned(),
        ),
        io::ErrorKind::NotFound if is_path => {
            ("no such file".to_owned(), "check the path; is the program built?".to_owned())
        }
        io::ErrorKind::NotFound if program.contains('=') || ["cd", "export", "source"].contains(&program) => (
            "command not found".to_owned(),
            "no shell runs the command: set variables with --env NAME=VALUE, the directory with --cwd DIR".to_owned(),
        ),
        io::ErrorKind::NotFound => (
            "command not found".to_owned(),
            if path.exists() {
                format!("is it in PATH? There is a file of that name: ./{program}")
            } else {
                "is it installed and in PATH?".to_owned()
            },
        ),
        io::ErrorKind::PermissionDenied if path.is_dir() => {
            ("it is a directory".to_owned(), "use the path of the program in it".to_owned())
        }
        io::ErrorKind::PermissionDenied => {
            ("permission denied".to_owned(), format!("make it executable: chmod +x {program}"))
        }
        _ => (error.to_string(), "try to start it by hand".to_owned()),
    }
}
