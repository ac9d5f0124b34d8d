//! The pages of docs/ show the real output. `MCP_CONFORM_BLESS=1` rewrites the output in them.
//!
//! Fenced blocks are executed in order, each page in its own directory: `LANGUAGE file=PATH` is a file to write,
//! `console` a session to run, `sh` lines that only have to be valid.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use assert_cmd::Command;
use clap::Parser as _;
use mcp_conform::cli::Cli;
use regex::Regex;

use crate::{PROGRAM, assert_shown, lasting, path, ran, typed};

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

/// The commands of a session, each with its output.
fn played(session: &str, directory: &Path) -> String {
    let folder = Path::new(PROGRAM).parent().expect("a directory").display();
    let search = format!("{folder}:{}", env::var("PATH").unwrap_or_default());
    let commands = session.lines().filter_map(|line| line.strip_prefix("$ mcp-conform "));
    let said = |line: &str| {
        let output = Command::new(PROGRAM)
            .current_dir(directory)
            .env_remove("CLICOLOR_FORCE")
            .env("PATH", &search)
            .args(shlex::split(line).expect("a command line"))
            .timeout(Duration::from_secs(120))
            .output()
            .expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        let text =
            String::from_utf8(text).expect("UTF-8").replace(&directory.display().to_string(), "/home/me/library");
        format!("$ mcp-conform {line}\n{}", text.trim_end().lines().map(|line| format!("{line}\n")).collect::<String>())
    };
    commands.map(said).collect()
}

/// The hand-written pages; those of the rules are generated.
fn pages() -> impl Iterator<Item = PathBuf> {
    fs::read_dir(path("docs")).expect("docs").flatten().map(|entry| entry.path()).filter(|path| path.is_file())
}

#[test]
fn what_the_pages_show_is_what_happens() {
    for file in pages() {
        let page = fs::read_to_string(&file).expect("a page");
        let directory = tempfile::tempdir().unwrap();
        let mut blessed = page.clone();
        for block in blocks(&page) {
            if let Some(file) = block.file {
                let file = directory.path().join(file);
                fs::create_dir_all(file.parent().expect("a directory")).unwrap();
                fs::write(file, block.text).unwrap();
            } else if block.language == "console" {
                let real = played(&block.text, directory.path());
                if env::var_os("MCP_CONFORM_BLESS").is_none() {
                    assert_shown(&real, &block.text);
                } else if lasting(&real) != lasting(&block.text) {
                    let shown = |text| format!("```console\n{text}```");
                    blessed = blessed.replace(&shown(block.text.as_str()), &shown(real.as_str()));
                }
            }
        }
        if env::var_os("MCP_CONFORM_BLESS").is_some() {
            fs::write(file, blessed).expect("the page can be written");
        }
    }
}

#[test]
fn the_program_prints_each_page() {
    let listed = ran(["docs"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
    let mut count = 0;
    for file in pages().filter(|file| file.extension().is_some_and(|extension| extension == "md")) {
        let name = file.file_stem().expect("a name").to_str().expect("UTF-8");
        let page = fs::read_to_string(&file).expect("a page");
        let title = page.lines().next().expect("a title").trim_start_matches("# ");
        let row = listed.stdout.lines().find(|line| line.split_whitespace().next() == Some(name));
        assert!(row.is_some_and(|row| row.ends_with(title)), "{name}: {}", listed.stdout);
        assert_eq!(ran(["docs", name]).stdout.trim_end(), page.trim_end(), "{name}");
        count += 1;
    }
    assert_eq!(listed.stdout.lines().count(), count);

    let misspelled = ran(["docs", "configration"]);
    assert_eq!(misspelled.code, 2);
    assert!(misspelled.stderr.contains("did you mean configuration?"), "{}", misspelled.stderr);
}

/// A user who has only the program has no docs directory.
#[test]
fn texts_of_the_program_name_pages_that_it_has() {
    let template = fs::read_to_string(path("src/run/commands/init/configuration.toml")).expect("the template");
    let schema = fs::read_to_string(path("docs/mcp-conform.schema.json")).expect("the schema");
    let named = Regex::new(r"`mcp-conform\s+docs\s+([a-z-]+)`").expect("a pattern");
    for text in [template, schema, typed("run --help").stdout] {
        assert!(!text.contains("docs/"), "{text}");
        // Help is wrapped.
        let names: Vec<String> = named.captures_iter(&text).map(|found| found[1].to_owned()).collect();
        assert!(!names.is_empty(), "{text}");
        for name in names {
            assert!(path(&format!("docs/{name}.md")).is_file(), "{name}");
        }
    }
}

#[test]
fn every_command_line_is_understood() {
    let mut understood = 0;
    for page in pages().chain([path("README.md")]) {
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

/// Whether the text before a command can precede a command.
fn is_a_command(before: &str) -> bool {
    matches!(before.trim().trim_start_matches("- "), "" | "-" | "run:")
}

#[test]
fn the_pages_link_to_what_is_there() {
    let links = Regex::new(r"\]\(([^):#]+)(?:#[^)]*)?\)").expect("a pattern");
    for file in pages() {
        let page = fs::read_to_string(&file).expect("a page");
        // What a page quotes links to files of others.
        let own = blocks(&page).iter().fold(page.clone(), |page, block| page.replace(&block.text, ""));
        for link in links.captures_iter(&own) {
            assert!(path("docs").join(&link[1]).exists(), "{}: {}", file.display(), &link[1]);
        }
    }
}

/// The files of a directory, by name.
fn texts(directory: &Path) -> BTreeMap<PathBuf, String> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let text = |path: &Path| fs::read_to_string(path).expect("a text");
    entries.map(|path| (path.file_name().expect("a name").into(), text(&path))).collect()
}

#[test]
fn the_pages_of_the_rules_are_those_of_the_suites() {
    let kept = path("docs/rules");
    if env::var_os("MCP_CONFORM_BLESS").is_some() {
        fs::remove_dir_all(&kept).expect("the pages can be removed");
        assert_eq!(ran(["list", "rules", "--pages", "docs/rules"]).code, 0);
        return;
    }
    let made = tempfile::tempdir().unwrap();
    let ran = ran(["list", "rules", "--pages", made.path().to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (made, kept) = (texts(made.path()), texts(&kept));
    assert!(made.keys().eq(kept.keys()), "{:?} and {:?}", made.keys(), kept.keys());
    for (name, text) in &made {
        assert_shown(text, &kept[name]);
    }
}
