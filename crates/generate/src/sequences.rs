//! Sequences of calls: one tool creates something, others read, update and delete it.
//!
//! Tools are grouped by their names (`create_note`, `get_note`, `deleteNote`). An argument gets its value from the
//! field of the same name in the previous result. A finding counts only if a control shows that the tools do what their
//! names say.

use serde_json::{Value, json};

use super::{
    calls::Source,
    item::{Sequence, SequenceCall, is_failed},
    observe::Observer,
    pool::{Pool, collect},
    subject::What,
    values::texts,
};
use conform_model::evidence::{End, Reply};

const CREATES: &[&str] = &["create", "add", "new", "insert", "make"];
const READS: &[&str] = &["get", "read", "fetch", "show", "find", "describe"];
const UPDATES: &[&str] = &["update", "edit", "rename", "modify", "change"];
const DELETES: &[&str] = &["delete", "remove", "destroy"];
/// Maximum number of tested groups.
const TRIED: usize = 6;
/// Things that are created sequentially, and concurrently.
const IN_A_ROW: usize = 6;
const AT_ONCE: usize = 6;

/// The tools for one kind of thing.
struct Group<'s> {
    create: &'s Source,
    read: &'s Source,
    update: Option<&'s Source>,
    delete: Option<&'s Source>,
}

/// The verb and the noun of a name, in lower case: `createNotes` is `create` and `note`.
fn parts(name: &str) -> Option<(String, String)> {
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !spaced.is_empty() && !spaced.ends_with(' ') {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    }
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let all = [CREATES, READS, UPDATES, DELETES].concat();
    let at = words.iter().position(|word| all.contains(word))?;
    let noun =
        words.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
    Some((words[at].to_owned(), noun.trim_end_matches('s').to_owned())).filter(|(_, noun)| !noun.is_empty())
}

fn groups(sources: &[Source]) -> Vec<Group<'_>> {
    let tools = sources.iter().filter(|source| source.subject.what == What::Tool);
    let named: Vec<(&Source, String, String)> =
        tools.filter_map(|source| parts(&source.subject.name).map(|(verb, noun)| (source, verb, noun))).collect();
    let find = |verbs: &[&str], noun: &str| {
        named.iter().find(|(_, verb, of)| verbs.contains(&verb.as_str()) && of == noun).map(|(source, ..)| *source)
    };
    let creates = named.iter().filter(|(_, verb, _)| CREATES.contains(&verb.as_str()));
    let groups = creates.filter_map(|(create, _, noun)| {
        let (update, delete) = (find(UPDATES, noun), find(DELETES, noun));
        Some(Group { create, read: find(READS, noun)?, update, delete })
    });
    groups.take(TRIED).collect()
}

/// The calls that were made, and their results.
#[derive(Default)]
struct Trace {
    calls: Vec<SequenceCall>,
    frames: Vec<u64>,
}

impl Trace {
    async fn call(&mut self, observer: &mut Observer<'_>, source: &Source, arguments: &Value) -> Option<Reply> {
        let reply = observer.reply(&source.subject, arguments).await?;
        self.add(&source.subject.name, arguments, &reply);
        Some(reply)
    }

    fn add(&mut self, name: &str, arguments: &Value, reply: &Reply) {
        let (name, arguments) = (name.to_owned(), arguments.clone());
        self.calls.push(SequenceCall { name, arguments, end: reply.end, failed: is_failed(reply) });
        self.frames.extend(&reply.frames);
    }

    fn item(self, kind: &'static str, name: &str, holds: bool, received: &str) -> Sequence {
        let (name, received) = (name.to_owned(), received.to_owned());
        Sequence { kind, name, holds, received, calls: self.calls, frames: self.frames }
    }
}

/// Texts of a result, and the values of its fields.
fn shown(reply: &Reply) -> (String, Pool) {
    let mut pool = Pool::new();
    let result = reply.result.clone().unwrap_or_default();
    collect(&mut pool, &result["structuredContent"], 6);
    let mut text = result["structuredContent"].to_string();
    for block in result["content"].as_array().into_iter().flatten() {
        let said = block["text"].as_str().unwrap_or_default();
        text.push_str(said);
        collect(&mut pool, &serde_json::from_str(said).unwrap_or_default(), 6);
    }
    (text, pool)
}

