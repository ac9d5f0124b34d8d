//! What goes wrong with skills, where an edit of messages would be too long.

use serde_json::{Value, json};

use crate::faults::{Behaviour, EVERYWHERE};
use conform_model::revision::Revision;

/// One more file than a skill should have.
const FILES: usize = 513;
const MAIN: &str = "skill://git-workflow/SKILL.md";
/// The digest of an empty file.
const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

pub static SKILL_FAULTS: &[Behaviour] = &[
    Behaviour {
        since: Some(Revision::V2026_07_28),
        extension: Some("skills"),
        say: Some(|_, _, message| {
            for list in ["/result/skills/0/resources", "/result/skill/resources"] {
                message.pointer_mut(list).and_then(Value::as_array_mut).into_iter().for_each(fill);
            }
            true
        }),
        also: &[
            "skills-resources-readable",
            "skills-dir-children-complete",
            "skills-get-equals-list",
            "skills-nested-files-in-outer",
        ],
        ..Behaviour::new("skills-too-many-files", "a skill has 513 files", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        extension: Some("skills"),
        say: Some(|memory, _, message| {
            let is_main = message.pointer("/result/contents/0/uri").is_some_and(|uri| uri == MAIN);
            if let Some(Value::String(text)) = message.pointer_mut("/result/contents/0/text").filter(|_| is_main) {
                *text += &format!("This was response {}.\n", memory.responses);
            }
            true
        }),
        also: &[
            "skills-resources-digest-matches",
            "skills-resources-size-matches",
            "sep2093-read-size-per-representation",
        ],
        ..Behaviour::new("skills-file-counts-reads", "each read of SKILL.md has another text", EVERYWHERE)
    },
];

fn fill(files: &mut Vec<Value>) {
    let Some(uri) = files.first().and_then(|file| file["uri"].as_str()).map(str::to_owned) else { return };
    let root = uri.rsplit_once('/').map_or(uri.as_str(), |(root, _)| root);
    for number in files.len()..FILES {
        files.push(json!({ "uri": format!("{root}/node_modules/{number}.js"), "digest": EMPTY, "size": 0 }));
    }
}
