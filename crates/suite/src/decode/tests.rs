use super::*;
use crate::yaml;

keys! {
    /// A thing.
    Thing, "a thing" {
        name: At<String>,
        at_most: usize,
        r#where: Pairs<bool>,
        tags: OneOrMany<String>,
    }
}

fn read(text: &str) -> (Option<Thing>, Vec<String>) {
    let mut problems = Problems::new("x", text);
    let thing = yaml::parse(text, &mut problems).and_then(|tree| Thing::decode(&tree, &mut problems));
    (thing, problems.into_diagnostics().iter().map(ToString::to_string).collect())
}

#[test]
fn every_mistake_is_noted_and_the_rest_is_read() {
    let (thing, problems) = read("name: 1\natmost: 2\nwhere: { a: yes, b: true }\ntags: x\n");
    let thing = thing.expect("it is a mapping");
    assert!(thing.name.is_none() && thing.at_most.is_none());
    assert_eq!(thing.typed.keys.len(), 4);
    assert_eq!(thing.tags.expect("one tag").0, ["x"]);
    assert_eq!(thing.r#where.expect("one is good").0.len(), 1);
    assert_eq!(
        problems,
        [
            "x:1:7: expected a string, received a number",
            "x:2:1: unknown key `atmost` in a thing",
            "x:3:13: expected true or false, received a string"
        ]
    );
}

#[test]
fn what_is_no_mapping_is_no_thing() {
    let (thing, problems) = read("- 1");
    assert!(thing.is_none());
    assert_eq!(problems, ["x:1:1: expected a mapping, received a list"]);
    assert_eq!(read("at-most: -1").1, ["x:1:10: expected an integer, received -1"]);
}
