//! Parameters in queries and bodies.

pub struct Form(Vec<(String, String)>);

impl Form {
    pub fn read(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// Whether a parameter occurs twice that may occur once.
    pub fn repeats(&self) -> bool {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.retain(|name| *name != "resource");
        names.sort_unstable();
        names.windows(2).any(|pair| pair[0] == pair[1])
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The URL with these parameters added to its query.
pub fn with_query(url: &str, parameters: &[(&str, String)]) -> String {
    let (url, fragment) = url.split_once('#').map_or((url, None), |(url, fragment)| (url, Some(fragment)));
    let mut added = form_urlencoded::Serializer::new(String::new());
    added.extend_pairs(parameters);
    let join = if url.contains('?') { '&' } else { '?' };
    let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    format!("{url}{join}{}{fragment}", added.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_added_to_those_that_are_there() {
        let added = [("code", "a b".to_owned())];
        assert_eq!(with_query("http://h/c", &added), "http://h/c?code=a+b");
        assert_eq!(with_query("http://h/c?x=1", &added), "http://h/c?x=1&code=a+b");
    }
}