/// Valid arguments of a tool. The id of the thing is taken from a result, and one text field has this text.
fn arguments(source: &Source, known: &Pool, text: Option<&str>) -> Option<Value> {
    let mut arguments = source.plainest()?;
    let required = source.subject.schema["required"].as_array().cloned().unwrap_or_default();
    let mut is_bound = known.is_empty();
    let mut has_text = text.is_none();
    let members = arguments.as_object_mut()?;
    members.retain(|name, _| required.contains(&json!(name)));
    for (name, value) in members.iter_mut() {
        let short = name.to_ascii_lowercase();
        let by_name = known.get(&short).or_else(|| known.get("id").filter(|_| short.ends_with("id")));
        if let Some(found) = by_name
            .and_then(|values| values.first())
            .filter(|_| short.ends_with("id") || short == "uri" || short == "key")
        {
            *value = found.clone();
            is_bound = true;
        } else if let (Some(text), true, false) = (text, value.is_string(), has_text) {
            *value = json!(text);
            has_text = true;
        }
    }
    (is_bound && has_text && source.of(arguments.clone(), false)?.kind == super::calls::Kind::Valid)
        .then_some(arguments)
}

/// A unique text.
fn unlike(number: usize) -> String {
    format!("{}{number}", texts::of_length(8))
}

pub async fn sequences(observer: &mut Observer<'_>, sources: &[Source], over: impl Fn() -> bool) -> Vec<Sequence> {
    let mut found = Vec::new();
    for group in groups(sources) {
        if over() || observer.caller.gone.is_some() {
            break;
        }
        found.extend(created(observer, &group).await);
        found.extend(created_after_deletion(observer, &group).await);
        found.extend(created_together(observer, &group).await);
        found.extend(updated(observer, &group).await);
        found.extend(deleted(observer, &group).await);
    }
    found
}

/// Creates a thing with this text, and returns the fields of the result; `None` if it fails or has no fields.
async fn create(observer: &mut Observer<'_>, trace: &mut Trace, group: &Group<'_>, text: &str) -> Option<Pool> {
    let reply = trace.call(observer, group.create, &arguments(group.create, &Pool::new(), Some(text))?).await?;
    (!is_failed(&reply)).then(|| shown(&reply).1).filter(|pool| !pool.is_empty())
}

async fn read(
    observer: &mut Observer<'_>,
    trace: &mut Trace,
    group: &Group<'_>,
    known: &Pool,
) -> Option<(bool, String)> {
    let reply = trace.call(observer, group.read, &arguments(group.read, known, None)?).await?;
    Some((!is_failed(&reply), shown(&reply).0))
}

/// Things with different texts must have different ids.
async fn created(observer: &mut Observer<'_>, group: &Group<'_>) -> Option<Sequence> {
    let name = &group.create.subject.name;
    let mut trace = Trace::default();
    let mut last = None;
    for number in 0..IN_A_ROW {
        let known = create(observer, &mut trace, group, &unlike(10 + number)).await?;
        let id = known.get("id")?.first()?.clone();
        if last.as_ref() == Some(&id) {
            let received = format!("two things that were created one after the other have the id {id}");
            return Some(trace.item("created", name, false, &received));
        }
        last = Some(id);
    }
    Some(trace.item("created", name, true, ""))
}

/// A thing that is created after a deletion must not have the id of another one that still exists.
async fn created_after_deletion(observer: &mut Observer<'_>, group: &Group<'_>) -> Option<Sequence> {
    let delete = group.delete?;
    let mut trace = Trace::default();
    let kept = unlike(21);
    let first = create(observer, &mut trace, group, &unlike(20)).await?;
    let second = create(observer, &mut trace, group, &kept).await?;
    let deleted = trace.call(observer, delete, &arguments(delete, &first, None)?).await?;
    // Ids that are positions in a list change with a deletion.
    read(observer, &mut trace, group, &second).await.filter(|(ok, text)| *ok && text.contains(&kept))?;
    let third = create(observer, &mut trace, group, &unlike(22)).await?;
    let id = second.get("id")?.first()?;
    let differs = third.get("id")?.first()? != id;
    let received = format!("what was created after a deletion has the id of another thing, {id}");
    (!is_failed(&deleted)).then(|| trace.item("created", &group.create.subject.name, differs, &received))
}

