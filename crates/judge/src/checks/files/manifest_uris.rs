//! The URIs of the files of a directory, which a manifest lists with the URI of its main file.
//!
//! `part` is `below` (each is in the directory of the main file), `unique` (none occurs twice, in whatever spelling),
//! `files` (none is a directory of others), `main` and `main-exact` (the main file is among them, in any spelling or in the
//! same one), `nested` (the files of each of `others` in the directory are among them), `folder` (the directory has this `name`), or `links` (relative links in `contents` of the main file lead to
//! one of them).

use std::collections::HashSet;

use iri_string::types::{UriAbsoluteStr, UriReferenceStr, UriStr};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{
    file_bytes::{about, bytes},
    markdown_links::links,
};
use crate::checks::{Check, Fault, Given, Report, texts};

pub const CHECK: Check =
    Check { name: "manifest-uris", given: &["uri", "files?", "others?", "name?", "contents?", "part"], run };

/// Findings for one manifest.
const FINDINGS: usize = 5;

fn run(given: &Given) -> Report {
    let (main, files) = (given.text("uri"), texts(given.value("files")));
    let Some(main_form) = normal(main) else { return Report::default() };
    let Some((root, _)) = main_form.rsplit_once('/') else { return Report::default() };
    let found: Vec<String> = match given.text("part") {
        "folder" => return folder(given, &main_form),
        "nested" => return without_nested(given, root, &files),
        "links" => return dead_links(given, &main_form, &files),
        "main" | "main-exact" => {
            let exact = given.text("part") == "main-exact";
            let is_main = |file: &&str| if exact { *file == main } else { normal(file).as_ref() == Some(&main_form) };
            let missing = || vec![format!("expected an element with the URI {main}")];
            if files.iter().any(is_main) { Vec::new() } else { missing() }
        }
        "unique" => repeated(&files),
        "files" => directories(&files, root),
        _ => outside(&files, root),
    };
    let fault = |message: String| Fault { given: "uri", subject: Some(main.to_owned()), message, ..Fault::default() };
    Report { checked: 1, faults: found.into_iter().take(FINDINGS).map(fault).collect(), broken: None }
}

pub fn normal(uri: &str) -> Option<String> {
    UriStr::new(uri).ok().map(|uri| uri.normalize().to_string())
}

/// A URI that is none is reported by another rule.
fn outside(files: &[&str], root: &str) -> Vec<String> {
    let is_outside = |file: &&&str| normal(file).is_some_and(|file| !is_below(&file, root));
    files.iter().filter(is_outside).map(|file| format!("{file} is not below {root}")).collect()
}

/// Whether a URI is in a directory, or in one below it.
pub fn is_below(uri: &str, root: &str) -> bool {
    uri.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| !rest.is_empty())
}

fn repeated(files: &[&str]) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for file in files {
        if !seen.insert(normal(file).unwrap_or_else(|| (*file).to_owned())) {
            found.push(format!("{file} is listed more than once"));
        }
    }
    found
}

fn directories(files: &[&str], root: &str) -> Vec<String> {
    let forms: Vec<String> = files.iter().filter_map(|file| normal(file)).collect();
    let ends = |form: &str| form.match_indices('/').map(|(end, _)| end).collect::<Vec<_>>();
    let parents: HashSet<&str> =
        forms.iter().flat_map(|form| ends(form.trim_end_matches('/')).into_iter().map(|end| &form[..end])).collect();
    let is_directory = |form: &&String| {
        let form = form.trim_end_matches('/');
        form == root || parents.contains(form)
    };
    forms.iter().filter(is_directory).map(|form| format!("{form} is a directory")).collect()
}

/// The files of each other manifest whose main file is in the directory.
fn without_nested(given: &Given, root: &str, files: &[&str]) -> Report {
    let known: HashSet<String> = files.iter().filter_map(|file| normal(file)).collect();
    let mut report = Report::default();
    for other in given.list("others") {
        let Some(main) = other["uri"].as_str().and_then(normal) else { continue };
        let inside = main.rsplit_once('/').is_some_and(|(home, _)| is_below(home, root));
        let Some(listed) = other["resources"].as_array().filter(|_| inside) else { continue };
        report.checked += 1;
        let missing = listed.iter().filter_map(|file| normal(file["uri"].as_str()?)).find(|file| !known.contains(file));
        report.faults.extend(missing.map(|file| Fault {
            given: "uri",
            subject: Some(given.text("uri").to_owned()),
            message: format!("{main} is a skill in this directory, and its file {file} is not listed here"),
            ..Fault::default()
        }));
    }
    report
}

