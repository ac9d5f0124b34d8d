//! `reports/` shows a real run. `MCP_CONFORM_BLESS=1` repeats it.

use std::{env, fs};

use regex::Regex;
use serde_json::Value;

use crate::{path, replay::verdicts, report};

#[test]
fn the_samples_are_of_a_real_run() {
    let told = fs::read_to_string(path("reports/README.md")).expect("the page");
    let command = Regex::new(r"\nmcp-conform (run (?:.*\\\n)*.*)\n").expect("a pattern");
    let command = command.captures(&told).expect("a command")[1].replace("\\\n", " ");
    let (run, code) = report(&command);
    assert_eq!(code, 1, "{command}");
    if env::var_os("MCP_CONFORM_BLESS").is_some() {
        let text = format!("{run:#}\n").replace(env!("CARGO_BIN_EXE_mcp-conform"), "mcp-conform");
        fs::write(path("reports/sample.json"), text).expect("the sample can be written");
    }
    let kept = fs::read_to_string(path("reports/sample.json")).unwrap_or_default();
    let kept: Value = serde_json::from_str(&kept).expect("a report");
    assert_eq!(verdicts(&run), verdicts(&kept), "MCP_CONFORM_BLESS=1 rewrites it");
}
