//! Whether prompts repeat any text that they repeat if it is plain.

use serde_json::{Value, json};

use super::{
    calls::{Call, Kind, Source, of_kind},
    item::Item,
    observe::Observer,
    subject::What,
};
use conform_model::evidence::End;

/// Maximum number of prompts that are tried.
const TRIED: usize = 20;
const PLAIN: &str = "mcpconformalpha";
/// Texts that templates, formats and quotes change. None has a character at its ends that might be trimmed.
const ODD: [&str; 7] = [
    "mcpalpha{mcpbravo}mcpdelta",
    "mcpalpha{{mcpbravo}}mcpdelta",
    "mcpalpha $mcpbravo mcpdelta",
    "mcpalpha %s %d mcpdelta",
    "mcpalpha \"mcpbravo\" mcpdelta",
    "mcpalpha mcpbrävo日 mcpdelta",
    "mcpalpha [mcpbravo](x) mcpdelta",
];

/// The prompts whose text lacks an argument that they usually repeat.
pub async fn lost(
    observer: &mut Observer<'_>,
    sources: &[Source],
    over: impl Fn() -> bool,
) -> Vec<(Item, Call, usize)> {
    let mut found = Vec::new();
    let prompts = of_kind(sources, What::Prompt);
    for (index, source) in prompts.take(TRIED) {
        let names: Vec<String> = source.subject.schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(|parts| parts.keys().cloned())
            .collect();
        for name in names {
            if over() || observer.caller.gone.is_some() {
                return found;
            }
            if let Some((item, call)) = of_argument(observer, source, &name).await {
                found.push((item, call, index));
            }
        }
    }
    found
}

/// The call that loses a text twice, or the last one.
async fn of_argument(observer: &mut Observer<'_>, source: &Source, name: &str) -> Option<(Item, Call)> {
    shows(observer, source, name, PLAIN).await?.2.then_some(())?;
    let mut last = None;
    for odd in ODD {
        let (item, call, is_shown) = shows(observer, source, name, odd).await?;
        if item.end != End::Result {
            continue;
        }
        if !is_shown
            && let Some((mut again, call, false)) = shows(observer, source, name, odd).await
            && again.end == End::Result
        {
            again.seen.lost = Some(odd.to_owned());
            return Some((again, call));
        }
        last = Some((item, call));
    }
    last
}

async fn shows(observer: &mut Observer<'_>, source: &Source, name: &str, text: &str) -> Option<(Item, Call, bool)> {
    let mut arguments = source.plainest()?;
    arguments[name] = json!(text);
    let call = source.of(arguments, false).filter(|call| call.kind == Kind::Valid)?;
    let item = observer.observe(source, &call).await?;
    let result = item.result.clone().unwrap_or_default();
    let is_shown =
        texts(&result).iter().any(|said| said.contains(text) || forms(text).iter().any(|form| said.contains(form)));
    Some((item, call, is_shown))
}

fn texts(result: &Value) -> Vec<String> {
    let messages = result["messages"].as_array().into_iter().flatten();
    let contents = messages.map(|message| &message["content"]);
    let own = contents.filter_map(|content| content["text"].as_str().or_else(|| content["resource"]["text"].as_str()));
    own.chain(result["description"].as_str()).map(str::to_owned).collect()
}

/// The usual ways to escape a text.
fn forms(text: &str) -> Vec<String> {
    let json = json!(text).to_string();
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let quoted = html.replace('"', "&quot;");
    let numbered = html.replace('"', "&#34;");
    let marked: String =
        text.chars().flat_map(|c| c.is_ascii_punctuation().then_some('\\').into_iter().chain([c])).collect();
    let ascii: String =
        text.chars().map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", c as u32) }).collect();
    let url = percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
    vec![json.trim_matches('"').to_owned(), html, quoted, numbered, marked, ascii, url]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_text_is_not_lost() {
        let text = r#"a "b" {c}"#;
        for form in [r#"a \"b\" {c}"#, "a &quot;b&quot; {c}", r#"a\ \"b\"\ \{c\}"#] {
            let known =
                forms(text).iter().any(|known| known == form || known.replace("\\ ", " ") == form.replace("\\ ", " "));
            assert!(known, "{form}: {:?}", forms(text));
        }
        assert!(!forms(text).contains(&"a b c".to_owned()));
    }
}