/// Things that are created at the same time have different ids, and each can be read afterwards. Twice.
async fn created_together(observer: &mut Observer<'_>, group: &Group<'_>) -> Vec<Sequence> {
    let name = &group.create.subject.name;
    let (mut same, mut lost): (Vec<String>, Vec<String>) = Default::default();
    let (mut trace, mut of_reads) = (Trace::default(), None);
    for round in 0..2 {
        trace = Trace::default();
        let texts: Vec<String> = (0..AT_ONCE).map(|number| unlike(60 + round * AT_ONCE + number)).collect();
        let all: Option<Vec<Value>> =
            texts.iter().map(|text| arguments(group.create, &Pool::new(), Some(text))).collect();
        let Some(all) = all else { return Vec::new() };
        observer.made += all.len();
        let limit = observer.caller.limit;
        let replies = observer.caller.at_once(observer.context, &group.create.subject, &all, false, limit).await;
        for (reply, arguments) in replies.iter().zip(&all) {
            trace.add(name, arguments, reply);
        }
        let accepted = replies.iter().zip(&texts).filter(|(reply, _)| reply.end == End::Result && !is_failed(reply));
        let created: Vec<(Pool, &String)> = accepted.map(|(reply, text)| (shown(reply).1, text)).collect();
        let mut ids: Vec<String> =
            created.iter().filter_map(|(pool, _)| Some(pool.get("id")?.first()?.to_string())).collect();
        if ids.len() < 2 {
            return Vec::new();
        }
        ids.sort();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            same.push(pair[0].clone());
        } else {
            let mut reads = Trace { calls: trace.calls.clone(), frames: trace.frames.clone() };
            lost.extend(unread(observer, &mut reads, group, &created).await);
            of_reads = Some(reads);
        }
    }
    let received = |ids: &[String], what: &str| format!("{what} {}", ids.first().map_or("-", String::as_str));
    let together = received(&same, "two things that were created at the same time have the id");
    let mut found = vec![trace.item("created together", name, same.len() < 2, &together)];
    if let Some(reads) = of_reads.filter(|_| same.is_empty()) {
        let gone = received(&lost, "what was created at the same time as others cannot be read: the id");
        found.push(reads.item("created together, read", name, lost.len() < 2, &gone));
    }
    found
}

/// The id of a thing that cannot be read, although one that was created alone can be.
async fn unread(
    observer: &mut Observer<'_>,
    trace: &mut Trace,
    group: &Group<'_>,
    created: &[(Pool, &String)],
) -> Option<String> {
    let alone = unlike(80);
    let known = create(observer, trace, group, &alone).await?;
    read(observer, trace, group, &known).await.filter(|(ok, text)| *ok && text.contains(&alone))?;
    for (pool, text) in created {
        let (ok, shown) = read(observer, trace, group, pool).await?;
        if !ok || !shown.contains(text.as_str()) {
            return Some(pool.get("id")?.first()?.to_string());
        }
    }
    None
}

/// An updated thing must be read with its new text. Tested twice, and only if the old text was read before.
async fn updated(observer: &mut Observer<'_>, group: &Group<'_>) -> Option<Sequence> {
    let update = group.update?;
    let mut lost = 0;
    let mut last = None;
    for round in 0..2 {
        let mut trace = Trace::default();
        let (old, new) = (unlike(round + 30), unlike(round + 40));
        let known = create(observer, &mut trace, group, &old).await?;
        let (_, before) =
            read(observer, &mut trace, group, &known).await.filter(|(ok, text)| *ok && text.contains(&old))?;
        let reply = trace.call(observer, update, &arguments(update, &known, Some(&new))?).await?;
        let (ok, after) = read(observer, &mut trace, group, &known).await?;
        if is_failed(&reply) || !ok {
            return None;
        }
        lost += usize::from(after == before);
        last = Some(trace);
    }
    let received = "after an update that succeeded the old text is read";
    Some(last?.item("updated", &update.subject.name, lost < 2, received))
}

/// A deleted thing must not be read any more. Tested twice, and only if reading a thing that never existed fails.
async fn deleted(observer: &mut Observer<'_>, group: &Group<'_>) -> Option<Sequence> {
    let delete = group.delete?;
    let mut stale = 0;
    let mut last = None;
    for round in 0..2 {
        let mut trace = Trace::default();
        let text = unlike(round + 50);
        let known = create(observer, &mut trace, group, &text).await?;
        read(observer, &mut trace, group, &known).await.filter(|(ok, shown)| *ok && shown.contains(&text))?;
        let none: Pool = known.keys().map(|name| (name.clone(), vec![json!("mcp-conform-none-of-these")])).collect();
        if let Some((true, _)) = read(observer, &mut trace, group, &none).await {
            return None;
        }
        let reply = trace.call(observer, delete, &arguments(delete, &known, None)?).await?;
        if is_failed(&reply) {
            return None;
        }
        let (ok, shown) = read(observer, &mut trace, group, &known).await?;
        stale += usize::from(ok && shown.contains(&text));
        last = Some(trace);
    }
    Some(last?.item(
        "deleted",
        &delete.subject.name,
        stale < 2,
        "after a deletion that succeeded the thing is still read",
    ))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn tools_of_one_thing_are_found_by_their_names() {
        let of = |name: &str| parts(name).map(|(verb, noun)| format!("{verb} {noun}"));
        for (name, known) in [
            ("create_note", "create note"),
            ("deleteNotes", "delete note"),
            ("notes.get", "get note"),
            ("get-shopping-item", "get shopping item"),
        ] {
            assert_eq!(of(name).as_deref(), Some(known), "{name}");
        }
        assert_eq!([of("create"), of("search_notes")], [None, None]);
    }
}
