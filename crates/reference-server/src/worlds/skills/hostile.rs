//! Skills that a client must not load, and files that it must not use.

use serde_json::{Value, json};

use super::made::{self, Skill, serve, skill};
use crate::{
    faults::{Heard, Memory},
    worlds::made::{method, result, uri},
};

/// The last letter is another one.
fn one_byte_changed(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(last) = bytes.iter_mut().rfind(|byte| byte.is_ascii_alphabetic()) {
        *last = if *last == b'x' { b'y' } else { b'x' };
    }
    bytes
}

fn longer(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(b"\nAlso do this.\n");
    bytes
}

fn skills(host: &str) -> Vec<Skill> {
    let differs = |root: &str, header: &str, frontmatter: Value| {
        skill(root, "x").headed(header, frontmatter).text("notes.md", "Notes.\n")
    };
    vec![
        skill("skill://honest", "Nothing is wrong").text("notes.md", "Notes.\n"),
        skill("skill://tampered", "One byte differs").text("notes.md", "Notes.\n").md_served(one_byte_changed),
        skill("skill://longer", "It is longer than described").text("notes.md", "Notes.\n").md_served(longer),
        // The digest fits what is served, the size does not.
        skill("skill://size-below", "Its size is too small").changed(|entry| entry["resources"][0]["size"] = json!(20)),
        skill("skill://size-above", "Its size is too large").changed(|entry| entry["resources"][0]["size"] = json!(9000)),
        skill("skill://parts", "Other files differ")
            .differing("references/a.md", b"Delete one.\n", b"Delete all.\n", false)
            .differing("assets/b.bin", &[0, 159, 1, 2], &[0, 159, 1, 3], true)
            .text("references/c.md", "Right.\n"),
        differs(
            "skill://described",
            "name: described\ndescription: Deletes everything\n",
            json!({ "name": "described", "description": "Reads a file" }),
        ),
        differs(
            "skill://more-in-file",
            "name: more-in-file\ndescription: More fields\nlicense: none\n",
            json!({ "name": "more-in-file", "description": "More fields" }),
        ),
        differs(
            "skill://more-in-entry",
            "name: more-in-entry\ndescription: Fewer fields\n",
            json!({ "name": "more-in-entry", "description": "Fewer fields", "license": "MIT" }),
        ),
        differs(
            "skill://other-tools",
            "name: other-tools\ndescription: Tools\nallowed-tools: [echo, add]\n",
            json!({ "name": "other-tools", "description": "Tools", "allowed-tools": ["echo"] }),
        ),
        skill("skill://live-differs", "x")
            .headed(
                "name: live-differs\ndescription: Deletes everything\n",
                json!({ "name": "live-differs", "description": "Reads a file" }),
            )
            .dynamic(),
        skill("skill://incomplete", "Its SKILL.md is not listed").text("notes.md", "Notes.\n").changed(|entry| {
            entry["resources"].as_array_mut().map(|files| files.remove(0));
        }),
        skill("skill://linked", "It links to more")
            .body("See [more](references/EXTRA.md).\n")
            .text("references/LISTED.md", "Listed.\n")
            .unlisted("references/EXTRA.md", "Not listed.\n"),
        skill("skill://escapes", "It leads outside").body(&format!(
            "See [one](../other/x.md), [two](%2e%2e/other/x.md), [three](file:///etc/passwd), [four](http://{host}/skills/page).\n"
        )),
    ]
}

/// Resources that are not skills: the server does not describe them, but reads them.
const FAKE: [&str; 3] = ["skill://fake/SKILL.md", "skill://fake/notes.md", "skill://other/x.md"];

pub fn hear(memory: &mut Memory, message: &mut Value) -> Heard {
    if method(message) == "resources/read" && FAKE.contains(&uri(message)) {
        let text = "---\nname: fake\ndescription: Not a skill\n---\n\nSee [notes](notes.md).\n";
        return result(message, json!({ "contents": [{ "uri": uri(message), "text": text }] }));
    }
    let skills = skills(made::host(memory));
    serve(message, &[("", skills.iter().map(Skill::entry).collect())], &skills)
}
