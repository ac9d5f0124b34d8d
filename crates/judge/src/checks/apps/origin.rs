//! Where a URL leads, and whether an element of a list of origins includes it.

/// A scheme, a host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `None` for a URL that has the scheme of its page.
    scheme: Option<&'static str>,
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// The origin of an absolute URL of the web; `None` for a relative one, and for any other scheme.
    pub fn of(url: &str) -> Option<Self> {
        let (scheme, rest) = if let Some(rest) = url.strip_prefix("//") {
            (None, rest)
        } else {
            let (scheme, rest) = url.split_once("://")?;
            (Some(["https", "http"].into_iter().find(|known| known.eq_ignore_ascii_case(scheme))?), rest)
        };
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
        let (host, port) = host_and_port(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
        let port = port.and_then(|port| port.parse().ok()).filter(|port| scheme.map(usual) != Some(*port));
        (!host.is_empty()).then(|| Self { scheme, host: host.to_ascii_lowercase(), port })
    }

    /// Whether a policy with this element lets a page load it. Paths are not compared.
    pub fn is_in(&self, element: &str) -> bool {
        let element = element.trim();
        if element == "*" {
            return true;
        }
        let (scheme, rest) = match element.split_once(':') {
            Some((scheme, "")) => return self.has_scheme(scheme),
            Some((scheme, rest)) if rest.starts_with("//") => (Some(scheme), &rest[2..]),
            _ => (None, element),
        };
        let (host, port) = host_and_port(rest.split('/').next().unwrap_or(rest));
        let host = host.to_ascii_lowercase();
        let has_host = match host.strip_prefix('*') {
            Some(end) if end.starts_with('.') => self.host.ends_with(end),
            _ => self.host == host,
        };
        let has_port = match port {
            None => self.port.is_none(),
            Some("*") => true,
            Some(port) => port.parse().ok().filter(|port| self.scheme.map(usual) != Some(*port)) == self.port,
        };
        scheme.is_none_or(|scheme| self.has_scheme(scheme)) && has_host && has_port
    }

    /// Where http is allowed, https is.
    fn has_scheme(&self, scheme: &str) -> bool {
        self.scheme.is_none_or(|own| own.eq_ignore_ascii_case(scheme) || scheme.eq_ignore_ascii_case("http"))
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", self.scheme.unwrap_or("https"), self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

fn usual(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

/// An address of IPv6 has colons and brackets.
fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_from_urls() {
        let shown = |url: &str| Origin::of(url).map(|origin| origin.to_string());
        assert_eq!(shown("HTTPS://user@CDN.example.com:443/a?b").as_deref(), Some("https://cdn.example.com"));
        assert_eq!(shown("http://localhost:3000#x").as_deref(), Some("http://localhost:3000"));
        assert_eq!(shown("//cdn.example.com/a").as_deref(), Some("https://cdn.example.com"));
        assert_eq!(shown("http://[::1]:80/").as_deref(), Some("http://[::1]"));
        for none in ["a.js", "/a.js", "data:text/css,a", "blob:https://a.example/x", "https:///x", "ui://a/b", ""] {
            assert_eq!(shown(none), None, "{none}");
        }
    }

    #[test]
    fn elements_include_origins() {
        let includes = |element: &str, url: &str| Origin::of(url).is_some_and(|origin| origin.is_in(element));
        let cdn = "https://cdn.example.com/lib.js";
        for element in [
            "https://cdn.example.com",
            "https://CDN.example.com:443/lib/",
            "https://*.example.com",
            "cdn.example.com",
            "*",
            "https:",
            "http://cdn.example.com",
        ] {
            assert!(includes(element, cdn), "{element}");
        }
        for element in [
            "https://example.com",
            "https://*.cdn.example.com",
            "https://cdn.example.com:8443",
            "'self'",
            "wss://cdn.example.com",
            "http",
            "",
        ] {
            assert!(!includes(element, cdn), "{element}");
        }
        assert!(!includes("https://cdn.example.com", "http://cdn.example.com/"));
        assert!(!includes("https://*.example.com", "https://example.com/"));
        assert!(
            includes("https://a.example:8443", "https://a.example:8443/")
                && includes("https://a.example:*", "https://a.example:1/")
        );
        assert!(includes("https://a.example", "//a.example/x") && includes("http://a.example", "//a.example/x"));
    }
}
