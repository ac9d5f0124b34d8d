//! Metadata in the result of a read. `part: kept` reports what the list has and the first element lacks. `part: equal`
//! reports fields that differ from the list, and `part: alike` fields that differ between the first element and the
//! others.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "contents-metadata", given: &["read", "part"], run };

/// Fields that describe the resource, whatever its representation.
const MEMBERS: [&str; 5] = ["name", "title", "description", "icons", "annotations"];

fn run(given: &Given) -> Report {
    let read = given.value("read");
    let resource = &read["resource"];
    let all = read.pointer("/reply/result/contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    // The list item describes this resource only, not others in the result such as the children of a directory.
    let own: Vec<_> = all.iter().enumerate().filter(|(_, content)| content["uri"] == resource["uri"]).collect();
    let part = given.text("part");
    let (model, whose, members) = match (part, own.as_slice()) {
        ("alike", [(_, first), _, ..]) => {
            (*first, "the first element", vec!["name", "title", "description", "annotations"])
        }
        ("alike", _) => return Report::default(),
        ("kept", _) => (resource, "the list", [MEMBERS.as_slice(), &["size"]].concat()),
        _ => (resource, "the list", [MEMBERS.as_slice(), &["capabilities"]].concat()),
    };
    let (mut checked, mut faults) = (0, Vec::new());
    let judged = if part == "alike" { &own[1..] } else { &own[..own.len().min(1)] };
    for &(index, content) in judged {
        for &member in &members {
            let (known, read) = (model.get(member), content.get(member));
            let is_meant = match part {
                "kept" => known.is_some(),
                "equal" => known.is_some() && read.is_some(),
                _ => known.is_some() || read.is_some(),
            };
            checked += usize::from(is_meant);
            let differs = is_meant && if part == "kept" { read.is_none() } else { known != read };
            if differs {
                faults.push(fault(index, member, &model[member], &content[member], whose));
            }
        }
    }
    Report { checked, faults, broken: None }
}

fn fault(index: usize, member: &str, expected: &Value, received: &Value, whose: &str) -> Fault {
    let said = |value: &Value| if value.is_null() { "nothing".to_owned() } else { value.to_string() };
    let member_of = if received.is_null() { String::new() } else { format!("/{member}") };
    Fault {
        given: "read",
        pointer: format!("/reply/result/contents/{index}{member_of}"),
        message: format!("`contents[{index}].{member}` is {}, {whose} has {}", said(received), said(expected)),
        expected: Some(expected.clone()),
        received: Some(received.clone()),
        ..Fault::default()
    }
}
