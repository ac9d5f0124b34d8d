//! Resources that are generated on request: an endless branch, and a thousand numbers.

use crate::content::Node;

pub const ENDLESS: &str = "endless:///0";
/// The numbers that can be read by template.
pub const NUMBERS: std::ops::Range<u32> = 0..1000;

pub fn find(uri: &str) -> Option<Node> {
    if let Some(path) = uri.strip_prefix("endless:///") {
        return match path.strip_suffix("/leaf") {
            Some(depth) => Some(leaf(canonical(depth)?)),
            None => branch(canonical(path)?),
        };
    }
    let number = canonical(uri.strip_prefix("number:///")?)?;
    let number = u32::try_from(number).ok().filter(|number| NUMBERS.contains(number))?;
    let parity = if number % 2 == 0 { "even" } else { "odd" };
    Some(Node::text(uri, number.to_string(), "text/plain", format!("{number} is {parity}\n")).unlisted())
}

fn branch(depth: u64) -> Option<Node> {
    let deeper = format!("endless:///{}", depth.checked_add(1)?);
    let leaf = format!("endless:///{depth}/leaf");
    let node = Node::directory(format!("endless:///{depth}"), format!("branch {depth}"), &[&leaf, &deeper]);
    Some(if depth == 0 { node } else { node.unlisted() })
}

fn leaf(depth: u64) -> Node {
    let uri = format!("endless:///{depth}/leaf");
    Node::text(uri, format!("leaf {depth}"), "text/plain", format!("at depth {depth}\n")).unlisted()
}

/// Each number has only one spelling, so each resource has only one URI.
fn canonical(digits: &str) -> Option<u64> {
    digits.parse::<u64>().ok().filter(|number| number.to_string() == digits)
}
