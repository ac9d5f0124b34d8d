//! Steps: everything but the verb.

use super::{
    lint::Lint,
    window::{Window, are_disjoint},
};
use crate::{
    decode, file,
    model::{Applies, Each, Step, Template},
    views::ValueType,
};
use conform_source::yaml::Yaml;

impl Lint<'_> {
    pub fn steps(&mut self, typed: Option<file::Grouped<file::Step>>, outer: Window) -> Vec<Step> {
        let mut saves: Vec<(String, Applies)> = Vec::new();
        typed.into_iter().flat_map(|steps| steps.0).filter_map(|step| self.step(step, outer, &mut saves)).collect()
    }

    fn step(&mut self, mut typed: file::Step, outer: Window, saves: &mut Vec<(String, Applies)>) -> Option<Step> {
        let line = typed.typed.at.line;
        let applies = self.applies(typed.applies.take(), outer);
        let save = typed.save.clone();

        let names = self.names.len();
        let each = self.each(&mut typed);
        if let Some(node) = typed.node.as_ref().filter(|_| typed.walk.is_some()) {
            self.new_name(node);
            self.names.push(node.value.clone());
            self.shapes.push((node.value.clone(), ValueType::Anything));
        }
        let filter = self.clauses(typed.r#where.take());
        if let Some(Each { var, over: Template::Literal(serde_json::Value::Array(items)), .. }) = &each {
            self.loops.push((var.clone(), items.clone()));
        }
        let (at, declared) = (typed.typed.place("deviates"), typed.deviates.take());
        let deviates = declared.as_ref().and_then(|declared| self.deviates(declared));
        let control = typed.control;
        let despite = typed.despite.take().map(|names| names.0).unwrap_or_default();
        if control.is_some() && deviates.is_none() && despite.is_empty() {
            self.problems.add(typed.typed.place("control"), "`control` needs `deviates` or `despite`");
        }
        let at_step = typed.typed.at;
        let verb = self.verb(typed);
        if let Some(verb) = &verb {
            self.despite(at_step, verb, deviates.is_some(), &despite);
        }
        if let Some(verb) = verb.as_ref().filter(|_| declared.is_some() == deviates.is_some()) {
            self.probe(at, verb, deviates.as_ref(), Window::of(&applies).and(outer));
        }
        self.loops.clear();
        self.names.truncate(names);

        if let Some(save) = &save {
            match saves.iter().find(|(name, earlier)| *name == save.value && !are_disjoint(earlier, &applies)) {
                Some(_) => self.problems.add(save.at, format!("`{}` is already saved by an earlier step", save.value)),
                None if self.names.contains(&save.value) => {}
                None => {
                    self.new_name(save);
                    self.names.push(save.value.clone());
                }
            }
            saves.push((save.value.clone(), applies.clone()));
            if let Some(verb) = &verb {
                self.saves(&save.value, ValueType::of(verb, each.as_ref(), ValueType::Anything));
            }
        }
        Some(Step {
            verb: verb?,
            applies,
            each,
            filter,
            save: save.map(|save| save.value),
            deviates,
            despite: despite.into_iter().map(|name| name.value).collect(),
            control: control.unwrap_or_default(),
            line,
        })
    }

    /// Brings the loop variable into scope.
    fn each(&mut self, typed: &mut file::Step) -> Option<Each> {
        let Some(pairs) = typed.each.take() else {
            for key in typed
                .typed
                .keys
                .iter()
                .filter(|key| ["at-most", "at-most-bytes", "in-order", "distinct"].contains(&&*key.value))
            {
                self.problems.add(key.at, format!("`{}` goes with `each`", key.value));
            }
            return None;
        };
        for (key, _) in pairs.0.iter().skip(1) {
            let help = decode::new_name("`each`", &key.value).or_else(|| Some("write `each: { item: $items }`".into()));
            self.problems.add_with(key.at, "`each` names one variable", help);
        }
        let Some((var, items)) = pairs.0.into_iter().next() else {
            self.problems.add(typed.typed.place("each"), "`each` names one variable");
            return None;
        };
        let over = self.template(&items);
        self.new_name(&var);
        self.names.push(var.value.clone());
        let over = match over? {
            Template::Literal(_) if !matches!(items.value, Yaml::List(_)) => {
                decode::wrong(&items, "a list, or a reference to one", self.problems)
            }
            over => Some(over),
        };
        if let Some(over) = &over {
            self.loops_over(&var.value, over);
        }
        Some(Each {
            var: var.value,
            over: over?,
            at_most: typed.at_most,
            at_most_bytes: typed.at_most_bytes.map(|bytes| bytes as u64),
            in_order: typed.in_order.unwrap_or(false),
            distinct: typed.distinct.unwrap_or(false),
        })
    }
}
