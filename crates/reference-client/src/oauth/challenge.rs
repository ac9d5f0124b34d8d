//! `WWW-Authenticate`.

use super::ways::Reads;

/// The parameters of the challenge that is for OAuth.
#[derive(Clone, Debug, Default)]
pub struct Challenge(Vec<(String, String)>);

impl Challenge {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The first challenge with the scheme Bearer.
pub fn read(lines: &[String], reads: Reads) -> Challenge {
    let one = |name: &str, value: &str| Challenge(vec![(name.to_owned(), value.to_owned())]);
    let name = "resource_metadata";
    match reads {
        Reads::Fully => {
            let all = lines.iter().flat_map(|line| challenges(line));
            Challenge(
                all.filter(|(scheme, _)| scheme == "bearer")
                    .map(|(_, parameters)| parameters)
                    .next()
                    .unwrap_or_default(),
            )
        }
        Reads::Never => Challenge::default(),
        Reads::FirstLine => {
            let first = lines.first().filter(|line| line.to_ascii_lowercase().starts_with("bearer"));
            read(first.map(std::slice::from_ref).unwrap_or_default(), Reads::Fully)
        }
        Reads::CaseSensitive => {
            let exact: Vec<String> =
                lines.iter().filter(|line| line.contains("Bearer ") && line.contains(name)).cloned().collect();
            read(&exact, Reads::Fully)
        }
        Reads::AtCommas => {
            let parts = lines.iter().flat_map(|line| line.strip_prefix("Bearer ").unwrap_or(line).split(','));
            let mut pairs = parts.filter_map(|part| part.trim().split_once('='));
            let found = pairs.find(|(known, value)| *known == name && value.starts_with('"'));
            let broken = lines.iter().any(|line| line.contains(", \\\""));
            found.filter(|_| !broken).map(|(_, value)| one(name, value.trim_matches('"'))).unwrap_or_default()
        }
        Reads::BySearch => {
            let text = lines.join(", ");
            let after = text.split_once("resource_metadata=").map(|(_, after)| after.trim_start_matches(['\\', '"']));
            after.map(|after| one(name, after.split(['"', '\\', ',']).next().unwrap_or(""))).unwrap_or_default()
        }
    }
}

/// Every challenge of a line: its scheme in lower case, and its parameters with names in lower case.
fn challenges(line: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut all: Vec<(String, Vec<(String, String)>)> = Vec::new();
    let mut rest = line.trim_start_matches([' ', '\t', ',']);
    while !rest.is_empty() {
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let ahead = after.trim_start_matches([' ', '\t']);
        if let Some(value) = ahead.strip_prefix('=') {
            let (value, after) = value_of(value.trim_start_matches([' ', '\t']));
            if let Some((_, parameters)) = all.last_mut() {
                parameters.push((word.to_ascii_lowercase(), value));
            }
            rest = after;
        } else {
            all.push((word.to_ascii_lowercase(), Vec::new()));
            rest = after;
        }
        rest = rest.trim_start_matches([' ', '\t', ',']);
    }
    all
}

/// A token or a quoted string, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(lines: &[&str], reads: Reads) -> Option<String> {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        read(&lines, reads).get("resource_metadata").map(str::to_owned)
    }

    #[test]
    fn all_spellings_are_read() {
        let found = Some("http://h/m".to_owned());
        assert_eq!(url(&["bEARER Resource_Metadata=\"http://h/m\""], Reads::Fully), found);
        assert_eq!(
            url(&["Bearer a=\"x, \\\"y\\\" = z\", b=1 , resource_metadata = \"http://h/m\""], Reads::Fully),
            found
        );
        assert_eq!(
            url(&["Negotiate, Basic realm=\"o\", Bearer resource_metadata=\"http://h/m\""], Reads::Fully),
            found
        );
        assert_eq!(url(&["Basic realm=\"o\"", "Bearer resource_metadata=http://h/m"], Reads::Fully), found);
        assert_eq!(url(&["Bearer"], Reads::Fully), None);
    }

    #[test]
    fn the_broken_ways_miss_some() {
        assert_eq!(url(&["Basic x=1", "Bearer resource_metadata=\"u\""], Reads::FirstLine), None);
        assert_eq!(url(&["bearer resource_metadata=\"u\""], Reads::CaseSensitive), None);
        assert_eq!(url(&["Bearer resource_metadata=\"u\""], Reads::BySearch), Some("u".to_owned()));
    }
}
