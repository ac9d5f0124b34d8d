//! Worlds with skills: those of an honest server, and those that a client must not load or use.

mod changing;
mod hostile;
mod made;
mod odd;
mod usual;

use serde_json::{Value, json};

use crate::{
    content::Node,
    faults::{Behaviour, EVERYWHERE, Heard, Memory, Scene},
    handlers::skills::EXTENSION,
    worlds::made::{error, method},
};
use conform_model::revision::Revision;

const fn world(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour { since: Some(Revision::V2026_07_28), ..Behaviour::new(name, about, EVERYWHERE) }
}

pub static SKILLS: &[Behaviour] = &[
    Behaviour {
        meet: Some(made::remember_host),
        hear: Some(usual::hear),
        say: Some(|_, scene, message| declare(scene, message, json!({}))),
        ..world("skills", "the server has skills with files of any kind")
    },
    Behaviour {
        hear: Some(odd::hear),
        say: Some(|_, scene, message| declare(scene, message, json!({ "directoryRead": false }))),
        ..world("odd-skill-entries", "descriptions of skills have more fields than are defined")
    },
    Behaviour {
        hear: Some(odd::hear_invalid),
        say: Some(|_, scene, message| declare(scene, message, json!({}))),
        ..world("invalid-skill-entries", "descriptions of skills have no valid list of files")
    },
    Behaviour {
        meet: Some(made::remember_host),
        hear: Some(hostile::hear),
        say: Some(|_, scene, message| declare(scene, message, json!({ "directoryRead": "true" }))),
        ..world("hostile-skills", "files of skills differ from their descriptions, and lead outside")
    },
    Behaviour {
        hear: Some(changing::hear),
        say: Some(|_, scene, message| {
            declare(scene, message, json!({ "directoryRead": true, "search": { "maxResults": 10 } }))
        }),
        ..world("changing-skills", "skills change after they were loaded")
    },
    Behaviour {
        hear: Some(odd::hear_large),
        say: Some(|_, scene, message| declare(scene, message, json!({}))),
        ..world("large-skills", "skills have as many files and bytes as hosts must support, and more")
    },
    Behaviour {
        hear: Some(failing),
        say: Some(|_, scene, message| declare(scene, message, json!({}))),
        ..world("failing-skills", "skills are declared, and the methods for them fail")
    },
    Behaviour {
        prepare: Some(|content| {
            let text = "---\nname: plain\ndescription: A resource like any other\n---\n";
            content.insert_node(Node::text("skill://plain/SKILL.md", "plain", "text/markdown", text));
        }),
        ..world("undeclared-skills", "a resource has a URI with the scheme skill, and the extension is not declared")
    },
    // The upstream of gateways: the skills of `serve --extension skills`.
    Behaviour {
        extension: Some("skills"),
        say: Some(|_, scene, message| {
            if scene.method() == Some("skills/list") && message.get("result").is_some() {
                message["result"]["cacheScope"] = json!("private");
            }
            true
        }),
        ..world("skills-upstream", "the server has its usual skills, listed for one user alone")
    },
];

/// Declares the extension with these settings.
fn declare(scene: &Scene, message: &mut Value, settings: Value) -> bool {
    if scene.method() == Some("server/discover") && message.get("result").is_some() {
        message["result"]["capabilities"]["extensions"][EXTENSION] = settings;
    }
    true
}

fn failing(_: &mut Memory, message: &mut Value) -> Heard {
    match method(message) {
        "skills/list" => error(message, -32601, "Method not found"),
        "skills/get" => error(message, -32603, "Internal error"),
        _ => Heard::Message,
    }
}
