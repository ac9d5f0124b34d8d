//! Triggers a change that the server must announce: by one of its tools, a command or an HTTP request.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    process::Command,
    time::{Instant, timeout},
};

use super::{param_headers::param_headers, step::Stage};
use conform_model::evidence::End;
use conform_session::CallOptions;
use conform_suite as suite;
use conform_suite::Scope;
use conform_wire::side_request;

/// Saves `end`, which is `done` or `failed`; for a tool also its `reply`.
pub async fn change(stage: &Stage<'_>, cause: &suite::Path, scope: &Scope<'_>) -> Option<Value> {
    let cause = cause.select(scope)?.first()?.value;
    let began = Instant::now();
    let (mut reply, mut frames) = (Value::Null, Value::Array(Vec::new()));
    let within = stage.limits.request;
    let failure = if let Some(tool) = cause["tool"].as_str() {
        let arguments = cause.get("with").cloned().unwrap_or_else(|| json!({}));
        let params = json!({ "name": tool, "arguments": arguments });
        let session = stage.session().await?;
        let headers = param_headers(stage.context, "tools/call", &params);
        let options = CallOptions { headers, ..CallOptions::default() };
        let called = session.call(&stage.suite.id, "tools/call", Some(params), options).await;
        let refused = called.result.as_ref().is_some_and(|result| result["isError"] == true);
        reply = json!(called);
        frames = reply["frames"].clone();
        (called.end != End::Result || refused).then(|| format!("the tool {tool} failed"))
    } else if let Some(argv) = cause["command"].as_array() {
        let argv: Vec<&str> = argv.iter().filter_map(Value::as_str).collect();
        run(&argv, cause["directory"].as_str().map(Path::new), within).await.err()
    } else {
        let http = &cause["http"];
        let body = match &http["body"] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            body => Some(body.to_string()),
        };
        side_request(http["method"].as_str().unwrap_or("POST"), http["url"].as_str()?, body, within).await.err()
    };
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let end = if failure.is_some() { "failed" } else { "done" };
    Some(json!({ "end": end, "why": failure, "reply": reply, "frames": frames, "ms": ms }))
}

async fn run(argv: &[&str], directory: Option<&Path>, within: Duration) -> Result<(), String> {
    let (program, arguments) = argv.split_first().ok_or("the command is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    match timeout(within, command.status()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("{program} exited with {status}")),
        Ok(Err(error)) => Err(format!("{program} could not be run: {error}")),
        Err(_) => Err(format!("{program} took longer than {} s", within.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_that_fails_or_is_not_there_says_so() {
        let run = |argv: &'static [&'static str]| run(argv, None, Duration::from_secs(10));
        assert_eq!(run(&["true"]).await, Ok(()));
        assert!(run(&["false"]).await.is_err_and(|why| why.starts_with("false exited with")));
        assert!(run(&["/nowhere/no-such-program"]).await.is_err_and(|why| why.contains("could not be run")));
    }
}
