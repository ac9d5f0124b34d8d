//! Runs the commands in `examples/` unchanged: a worker for each part, and the merge.
#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

use crate::{PROGRAM, path};

/// A YAML file of `examples/`.
fn example(name: &str) -> Value {
    let text = fs::read_to_string(path("examples").join(name)).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|why| panic!("{name}: {why}"))
}

fn shell(script: &str, directory: &Path, variables: &[(&str, &str)]) -> Output {
    let folder = Path::new(PROGRAM).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(directory).env("PATH", path).envs(variables.iter().copied());
    command.output().unwrap()
}

/// Servers that are quick to test: two that crash, and one without faults in an old revision.
fn targets(directory: &Path) {
    let text = "[targets.a]\nstdio = [\"false\"]\n[targets.b]\nstdio = [\"false\"]\n\
                [targets.c]\nstdio = [\"mcp-conform\", \"serve\", \"--revision\", \"2024-11-05\"]\n";
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("targets.toml"), text).unwrap();
}

fn assert_merged(directory: &Path, merge: &Output) {
    assert_eq!(merge.status.code(), Some(3), "{merge:?}");
    let matrix = fs::read_to_string(directory.join("results/matrix.json")).unwrap();
    let matrix: Value = serde_json::from_str(&matrix).unwrap();
    assert_eq!(matrix["by_standing"], serde_json::json!({ "broken": 2, "conforming": 1 }), "{matrix:#}");
}

#[test]
fn on_kubernetes() {
    let directory = tempfile::tempdir().unwrap();
    targets(&directory.path().join("targets"));
    let script = |job: &Value| {
        let container = &job["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(
            (&container["command"], &container["workingDir"]),
            (&serde_json::json!(["sh", "-c"]), &"/work".into())
        );
        container["args"][0].as_str().unwrap().to_owned()
    };
    let workers = example("kubernetes/workers.yaml");
    assert_eq!(workers["spec"]["completionMode"], "Indexed");
    let completions = workers["spec"]["completions"].as_u64().unwrap();
    assert!(script(&workers).contains(&format!("/{completions}\"")), "a part for each worker");
    for index in 0..completions {
        let ran = shell(&script(&workers), directory.path(), &[("JOB_COMPLETION_INDEX", &index.to_string())]);
        assert!(ran.status.success(), "{ran:?}");
    }
    assert_merged(directory.path(), &shell(&script(&example("kubernetes/merge.yaml")), directory.path(), &[]));
}

#[test]
fn on_github() {
    let directory = tempfile::tempdir().unwrap();
    targets(directory.path());
    let workflow = example("github/servers.yaml");
    // The installation of the program is not run here.
    let commands = |job: &Value| -> Vec<String> {
        let steps = job["steps"].as_array().unwrap().iter().filter_map(|step| step["run"].as_str());
        steps.filter(|line| !line.starts_with("cargo install")).map(str::to_owned).collect()
    };
    let part = &workflow["jobs"]["part"];
    let parts = part["strategy"]["matrix"]["part"].as_array().unwrap();
    let [test] = commands(part).try_into().unwrap();
    assert!(test.ends_with(&format!("/{}", parts.len())), "a machine for each part: {test}");
    for part in parts {
        let ran = shell(&test.replace("${{ matrix.part }}", &part.to_string()), directory.path(), &[]);
        assert!(matches!(ran.status.code(), Some(0 | 3 | 4)), "{ran:?}");
    }
    let [merge, summary] = commands(&workflow["jobs"]["merge"]).try_into().unwrap();
    assert_merged(directory.path(), &shell(&merge, directory.path(), &[]));
    let told = directory.path().join("summary");
    assert!(shell(&summary, directory.path(), &[("GITHUB_STEP_SUMMARY", told.to_str().unwrap())]).status.success());
    assert!(fs::read_to_string(told).unwrap().starts_with("## ❌ Of 3 servers 2 could not be tested or died"));
}
