//! Entries with more than the specification defines, invalid ones, and skills of any size.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::made::{Skill, serve, skill};
use crate::faults::{Heard, Memory};

/// What hosts have to support.
const MOST_FILES: usize = 512;
const MOST_BYTES: usize = 16 << 20;

fn odd() -> Vec<Skill> {
    vec![
        skill("skill://plain-entry", "Nothing is special"),
        skill("skill://more-fields", "Its entry has more fields").changed(|entry| {
            entry["title"] = json!("More fields");
            entry["_meta"] = json!({ "com.example/rank": 1 });
            entry["resources"][0]["mimeType"] = json!("text/markdown");
        }),
        skill("skill://reserved", "It has reserved metadata").with(
            "metadata:\n  io.modelcontextprotocol/priority: high\n",
            json!({ "metadata": { "io.modelcontextprotocol/priority": "high" } }),
        ),
    ]
}

fn invalid() -> Vec<Skill> {
    vec![
        skill("skill://valid", "Nothing is wrong"),
        skill("skill://no-resources", "No list").changed(|entry| {
            entry.as_object_mut().map(|entry| entry.shift_remove("resources"));
        }),
        skill("skill://null-resources", "No list").changed(|entry| entry["resources"] = json!(null)),
        skill("skill://static-resources", "No list").changed(|entry| entry["resources"] = json!("static")),
        skill("skill://object-resources", "No list").changed(|entry| entry["resources"] = json!({})),
        skill("skill://number-resources", "No list").changed(|entry| entry["resources"] = json!(5)),
    ]
}

pub fn hear(_: &mut Memory, message: &mut Value) -> Heard {
    let skills = odd();
    serve(message, &[("", skills.iter().map(Skill::entry).collect())], &skills)
}

pub fn hear_invalid(_: &mut Memory, message: &mut Value) -> Heard {
    let skills = invalid();
    serve(message, &[("", skills.iter().map(Skill::entry).collect())], &skills)
}

fn many(root: &str, files: usize) -> Skill {
    let numbers = 1..files;
    numbers.fold(skill(root, "Many files"), |skill, number| skill.text(&format!("files/{number}.txt"), "A line.\n"))
}

/// SKILL.md and four files have that many bytes.
fn heavy(root: &str, bytes: usize) -> Skill {
    let md = skill(root, "Many bytes");
    let own =
        md.entry()["resources"][0]["size"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or_default();
    let part = bytes / 4;
    (1..=4).fold(md, |skill, number| {
        let size = if number == 4 { part - own } else { part };
        skill.text(&format!("part-{number}.txt"), &"0123456789abcde\n".repeat(size / 16 + 1)[..size])
    })
}

static LARGE: LazyLock<(Vec<Skill>, Vec<Value>)> = LazyLock::new(|| {
    let skills = vec![
        many("skill://many", MOST_FILES),
        heavy("skill://heavy", MOST_BYTES),
        many("skill://too-many", MOST_FILES + 1),
        heavy("skill://too-heavy", MOST_BYTES + (1 << 20)),
    ];
    let entries = skills.iter().map(Skill::entry).collect();
    (skills, entries)
});

pub fn hear_large(_: &mut Memory, message: &mut Value) -> Heard {
    let (skills, entries) = &*LARGE;
    serve(message, &[("", entries.clone())], skills)
}
