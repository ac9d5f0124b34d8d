//! Unknown fields that are a misspelling of a known one, such as `mime_type`.

use serde_json::{Map, Value};

use super::{
    book::{Book, Condition, Shape},
    rows::Rows,
    types::Type,
};
use crate::push_token;
use conform_model::revision::Revision;

/// An unknown field that differs from a known one only in spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelling {
    /// JSON Pointer in the value.
    pub pointer: String,
    pub field: String,
    /// The spelling of the shape.
    pub known: String,
}

/// All of them in a value of a shape. Parts that a shape leaves open are not searched.
pub fn twins(name: &str, revision: Revision, value: &Value) -> Vec<Misspelling> {
    let mut search = Search { book: Book::built_in(), revision, found: Vec::new() };
    search.named(name, value, "");
    search.found
}

struct Search {
    book: &'static Book,
    revision: Revision,
    found: Vec<Misspelling>,
}

impl Search {
    fn named(&mut self, name: &str, value: &Value, pointer: &str) {
        match self.book.shapes.find(name, self.revision) {
            Some((_, Shape::Is(of))) => self.typed(of, value, pointer),
            Some((_, Shape::When(branches))) => {
                let met = branches
                    .iter()
                    .find(|branch| branch.window.holds(self.revision) && holds(&branch.condition, value));
                if let Some(branch) = met {
                    self.named(&branch.shape, value, pointer);
                }
            }
            Some((_, Shape::Object { .. })) => {
                let mut known = Vec::new();
                self.members(name, &mut known);
                self.object(&known, value, pointer);
            }
            None => {}
        }
    }

    fn typed(&mut self, of: &'static Type, value: &Value, pointer: &str) {
        match (of, value) {
            (Type::Named(name), _) => self.named(name, value, pointer),
            (Type::Object(members), _) => self.object(&known(members, self.revision), value, pointer),
            (Type::Array { of, .. }, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.typed(of, item, &format!("{pointer}/{index}"));
                }
            }
            (Type::Map(of), Value::Object(members)) => {
                for (name, member) in members {
                    self.typed(of, member, &below(pointer, name));
                }
            }
            // Alternatives are of different JSON types.
            (Type::Either(alternatives), Value::Array(_)) => {
                let lists = alternatives.iter().filter(|of| matches!(of, Type::Array { .. }));
                lists.for_each(|of| self.typed(of, value, pointer));
            }
            (Type::Either(alternatives), Value::Object(_)) => {
                let objects = alternatives.iter().filter(|of| !matches!(of, Type::Array { .. }));
                objects.for_each(|of| self.typed(of, value, pointer));
            }
            _ => {}
        }
    }

    /// The fields of an object, including inherited ones.
    fn members(&self, name: &str, all: &mut Vec<(&'static str, &'static Type)>) {
        if let Some((_, Shape::Object { extends, members })) = self.book.shapes.find(name, self.revision) {
            all.extend(known(members, self.revision));
            let bases = extends.iter().filter(|base| base.window.holds(self.revision));
            bases.for_each(|base| self.members(&base.text, all));
        }
    }

    fn object(&mut self, known: &[(&'static str, &'static Type)], value: &Value, pointer: &str) {
        for (name, member) in value.as_object().into_iter().flat_map(Map::iter) {
            if let Some((_, of)) = known.iter().find(|(known, _)| known == name) {
                self.typed(of, member, &below(pointer, name));
            } else if let Some((known, _)) = known.iter().find(|(known, _)| folded(known) == folded(name)) {
                let (field, known) = (name.clone(), (*known).to_owned());
                self.found.push(Misspelling { pointer: below(pointer, name), field, known });
            }
        }
    }
}

fn known(members: &'static Rows<Type>, revision: Revision) -> Vec<(&'static str, &'static Type)> {
    members.of(revision).map(|(name, of)| (name.trim_end_matches('!'), of)).collect()
}

fn holds(condition: &Condition, value: &Value) -> bool {
    match condition {
        Condition::Is { member, values } => value.get(member).is_some_and(|value| values.contains(value)),
        Condition::Has(member) => value.get(member).is_some(),
        Condition::Otherwise => true,
    }
}

fn below(pointer: &str, name: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_token(&mut pointer, name);
    pointer
}

/// A name without case, `_` and `-`.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect()
}
