//! A parsed YAML file as bytes. The build script packs the built-in suites, so that a release parses no YAML at its
//! start.
//!
//! A node is a letter for its kind, followed by its content. Counts and lengths come first, with seven bits per byte,
//! the lowest first; the top bit marks that more bytes follow. Positions are omitted, since only error messages use
//! them.

use super::yaml::{Tree, Yaml};

pub fn pack(tree: &Tree) -> Vec<u8> {
    let mut bytes = Vec::new();
    node(tree, &mut bytes);
    bytes
}

fn node(tree: &Tree, bytes: &mut Vec<u8>) {
    match &tree.value {
        Yaml::Null => bytes.push(b'n'),
        Yaml::Bool(false) => bytes.push(b'f'),
        Yaml::Bool(true) => bytes.push(b't'),
        Yaml::Number(number) => {
            bytes.push(b'#');
            text(&number.to_string(), bytes);
        }
        Yaml::String(string) => {
            bytes.push(b's');
            text(string, bytes);
        }
        Yaml::List(items) => {
            bytes.push(b'l');
            count(items.len(), bytes);
            for item in items {
                node(item, bytes);
            }
        }
        Yaml::Map(members) => {
            bytes.push(b'm');
            count(members.len(), bytes);
            for (key, value) in members {
                text(&key.value, bytes);
                node(value, bytes);
            }
        }
    }
}

fn text(text: &str, bytes: &mut Vec<u8>) {
    count(text.len(), bytes);
    bytes.extend_from_slice(text.as_bytes());
}

fn count(mut number: usize, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(0x80 | number.to_le_bytes()[0]);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}
