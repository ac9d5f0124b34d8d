//! Decodes what `pack` encoded.

use super::yaml::{At, Position, Text, Tree, Yaml};

/// `None` for bytes that were not packed.
pub fn unpack(mut bytes: &'static [u8]) -> Option<Tree> {
    let tree = node(&mut bytes)?;
    bytes.is_empty().then_some(tree)
}

fn node(bytes: &mut &'static [u8]) -> Option<Tree> {
    let value = match bytes.split_off_first()? {
        b'n' => Yaml::Null,
        b'f' => Yaml::Bool(false),
        b't' => Yaml::Bool(true),
        b'#' => Yaml::Number(text(bytes)?.parse().ok()?),
        b's' => Yaml::String(Text::Borrowed(text(bytes)?)),
        b'l' => Yaml::List(several(bytes, node)?),
        b'm' => Yaml::Map(several(bytes, member)?),
        _ => return None,
    };
    Some(nowhere(value))
}

/// Allocates for all elements at once: this is most of the program's start-up time.
fn several<T>(bytes: &mut &'static [u8], one: fn(&mut &'static [u8]) -> Option<T>) -> Option<Vec<T>> {
    let count = count(bytes)?;
    let mut all = Vec::with_capacity(count.min(bytes.len()));
    for _ in 0..count {
        all.push(one(bytes)?);
    }
    Some(all)
}

fn member(bytes: &mut &'static [u8]) -> Option<(At<Text>, Tree)> {
    Some((nowhere(Text::Borrowed(text(bytes)?)), node(bytes)?))
}

/// Only error messages use positions, and a packed suite has no mistakes.
fn nowhere<T>(value: T) -> At<T> {
    At { at: Position::default(), value }
}

fn text(bytes: &mut &'static [u8]) -> Option<&'static str> {
    let length = count(bytes)?;
    std::str::from_utf8(bytes.split_off(..length)?).ok()
}

fn count(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::{diagnostic::Problems, pack::pack, yaml::parse};
    use conform_texts::SUITES;

    /// A debug build parses the YAML files, a release unpacks what the build script packed.
    #[test]
    fn every_suite_comes_back_as_it_was_read() {
        assert!(SUITES.len() > 100);
        for (path, text) in SUITES.iter() {
            let tree = parse(text, &mut Problems::new(path, text)).expect(path);
            assert_eq!(unpack(pack(&tree).leak()), Some(anywhere(tree)), "{path}");
        }
    }

    #[test]
    fn every_kind_of_node_comes_back() {
        let long = "é".repeat(300);
        let text =
            format!("a: [~, true, false, 1, -2, 1.0, 18446744073709551615, 1e300]\n\"{long}\": {{}}\nb: []\nc: ''\n");
        let tree = parse(&text, &mut Problems::new("x", &text)).expect("it is good");
        let packed: &[u8] = pack(&tree).leak();
        assert_eq!(unpack(packed), Some(anywhere(tree)));
        for cut in 0..packed.len() {
            assert_eq!(unpack(&packed[..cut]), None, "{cut} of {} bytes", packed.len());
        }
        assert_eq!(unpack([packed, b"n"].concat().leak()), None);
    }

    /// The same tree without positions, which are not packed.
    fn anywhere(tree: Tree) -> Tree {
        nowhere(match tree.value {
            Yaml::List(items) => Yaml::List(items.into_iter().map(anywhere).collect()),
            Yaml::Map(members) => {
                let member = |(key, tree): (At<Text>, Tree)| (nowhere(key.value), anywhere(tree));
                Yaml::Map(members.into_iter().map(member).collect())
            }
            other => other,
        })
    }
}
