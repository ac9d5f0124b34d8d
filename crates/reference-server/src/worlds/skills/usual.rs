//! Skills of an honest server, in every form that the specification allows.

use serde_json::{Value, json};

use super::made::{self, Skill, entries, serve, skill};
use crate::{
    faults::{Heard, Memory},
    worlds::made::method,
};

/// Every byte, which is not UTF-8.
fn all_bytes() -> Vec<u8> {
    (0..=255).collect()
}

/// The listed skills, then those that are not.
fn listed(host: &str) -> Vec<Skill> {
    let hook = format!("curl -s http://{host}/skills/setup");
    vec![
        skill("skill://basic", "How to begin")
            .body("# Basic\n\nSee [the guide](references/GUIDE.md) and [the rest](references/LATER.md).\n")
            .text("references/GUIDE.md", "Begin at the beginning.\n")
            .text("references/LATER.md", "Go on to the end.\n"),
        skill("skill://unused", "It is never needed").text("notes.md", "Nothing.\n"),
        skill("skill://generic", "Read as a resource").text("notes.md", "Not yet.\n"),
        skill("skill://line-ends", "Lines end with CRLF")
            .md(|bytes| String::from_utf8_lossy(&bytes).replace('\n', "\r\n").into_bytes()),
        skill("skill://bytes", "Files of any kind")
            .text("empty.txt", "")
            .text("mark.md", "\u{feff}With a byte order mark\r\nand no newline")
            .blob("all.bin", &all_bytes()),
        skill("skill://as-blob", "SKILL.md is sent as a blob").md_as_blob(),
        skill("skill://foreign", "Reads have another element first"),
        skill("skill://acme/billing/refunds", "Refunds of invoices")
            .text("references/GUIDE.md", "Three segments.\n")
            .text("sub/c.md", "In a directory.\n")
            .text("b.md", "Beside it.\n")
            .text("partial/SKILL.md", "---\nname: partial\ndescription: A part of the price\n---\n\n# partial\n")
            .text("partial/a.md", "A file of the inner skill.\n"),
        skill("skill://acme/billing/refunds/partial", "A part of the price").text("a.md", "A file of the inner skill.\n"),
        skill("skill://acme/support/refunds", "Refunds of support"),
        skill("skill://folded", "x").headed(
            "# Before the fields.\ndescription: >-\n  Two lines,\n  folded.\nname: folded\nlicense: 'It''s free'\n",
            json!({ "name": "folded", "description": "Two lines, folded.", "license": "It's free" }),
        ),
        skill("skill://literal", "x").headed(
            "name: \"literal\"\ndescription: |\n  Two lines:\n  Größe 日本\nmetadata:\n  nested: {a: [one, two], \"b\": three}\n  count: 3\n",
            json!({
                "metadata": { "count": 3, "nested": { "b": "three", "a": ["one", "two"] } },
                "description": "Two lines:\nGröße 日本\n",
                "name": "literal",
            }),
        ),
        skill("skill://number", "x").headed(
            "name: number\ndescription: A number\nmetadata:\n  whole: 2.0\n",
            json!({ "name": "number", "description": "A number", "metadata": { "whole": 2 } }),
        ),
        skill("skill://live", "It changes").dynamic(),
        skill("skill://eager", "It names a tool")
            .with("allowed-tools: [echo]\n", json!({ "allowed-tools": ["echo"] }))
            .body("Call the tool echo at once.\n"),
        skill("skill://hooked", "It has hooks")
            .with(&format!("hooks:\n  setup: {hook}\n"), json!({ "hooks": { "setup": hook } })),
        skill(&format!("skill://{host}/net"), "Its first segment looks like a host"),
    ]
}

fn hidden() -> Vec<Skill> {
    vec![skill("skill://hidden", "Not listed"), skill("x-docs://real", "Of another scheme")]
}

pub fn hear(memory: &mut Memory, message: &mut Value) -> Heard {
    let skills = listed(made::host(memory));
    let (first, second) = skills.split_at(5);
    let page = |skills: &[Skill]| entries(&skills.iter().collect::<Vec<_>>());
    // The cursors have what URLs and base64 treat in a special way, and one page is empty.
    let pages = [("", page(first)), ("p+2/=", Vec::new()), ("cGFnZSAz+/==", page(second))];
    let foreign = method(message) == "resources/read" && message["params"]["uri"] == "skill://foreign/SKILL.md";
    match serve(message, &pages, &skills) {
        Heard::Answered(mut read) if foreign => {
            if let Some(contents) = read["result"]["contents"].as_array_mut() {
                contents.insert(0, json!({ "uri": "skill://foreign/notice", "text": "Read this first.\n" }));
            }
            Heard::Answered(read)
        }
        Heard::Answered(response) if response.get("error").is_none() => Heard::Answered(response),
        _ => serve(message, &[("", Vec::new())], &hidden()),
    }
}
