//! Compiles the description of one shape in one revision to JSON Schema 2020-12, with only the definitions it needs.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::{
    book::{Book, Branch, Condition, Method, Shape},
    rows::Rows,
    types::Type,
};
use conform_model::revision::Revision;

/// The schema of a shape or, for a method name, of its whole message.
pub(super) fn schema(book: &Book, name: &str, revision: Revision) -> Option<Value> {
    let mut compiler = Compiler { book, revision, definitions: Map::new() };
    let mut root = match book.methods.find(name, revision) {
        Some((name, method)) => compiler.message(name, method),
        None => book.shapes.find(name, revision).map(|(name, _)| compiler.reference(name))?,
    };
    root["$defs"] = compiler.definitions.into();
    Some(root)
}

type Members<'a> = IndexMap<&'a str, (bool, &'a Type)>;

struct Compiler<'a> {
    book: &'a Book,
    revision: Revision,
    definitions: Map<String, Value>,
}

impl<'a> Compiler<'a> {
    fn shape(&self, name: &str) -> Option<&'a Shape> {
        self.book.shapes.find(name, self.revision).map(|(_, shape)| shape)
    }

    /// A reference to a shape by name, which is then defined, too.
    fn reference(&mut self, name: &str) -> Value {
        if !self.definitions.contains_key(name) {
            // Shapes can be recursive, so the name is reserved before the shape is compiled.
            self.definitions.insert(name.to_owned(), Value::Bool(true));
            if let Some(shape) = self.shape(name) {
                let definition = match shape {
                    Shape::Object { .. } => {
                        let members = self.members(name);
                        self.object(members)
                    }
                    Shape::When(branches) => self.when(branches),
                    Shape::Is(is) => self.of_type(is),
                };
                self.definitions.insert(name.to_owned(), definition);
            }
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn of_type(&mut self, wanted: &'a Type) -> Value {
        match wanted {
            Type::Any => json!({}),
            Type::Plain { json, format: None } => json!({ "type": json }),
            Type::Plain { json, format: Some(format) } => json!({ "type": json, "format": format.name() }),
            Type::Number { json, at_least, at_most } => {
                bounded(json!({ "type": json }), [("minimum", at_least), ("maximum", at_most)])
            }
            Type::OneValueOf(values) => one_of(values.clone()),
            Type::Named(name) => self.reference(name),
            Type::Array { of, at_least, at_most } => {
                let items = self.of_type(of);
                bounded(json!({ "type": "array", "items": items }), [("minItems", at_least), ("maxItems", at_most)])
            }
            Type::Map(of) => {
                let members = self.of_type(of);
                json!({ "type": "object", "additionalProperties": members })
            }
            Type::Either(alternatives) => self.either(alternatives),
            Type::Object(rows) => self.object(own_members(rows, self.revision)),
        }
    }

    /// All fields of a shape: those of the shapes it extends, overridden by its own.
    fn members(&self, name: &str) -> Members<'a> {
        let Some(Shape::Object { extends, members }) = self.shape(name) else { return Members::new() };
        let parents = extends.iter().filter(|parent| parent.window.holds(self.revision));
        let mut all: Members = parents.flat_map(|parent| self.members(&parent.text)).collect();
        all.extend(own_members(members, self.revision));
        all
    }

    fn object(&mut self, members: Members<'a>) -> Value {
        let required: Vec<&str> =
            members.iter().filter(|(_, (required, _))| *required).map(|(name, _)| *name).collect();
        let properties: Map<String, Value> =
            members.into_iter().map(|(name, (_, of))| (name.to_owned(), self.of_type(of))).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    }

    /// Selects the alternative by JSON type before it is validated, so that errors are about the intended one.
    fn either(&mut self, alternatives: &'a [Type]) -> Value {
        let mut types = Vec::new();
        let mut chosen = Vec::new();
        for of in alternatives {
            let json = self.json_types(of);
            if !matches!(of, Type::Plain { format: None, .. }) {
                let then = self.of_type(of);
                chosen.push(json!({ "if": { "type": json }, "then": then }));
            }
            types.extend(json);
        }
        if chosen.is_empty() { json!({ "type": types }) } else { json!({ "type": types, "allOf": chosen }) }
    }

    fn json_types(&self, of: &Type) -> Vec<&'static str> {
        match of {
            Type::Plain { json, .. } | Type::Number { json, .. } => vec![json],
            Type::OneValueOf(values) if values.iter().all(Value::is_i64) => vec!["integer"],
            Type::OneValueOf(_) => vec!["string"],
            Type::Array { .. } => vec!["array"],
            Type::Either(alternatives) => alternatives.iter().flat_map(|of| self.json_types(of)).collect(),
            Type::Named(name) => match self.shape(name) {
                Some(Shape::Is(is)) => self.json_types(is),
                _ => vec!["object"],
            },
            Type::Any | Type::Map(_) | Type::Object(_) => vec!["object"],
        }
    }

    /// Branches are tried in order. If none matches, the value must at least have what the conditions require.
    fn when(&mut self, branches: &[Branch]) -> Value {
        let known: Vec<&Branch> = branches
            .iter()
            .filter(|branch| branch.window.holds(self.revision) && self.shape(&branch.shape).is_some())
            .collect();
        let mut schema = none_of(&known);
        for branch in known.iter().rev() {
            let then = self.reference(&branch.shape);
            schema = match &branch.condition {
                Condition::Otherwise => then,
                Condition::Has(member) => json!({ "if": { "required": [member] }, "then": then, "else": schema }),
                Condition::Is { member, values } => {
                    json!({ "if": having(member, values.clone()), "then": then, "else": schema })
                }
            };
        }
        schema
    }

    /// A request or notification as it is sent.
    fn message(&mut self, name: &str, method: &'a Method) -> Value {
        let frame = if method.result.is_some() { "JSONRPCRequest" } else { "JSONRPCNotification" };
        let params_required = match self.shape(&method.params) {
            Some(Shape::Object { .. }) => self.members(&method.params).values().any(|(required, _)| *required),
            _ => true,
        };
        let mut members = self.members(frame);
        members.shift_remove("params");
        let mut schema = self.object(members);
        schema["properties"]["method"] = json!({ "const": name });
        schema["properties"]["params"] = self.reference(&method.params);
        if let (true, Some(required)) = (params_required, schema["required"].as_array_mut()) {
            required.push("params".into());
        }
        schema
    }
}

