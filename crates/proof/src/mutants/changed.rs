//! The rules and faults that a change in suites, shapes or faults affects, according to git. These have to be proved
//! again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use mcp_conform::{
    error::Error,
    suite::{SURVEY, Suite},
};

const SUITES: &str = "suites/";
const SHAPES: &str = "suites/shapes/";
const REFERENCE: &str = "crates/reference-";

#[derive(Debug, Default)]
pub struct Changed {
    pub rules: BTreeSet<String>,
    pub faults: BTreeSet<String>,
    /// Changed source files: what they affect is unknown.
    pub code: Vec<String>,
    /// The root of the checkout.
    pub root: PathBuf,
}

/// The difference between the checkout around the working directory and that commit.
pub fn changed(base: &str, suites: &[Suite]) -> Result<Changed, Error> {
    let root = PathBuf::from(git(Path::new("."), &["rev-parse", "--show-toplevel"])?.trim());
    let tracked = git(&root, &["diff", "--name-only", base, "--"])?;
    let untracked = git(&root, &["ls-files", "--others", "--exclude-standard"])?;
    let mut changed = Changed { root: root.clone(), ..Changed::default() };
    for path in tracked.lines().chain(untracked.lines()) {
        let is_data = path.starts_with(SUITES) || path.starts_with(REFERENCE);
        let is = |kind: &str| Path::new(path).extension().is_some_and(|extension| extension == kind);
        if !is_data || !is("yaml") {
            changed.code.extend(is("rs").then(|| path.to_owned()));
            continue;
        }
        // A new file had no content before, and a deleted file has none now.
        let before = git(&root, &["show", &format!("{base}:{path}")]).unwrap_or_default();
        let now = fs::read_to_string(root.join(path)).unwrap_or_default();
        let [before, now] = [before, now].map(|text| serde_saphyr::from_str::<Value>(&text).unwrap_or_default());
        if path.starts_with(REFERENCE) {
            for key in ["fault", "variation"] {
                changed.faults.extend(differing(&named(&before, key), &named(&now, key)));
            }
        } else if path.starts_with(SHAPES) {
            changed.rules.extend(suites.iter().flat_map(|suite| with_shapes(&root.join(&suite.file))));
        } else {
            changed.rules.extend(affected(before, now, suites));
        }
    }
    let rules = suites.iter().flat_map(|suite| &suite.rules).filter(|rule| changed.rules.contains(&rule.id));
    changed.faults.extend(rules.flat_map(|rule| &rule.faults).cloned());
    Ok(changed)
}

/// The changed rules of a suite. If its steps changed, these are all its rules and all rules that use its evidence.
fn affected(mut before: Value, mut now: Value, suites: &[Suite]) -> BTreeSet<String> {
    let [old, new] = [&mut before, &mut now].map(|suite| suite.get_mut("rules").map(Value::take).unwrap_or_default());
    if before == now {
        return differing(&named(&old, "id"), &named(&new, "id"));
    }
    let id = now["suite"].as_str().unwrap_or_default();
    let looks = |suite: &&Suite| suite.id == id || id == SURVEY || suite.requires.iter().any(|other| other == id);
    suites.iter().filter(looks).flat_map(|suite| &suite.rules).map(|rule| rule.id.clone()).collect()
}

fn with_shapes(suite: &Path) -> Vec<String> {
    let text = fs::read_to_string(suite).unwrap_or_default();
    let tree = serde_saphyr::from_str::<Value>(&text).unwrap_or_default();
    let rules = named(&tree["rules"], "id").into_iter();
    rules.filter(|(_, rule)| rule.to_string().contains("shape")).map(|(id, _)| id).collect()
}

/// The items of a list, by name. A rule in a group has the keys of its group, too.
fn named(list: &Value, key: &str) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for item in list.as_array().into_iter().flatten() {
        if let Some(rules) = item.get("rules") {
            let mut shared = item.clone();
            shared["rules"].take();
            found.extend(named(rules, key).into_iter().map(|(name, rule)| (name, json!([shared, rule]))));
        } else if let Some(name) = item[key].as_str() {
            found.insert(name.to_owned(), item.clone());
        }
    }
    found
}

fn differing(before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) -> BTreeSet<String> {
    now.iter().filter(|(name, item)| before.get(*name) != Some(*item)).map(|(name, _)| name.clone()).collect()
}

fn git(directory: &Path, arguments: &[&str]) -> Result<String, Error> {
    let failed = |why: String| Error::Usage {
        message: format!("`git {}` failed: {why}", arguments.join(" ")),
        help: Some("--changed compares a git checkout with one of its commits".to_owned()),
    };
    let output = Command::new("git").arg("-C").arg(directory).args(arguments).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::affected;

    #[test]
    fn a_changed_rule_affects_itself_and_a_changed_step_the_whole_suite() {
        let suites = mcp_conform::run::inputs::suites::built_in().expect("the built-in suites load");
        let suite = |must: &str, method: &str, where_from: &str| {
            let group = json!({ "every": { "message": where_from }, "rules": [{ "id": "three", "must": "stay" }] });
            let rules = json!([{ "id": "one", "must": "stay" }, { "id": "two", "must": must }, group]);
            json!({ "suite": "base.pagination", "gather": [{ "call": method }], "rules": rules })
        };
        let changed = |now| affected(suite("be", "ping", "$messages"), now, &suites).into_iter().collect::<Vec<_>>();
        assert_eq!(changed(suite("be", "ping", "$messages")), Vec::<String>::new());
        assert_eq!(changed(suite("become", "ping", "$messages")), ["two"]);
        assert_eq!(changed(suite("be", "ping", "$sent")), ["three"]);
        assert!(changed(suite("be", "tools/list", "$messages")).contains(&"pagination-next-cursor-string".to_owned()));
    }
}
