//! The report of a client that follows instructions.

use std::{
    collections::{HashMap, HashSet},
    fmt::Display,
    fs,
    io::Read,
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    outcome::excerpt::middle,
    suite::{Action, Do},
};

/// Longer reports are truncated.
const LONGEST: u64 = 16 << 20;
/// Columns of a wrong value in a note.
const SHOWN: usize = 30;

/// The kinds of failures that a client can report.
const KINDS: [&str; 6] = ["error", "timeout", "closed", "invalid", "unsupported", "cancelled"];

/// Every action with its reported result, whether the client reported anything, and the lines that do not follow the
/// format. Those count as not reported: a mistake in a report says nothing about what the client sent.
pub fn actions(drive: &[Action], report: &Path) -> (Vec<Value>, bool, Vec<String>) {
    let mut text = String::new();
    let read = fs::File::open(report).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    let known = numbers(drive);
    let (mut reported, mut mistakes) = (HashMap::new(), Vec::new());
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match parsed(line, &known) {
            Ok((number, line)) => drop(reported.insert(number, line)),
            Err(why) => mistakes.push(format!("line {}: {why}", index + 1)),
        }
    }
    let follows = read.is_ok() && !reported.is_empty();
    let mut all = Vec::new();
    // The first action is always `connect`.
    for (index, action) in drive.iter().enumerate() {
        describe(&mut all, &reported, (index, index + 1), action);
    }
    (all, follows, mistakes)
}

/// One note for all mistakes, with the first.
pub fn note(mistakes: &[String]) -> Option<String> {
    let (first, others) = mistakes.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        number => format!(", and {number} more"),
    };
    Some(format!("a report of actions has lines that were ignored: {first}{more}"))
}

/// One line of a report, and the number of its action.
fn parsed(line: &str, known: &HashSet<String>) -> Result<(String, Value), String> {
    let line: Value = serde_json::from_str(line).map_err(|_| "it is not JSON".to_owned())?;
    let number = number(&line["action"]).ok_or("`action` is not the number of an action")?;
    if !known.contains(&number) {
        return Err(format!("there is no action {number}"));
    }
    match (&line["ok"], &line["kind"]) {
        (Value::Bool(true), _) | (Value::Bool(false), Value::Null) => {}
        (Value::Bool(false), Value::String(kind)) if KINDS.contains(&kind.as_str()) => {}
        (Value::Bool(false), kind) => {
            return Err(format!(
                "`kind` is {}, expected one of {}",
                middle(&kind.to_string(), SHOWN),
                KINDS.join(", ")
            ));
        }
        _ => return Err("`ok` is not true or false".to_owned()),
    }
    Ok((number, line))
}

/// The numbers of all actions as a client counts them: `connect` is 0, and `close` is the last.
fn numbers(drive: &[Action]) -> HashSet<String> {
    fn add(all: &mut HashSet<String>, number: String, action: &Action) {
        for (index, inner) in action.inner().iter().enumerate() {
            add(all, format!("{number}.{index}"), inner);
        }
        all.insert(number);
    }
    // The last action is always `close`.
    let mut all = HashSet::from(["0".to_owned(), (drive.len() + 1).to_string()]);
    drive.iter().enumerate().for_each(|(index, action)| add(&mut all, (index + 1).to_string(), action));
    all
}

fn number(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}

/// The actions of a suite count from 0; a client also counts the connect action before them.
fn describe(
    all: &mut Vec<Value>,
    reported: &HashMap<String, Value>,
    (number, reported_as): (impl Display, impl Display),
    action: &Action,
) {
    let fields = json!(action);
    let mut item =
        json!({ "nr": number.to_string(), "do": fields["do"], "action": fields, "end": "none", "frames": [] });
    match reported.get(&reported_as.to_string()) {
        Some(line) if line["ok"] == true => {
            // A result in the client's own format proves nothing.
            if let Some(result) = result(action, &line["result"]) {
                item["end"] = json!("ok");
                item["whole"] = json!(line["result"].is_object());
                item["result"] = result;
            }
        }
        Some(line) => {
            item["end"] = json!("failed");
            for field in ["kind", "message"] {
                if let Some(value) = line.get(field) {
                    item[field] = value.clone();
                }
            }
        }
        None => {}
    }
    all.push(item);
    for (index, inner) in action.inner().iter().enumerate() {
        let numbers = (format!("{number}.{index}"), format!("{reported_as}.{index}"));
        describe(all, reported, numbers, inner);
    }
}

