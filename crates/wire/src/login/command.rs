//! A login by a command, for pages that need a browser.

use std::{io::ErrorKind, path::PathBuf, process::Stdio, time::Duration};

use tokio::{io::AsyncReadExt, process::Command, time::timeout};

use crate::process::group::Group;

/// How much of its output is read.
const LONGEST: u64 = 1 << 20;

/// The last URL that the command prints, with the given one in place of `{url}` in its arguments.
pub async fn last_url(argv: &[String], cwd: Option<&PathBuf>, url: &str, within: Duration) -> Result<String, String> {
    let Some((program, arguments)) = argv.split_first() else { return Err("the command is empty".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments.iter().map(|argument| argument.replace("{url}", url)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    Group::prepare(&mut command);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("`{program}` was not found"),
        _ => format!("`{program}` did not start: {error}"),
    })?;
    // Dropping it ends the browser, too.
    let _group = Group::of(child.id());
    let output = child.stdout.take();
    let printed = async {
        let mut text = Vec::new();
        if let Some(output) = output {
            output.take(LONGEST).read_to_end(&mut text).await.map_err(|error| error.to_string())?;
        }
        let status = child.wait().await.map_err(|error| error.to_string())?;
        if status.success() { Ok(text) } else { Err(format!("`{program}` exited with {status}")) }
    };
    let text = timeout(within, printed)
        .await
        .unwrap_or_else(|_| Err(format!("`{program}` took longer than {} s", within.as_secs())))?;
    let text = String::from_utf8_lossy(&text);
    let last = text.split_whitespace().rfind(|word| word.contains("://"));
    last.map(str::to_owned).ok_or_else(|| format!("`{program}` printed no URL"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_url_counts_and_a_hanging_command_is_ended() {
        let shell = |script: &str| ["sh", "-c", script, "sh", "{url}"].map(str::to_owned).to_vec();
        let long = Duration::from_secs(20);
        let printed = last_url(&shell("echo http://a/; echo \"$1&code=x\""), None, "http://h/?a=1", long).await;
        assert_eq!(printed.as_deref(), Ok("http://h/?a=1&code=x"));
        let failed = last_url(&shell("exit 3"), None, "http://h/", long).await;
        assert!(failed.is_err_and(|why| why.contains("exit status: 3")));
        let hung = last_url(&shell("sleep 60 & sleep 60"), None, "http://h/", Duration::from_millis(200)).await;
        assert!(hung.is_err_and(|why| why.contains("longer than")));
    }
}
