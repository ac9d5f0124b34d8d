//! YAML as it was written: scalars keep their text, because the versions of YAML read some of them differently.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};

/// Nodes at most. Aliases can make a small file stand for a huge one.
const NODES: usize = 20_000;
const DEPTH: usize = 60;

#[derive(Clone, Debug, PartialEq)]
pub enum Yaml {
    /// Whether its type depends on its text.
    Scalar {
        text: String,
        is_plain: bool,
    },
    List(Vec<Yaml>),
    Map(Vec<(Yaml, Yaml)>),
    /// It has a tag that is not known here, so that it can stand for anything.
    Tagged,
}

/// Why a text was not read.
#[derive(Debug, PartialEq)]
pub enum Unread {
    Invalid(String),
    TooLarge,
}

/// The first document of a text.
pub fn parse(text: &str) -> Result<Yaml, Unread> {
    let mut reader = Reader { events: Parser::new_from_str(text), anchors: HashMap::new(), nodes: 0 };
    loop {
        match reader.next()? {
            Event::StreamStart | Event::DocumentStart(..) => {}
            Event::DocumentEnd | Event::StreamEnd => {
                return Ok(Yaml::Scalar { text: String::new(), is_plain: true });
            }
            event => {
                let document = reader.node(event, 0)?;
                // Errors may follow the node.
                for event in reader.events.by_ref() {
                    event.map_err(|error| Unread::Invalid(error.to_string()))?;
                }
                return Ok(document);
            }
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, granit_parser::StrInput<'t>>,
    anchors: HashMap<usize, Yaml>,
    nodes: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Event<'t>, Unread> {
        match self.events.next() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(Unread::Invalid(error.to_string())),
            None => Err(Unread::Invalid("the text ends early".to_owned())),
        }
    }

    fn node(&mut self, event: Event<'t>, depth: usize) -> Result<Yaml, Unread> {
        self.nodes += 1;
        if self.nodes > NODES || depth > DEPTH {
            return Err(Unread::TooLarge);
        }
        let (anchor, node) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let text = text.into_owned();
                let is_plain = style == ScalarStyle::Plain;
                let node = match tag.as_deref() {
                    None => Yaml::Scalar { text, is_plain },
                    Some(tag) if tag.is_yaml_core_schema_tag("str") => Yaml::Scalar { text, is_plain: false },
                    Some(_) => Yaml::Tagged,
                };
                (anchor, node)
            }
            Event::SequenceStart(_, anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
                (anchor, Yaml::List(items))
            }
            Event::MappingStart(_, anchor, _) => {
                let mut members = Vec::new();
                loop {
                    match self.next()? {
                        Event::MappingEnd => break,
                        event => {
                            let key = self.node(event, depth + 1)?;
                            let event = self.next()?;
                            members.push((key, self.node(event, depth + 1)?));
                        }
                    }
                }
                (anchor, Yaml::Map(members))
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned().unwrap_or(Yaml::Tagged);
                self.nodes += size(&node);
                if self.nodes > NODES {
                    return Err(Unread::TooLarge);
                }
                (0, node)
            }
            _ => (0, Yaml::Tagged),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }
}

fn size(node: &Yaml) -> usize {
    1 + match node {
        Yaml::List(items) => items.iter().map(size).sum(),
        Yaml::Map(members) => members.iter().map(|(key, value)| size(key) + size(value)).sum(),
        Yaml::Scalar { .. } | Yaml::Tagged => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(text: &str, is_plain: bool) -> Yaml {
        Yaml::Scalar { text: text.to_owned(), is_plain }
    }

    #[test]
    fn scalars_keep_their_text() {
        let read = parse("a: 'x'\nb: [no, &n 1.0, *n]\nc: >-\n  two\n  lines\n").unwrap();
        let members = [
            (scalar("a", true), scalar("x", false)),
            (scalar("b", true), Yaml::List(vec![scalar("no", true), scalar("1.0", true), scalar("1.0", true)])),
            (scalar("c", true), scalar("two lines", false)),
        ];
        assert_eq!(read, Yaml::Map(members.into()));
        assert_eq!(parse(""), Ok(scalar("", true)));
        assert!(matches!(parse("a: [1"), Err(Unread::Invalid(_))));
    }

    #[test]
    fn a_small_text_cannot_stand_for_a_huge_one() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let alias = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 9].join(", "));
        }
        assert_eq!(parse(&text), Err(Unread::TooLarge));
        assert!(parse(&"[".repeat(1000)).is_err());
    }
}
