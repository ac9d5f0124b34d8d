//! URIs that lead out of what a server lists, to a file that every Unix system has: relative to listed files, and
//! through template variables that take a path.

use iri_string::{template::simple_context::Value as Filling, types::UriStr};
use serde_json::{Value, json};

use conform_suite::format;

const FILE: &str = "etc/passwd";
/// Encodings of the path to the parent; the last one works on servers that decode a path twice.
const UP: [&str; 4] = ["../", "%2e%2e/", "..%2f", "%252e%252e/"];
const STEPS: usize = 8;
/// Maximum number of templates, and of URIs from all of them.
const TEMPLATES: usize = 3;
const WAYS: usize = 7;

/// Each as `{ uri, plain }`: if the server also serves the plain URI, the other one shows no path traversal.
pub fn outside(listed: &[String], templates: &[String]) -> Value {
    let file = listed.iter().find(|uri| uri.starts_with("file:///") && !uri.contains(['?', '#']));
    let climbs = file.into_iter().flat_map(|uri| {
        let folder = uri.trim_end_matches('/').rsplit_once('/').map_or("", |(folder, _)| folder);
        // The root has no parent, so a file in it is used as a folder.
        let folder = if folder.len() > "file://".len() { folder } else { uri.trim_end_matches('/') };
        UP.map(
            |up| json!({ "uri": format!("{folder}/{}{FILE}", up.repeat(STEPS)), "plain": format!("file:///{FILE}") }),
        )
    });
    let plain = |text: &String| Some((expand(text, FILE)?, text.clone()));
    let mut tried: Vec<_> = templates.iter().filter_map(plain).take(TEMPLATES).collect();
    // Templates for a whole path come first.
    tried.sort_by_key(|(_, text)| !text.contains("{+"));
    let up = format!("{}{FILE}", UP[0].repeat(STEPS));
    // An absolute path replaces the base it is joined to. Templates that keep slashes also keep percent signs.
    let ways = [up, format!("/{FILE}"), format!("{}{FILE}", UP[1].repeat(STEPS))];
    let expanded = ways.iter().flat_map(|way| tried.iter().map(move |(plain, text)| (way, plain, text)));
    let expanded = expanded.filter(|(way, _, text)| !way.contains('%') || text.contains("{+"));
    let expanded = expanded.filter_map(|(way, plain, text)| Some(json!({ "uri": expand(text, way)?, "plain": plain })));
    climbs.chain(expanded.take(WAYS)).collect()
}

/// The template with its only variable expanded, if the result is a URI: some are relative references.
fn expand(text: &str, path: &str) -> Option<String> {
    let template = format::template(text)?;
    let mut variables = template.variables();
    let (only, None) = (variables.next()?, variables.next()) else { return None };
    let uri = format::expanded(text, [(only.as_str(), Filling::String(path.to_owned()))].into_iter())?;
    UriStr::new(&uri).is_ok().then_some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_begins_at_the_folder_of_a_listed_file() {
        let uris = |listed: &str, templates: &str| {
            let outside = outside(&[listed.to_owned()], &[templates.to_owned()]);
            let uris = outside.as_array().unwrap().iter().map(|climb| climb["uri"].as_str().unwrap().to_owned());
            uris.collect::<Vec<_>>()
        };
        let up = "../".repeat(STEPS);
        assert_eq!(uris("file:///a/b.md", "")[0], format!("file:///a/{up}etc/passwd"));
        assert_eq!(uris("file:///a/", "x")[0], format!("file:///a/{up}etc/passwd"));
        let encoded = format!("memo:{}etc/passwd", "%2e%2e/".repeat(STEPS));
        assert_eq!(
            uris("memo:x", "memo:{+path}"),
            [format!("memo:{up}etc/passwd"), "memo:/etc/passwd".into(), encoded]
        );
        assert_eq!(uris("memo:x", "memo:{path}").last().unwrap(), "memo:%2Fetc%2Fpasswd");
        assert_eq!(uris("memo:x", "memo:{a}{b}"), [""; 0]);
    }
}
