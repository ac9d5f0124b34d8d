//! The skills of the extension: their files, and what their manifests say about them.
//!
//! The fields of each manifest are written by hand next to the file. A parser for them would make the same mistakes in both.

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::content::{Body, Data, Node, files::PIXEL};

const MARKDOWN: &str = "text/markdown";

/// One skill: the URI of its SKILL.md, its front matter, and whether its files change all the time.
pub struct Skill {
    pub uri: String,
    pub frontmatter: Value,
    pub dynamic: bool,
}

impl Skill {
    /// The URI of the directory of the skill.
    pub fn root(&self) -> &str {
        self.uri.strip_suffix("/SKILL.md").unwrap_or(&self.uri)
    }
}

/// The digest and the size of a file, in the form of a manifest.
pub fn manifest(file: &Node) -> Option<Value> {
    let Body::Leaf(formats) = &file.body else { return None };
    let bytes = match &formats.first()?.data {
        Data::Text(text) => text.as_bytes(),
        Data::Blob(bytes) => bytes,
    };
    Some(manifest_of(&file.uri, bytes))
}

/// The digest and the size of these bytes.
pub fn manifest_of(uri: &str, bytes: &[u8]) -> Value {
    let digest = digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    json!({ "uri": uri, "digest": format!("sha256:{digest}"), "size": bytes.len() })
}

/// A name for a URI that ends in one.
pub fn short_name(uri: &str) -> &str {
    uri.rsplit('/').next().unwrap_or(uri)
}

/// A skill, with its SKILL.md.
fn skill(root: &str, header: &str, frontmatter: Value, body: &str) -> (Skill, Node) {
    let uri = format!("{root}/SKILL.md");
    let name = frontmatter["name"].as_str().unwrap_or_default().to_owned();
    let file = Node::text(&uri, name, MARKDOWN, format!("---\n{header}---\n\n{body}"));
    (Skill { uri, frontmatter, dynamic: false }, file)
}

fn text(uri: &str, mime: &'static str, text: &str) -> Node {
    Node::text(uri, short_name(uri), mime, text).unlisted()
}

/// All skills and all files, in the order of the list.
pub fn skills() -> (Vec<Skill>, Vec<Node>) {
    let (workflow, workflow_file) = skill(
        "skill://git-workflow",
        "name: git-workflow\ndescription: Follow this team's Git conventions for branching and commits\n",
        json!({
            "name": "git-workflow",
            "description": "Follow this team's Git conventions for branching and commits",
        }),
        "# Git workflow\n\nSee [the names of branches](references/BRANCHES.md).\n",
    );
    let (refunds, refunds_file) = skill(
        "skill://acme/billing/refunds",
        "name: refunds\ndescription: >-\n  Decide about refunds,\n  and write the letter.\nlicense: Apache-2.0\n\
         compatibility: Needs Python 3.12\nallowed-tools: [echo, add]\ndraft: false\nlevel: 3\nreviewed: 2026-09-13\n\
         metadata:\n  author: acme\n  version: \"1.0\"\n",
        json!({
            "name": "refunds",
            "description": "Decide about refunds, and write the letter.",
            "license": "Apache-2.0",
            "compatibility": "Needs Python 3.12",
            "allowed-tools": ["echo", "add"],
            "draft": false,
            "level": 3,
            "reviewed": "2026-09-13",
            "metadata": { "author": "acme", "version": "1.0" },
        }),
        "# Refunds\n\n1. Run [the check](scripts/check.py).\n2. Fill in [the letter](templates/letter.md#greeting).\n\
         3. A part of the price: see [partial refunds](partial/SKILL.md).\n\nThe policy is on [our site](https://example.com/).\n",
    );
    let (partial, partial_file) = skill(
        "skill://acme/billing/refunds/partial",
        "name: partial\ndescription: 'Refunds of a part of the price'\n",
        json!({ "name": "partial", "description": "Refunds of a part of the price" }),
        "# Partial refunds\n\nSee [the rates](rates.json).\n",
    );
    let (today, today_file) = skill(
        "skill://today",
        "name: today\ndescription: |\n  What is planned today.\n  It changes all the time.\n",
        json!({ "name": "today", "description": "What is planned today.\nIt changes all the time.\n" }),
        "Nothing is planned.\n",
    );
    let (metric, metric_file) = skill(
        "skill://acme/metric",
        "# Units of the company.\nname: metric\ndescription: Größen und Maße\nmetadata: {}\n",
        json!({ "name": "metric", "description": "Größen und Maße", "metadata": {} }),
        "Ein Meter hat 100 cm.\n",
    );
    let files = vec![
        workflow_file.described("Follow this team's Git conventions for branching and commits"),
        text("skill://git-workflow/references/BRANCHES.md", MARKDOWN, "# Branches\n\n`topic/NUMBER-words`\n"),
        refunds_file.described("Decide about refunds, and write the letter."),
        text("skill://acme/billing/refunds/templates/letter.md", MARKDOWN, "# Letter\n\nDear customer,\n"),
        text("skill://acme/billing/refunds/templates/gr%C3%B6%C3%9Fe.txt", "text/plain", "Größe: groß\r\nMaß: voll"),
        text("skill://acme/billing/refunds/templates/forms/claim.json", "application/json", "{\"claim\":null}\n"),
        text("skill://acme/billing/refunds/scripts/check.py", "text/x-python", "print('refund')\n"),
        text("skill://acme/billing/refunds/LICENSE", "text/plain", ""),
        Node::blob("skill://acme/billing/refunds/assets/pixel.png", "pixel.png", "image/png", PIXEL).unlisted(),
        partial_file.unlisted(),
        text("skill://acme/billing/refunds/partial/rates.json", "application/json", "{\"half\":0.5}\n"),
        today_file.described("What is planned today.\nIt changes all the time.\n"),
        metric_file.unlisted(),
    ];
    (vec![workflow, refunds, partial, Skill { dynamic: true, ..today }, metric], files)
}

/// Many skills of the same form, each with nine files besides its SKILL.md.
pub fn many(count: usize) -> (Vec<Skill>, Vec<Node>) {
    let (mut all, mut files) = (Vec::new(), Vec::new());
    for number in 0..count {
        let (name, description) = (format!("skill-{number}"), format!("What to do in case {number}"));
        let root = format!("skill://many/{name}");
        let header = format!("name: {name}\ndescription: {description}\n");
        let body = format!("This is case {number}.\n");
        let (skill, file) = skill(&root, &header, json!({ "name": name, "description": description }), &body);
        all.push(skill);
        files.push(file.unlisted());
        files.extend((0..9).map(|part| {
            let uri = format!("{root}/parts/{}/{part}.txt", part % 3);
            text(&uri, "text/plain", &body.repeat(20))
        }));
    }
    (all, files)
}