fn own_members(rows: &Rows<Type>, revision: Revision) -> Members<'_> {
    rows.of(revision).map(|(heading, of)| (heading.trim_end_matches('!'), (heading.ends_with('!'), of))).collect()
}

fn bounded(mut schema: Value, bounds: [(&str, &Option<i64>); 2]) -> Value {
    for (keyword, bound) in bounds {
        if let Some(bound) = bound {
            schema[keyword] = (*bound).into();
        }
    }
    schema
}

fn one_of(mut values: Vec<Value>) -> Value {
    if values.len() == 1 { json!({ "const": values.remove(0) }) } else { json!({ "enum": values }) }
}

fn having(member: &str, values: Vec<Value>) -> Value {
    json!({ "required": [member], "properties": { member: one_of(values) } })
}

/// The schema for a value that matches no condition, written so that the error names what is missing.
fn none_of(branches: &[&Branch]) -> Value {
    let mut values: IndexMap<&str, Vec<Value>> = IndexMap::new();
    let mut present = Vec::new();
    for branch in branches {
        match &branch.condition {
            Condition::Is { member, values: more } => values.entry(member).or_default().extend(more.iter().cloned()),
            Condition::Has(member) => present.push(json!({ "required": [member] })),
            Condition::Otherwise => {}
        }
    }
    match values.into_iter().next() {
        Some((member, values)) => having(member, values),
        None => json!({ "anyOf": present }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(text: &str) -> Book {
        Book::read(&[("test.yaml", text)]).expect("a book")
    }

    const PETS: &str = "
shapes:
  Pet:
    about: one of them
    when:
      kind is dog: Dog
      kind is cat since 2025-11-25: Cat
  Dog:
    about: barks
    extends: [Named, Chipped since 2025-11-25]
    members:
      kind!: = dog
      puppies: Dog[]
  Cat:
    about: does not
    members:
      kind!: = cat
  Named:
    about: has a name
    members:
      name!: string
      kind!: string
  Chipped:
    about: has a number
    members:
      chip: integer 0..
";

    #[test]
    fn only_what_the_revision_has_is_compiled() {
        let schema = schema(&book(PETS), "Pet", Revision::V2025_06_18).expect("a schema");
        let expected = json!({
            "$ref": "#/$defs/Pet",
            "$defs": {
                "Pet": {
                    "if": { "required": ["kind"], "properties": { "kind": { "const": "dog" } } },
                    "then": { "$ref": "#/$defs/Dog" },
                    "else": { "required": ["kind"], "properties": { "kind": { "const": "dog" } } },
                },
                "Dog": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "kind": { "const": "dog" },
                        "puppies": { "type": "array", "items": { "$ref": "#/$defs/Dog" } },
                    },
                    "required": ["name", "kind"],
                },
            },
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn windows_bring_members_and_branches() {
        let schema = schema(&book(PETS), "Pet", Revision::V2025_11_25).expect("a schema");
        assert_eq!(schema["$defs"]["Dog"]["properties"]["chip"], json!({ "type": "integer", "minimum": 0 }));
        assert_eq!(schema["$defs"]["Pet"]["else"]["then"], json!({ "$ref": "#/$defs/Cat" }));
    }

    #[test]
    fn a_method_is_the_shape_of_its_message() {
        let book = Book::built_in();
        let required = |method, revision| schema(book, method, revision).expect("a schema")["required"].clone();
        let all = json!(["jsonrpc", "id", "method", "params"]);
        assert_eq!(required("tools/list", Revision::V2025_11_25), json!(["jsonrpc", "id", "method"]));
        assert_eq!(required("tools/list", Revision::V2026_07_28), all);
        assert_eq!(required("tools/call", Revision::V2024_11_05), all);
        assert_eq!(required("notifications/message", Revision::V2024_11_05), json!(["jsonrpc", "method", "params"]));
        assert_eq!(schema(book, "ping", Revision::V2026_07_28), None);
    }

    #[test]
    fn a_slip_in_a_description_is_refused_with_its_place() {
        let refused = |text: &str| Book::read(&[("test.yaml", text)]).map(|_| ()).expect_err("refused");
        for (text, why) in [
            ("shapes:\n  A:\n    about: a\n    members:\n      x: strin\n", "unknown type `strin`"),
            ("shapes:\n  A:\n    about: a\n    member:\n      x: string\n", "member"),
            ("shapes:\n  A:\n    about: a\n    when:\n      kind=a: B\n", "`kind=a` is not a condition"),
            ("shapes:\n  A:\n    about: a\n    is: B\n    when:\n      has b: B\n", "either `members`"),
            ("shapes:\n  A until 2025-06-19:\n    about: a\n    is: any\n", "unknown protocol revision `2025-06-19`"),
        ] {
            let error = refused(text);
            assert!(error.contains(why) && error.starts_with("test.yaml: "), "{error}");
        }
    }
}
