//! Links in Markdown that are relative paths. Code is skipped: an example is no link.

use std::sync::LazyLock;

use regex::Regex;

/// `[text](path)` and `![text](path "title")`. Links with spaces, angle brackets or parentheses are skipped.
static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"\]\(([^\s()<>"']+)(?:\s+"[^"]*")?\)"#).ok());
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`+[^`\n]*`+").ok());
/// Links of one file.
const LINKS: usize = 200;

/// The relative paths, without links that have a scheme, begin with a slash, or are fragments.
pub fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (Some(link), Some(code)) = (LINK.as_ref(), CODE.as_ref()) else { return found };
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                let line = code.replace_all(line, "");
                found.extend(link.captures_iter(&line).map(|link| link[1].to_owned()).filter(|link| is_path(link)));
            }
            _ => {}
        }
    }
    found.truncate(LINKS);
    found
}

/// A name with a colon, a placeholder or a variable is not surely a path.
fn is_path(link: &str) -> bool {
    !link.starts_with(['/', '#', '?', '\\']) && !link.contains([':', '{', '}', '$', '*', '\\'])
}

#[cfg(test)]
mod tests {
    use super::links;

    #[test]
    fn only_relative_links_outside_of_code_count() {
        let text = "See [a](a.md), ![b](img/b.png \"B\") and [c](../c.md#x).\n```\n[d](d.md)\n```\n~~~\n[e](e.md)\n```\n~~~\n\
                    `[f](f.md)` [g](#g) [h](/h.md) [i](mailto:i@example.com) [j]({path}) [k](k.md)\n    [l](a b.md)\n";
        assert_eq!(links(text), ["a.md", "img/b.png", "../c.md#x", "k.md"]);
    }
}
