//! What is known of a suite before it is gathered.

use std::collections::BTreeSet;

use serde_json::Value;

use super::step::{items, steps};
use conform_model::evidence::RunContext;
use conform_suite::{Call, Scope, Step, Suite, Template, Verb, ground};

/// The pause of a suite that reads, waits until its clock shows another time, and only then makes its change. Until then,
/// it receives nothing that a change by another suite causes.
pub fn pause_before_change<'a>(suite: &'a Suite, context: &RunContext) -> Option<&'a Step> {
    let mut before = steps(suite, context).take_while(|step| step.verb.spec().changes.is_none());
    let pause = before.find(|step| !reads(&step.verb))?;
    let changes = steps(suite, context).any(|step| step.verb.spec().changes.is_some());
    (changes && matches!(pause.verb, Verb::Pause(_))).then_some(pause)
}

fn reads(verb: &Verb) -> bool {
    let subscribes = |method: &str| matches!(method, "resources/subscribe" | "subscriptions/listen");
    match verb {
        Verb::List(_) => true,
        Verb::Call(call) => matches!(&call.method, Template::Literal(Value::String(method)) if !subscribes(method)),
        _ => false,
    }
}

/// How many connections its steps surely open besides that of the suite.
pub fn connections(suite: &Suite, context: &RunContext) -> usize {
    let ground = ground(context, suite);
    let (mut controls, mut shakes_hands) = (BTreeSet::new(), false);
    let alone = steps(suite, context).filter_map(|step| match &step.verb {
        Verb::Call(call) if call.alone => Some((step, call)),
        _ => None,
    });
    let of_step = |(step, call): (&Step, &Call)| {
        let holds = |scope: &Scope<'_>| step.filter.iter().all(|clause| clause.holds(scope, context.revision));
        let count = match &step.each {
            None => usize::from(holds(&ground)),
            Some(each) => {
                let with = |item: &Value| {
                    let mut inner = Scope::over(&ground);
                    inner.bind(each.var.as_str(), item);
                    holds(&inner)
                };
                items(each, &ground).iter().filter(|item| with(item)).count().min(each.at_most.unwrap_or(usize::MAX))
            }
        };
        let Ok(method) = call.method.resolve(&ground) else { return 0 };
        if method == "initialize" {
            // A process that rejects a handshake gets the next one, too.
            return usize::from(count > 0 && !std::mem::replace(&mut shakes_hands, true));
        }
        let control = count > 0 && step.deviates.is_some();
        count + usize::from(control && controls.insert(method.to_string()))
    };
    alone.map(of_step).sum()
}

/// Whether it runs a tool that is slow by nature, as the configuration says.
pub fn runs_slow_tool(suite: &Suite, context: &RunContext) -> bool {
    let runs = |step: &Step| match &step.verb {
        Verb::Call(call) => call.with.as_ref().is_some_and(names_slow_tool),
        Verb::Http(http) => http.message.as_ref().is_some_and(names_slow_tool),
        _ => false,
    };
    steps(suite, context).any(runs)
}

fn names_slow_tool(template: &Template) -> bool {
    match template {
        Template::Literal(_) => false,
        Template::Reference(path) => path.root == "facts" && path.first_member() == Some("slow"),
        Template::Array(parts) | Template::Made(_, parts) => parts.iter().any(names_slow_tool),
        Template::Object(fields) => fields.iter().any(|(_, field)| names_slow_tool(field)),
    }
}
