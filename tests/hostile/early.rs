//! Runs that end early, reports that cannot be written, and servers that try to get credentials.

use std::{
    fs,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use libtest_mimic::{Failed, Trial};

use crate::{
    http,
    run::{Met, Run, start},
};

/// In addition to the survey, which is part of every run.
const ONE_SUITE: [&str; 2] = ["--filter", "base.errors"];
const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-conform");

pub fn all() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("credentials::stay_at_their_origin", credentials_stay),
        Trial::test("limits::of_the_run", || limit("run=4", &[], "the run timeout of 4 s was reached (--run-timeout)")),
        Trial::test("limits::of_a_suite", || {
            limit("suite=2", &ONE_SUITE, "the suite timeout of 2 s was reached (suite)")
        }),
        Trial::test("outputs::unwritable_path", unwritable_path),
    ];
    #[cfg(target_os = "linux")]
    trials.extend([
        Trial::test("interrupts::by_ctrl_c", || interrupted(&["INT"], 130)),
        Trial::test("interrupts::by_sigterm", || interrupted(&["TERM"], 143)),
        Trial::test("interrupts::twice", || interrupted(&["INT", "INT"], 130)),
        Trial::test("interrupts::by_sigkill", killed),
        Trial::test("strays::children_from_before_are_spared", earlier_children),
        Trial::test("outputs::full_disk", full_disk),
        Trial::test("outputs::closed_pipe", closed_pipe),
    ]);
    trials
}

/// A server that stops responding, with the usual timeouts.
fn hanging(more: &[&str]) -> Run {
    let me = std::env::current_exe().expect("a program knows where it is").display().to_string();
    start(&[more, &["--limit", "grace=0.3", "--", &me, "behave", "stops"]].concat())
}

fn check(met: &Met, code: Option<i32>, says: &str) -> Result<(), Failed> {
    let said = met.said.split_whitespace().collect::<Vec<_>>().join(" ");
    let again = &met.judged_otherwise;
    if met.code == code && said.contains(says) && !said.contains("panicked") && met.left.is_empty() && again.is_none() {
        return Ok(());
    }
    let (code, left) = (met.code, &met.left);
    Err(format!("exit code {code:?}, left {left:?}, judged {again:?}, and not {says:?} in\n{}", met.said).into())
}

fn limit(limit: &str, more: &[&str], says: &str) -> Result<(), Failed> {
    let met = hanging(&[&["--limit", limit, "--timeout", "60"], more].concat()).meet();
    check(&met, met.code.filter(|code| [1, 3].contains(code)), says)?;
    if more.is_empty() { judged(&met) } else { Ok(()) }
}

/// The report contains everything before the end, and open requests are not counted as failures.
fn judged(met: &Met) -> Result<(), Failed> {
    let report = met.report.as_ref().ok_or("there is no report")?;
    let status = |id: &str| report["rules"].as_array()?.iter().find(|rule| rule["id"] == id)?["status"].as_str();
    if report["totals"]["by_status"]["pass"].as_u64().unwrap_or(0) > 0
        && status("jsonrpc-exactly-one-response") != Some("fail")
    {
        return Ok(());
    }
    Err(format!("{} {}", report["totals"], met.said).into())
}

/// Waits until the program has a child, then sends it the signals with a short delay between them.
#[cfg(target_os = "linux")]
fn interrupted(signals: &[&str], code: i32) -> Result<(), Failed> {
    let run = hanging(&["--timeout", "60"]);
    wait_for_server(run.id());
    for signal in signals {
        send(run.id(), signal);
        sleep(Duration::from_millis(300));
    }
    let met = run.meet();
    if signals.len() > 1 {
        return check(&met, Some(code), "");
    }
    check(&met, Some(code), "the run was interrupted")?;
    if met.report.as_ref().is_none_or(|report| report["exit_code"] != code) {
        return Err(format!("the report does not say {code}").into());
    }
    judged(&met)
}

/// Then nothing can stop the server, but its stdin is closed.
#[cfg(target_os = "linux")]
fn killed() -> Result<(), Failed> {
    let run = hanging(&["--timeout", "60"]);
    wait_for_server(run.id());
    send(run.id(), "KILL");
    check(&run.meet(), None, "")
}

