//! What a document loads by its tags and its styles. Scripts are not read.

use std::sync::LazyLock;

use html5gum::{StartTag, Token};
use regex::Regex;

use super::app_document::{attribute, tokens};

/// Something that is loaded: where the document says so, its URL, and the list that has to include its origin.
#[derive(Debug, PartialEq, Eq)]
pub struct Loaded {
    pub by: String,
    pub url: String,
    pub list: &'static str,
}

/// What one document loads, at most; a page of links to images has less.
const MOST: usize = 2000;

const RESOURCES: &str = "resourceDomains";
const FRAMES: &str = "frameDomains";
const BASES: &str = "baseUriDomains";

pub fn loaded(text: &str) -> Vec<Loaded> {
    let mut found = Vec::new();
    // Elements of these are not in the document, or not where scripts run.
    let mut inert: usize = 0;
    let mut is_style = false;
    for token in tokens(text) {
        match token {
            Token::StartTag(tag) if is_inert(&tag.name) => inert += 1,
            Token::EndTag(tag) if is_inert(&tag.name) => inert = inert.saturating_sub(1),
            _ if inert > 0 => {}
            Token::StartTag(tag) => {
                is_style = tag.name == b"style";
                found.extend(of_tag(&tag));
            }
            Token::EndTag(_) => is_style = false,
            Token::String(style) if is_style => found.extend(of_style(&String::from_utf8_lossy(&style.value))),
            _ => {}
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}

fn is_inert(name: &[u8]) -> bool {
    matches!(name, b"template" | b"noscript")
}

fn of_tag(tag: &StartTag<()>) -> Vec<Loaded> {
    let name = String::from_utf8_lossy(&tag.name);
    let (from, list): (&[&str], _) = match name.as_ref() {
        "script" if runs(tag) => (&["src"], RESOURCES),
        "img" | "source" => (&["src", "srcset"], RESOURCES),
        "video" => (&["src", "poster"], RESOURCES),
        "audio" | "track" => (&["src"], RESOURCES),
        "link" if is_fetched(tag) => (&["href"], RESOURCES),
        "iframe" => (&["src"], FRAMES),
        "base" => (&["href"], BASES),
        _ => (&[], RESOURCES),
    };
    let urls = |from: &&str| {
        let value = attribute(tag, from).unwrap_or_default();
        let urls = if *from == "srcset" { candidates(&value) } else { vec![value] };
        let by = format!("<{name} {from}>");
        urls.into_iter().map(move |url| Loaded { by: by.clone(), url, list })
    };
    from.iter().flat_map(urls).filter(|loaded| !loaded.url.is_empty()).collect()
}

/// The URLs of a `srcset`. A URL ends at a space, so it can have commas, as `data:` does.
fn candidates(srcset: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = srcset;
    while found.len() < MOST {
        rest = rest.trim_start_matches(|next: char| next == ',' || next.is_ascii_whitespace());
        let end = rest.find(|next: char| next.is_ascii_whitespace()).unwrap_or(rest.len());
        let (url, descriptor) = rest.split_at(end);
        if url.is_empty() {
            break;
        }
        found.push(url.trim_end_matches(',').to_owned());
        let has_descriptor = !url.ends_with(',');
        rest = if has_descriptor { descriptor.split_once(',').map_or("", |(_, next)| next) } else { descriptor };
    }
    found
}

/// Other types are data.
fn runs(script: &StartTag<()>) -> bool {
    let kind = attribute(script, "type").unwrap_or_default().to_ascii_lowercase();
    kind.is_empty() || kind == "module" || kind.ends_with("javascript")
}

fn is_fetched(link: &StartTag<()>) -> bool {
    let rel = attribute(link, "rel").unwrap_or_default().to_ascii_lowercase();
    let has = |word: &str| rel.split_ascii_whitespace().any(|found| found == word);
    (has("stylesheet") || has("icon")) && !has("alternate") && attribute(link, "disabled").is_none()
}

/// The URLs in a style.
fn of_style(style: &str) -> Vec<Loaded> {
    /// `@namespace` names a URL that is not loaded.
    static NOT_LOADED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?is)/\*.*?(\*/|$)|@namespace[^;]*;").expect("a valid expression"));
    static URLS: LazyLock<Regex> = LazyLock::new(|| {
        let quoted = r#""([^"\n]*)"|'([^'\n]*)'"#;
        let url = format!(r"(?i)url\(\s*(?:{quoted}|([^)\s'\x22]*))|@import\s+(?:{quoted})");
        Regex::new(&url).expect("a valid expression")
    });
    let style = NOT_LOADED.replace_all(style, " ");
    let url = |found: regex::Captures| found.iter().skip(1).flatten().next().map(|url| url.as_str().trim().to_owned());
    let urls = URLS.captures_iter(&style).filter_map(url).filter(|url| !url.is_empty());
    urls.take(MOST).map(|url| Loaded { by: "<style>".to_owned(), url, list: RESOURCES }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(text: &str) -> Vec<String> {
        loaded(text).into_iter().map(|loaded| format!("{} {} {}", loaded.by, loaded.url, loaded.list)).collect()
    }

    #[test]
    fn tags_load_what_they_name() {
        let page = "<base href='https://a.example/'><SCRIPT type=module SRC = a.js ></script><img src=\"b.png\"/>\
                    <link rel='shortcut icon' href=c.ico><link rel=preconnect href=d><iframe src=e></iframe>\
                    <video poster=g><source src=f></video><script type='text/template' src=g></script><a href=h>h</a>\
                    <img srcset='i.png, data:,j 2x,k 1.5x'>";
        let expected = [
            "<base href> https://a.example/ baseUriDomains",
            "<script src> a.js resourceDomains",
            "<img src> b.png resourceDomains",
            "<link href> c.ico resourceDomains",
            "<iframe src> e frameDomains",
            "<video poster> g resourceDomains",
            "<source src> f resourceDomains",
            "<img srcset> i.png resourceDomains",
            "<img srcset> data:,j resourceDomains",
            "<img srcset> k resourceDomains",
        ];
        assert_eq!(urls(page), expected);
    }

    #[test]
    fn text_and_what_is_not_shown_load_nothing() {
        let page = "<!-- <img src=a> --><script>'<img src=b>'; x = 'url(c)'</script><template><img src=d></template>\
                    <noscript><img src=e></noscript><textarea><img src=f></textarea><title><img src=g></title>\
                    <p>url(h)</p><img src=''><img><img src=i>";
        assert_eq!(urls(page), ["<img src> i resourceDomains"]);
    }

    #[test]
    fn styles_load_urls() {
        let page = "<style>@import 'a.css'; @import url(b.css);/* url(c) */@namespace svg url(http://www.w3.org/2000/svg);\
                    a{b:url( \"d\" )}e{f:URL('g'),url(h)}i{j:url()}</style>";
        let found: Vec<String> = loaded(page).into_iter().map(|loaded| loaded.url).collect();
        assert_eq!(found, ["a.css", "b.css", "d", "g", "h"]);
    }
}
