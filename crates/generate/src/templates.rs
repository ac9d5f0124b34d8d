//! Whether the server decodes variables of templates: a text is percent-encoded in the URI, and repeated in the
//! contents.

use percent_encoding::percent_decode_str;
use serde_json::json;

use super::{
    calls::{Call, Source, of_kind},
    item::Item,
    observe::Observer,
    sessions::with_text,
    subject::What,
};
use conform_model::evidence::End;

/// Maximum number of templates that are tried.
const TRIED: usize = 8;
/// A text that percent-encoding does not change.
const PLAIN: &str = "mcpconformalpha";
/// Texts that each wrong way of decoding changes: a letter of two bytes, and a `%` that is not an escape.
const ODD: [&str; 2] = ["é%41 b", "ü%42 c"];

/// Texts of which the second is read right after the first.
const OTHERS: [(&str, &str); 2] = [("mcpconformbravo", "mcpconformdelta"), ("mcpconformgolf", "mcpconformlima")];
/// Maximum number of offered values that are read.
const OFFERED: usize = 12;

/// Reads of templates that repeat a plain text unchanged, and whether they repeat an unusual one in another form.
pub async fn misread(
    observer: &mut Observer<'_>,
    sources: &[Source],
    over: impl Fn() -> bool,
) -> Vec<(Item, Call, usize)> {
    let mut found = Vec::new();
    let templates = of_kind(sources, What::Template)
        // With `+` and `#` reserved characters are not encoded, and neither is an escape.
        .filter(|(_, source)| !source.subject.name.contains(['+', '#']));
    for (index, source) in templates.take(TRIED) {
        if over() || observer.caller.gone.is_some() {
            break;
        }
        if let Some((mut item, call, times)) = read(observer, source).await {
            item.seen.misread = Some(times == ODD.len());
            found.push((item, call, index));
        }
    }
    found
}

/// Reads of templates, and whether one returns what was read before.
pub async fn stale(
    observer: &mut Observer<'_>,
    sources: &[Source],
    over: impl Fn() -> bool,
) -> Vec<(Item, Call, usize)> {
    let mut found = Vec::new();
    let templates = of_kind(sources, What::Template);
    for (index, source) in templates.take(TRIED) {
        if over() || observer.caller.gone.is_some() {
            break;
        }
        let mut times = 0;
        let mut last = None;
        for (first, second) in OTHERS {
            // What was read earlier may be what is repeated.
            observer.caller.renew().await;
            let Some((item, call, is_stale)) = pair(observer, source, first, second).await else { break };
            times += usize::from(is_stale);
            last = Some((item, call));
            if !is_stale {
                break;
            }
        }
        if let Some((mut item, call)) = last {
            item.seen.stale = Some(times == OTHERS.len());
            found.push((item, call, index));
        }
    }
    found
}

/// The read of the second text, and whether it shows the first one instead.
async fn pair(observer: &mut Observer<'_>, source: &Source, first: &str, second: &str) -> Option<(Item, Call, bool)> {
    let plain = source.plainest()?;
    let control = with_text(source, &plain, first)?;
    let item = observer.observe(source, &control).await?;
    shown(&item)?.contains(first).then_some(())?;
    let call = with_text(source, &plain, second)?;
    let item = observer.observe(source, &call).await?;
    let text = shown(&item)?;
    let is_stale = text.contains(first) && !text.contains(second);
    Some((item, call, is_stale))
}

/// Reads of the values that the server offers as completions of the only variable of a template.
pub async fn offered(
    observer: &mut Observer<'_>,
    sources: &[Source],
    over: impl Fn() -> bool,
) -> Vec<(Item, Call, usize)> {
    let mut found = Vec::new();
    let templates = of_kind(sources, What::Template);
    for (index, source) in templates.take(TRIED) {
        if over() || observer.caller.gone.is_some() {
            break;
        }
        let variables = source.subject.schema["properties"].as_object().cloned().unwrap_or_default();
        let completion = sources.iter().find(|other| {
            other.subject.what == What::Completion && other.subject.listed["ref"]["uri"] == source.subject.name
        });
        let (Some(completion), Some(name)) = (completion, variables.keys().next().filter(|_| variables.len() == 1))
        else {
            continue;
        };
        let Some(reply) = observer.reply(&completion.subject, &json!({ "value": "" })).await else { continue };
        let values = reply.result.unwrap_or_default()["completion"]["values"].as_array().cloned().unwrap_or_default();
        let mut read = Vec::new();
        for value in values.iter().filter(|value| value.is_string()).take(OFFERED) {
            let Some(call) = source.of(json!({ name.as_str(): value }), false) else { continue };
            let Some(item) = observer.observe(source, &call).await else { continue };
            read.push((item, call));
        }
        if read.iter().any(|(item, _)| item.end == End::Result) {
            found.extend(read.into_iter().map(|(mut item, call)| {
                item.seen.offered = Some(true);
                (item, call, index)
            }));
        }
    }
    found
}

/// The last read of an unusual text, and how many of them were repeated in another form.
async fn read(observer: &mut Observer<'_>, source: &Source) -> Option<(Item, Call, usize)> {
    let plain = source.plainest()?;
    let control = with_text(source, &plain, PLAIN)?;
    let item = observer.observe(source, &control).await?;
    shown(&item)?.contains(PLAIN).then_some(())?;
    let mut times = 0;
    let mut last = None;
    for odd in ODD {
        let call = with_text(source, &plain, odd)?;
        let item = observer.observe(source, &call).await?;
        times += usize::from(shown(&item).is_some_and(|text| is_misread(&text, odd)));
        last = Some((item, call));
    }
    last.map(|(item, call)| (item, call, times))
}

/// The contents without their URI, which must be encoded.
fn shown(item: &Item) -> Option<String> {
    let uri = item.params["uri"].as_str()?;
    let result = item.result.as_ref().filter(|_| item.end == End::Result)?;
    let texts = result["contents"].as_array()?.iter().filter_map(|content| content["text"].as_str());
    Some(texts.collect::<Vec<_>>().join("\n").replace(uri, ""))
}

fn is_misread(shown: &str, text: &str) -> bool {
    if shown.contains(text) {
        return false;
    }
    // Variables that are not decoded at all are permitted: some SDKs pass them on as they are in the URI.
    let twice = percent_decode_str(text).decode_utf8_lossy().into_owned();
    let bytes: String = text.bytes().map(char::from).collect();
    // After a slash it is part of another URI.
    let alone = |form: &str| shown.match_indices(form).any(|(at, _)| !shown[..at].ends_with(['/', '=']));
    [twice, bytes].iter().any(|form| alone(form))
}

#[cfg(test)]
mod tests {
    use super::is_misread;

    #[test]
    fn a_text_is_misread_in_two_ways() {
        for shown in ["about éA b", "about \u{c3}\u{a9}%41 b"] {
            assert!(is_misread(shown, "é%41 b"), "{shown}");
        }
        for shown in [
            "about é%41 b",
            "about something else",
            "http://a/%C3%A9%2541%20b",
            "about %C3%A9%2541%20b",
            "é%41 b, or éA b",
        ] {
            assert!(!is_misread(shown, "é%41 b"), "{shown}");
        }
    }
}