#[cfg(target_os = "linux")]
fn wait_for_server(id: u32) {
    let began = Instant::now();
    let children = format!("/proc/{id}/task/{id}/children");
    while fs::read_to_string(&children).is_ok_and(|children| children.is_empty()) {
        assert!(began.elapsed() < Duration::from_secs(60), "no server was started");
        sleep(Duration::from_millis(10));
    }
    // Long enough for its responses.
    sleep(Duration::from_millis(500));
}

#[cfg(target_os = "linux")]
fn send(id: u32, signal: &str) {
    let sent = Command::new("kill").arg(format!("-{signal}")).arg(id.to_string()).status();
    assert!(sent.is_ok_and(|status| status.success()), "the program was gone before SIG{signal}");
}

fn unwritable_path() -> Result<(), Failed> {
    for flag in ["--report=junit=/no/such/directory/x.xml", "--transcript=/no/such/directory/x.jsonl"] {
        let server = http::start("good", "");
        let met = start(&[flag, "--http", &format!("http://{}/mcp", server.address)]).meet();
        check(&met, Some(2), "failed to write `/no/such/directory/x")?;
        if !server.heard().is_empty() {
            return Err("the server was asked before the path was tried".into());
        }
    }
    Ok(())
}

/// Two of the files cannot be written; the verdict and the other reports are written anyway.
#[cfg(target_os = "linux")]
fn full_disk() -> Result<(), Failed> {
    let full = ["--report", "html=/dev/full", "--transcript", "/dev/full", "--reference", "--filter", "base.lifecycle"];
    let met = start(&full).meet();
    check(&met, Some(2), "failed to write `/dev/full`: No space left on device")?;
    check(&met, Some(2), "The server conforms to all rules that were checked.")?;
    let ran = Command::new(PROGRAM)
        .args(["run", "--reference", "--filter", "base.lifecycle"])
        .stdout(fs::OpenOptions::new().write(true).open("/dev/full")?)
        .stderr(Stdio::piped())
        .output()?;
    let said = String::from_utf8_lossy(&ran.stderr);
    if ran.status.code() == Some(2) && said.contains("failed to write `stdout`") && !said.contains("panicked") {
        return Ok(());
    }
    Err(format!("{:?} {said}", ran.status).into())
}

/// A shell that has started a child replaces itself with the program.
#[cfg(target_os = "linux")]
fn earlier_children() -> Result<(), Failed> {
    let script = "sleep 1000 >&- 2>&- & echo $!; exec \"$0\" run --reference --filter base.lifecycle";
    let ran = Command::new("sh").args(["-c", script, PROGRAM]).output()?;
    let said = String::from_utf8_lossy(&ran.stdout);
    let child = said.lines().next().unwrap_or_default();
    let was_there = Command::new("kill").arg(child).status()?.success();
    if was_there && ran.status.code() == Some(0) && !said.contains("process group") {
        return Ok(());
    }
    Err(format!("{was_there} {:?} {said}", ran.status).into())
}

/// A reader that closes the pipe.
#[cfg(target_os = "linux")]
fn closed_pipe() -> Result<(), Failed> {
    let script =
        format!("{PROGRAM} run --reference --verbose --filter base.lifecycle 2>&1 >&3 | cat; exit ${{PIPESTATUS[0]}}");
    let ran = Command::new("bash").args(["-c", &format!("{{ {script}; }} 3> >(head -c 1 > /dev/null)")]).output()?;
    let said = String::from_utf8_lossy(&ran.stdout);
    if ran.status.code() == Some(0) && said.is_empty() {
        Ok(())
    } else {
        Err(format!("{:?} {said}", ran.status).into())
    }
}

/// A server that redirects its client gets the user's credentials, but the other server does not.
fn credentials_stay() -> Result<(), Failed> {
    let elsewhere = http::start("good", "");
    for how in ["redirects", "names-another"] {
        let server = http::start(how, &elsewhere.address);
        let flag = if how == "redirects" { "--http" } else { "--sse" };
        let url = format!("http://{}/mcp", server.address);
        let header = "Authorization: Bearer not-for-anybody-else";
        let met = start(&["--timeout", "1", "--header", header, flag, &url]).meet();
        check(&met, Some(3), "")?;
        let carried = server.heard().iter().any(|request| request.headers.contains_key("authorization"));
        if !carried || !elsewhere.heard().is_empty() || met.said.contains("not-for-anybody-else") {
            return Err(format!("{how}: carried {carried}, elsewhere {:?}\n{}", elsewhere.heard(), met.said).into());
        }
    }
    Ok(())
}
