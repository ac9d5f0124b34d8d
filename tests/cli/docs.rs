//! What the pages of docs/ show is what happens. `MCP_CONFORM_BLESS=1` rewrites the output that they show.
//!
//! Fenced blocks are played in order, each page in a directory of its own: `LANGUAGE file=PATH` is a file to write, `console` a
//! session to have, `sh` lines that have to be understood.

use std::{env, fs, path::Path, time::Duration};

use assert_cmd::Command;
use clap::Parser as _;
use mcp_conform::cli::Cli;
use regex::Regex;

use crate::{PROGRAM, assert_shown, path};

struct Block {
    language: String,
    file: Option<String>,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let fenced = Regex::new(r"(?ms)^```(\w+)(?: file=(\S+))?\n(.*?)^```$").expect("a pattern");
    let block = |found: regex::Captures| Block {
        language: found[1].to_owned(),
        file: found.get(2).map(|file| file.as_str().to_owned()),
        text: found[3].to_owned(),
    };
    fenced.captures_iter(page).map(block).collect()
}

/// The commands of a session, each with all that it said.
fn played(session: &str, directory: &Path) -> String {
    let commands = session.lines().filter_map(|line| line.strip_prefix("$ mcp-conform "));
    let said = |line: &str| {
        let output = Command::new(PROGRAM)
            .current_dir(directory)
            .env_remove("CLICOLOR_FORCE")
            .args(shlex::split(line).expect("a command line"))
            .timeout(Duration::from_secs(120))
            .output()
            .expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        format!("$ mcp-conform {line}\n{}\n", String::from_utf8(text).expect("UTF-8").trim_end())
    };
    commands.map(said).collect()
}

#[test]
fn what_the_pages_show_is_what_happens() {
    // Requests go out side by side, so their numbers may differ.
    let numbers = Regex::new(r#"#\d+ +|"id":\d+"#).expect("a pattern");
    for entry in fs::read_dir(path("docs")).expect("docs").flatten() {
        let page = fs::read_to_string(entry.path()).expect("a page");
        let directory = tempfile::tempdir().unwrap();
        let mut blessed = page.clone();
        for block in blocks(&page) {
            if let Some(file) = block.file {
                let file = directory.path().join(file);
                fs::create_dir_all(file.parent().expect("a directory")).unwrap();
                fs::write(file, block.text).unwrap();
            } else if block.language == "console" {
                let real = played(&block.text, directory.path());
                blessed = blessed.replace(&format!("```console\n{}```", block.text), &format!("```console\n{real}```"));
                if env::var_os("MCP_CONFORM_BLESS").is_none() {
                    assert_shown(&numbers.replace_all(&real, "N "), &numbers.replace_all(&block.text, "N "));
                }
            }
        }
        if env::var_os("MCP_CONFORM_BLESS").is_some() {
            fs::write(entry.path(), blessed).expect("the page can be written");
        }
    }
}

#[test]
fn every_command_line_is_understood() {
    let pages =
        fs::read_dir(path("docs")).expect("docs").flatten().map(|entry| entry.path()).chain([path("README.md")]);
    let mut understood = 0;
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        let shell = blocks(&text).into_iter().filter(|block| ["sh", "yaml"].contains(&block.language.as_str()));
        for block in shell {
            for line in block.text.replace("\\\n", " ").lines().filter_map(|line| line.split_once("mcp-conform ")) {
                if !is_a_command(line.0) {
                    continue;
                }
                let line_alone = line.1.split(['|', '#', '>']).next().unwrap_or_default().trim();
                let words = shlex::split(line_alone).expect("a command line");
                let parsed = Cli::try_parse_from(["mcp-conform".to_owned()].into_iter().chain(words));
                if let Err(error) = parsed {
                    let asked = matches!(error.kind(), clap::error::ErrorKind::DisplayHelp);
                    assert!(asked, "{}: mcp-conform {}: {error}", page.display(), line.1);
                }
                understood += 1;
            }
        }
    }
    assert!(understood > 10, "only {understood} command lines were found");
}

/// Whether what stands before a command is where commands stand.
fn is_a_command(before: &str) -> bool {
    matches!(before.trim().trim_start_matches("- "), "" | "-" | "run:")
}

#[test]
fn the_pages_link_to_what_is_there() {
    let links = Regex::new(r"\]\(([^):#]+)(?:#[^)]*)?\)").expect("a pattern");
    for entry in fs::read_dir(path("docs")).expect("docs").flatten() {
        let page = fs::read_to_string(entry.path()).expect("a page");
        for link in links.captures_iter(&page) {
            assert!(path("docs").join(&link[1]).exists(), "{}: {}", entry.path().display(), &link[1]);
        }
    }
}
