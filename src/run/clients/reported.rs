//! What a client that follows instructions reports of them.

use std::{collections::HashMap, fmt::Display, fs, io::Read, path::Path};

use serde_json::{Value, json};

/// A longer report is not read to its end.
const LONGEST: u64 = 16 << 20;

/// Every action with what was reported of it, and whether anything was reported at all.
pub fn actions(drive: &[Value], report: &Path) -> (Vec<Value>, bool) {
    let mut text = String::new();
    let read = fs::File::open(report).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let reported: HashMap<String, Value> =
        lines.filter_map(|line| Some((number(line.get("action")?)?, line))).collect();
    let follows = read.is_ok() && !reported.is_empty();
    let mut all = Vec::new();
    // The first action of all is to connect.
    for (index, action) in drive.iter().enumerate() {
        describe(&mut all, &reported, (index, index + 1), action);
    }
    (all, follows)
}

fn number(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}

/// The actions of a suite count from 0; a client also counts the connect action before them.
fn describe(
    all: &mut Vec<Value>,
    reported: &HashMap<String, Value>,
    (number, reported_as): (impl Display, impl Display),
    action: &Value,
) {
    let mut item =
        json!({ "nr": number.to_string(), "do": action["do"], "action": action, "end": "none", "frames": [] });
    if let Some(line) = reported.get(&reported_as.to_string()) {
        item["end"] = json!(if line["ok"] == true { "ok" } else { "failed" });
        for field in ["result", "kind", "message"] {
            if let Some(value) = line.get(field) {
                item[field] = value.clone();
            }
        }
    }
    all.push(item);
    for (index, inner) in action["actions"].as_array().into_iter().flatten().enumerate() {
        let numbers = (format!("{number}.{index}"), format!("{reported_as}.{index}"));
        describe(all, reported, numbers, inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_found_by_their_numbers() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let lines =
            "{\"action\":1,\"ok\":true,\"result\":[]}\nnoise\n{\"action\":\"2.1\",\"ok\":false,\"kind\":\"timeout\"}\n";
        fs::write(file.path(), lines).expect("it can be written");
        let drive = [
            json!({ "do": "list", "of": "tools" }),
            json!({ "do": "parallel", "actions": [{ "do": "ping" }, { "do": "wait" }] }),
        ];
        let (all, follows) = actions(&drive, file.path());
        assert!(follows);
        let ends: Vec<_> = all.iter().map(|item| (item["nr"].as_str(), item["end"].as_str())).collect();
        let expected = [("0", "ok"), ("1", "none"), ("1.0", "none"), ("1.1", "failed")];
        assert_eq!(ends, expected.map(|(number, end)| (Some(number), Some(end))));
        assert!(!actions(&drive, Path::new("/nowhere")).1);
    }
}
