//! Derives the mutants: each operator at each place where it changes something that the faultless program sends.

use serde_json::{Value, json};

use conform_faults::{Counters, Edit, Passing, Sent as Passed, Side};

use super::{
    ledger::Class,
    operators::{OF_FIELDS, OF_MESSAGES},
    sites::{MessageKind, Sent, Traffic, paths},
};
use mcp_conform::revision::Revision;

/// One derived fault.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The message, and the path in it.
    pub place: String,
    pub operator: &'static str,
    /// In the language of faults, as JSON.
    pub fault: String,
    /// The first message that it changes, and what is sent in its place.
    change: (Value, Vec<Passed>),
}

impl Mutant {
    pub fn name(&self) -> String {
        named(&self.place, self.operator)
    }

    /// A message before and after, and what became of the mutant.
    pub fn explained(&self, revision: Revision, class: &Class) -> String {
        let verdict = match class {
            Class::Found(rule) => format!("found by {rule}"),
            Class::Permitted(because) => format!("permitted: {because}"),
            Class::Equal(because) => format!("equal: {because}"),
            Class::Gap(because) => format!("a gap: {because}"),
            Class::Unknown => "no rule finds it, and no reason covers it".to_owned(),
        };
        let (before, after) = &self.change;
        let after: Vec<String> = after.iter().cloned().map(Passed::into_text).collect();
        let after = if after.is_empty() { "nothing".to_owned() } else { after.join("\n            ") };
        format!("{revision} {}\n    {verdict}\n    before: {before}\n    after:  {after}", self.name())
    }
}

/// All mutants whose names `wanted` selects.
pub fn derived(traffic: &Traffic, side: Side, wanted: impl Fn(&str) -> bool) -> Vec<Mutant> {
    let (mut met, mut mutants) = (Vec::new(), Vec::new());
    for (kind, sent) in traffic {
        let message = format!("{} {}", kind.method, kind.part);
        let mut add = |place: &str, operator, edit: Option<Value>| {
            let edit = edit.filter(|_| wanted(&named(place, operator)));
            mutants.extend(edit.and_then(|edit| mutant(place, operator, edit, kind, sent, side)));
        };
        for operator in OF_MESSAGES {
            add(&message, operator.name, (operator.edit)(kind));
        }
        for path in paths(sent, &mut met) {
            let place = format!("{message} {path}");
            for operator in OF_FIELDS {
                add(&place, operator.name, (operator.edit)(&path));
            }
        }
    }
    mutants
}

fn named(place: &str, operator: &str) -> String {
    format!("{place}: {operator}")
}

/// The mutant, if it changes any of these messages.
fn mutant(
    place: &str,
    operator: &'static str,
    mut edit: Value,
    kind: &MessageKind,
    sent: &[Sent],
    side: Side,
) -> Option<Mutant> {
    edit["on"] = json!(kind.method);
    edit["of"] = json!(if matches!(kind.part, "result" | "error") { "response" } else { kind.part });
    if matches!(kind.part, "result" | "error") {
        edit["when"] = json!({ format!("/message/{}", kind.part): "present" });
    }
    let parsed: Edit = serde_json::from_value(edit.clone()).ok()?;
    let mut counters = Counters::default();
    let change = sent.iter().find_map(|sent| {
        let passing = Passing { from: side, is_own: true, request: sent.request.as_ref(), revision: None };
        let fate = parsed.pass(&mut counters, &passing, sent.message.clone());
        (fate.sent != [Passed::Message(sent.message.clone())]).then(|| (sent.message.clone(), fate.sent))
    })?;
    edit["about"] = json!(named(place, operator));
    edit["fault"] = json!("derived");
    Some(Mutant { place: place.to_owned(), operator, fault: edit.to_string(), change })
}
