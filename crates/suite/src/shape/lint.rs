//! Mistakes that the notation allows, searched in all built-in descriptions.

use std::collections::{HashMap, HashSet};

use super::{
    book::{Book, Condition, Shape},
    compile,
    rows::Rows,
    types::Type,
    window::{Dated, Window},
};
use conform_model::revision::Revision;

fn shape(name: &str, revision: Revision) -> Option<&'static Shape> {
    Book::built_in().shapes.find(name, revision).map(|(_, shape)| shape)
}

/// A name that a description uses.
struct Use {
    place: String,
    name: String,
    /// It is used in the revisions that are in all of these windows.
    windows: Vec<Window>,
}

fn uses() -> Vec<Use> {
    fn of_type(place: &str, of: &Type, windows: &[Window], found: &mut Vec<Use>) {
        match of {
            Type::Named(name) => {
                found.push(Use { place: place.to_owned(), name: name.clone(), windows: windows.to_vec() });
            }
            Type::Array { of, .. } | Type::Map(of) => of_type(place, of, windows, found),
            Type::Either(all) => all.iter().for_each(|of| of_type(place, of, windows, found)),
            Type::Object(rows) => of_rows(place, rows, windows, found),
            Type::Any | Type::Plain { .. } | Type::Number { .. } | Type::OneValueOf(_) => {}
        }
    }
    fn of_rows(place: &str, rows: &Rows<Type>, windows: &[Window], found: &mut Vec<Use>) {
        for (heading, of) in rows.all() {
            of_type(&format!("{place}.{}", heading.text), of, &[windows, &[heading.window]].concat(), found);
        }
    }
    let mut found = Vec::new();
    for (heading, shape) in Book::built_in().shapes.all() {
        let place = &heading.text;
        match shape {
            Shape::Object { extends, members } => {
                found.extend(extends.iter().map(|parent| Use {
                    place: place.clone(),
                    name: parent.text.clone(),
                    windows: vec![heading.window, parent.window],
                }));
                of_rows(place, members, &[heading.window], &mut found);
            }
            // A branch is omitted in revisions that lack its shape, so it adds no window.
            Shape::When(branches) => found.extend(branches.iter().map(|branch| Use {
                place: place.clone(),
                name: branch.shape.clone(),
                windows: Vec::new(),
            })),
            Shape::Is(is) => of_type(place, is, &[heading.window], &mut found),
        }
    }
    for (heading, method) in Book::built_in().methods.all() {
        let windows = vec![heading.window];
        found.extend(method.result.iter().chain([&method.params]).map(|name| Use {
            place: heading.text.clone(),
            name: name.clone(),
            windows: windows.clone(),
        }));
    }
    found
}

fn overlaps<'a>(headings: impl Iterator<Item = &'a Dated>) -> Vec<String> {
    let mut counts: HashMap<(&str, Revision), usize> = HashMap::new();
    for heading in headings {
        for revision in Revision::ALL.into_iter().filter(|revision| heading.window.holds(*revision)) {
            *counts.entry((heading.text.trim_end_matches('!'), revision)).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|((name, at), _)| format!("{name} in {at}")).collect()
}

#[test]
fn no_name_is_described_twice_for_a_revision() {
    let book = Book::built_in();
    assert_eq!(overlaps(book.shapes.all().map(|(heading, _)| heading)), [""; 0]);
    assert_eq!(overlaps(book.methods.all().map(|(heading, _)| heading)), [""; 0]);
    for (heading, shape) in book.shapes.all() {
        if let Shape::Object { members, .. } = shape {
            assert_eq!(overlaps(members.all().map(|(heading, _)| heading)), [""; 0], "{}", heading.text);
        }
    }
}

#[test]
fn every_name_is_known_wherever_it_is_used() {
    for used in uses() {
        let known: Vec<_> = Revision::ALL.into_iter().filter(|at| shape(&used.name, *at).is_some()).collect();
        assert!(!known.is_empty(), "{}: unknown `{}`", used.place, used.name);
        for at in Revision::ALL.into_iter().filter(|at| used.windows.iter().all(|window| window.holds(*at))) {
            assert!(known.contains(&at) || used.windows.is_empty(), "{}: {at} has no `{}`", used.place, used.name);
        }
    }
}

#[test]
fn every_shape_is_used() {
    // These are used by name only, the last two by suites for proposals.
    let alone = [
        "JSONRPCMessage",
        "JSONRPCBatchRequest",
        "JSONRPCBatchResponse",
        "RelatedTaskMetadata",
        "Skill",
        "DescribedContents",
        "VersionedContents",
    ];
    let used: HashSet<String> = uses().into_iter().map(|used| used.name).collect();
    for (heading, _) in Book::built_in().shapes.all() {
        let name = heading.text.as_str();
        assert_ne!(used.contains(name), alone.contains(&name), "{name}");
    }
}

#[test]
fn only_objects_are_extended() {
    for revision in Revision::ALL {
        for (name, extending) in Book::built_in().shapes.of(revision) {
            let Shape::Object { extends, .. } = extending else { continue };
            for parent in extends.iter().filter(|parent| parent.window.holds(revision)) {
                assert!(matches!(shape(&parent.text, revision), Some(Shape::Object { .. })), "{name}: {}", parent.text);
            }
        }
    }
}

#[test]
fn branches_end_in_otherwise_or_ask_for_one_thing() {
    for revision in Revision::ALL {
        for (name, shape_of) in Book::built_in().shapes.of(revision) {
            let Shape::When(branches) = shape_of else { continue };
            let known: Vec<_> =
                branches.iter().filter(|b| b.window.holds(revision) && shape(&b.shape, revision).is_some()).collect();
            let (last, first) = known.split_last().unwrap_or_else(|| panic!("{name} has no branch in {revision}"));
            assert!(
                first.iter().all(|branch| branch.condition != Condition::Otherwise),
                "{name}: otherwise comes last"
            );
            let asked: HashSet<_> = known
                .iter()
                .map(|branch| match &branch.condition {
                    Condition::Is { member, .. } => member.as_str(),
                    Condition::Has(_) | Condition::Otherwise => "",
                })
                .collect();
            assert!(
                last.condition == Condition::Otherwise || asked.len() == 1,
                "{name} needs `otherwise` in {revision}"
            );
        }
    }
}

#[test]
fn everything_compiles_in_every_revision_that_has_it() {
    let mut compiled = 0;
    for name in super::names() {
        for revision in Revision::ALL.into_iter().filter(|revision| super::exists(name, *revision)) {
            let schema = compile::schema(Book::built_in(), name, revision).expect("a schema");
            if let Err(error) = jsonschema::meta::validate(&schema) {
                panic!("{name} in {revision}: {error}\n{schema:#}");
            }
            assert!(jsonschema::options().build(&schema).is_ok(), "{name} in {revision}");
            compiled += 1;
        }
    }
    assert!(compiled > 400, "only {compiled}");
}