/// The segment before the last one is the name of the directory. With a single segment it is the authority.
fn folder(given: &Given, main: &str) -> Report {
    let Some(name) = given.value("name").as_str() else { return Report::default() };
    let Some((parent, _)) = main.rsplit_once('/') else { return Report::default() };
    let segment = parent.rsplit(['/', ':']).next().unwrap_or_default();
    let segment = percent_decode_str(segment).decode_utf8_lossy();
    let fault = Fault {
        given: "uri",
        message: format!("the last directory of the URI is {segment}, the name is {name}"),
        expected: Some(json!(name)),
        received: Some(json!(segment)),
        ..Fault::default()
    };
    Report::of(if segment == name { Vec::new() } else { vec![fault] })
}

/// A link resolves against the directory of the file that it is in. One that leads outside is no file of the skill.
fn dead_links(given: &Given, main: &str, files: &[&str]) -> Report {
    let text = about(given.list("contents"), given.text("uri")).next().and_then(|(_, content)| bytes(content));
    let Some(text) = text.and_then(|bytes| String::from_utf8(bytes.into_owned()).ok()) else {
        return Report::default();
    };
    let Ok(base) = UriAbsoluteStr::new(main) else { return Report::default() };
    let known: HashSet<String> = files.iter().filter_map(|file| normal(file)).collect();
    let target = |link: &str| {
        let path = link.split(['?', '#']).next()?;
        Some(UriReferenceStr::new(path).ok()?.resolve_against(base).and_normalize().to_string())
    };
    let mut report = Report::default();
    for link in links(&text) {
        let Some(target) = target(&link) else { continue };
        report.checked += 1;
        let is_directory = |file: &String| is_below(file, target.trim_end_matches('/'));
        if !known.contains(&target) && !known.iter().any(is_directory) && report.faults.len() < FINDINGS {
            let message = format!("the link {link} leads to {target}, which is no file of the skill");
            let subject = Some(given.text("uri").to_owned());
            report.faults.push(Fault {
                given: "contents",
                subject,
                message,
                received: Some(Value::from(link)),
                ..Fault::default()
            });
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    const MAIN: &str = "skill://acme/a/SKILL.md";

    fn found<const N: usize>(part: &str, files: [&str; N]) -> Vec<String> {
        let given =
            [("uri", json!(MAIN)), ("files", json!(files.as_slice())), ("name", json!("a")), ("part", json!(part))];
        let report = tried(&CHECK, Revision::NEWEST, given);
        assert_eq!(report.checked, 1);
        report.faults.into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn files_are_below_the_directory_of_the_main_file() {
        assert_eq!(found("below", [MAIN, "skill://acme/a/b/c.md", "SKILL://acme/a/./x"]), [""; 0]);
        let odd = ["skill://acme/ab/c.md", "skill://acme/a", "skill://acme/a/../c.md", "https://acme/a/x"];
        assert_eq!(found("below", odd).len(), 4);
    }

    #[test]
    fn files_are_listed_once_and_directories_not_at_all() {
        assert_eq!(found("unique", [MAIN, "skill://acme/a/x%2Dy", "skill://acme/a/x-y"]).len(), 1);
        assert_eq!(found("files", [MAIN, "skill://acme/a/b", "skill://acme/a/b-c"]), [""; 0]);
        assert_eq!(found("files", [MAIN, "skill://acme/a/b/", "skill://acme/a/b/c", "skill://acme/a"]).len(), 2);
    }

    #[test]
    fn the_main_file_is_among_them() {
        assert_eq!((found("main", [MAIN]), found("main-exact", [MAIN])), (vec![], vec![]));
        let spelled = "SKILL://acme/a/SKILL.md";
        assert_eq!((found("main", [spelled]).len(), found("main-exact", [spelled]).len()), (0, 1));
        assert_eq!(found("main", []).len(), 1);
    }

    #[test]
    fn the_directory_has_the_name() {
        let one = |uri: &str| {
            let given = [("uri", json!(uri)), ("name", json!("a")), ("part", json!("folder"))];
            tried(&CHECK, Revision::NEWEST, given).faults.len()
        };
        assert_eq!((one(MAIN), one("skill://a/SKILL.md"), one("skill://%61/SKILL.md")), (0, 0, 0));
        assert_eq!((one("skill://b/SKILL.md"), one("skill://a/2.1/SKILL.md")), (1, 1));
    }

    #[test]
    fn relative_links_lead_to_files() {
        let text = "[a](x.md#y) [b](b/) ![c](../c.png) [d](https://x/y) [e](gone.md) `[f](code.md)`";
        let given = [
            ("uri", json!(MAIN)),
            ("files", json!([MAIN, "skill://acme/a/x.md", "skill://acme/a/b/c"])),
            ("contents", json!([{ "uri": MAIN, "text": text }])),
            ("part", json!("links")),
        ];
        let report = tried(&CHECK, Revision::NEWEST, given);
        let links: Vec<_> = report.faults.into_iter().filter_map(|fault| fault.received).collect();
        assert_eq!((report.checked, links), (4, vec![json!("../c.png"), json!("gone.md")]));
    }
}
