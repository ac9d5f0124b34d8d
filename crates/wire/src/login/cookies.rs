//! The cookies of a login. The host that sets one gets it back; lifetimes do not matter for the length of a run.

use reqwest::{
    Url,
    header::{HeaderMap, SET_COOKIE},
};

/// More than any login sets; a guess.
const MOST: usize = 100;

#[derive(Debug, Default)]
pub struct Cookies(Vec<Cookie>);

#[derive(Debug)]
struct Cookie {
    host: String,
    path: String,
    name: String,
    value: String,
}

impl Cookies {
    pub fn take(&mut self, url: &Url, headers: &HeaderMap) {
        for line in headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            let mut parts = line.split(';').map(str::trim);
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
            let attributes: Vec<(&str, &str)> = parts.map(|part| part.split_once('=').unwrap_or((part, ""))).collect();
            let get = |name: &str| {
                attributes
                    .iter()
                    .find(|(known, _)| known.trim().eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.trim())
            };
            let host = url.host_str().unwrap_or_default().to_owned();
            let usual = url.path().rsplit_once('/').map_or("/", |(folder, _)| folder);
            let path = get("path").filter(|path| path.starts_with('/')).unwrap_or(usual).to_owned();
            self.0.retain(|known| (&*known.host, &*known.path, &*known.name) != (&*host, &*path, name));
            let is_over = get("max-age").is_some_and(|age| age.starts_with(['0', '-']))
                || get("expires").is_some_and(|date| date.contains("1970"))
                || value.is_empty();
            if !is_over && self.0.len() < MOST {
                self.0.push(Cookie { host, path, name: name.to_owned(), value: value.to_owned() });
            }
        }
    }

    /// The header for a URL, if it gets cookies.
    pub fn header(&self, url: &Url) -> Option<String> {
        let host = url.host_str().unwrap_or_default();
        let is_below = |path: &str| {
            let rest = url.path().strip_prefix(path.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let sent = self.0.iter().filter(|cookie| cookie.host == host && is_below(&cookie.path));
        let pairs: Vec<String> = sent.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_returns_to_its_host_and_path_until_it_is_over() {
        let url = |text: &str| Url::parse(text).expect("a URL");
        let set = |lines: &[&str]| {
            lines.iter().map(|line| (SET_COOKIE, line.parse().expect("a value"))).collect::<HeaderMap>()
        };
        let mut cookies = Cookies::default();
        cookies.take(&url("http://h:1/a/login"), &set(&["sid=1; HttpOnly", "all=2; Path=/", "sid=3"]));
        assert_eq!(cookies.header(&url("http://h:2/a/b")).as_deref(), Some("all=2; sid=3"));
        assert_eq!(cookies.header(&url("http://h/ab")).as_deref(), Some("all=2"));
        assert_eq!(cookies.header(&url("http://other/a/")), None);
        cookies.take(
            &url("http://h/a/x"),
            &set(&["sid=; Max-Age=0", "all=x; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT"]),
        );
        assert_eq!(cookies.header(&url("http://h/a/")), None);
    }
}
