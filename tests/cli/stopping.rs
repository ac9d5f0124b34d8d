//! A run that stops early because somebody wants it to, and settings that stand in the configuration.

use std::fs;

use crate::ran;

const FAULTY: [&str; 8] =
    ["run", "--reference", "--fault", "list-item-without-name", "--filter", "resources", "--filter", "tools"];

#[test]
fn nothing_is_run_after_the_first_failure_if_that_is_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let all = ran(FAULTY);
    let stopped = ran(FAULTY.into_iter().chain(["--fail-fast"]));
    assert_eq!((all.code, stopped.code), (1, 1), "{}", stopped.stdout);
    assert!(stopped.stdout.contains("FAIL  resources-list-item-name"), "{}", stopped.stdout);
    let note = "note  --fail-fast stopped the run when resources-list-item-name had failed";
    assert!(stopped.stdout.contains(note), "{}", stopped.stdout);
    assert!(!stopped.stdout.contains("BROKEN") && !all.stdout.contains("--fail-fast"), "{}", stopped.stdout);

    // A failure that is known stops nothing.
    let known = directory.path().join("known.toml").display().to_string();
    ran(FAULTY.into_iter().chain(["--write-baseline", &known]));
    let passed = ran(FAULTY.into_iter().chain(["--fail-fast", "--baseline", &known]));
    assert_eq!(passed.code, 0, "{}", passed.stdout);
    assert!(!passed.stdout.contains("--fail-fast"), "{}", passed.stdout);
}

#[test]
fn settings_of_the_configuration_are_used_where_nothing_is_typed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp-conform.toml");
    let program = env!("CARGO_BIN_EXE_mcp-conform");
    let text = format!(
        "strict = true\nreport = [\"json=told.json\"]\nbaseline = \"known.toml\"\n\
         [targets.it]\nstdio = [{program:?}, \"serve\", \"--fault\", \"missing-name-internal-error\"]\n"
    );
    fs::write(&file, text).unwrap();
    fs::write(directory.path().join("known.toml"), "").unwrap();
    let file = file.display().to_string();
    let line = ["run", "--config", &file, "--filter", "jsonrpc-invalid-params-code"];

    let run = ran(line);
    assert_eq!(run.code, 1, "a warning counts: {}{}", run.stdout, run.stderr);
    assert!(run.stdout.is_empty() && directory.path().join("told.json").is_file(), "{}", run.stdout);

    // What is typed comes first.
    let known = directory.path().join("other.toml").display().to_string();
    let typed = ran(line.into_iter().chain(["--report", "human", "--write-baseline", &known]));
    assert_eq!(typed.code, 0, "{}{}", typed.stdout, typed.stderr);
    assert!(typed.stdout.contains("1 known to fail"), "{}", typed.stdout);
}