/// Fields of results that hold a list.
const LISTS: [&str; 6] = ["tools", "resources", "resourceTemplates", "prompts", "tasks", "skills"];

/// A reported result in the form that rules see: the items of a list, other results as the server sends them. A client
/// may report a list as one result or as all pages, and contents alone.
fn result(action: &Action, reported: &Value) -> Option<Value> {
    let wrapped = |field: &str| match reported {
        Value::Array(_) => Some(json!({ field: reported })),
        _ => reported.is_object().then(|| reported.clone()),
    };
    match action.what {
        Do::List { .. } | Do::Walk | Do::Directory { .. } => items(reported),
        Do::Read { .. } | Do::File { .. } => wrapped("contents"),
        Do::Call { .. } => wrapped("content"),
        _ => Some(reported.clone()),
    }
}

fn items(reported: &Value) -> Option<Value> {
    let of_page = |page: &Value| LISTS.into_iter().find_map(|field| page[field].as_array().cloned());
    match reported {
        Value::Array(items) => {
            let pages: Option<Vec<_>> = items.iter().map(of_page).collect();
            let flat = pages.filter(|pages| !pages.is_empty()).map(|pages| pages.concat().into());
            Some(flat.unwrap_or_else(|| reported.clone()))
        }
        page => of_page(page).map(Value::Array),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::LISTS;

    fn list() -> Action {
        Do::List { of: &LISTS[0], pages: None, uri: None, prefix: None }.into()
    }

    #[test]
    fn actions_are_found_by_their_numbers() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let lines =
            "{\"action\":1,\"ok\":true,\"result\":[]}\nnoise\n{\"action\":\"2.1\",\"ok\":false,\"kind\":\"timeout\"}\n";
        fs::write(file.path(), lines).expect("it can be written");
        let drive = [
            list(),
            Do::Parallel { staggered: None, actions: vec![Do::Ping.into(), Do::Wait { ms: 1 }.into()] }.into(),
        ];
        let (all, follows, mistakes) = actions(&drive, file.path());
        assert!(follows);
        assert_eq!(mistakes, ["line 2: it is not JSON"]);
        let ends: Vec<_> = all.iter().map(|item| (item["nr"].as_str(), item["end"].as_str())).collect();
        let expected = [("0", "ok"), ("1", "none"), ("1.0", "none"), ("1.1", "failed")];
        assert_eq!(ends, expected.map(|(number, end)| (Some(number), Some(end))));
        assert!(!actions(&drive, Path::new("/nowhere")).1);
    }

    #[test]
    fn lines_with_mistakes_are_not_results() {
        let known = numbers(&[Do::Ping.into()]);
        for (line, why) in [
            (r#"{"action":1,"ok":false,"kind":"oops"}"#, "`kind` is \"oops\", expected one of error, timeout"),
            (r#"{"action":1,"ok":false,"kind":7}"#, "`kind` is 7"),
            (r#"{"action":3,"ok":true}"#, "there is no action 3"),
            (r#"{"action":-1,"ok":true}"#, "`action` is not the number"),
            (r#"{"action":1,"ok":"yes"}"#, "`ok` is not true or false"),
            ("[]", "`action` is not the number"),
        ] {
            let told = parsed(line, &known).expect_err(line);
            assert!(told.starts_with(why), "{line}: {told}");
        }
        assert!(parsed(r#"{"action":0,"ok":true}"#, &known).is_ok());
        assert_eq!(
            note(&["line 1: a".into(), "line 2: b".into()]).as_deref(),
            Some("a report of actions has lines that were ignored: line 1: a, and 1 more")
        );
    }

    #[test]
    fn results_are_read_in_the_forms_that_clients_have_them_in() {
        let (list, read) = (list(), Do::Read { uri: "a:b".to_owned() }.into());
        let items = json!([{ "name": "a" }, { "name": "b" }]);
        let pages = json!([{ "tools": [{ "name": "a" }], "nextCursor": "1" }, { "tools": [{ "name": "b" }] }]);
        for reported in [&items, &json!({ "tools": items }), &pages] {
            assert_eq!(result(&list, reported), Some(items.clone()));
        }
        let contents = json!([{ "uri": "a:b", "text": "c" }]);
        for reported in [&contents, &json!({ "contents": contents })] {
            assert_eq!(result(&read, reported), Some(json!({ "contents": contents })));
        }
        assert_eq!(result(&list, &json!("2 tools")), None);
        assert_eq!(result(&read, &json!("c")), None);
    }
}
