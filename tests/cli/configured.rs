//! Settings, levels and other files that mcp-conform.toml names.

use std::{fs, path::Path};

use crate::{PROGRAM, Ran, ran};

/// The command that starts the reference server, as a list of the configuration.
fn served(fault: &str) -> String {
    format!("stdio = [{:?}, \"serve\", \"--fault\", {fault:?}]\n", env!("CARGO_BIN_EXE_mcp-conform"))
}

fn configured(directory: &Path, text: &str, arguments: &[&str]) -> Ran {
    let file = directory.join("mcp-conform.toml");
    fs::write(&file, text).unwrap();
    ran(["run", "--config", &file.display().to_string()].into_iter().chain(arguments.iter().copied()))
}

#[test]
fn what_is_accepted_as_that_of_the_sdk_does_not_end_a_run() {
    let directory = tempfile::tempdir().unwrap();
    let target = format!("[targets.one]\n{}sdk = \"@modelcontextprotocol/sdk@1.30.0\"\n", served("bad-json-ignored"));
    // The number of revisions that were tested: the rule fails in the first one.
    let run = |accept: &str, options: &[&str]| {
        let typed = ["--revision", "all", "--filter", "base.bad-input", "--strict", "--fail-fast", "--report", "json"];
        let done = configured(directory.path(), &format!("{accept}\n{target}"), &[&typed, options].concat());
        let report: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        (done.code, report["revisions"].as_array().unwrap().len())
    };
    assert_eq!(run("", &[]), (1, 1));
    assert_eq!(run("", &["--accept", "sdk"]), (0, 5));
    assert_eq!(run("accept = { sdk = true }", &[]), (0, 5));
    for party in ["client", "gateway"] {
        let refused = ran([party, "--accept", "sdk", "--", PROGRAM]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("--accept sdk is for servers"), "{}", refused.stderr);
    }
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

#[test]
fn a_rule_has_the_level_of_the_configuration_in_reports_and_when_judged_again() {
    let directory = tempfile::tempdir().unwrap();
    let transcript = directory.path().join("run.jsonl").display().to_string();
    let rule = "jsonrpc-invalid-params-code";
    let of = |level: &str| {
        let text = format!(
            "[targets.it]\n{}[rules.{rule}]\nlevel = {level:?}\nreason = \"a habit\"\n",
            served("missing-name-internal-error")
        );
        configured(directory.path(), &text, &["--filter", rule, "--transcript", &transcript])
    };
    let must = of("must");
    assert_eq!(must.code, 1, "{}{}", must.stdout, must.stderr);
    assert!(must.stdout.contains("must, set in the configuration: a habit"), "{}", must.stdout);
    let judged = ran(["judge", &transcript]);
    assert_eq!(judged.code, 1, "{}", judged.stdout);
    assert!(judged.stdout.contains("must, set in the configuration: a habit"), "{}", judged.stdout);
    let advice = of("advice");
    assert_eq!(advice.code, 0, "{}{}", advice.stdout, advice.stderr);
    assert!(advice.stdout.contains("1 advice"), "{}", advice.stdout);
}

#[test]
fn mistakes_in_levels_have_a_place_and_a_fix() {
    let directory = tempfile::tempdir().unwrap();
    let unknown =
        "[targets.it]\nhttp = \"http://127.0.0.1:9\"\n[rules.ping-answerd]\nlevel = \"advice\"\nreason = \"x\"\n";
    let ran = configured(directory.path(), unknown, &[]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    for part in ["mcp-conform.toml:3:8", "unknown rule `ping-answerd`", "did you mean `ping-answered`?"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let ran = configured(directory.path(), "[rules.ping-answered]\nlevel = \"may\"\n", &[]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    for part in ["mcp-conform.toml:2:9", "unknown level `may`", "a rule needs `reason`"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

#[test]
fn a_file_overrides_those_that_it_extends() {
    let directory = tempfile::tempdir().unwrap();
    let shared = directory.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::write(shared.join("known.toml"), "").unwrap();
    let base = format!(
        "strict = true\nbaseline = \"known.toml\"\n[limits]\nrequest = 7\nwalk_nodes = 9\n\
         [targets.it]\n{}default = true\n[targets.other]\nhttp = \"http://127.0.0.1:9\"\n",
        served("missing-name-internal-error")
    );
    fs::write(shared.join("base.toml"), base).unwrap();
    let extends = "extends = \"shared/base.toml\"\n";
    let line = ["--filter", "jsonrpc-invalid-params-code"];
    let inherited = configured(directory.path(), extends, &line);
    assert_eq!(inherited.code, 1, "strict is inherited: {}{}", inherited.stdout, inherited.stderr);
    let overridden = configured(directory.path(), &format!("{extends}strict = false\n"), &line);
    assert_eq!(overridden.code, 0, "{}{}", overridden.stdout, overridden.stderr);
    // A target of the same name replaces the inherited one.
    let replaced = format!("{extends}[targets.it]\n{}", served("id-lowercased"));
    let replaced = configured(directory.path(), &replaced, &["it", line[0], line[1]]);
    assert_eq!(replaced.code, 0, "{}{}", replaced.stdout, replaced.stderr);
}

#[test]
fn mistakes_in_extended_files_are_shown_where_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let missing = configured(directory.path(), "strict = true\nextends = \"shared.toml\"\n", &[]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
    for part in ["mcp-conform.toml:2:11", "failed to read", "shared.toml"] {
        assert!(missing.stderr.contains(part), "{part}: {}", missing.stderr);
    }
    fs::write(directory.path().join("shared.toml"), "extends = \"mcp-conform.toml\"\nstrikt = true\n").unwrap();
    let circular = configured(directory.path(), "extends = \"shared.toml\"\n", &[]);
    assert_eq!(circular.code, 2, "{}", circular.stderr);
    for part in
        ["shared.toml:1:11", "`mcp-conform.toml` extends this file", "shared.toml:2:1", "did you mean `strict`?"]
    {
        assert!(circular.stderr.contains(part), "{part}: {}", circular.stderr);
    }
}
