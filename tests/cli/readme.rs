//! The README shows the real output. `MCP_CONFORM_BLESS=1` rewrites the output in it.

use std::{env, fs};

use regex::Regex;

use crate::{assert_shown, lasting, path, ran, typed};

/// The blocks of a language, without their fences.
fn blocks(readme: &str, language: &str) -> Vec<String> {
    let pattern = format!(r"(?s)```{language}\n(.*?)```");
    let fenced = Regex::new(&pattern).expect("a pattern");
    fenced.captures_iter(readme).map(|block| block[1].to_owned()).collect()
}

fn readme() -> String {
    fs::read_to_string(path("README.md")).expect("the README")
}

#[test]
fn the_run_it_shows_is_real() {
    let kept = readme();
    let shown = blocks(&kept, "console").concat();
    let typed_in = Regex::new(r"^\$ mcp-conform ((?:.*\\\n)*.*)\n").expect("a pattern");
    let command = &typed_in.captures(&shown).expect("a command")[1];
    let output = typed(&command.replace("\\\n", " ")).stdout;
    let real = format!("$ mcp-conform {command}\n{output}");
    if env::var_os("MCP_CONFORM_BLESS").is_some() {
        if lasting(&real) != lasting(&shown) {
            fs::write(path("README.md"), kept.replace(&shown, &real)).expect("the README can be written");
        }
        return;
    }
    assert_shown(&real, &shown);
}

#[test]
fn the_suite_it_shows_loads_and_holds() {
    let readme = readme();
    let suite = blocks(&readme, "yaml").into_iter().find(|block| block.starts_with("suite: ")).expect("a suite");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("house.yaml").display().to_string();
    fs::write(&file, &suite).unwrap();
    let checked = ran(["check", &file]);
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""));
    let judged = ran(["run", "--reference", "--suite", &file, "--filter", "house", "--verbose"]);
    assert_eq!(judged.code, 0, "{}", judged.stdout);
    assert!(judged.stdout.contains("pass            house-readme-is-markdown"), "{}", judged.stdout);

    // The rule can also fail.
    fs::write(&file, suite.replace("text/markdown", "text/plain")).unwrap();
    assert_eq!(ran(["run", "--reference", "--suite", &file, "--filter", "house"]).code, 1);
}

#[test]
fn the_options_it_names_exist() {
    let readme = readme();
    let help: String =
        ["init", "run", "client", "record", "serve", "judge"].map(|command| ran([command, "--help"]).stdout).concat();
    let options = Regex::new(r"--[a-z][a-z-]*").expect("a pattern");
    let of_cargo = ["--release", "--path", "--locked", "--open", "--help", "--quiet", "--flag", "--silent", "--git"];
    for option in options.find_iter(&readme).map(|found| found.as_str()).filter(|option| !of_cargo.contains(option)) {
        assert!(help.contains(option), "{option} is not in any help");
    }
}

#[test]
fn its_exit_codes_are_those_of_the_help() {
    let (readme, help) = (readme(), typed("--help").stdout);
    for code in 0..=4 {
        let row = help.lines().find_map(|line| line.trim().strip_prefix(&format!("{code}  "))).expect("a row");
        let row = row.replace("--strict", "`--strict`");
        assert!(readme.contains(&format!("| {code} | {row} |")), "{code}: {row}");
    }
}

#[test]
fn the_files_it_links_to_are_there() {
    let links = Regex::new(r"\]\(([^):#]+)\)").expect("a pattern");
    for link in links.captures_iter(&readme()) {
        assert!(path(&link[1]).exists(), "{}", &link[1]);
    }
}

#[test]
fn the_configurations_that_are_shown_load() {
    for page in ["README.md", "docs/configuration.md"] {
        let configuration = blocks(&fs::read_to_string(path(page)).expect("the page"), "toml").concat();
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::write(directory.path().join("shared.toml"), "").unwrap();
        let file = project.join("mcp-conform.toml").display().to_string();
        fs::write(&file, configuration).unwrap();
        let ran = ran(["run", "--config", &file, "nowhere"]);
        assert_eq!(ran.code, 2, "{page}");
        assert!(ran.stderr.contains("nowhere") && ran.stderr.contains("local"), "{page}: {}", ran.stderr);
    }
}
