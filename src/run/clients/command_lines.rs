//! The command lines for a scenario: one process that reads all its actions, or one process for each action of a
//! command line client.

use serde_json::{Value, json};

use crate::{
    config::Arguments,
    suite::{Action, Do},
};

/// Placeholders for the server that the client connects to.
const PLACES: [&str; 2] = ["{url}", "{stub}"];

/// The command lines of a scenario, in order. Empty if no template exists for any of its actions.
pub fn lines(
    command: &[String],
    templates: &[(String, Arguments)],
    drive: &[Action],
    target: &str,
) -> Vec<Vec<String>> {
    if templates.is_empty() {
        return vec![line(command.iter().cloned(), target)];
    }
    let template = |name: &str| templates.iter().find(|(action, _)| action == name).map(|(_, arguments)| arguments);
    let mut flat = Vec::new();
    flatten(drive, &mut flat);
    let mut lines: Vec<Vec<String>> = Vec::new();
    for action in flat {
        let action = json!(action);
        let Some(arguments) = template(&name(&action)) else { continue };
        let line = line(command.iter().cloned().chain(filled(arguments, &action)), target);
        // Each process is a new connection, so repeating an action shows nothing new.
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    // A scenario without actions only tests connecting; the first of these actions that has a template is enough.
    if drive.is_empty() {
        let any = ["connect", "list-tools", "list-resources", "list-prompts"].into_iter().find_map(template);
        lines.extend(any.map(|arguments| line(command.iter().cloned().chain(filled(arguments, &Value::Null)), target)));
    }
    lines
}

/// The command line with the target in place of the placeholder, or appended.
fn line(words: impl Iterator<Item = String>, target: &str) -> Vec<String> {
    let words: Vec<String> = words.collect();
    let placed = words.iter().any(|word| PLACES.iter().any(|place| word.contains(place)));
    let filled = words.into_iter().map(|word| PLACES.iter().fold(word, |word, place| word.replace(place, target)));
    filled.chain((!placed).then(|| target.to_owned())).collect()
}

/// A command line client runs concurrent actions sequentially.
fn flatten<'a>(drive: &'a [Action], flat: &mut Vec<&'a Action>) {
    for action in drive {
        match &action.what {
            Do::Parallel { actions, .. } => flatten(actions, flat),
            _ => flat.push(action),
        }
    }
}

/// The name of an action as templates use it.
fn name(action: &Value) -> String {
    let name = action["do"].as_str().unwrap_or_default();
    action["of"].as_str().map_or_else(|| name.to_owned(), |list| format!("{name}-{list}"))
}

fn filled(arguments: &Arguments, action: &Value) -> Vec<String> {
    let mut words = Vec::new();
    for group in arguments {
        let each = group.iter().any(|word| word.contains("{key}") || word.contains("{value}"));
        if each {
            for (key, value) in action["arguments"].as_object().into_iter().flatten() {
                words.extend(group.iter().map(|word| put(word, &[("key", key), ("value", &text(value))])));
            }
        } else {
            words.extend(group.iter().map(|word| put_fields(word, action)));
        }
    }
    words
}

fn put_fields(word: &str, action: &Value) -> String {
    let arguments = action.get("arguments").map_or_else(|| "{}".to_owned(), Value::to_string);
    let field = |name: &str| text(&action[name]);
    put(
        word,
        &[("name", &field("name")), ("uri", &field("uri")), ("level", &field("level")), ("arguments", &arguments)],
    )
}

fn put(word: &str, values: &[(&str, &str)]) -> String {
    // One pass, so that a value that looks like a placeholder stays as it is.
    let (mut filled, mut rest) = (String::new(), word);
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let value =
            values.iter().find_map(|(name, value)| Some((*value, after.strip_prefix(name)?.strip_prefix('}')?)));
        let (put, after) = value.unwrap_or(("{", after));
        filled.push_str(put);
        rest = after;
    }
    filled + rest
}

/// Strings unchanged, other values as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| if value.is_null() { String::new() } else { value.to_string() }, str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{evidence::LISTS, suite::Pages};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_target_stands_where_the_command_has_it_or_at_the_end() {
        let one = |command: &str, target: &str| lines(&words(command), &[], &[], target);
        assert_eq!(one("client --to {url} -v", "http://x"), [words("client --to http://x -v")]);
        assert_eq!(one("client --server={stub}", "/s"), [words("client --server=/s")]);
        assert_eq!(one("client -v", "http://x"), [words("client -v http://x")]);
    }

    #[test]
    fn a_command_line_client_runs_once_for_each_action_that_has_a_template() {
        let groups = |groups: &[&str]| groups.iter().map(|group| words(group)).collect::<Arguments>();
        let templates = [
            ("list-tools".to_owned(), groups(&["list"])),
            ("call".to_owned(), groups(&["call", "{name}", "--arg {key}={value}", "--to {url}"])),
        ];
        let tools = |pages| Action::from(Do::List { of: &LISTS[0], pages, uri: None, prefix: None });
        let arguments = json!({ "a": 1, "b": "{value}" }).as_object().cloned();
        let call = Do::Call { name: "add".to_owned(), arguments, bytes: None, task: None };
        let actions = vec![call.into(), tools(None)];
        let drive = [tools(Some(Pages::All)), Do::Ping.into(), Do::Parallel { staggered: None, actions }.into()];
        let expected = [words("client list T"), words("client call add --arg a=1 --arg b={value} --to T")];
        assert_eq!(lines(&words("client"), &templates, &drive, "T"), expected);
        assert_eq!(lines(&words("client"), &templates, &[], "T"), [words("client list T")]);
        assert!(lines(&words("client"), &templates, &[Do::Wait { ms: 1 }.into()], "T").is_empty());
    }
}
