//! What the document of a read loads by its tags and styles.
//!
//! `part` is `declared` (each origin is in the list for its kind, in the metadata of the contents or else of `listed`) or
//! `relative` (there is nothing that only a base URL leads to, since a host shows the document alone).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    app_document::{element, text},
    loaded::{Loaded, loaded},
    origin::Origin,
};
use crate::checks::{Check, Fault, Given, Report, texts};

pub const CHECK: Check = Check { name: "app-references", given: &["contents", "uri", "listed?", "part"], run };

/// Findings about one document.
const FINDINGS: usize = 10;
/// Characters of a URL in a message.
const SHOWN: usize = 80;

fn run(given: &Given) -> Report {
    let (contents, uri) = (given.list("contents"), given.text("uri"));
    let Some(content) = element(contents, uri) else { return Report::default() };
    let Some(text) = text(content) else { return Report::default() };
    let loaded = loaded(&text);
    let (checked, found) = match given.text("part") {
        "declared" => undeclared(&loaded, policy(content, given.list("listed"), uri)),
        _ => relative(&loaded),
    };
    let fault = |message| Fault { given: "contents", subject: Some(uri.to_owned()), message, ..Fault::default() };
    Report { checked, faults: found.into_iter().take(FINDINGS).map(fault).collect(), broken: None }
}

/// The policy of the contents, or of the resource in the list.
fn policy<'a>(content: &'a Value, listed: &'a [Value], uri: &str) -> &'a Value {
    const CSP: &str = "/_meta/ui/csp";
    let of_list = || listed.iter().find(|resource| resource["uri"] == uri)?.pointer(CSP);
    content.pointer(CSP).or_else(of_list).unwrap_or(&Value::Null)
}

fn undeclared(loaded: &[Loaded], policy: &Value) -> (usize, Vec<String>) {
    let external: Vec<(&Loaded, Origin)> =
        loaded.iter().filter_map(|loaded| Some((loaded, Origin::of(&loaded.url)?))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (loaded, origin) in &external {
        let is_declared = texts(&policy[loaded.list]).into_iter().any(|element| origin.is_in(element));
        if !is_declared && seen.insert((loaded.list, origin.to_string())) {
            let (by, list) = (&loaded.by, loaded.list);
            let declared = policy.get(list).unwrap_or(&Value::Null);
            let declared = if declared.is_null() { "is missing".to_owned() } else { format!("is {declared}") };
            found.push(format!(
                "{by} loads {}, and `csp.{list}` {declared}; expected {}",
                short(&loaded.url),
                json!(origin.to_string())
            ));
        }
    }
    (external.len(), found)
}

fn relative(loaded: &[Loaded]) -> (usize, Vec<String>) {
    // A base that is absolute makes all others so.
    if loaded.iter().any(|loaded| loaded.list == "baseUriDomains" && Origin::of(&loaded.url).is_some()) {
        return (0, Vec::new());
    }
    let is_relative = |url: &str| {
        let has_scheme = url.split_once(':').is_some_and(|(scheme, _)| !scheme.contains(['/', '?', '#']));
        !has_scheme && !url.starts_with("//") && !url.starts_with('#')
    };
    let odd = loaded.iter().filter(|loaded| is_relative(&loaded.url));
    (loaded.len(), odd.map(|loaded| format!("{} has the relative URL {}", loaded.by, short(&loaded.url))).collect())
}

fn short(url: &str) -> String {
    if url.chars().count() <= SHOWN {
        url.to_owned()
    } else {
        format!("{}...", url.chars().take(SHOWN).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    fn found(part: &str, text: &str, csp: Option<Value>, listed: Value) -> (usize, Vec<String>) {
        let mut content = json!({ "uri": "ui://a", "text": text });
        if let Some(csp) = csp {
            content["_meta"] = json!({ "ui": { "csp": csp } });
        }
        let given =
            [("contents", json!([content])), ("uri", json!("ui://a")), ("listed", listed), ("part", json!(part))];
        let report = tried(&CHECK, Revision::NEWEST, given);
        (report.checked, report.faults.into_iter().map(|fault| fault.message).collect())
    }

    #[test]
    fn each_origin_is_in_the_list_for_its_kind() {
        let page = "<script src=https://a.example/x.js></script><img src=https://a.example/y.png><iframe src=https://a.example/z>";
        let csp = |csp: Value| found("declared", page, Some(csp), json!([]));
        assert_eq!(
            csp(json!({ "resourceDomains": ["https://a.example"], "frameDomains": ["https://a.example"] })).1.len(),
            0
        );
        let expected =
            "<iframe src> loads https://a.example/z, and `csp.frameDomains` is missing; expected \"https://a.example\"";
        assert_eq!(csp(json!({ "resourceDomains": ["https://a.example"] })), (3, vec![expected.to_owned()]));
        assert_eq!(csp(json!({ "resourceDomains": "none", "frameDomains": [] })).1.len(), 2);
        assert_eq!(found("declared", page, None, json!([])).1.len(), 2);
        let listed = json!([{ "uri": "ui://a", "_meta": { "ui": { "csp": { "resourceDomains": ["*"], "frameDomains": ["*"] } } } }]);
        assert_eq!(found("declared", page, None, listed.clone()).1.len(), 0);
        assert_eq!(found("declared", page, Some(json!({})), listed).1.len(), 2);
        assert_eq!(found("declared", "<img src=data:,x><script src=x.js></script>", None, json!([])), (0, vec![]));
    }

    #[test]
    fn relative_urls_lead_nowhere() {
        let one = |page: &str| found("relative", page, None, json!([])).1.len();
        assert_eq!((one("<script type=module src=/src/main.tsx></script>"), one("<img src=a.png>")), (1, 1));
        assert_eq!(
            (one("<img src=data:image/gif;base64,xy>"), one("<img src=//a.example/x>"), one("<img src=blob:x>")),
            (0, 0, 0)
        );
        assert_eq!(one("<base href=https://a.example/><img src=a.png>"), 0);
        assert_eq!(one("<style>a{b:url(#gradient)}</style>"), 0);
    }
}
