//! Deeply nested files are rejected like any other unreadable file.

use std::fs;

use crate::typed;

const DEPTH: usize = 100_000;

#[test]
fn what_is_nested_too_deep_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let nested = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    let transcript = file("deep.jsonl", &format!("{{\"frame\":{{\"message\":{nested}}}}}"));
    let report = file("deep.json", &format!("{{\"schema\":1,\"target\":{{\"capabilities\":{nested}}}}}"));
    let suite = file("deep.yaml", &format!("suite: a\nvalues: {nested}"));
    let config = file("deep.toml", &format!("[facts]\nslow = {nested}"));
    for command in [
        format!("judge {transcript}"),
        format!("report render {report}"),
        format!("check {suite}"),
        format!("run --config {config}"),
    ] {
        let ran = typed(&command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("recursion") && ran.stderr.len() < 5000, "{command}: {}", ran.stderr);
    }
}
