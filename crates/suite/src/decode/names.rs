//! Old names of keys and values, and names from other tools, each with what to write instead.

/// Keys and words of earlier versions, each with its place and its replacement.
const RENAMED: [(&str, &str, &str); 20] = [
    ("a suite", "evidence", "`requires`"),
    ("a suite", "client", "`capabilities`"),
    ("capabilities", "plain", "`basic`"),
    ("capabilities", "bare", "`none`"),
    ("connection", "own", "`isolated`"),
    ("connection", "fresh", "`new`"),
    ("connection", "last", "`final`"),
    ("connection", "alone", "`per-call`"),
    ("a step", "alone", "`connection: new`"),
    ("a step", "beside", "`connection: second`"),
    ("a step", "quiet", "`none-within`, or `pause` in a step of its own"),
    (
        "a step",
        "seconds",
        "`within` (`await`), `cancel-after` (`call`), `poll-for` (`call` with `until`) or `drop-after` (`http`)",
    ),
    ("a step", "answer", "`respond` (`call`) or `reply-to` (`send`)"),
    ("a step", "cancel", "`notify: notifications/cancelled` with a `save`"),
    ("`each`", "at-most", "`at-most` next to `each`"),
    ("`each`", "in-order", "`in-order` next to `each`"),
    ("`facts`", "climbs", "`traversal_prompts`"),
    ("`facts`", "disguised", "`aliased_uris`"),
    ("`facts`", "handle", "`user_owned_call`"),
    ("`facts`", "recased", "`case_swapped_calls`"),
];

/// Keys that authors expect from other tools, each with its place and what to write.
const EXPECTED: [(&str, &str, &str); 17] = [
    ("a suite", "name", "`suite: NAME`"),
    ("a suite", "id", "`suite: NAME`"),
    ("a suite", "title", "`about: TEXT`"),
    ("a suite", "description", "`about: TEXT`"),
    ("a suite", "steps", "`gather`"),
    ("a step", "params", "`with: { ... }`"),
    ("a step", "arguments", "`with: { name: TOOL, arguments: { ... } }`"),
    ("a rule", "title", "the sentence after `must`, `should`, `advice` or `may`"),
    ("a rule", "description", "the sentence after `must`, `should`, `advice` or `may`"),
    ("a rule", "level", "`must`, `should`, `advice` or `may`, with the sentence of the rule"),
    ("a matcher", "contains", "`matches: TEXT`, a regular expression"),
    ("a matcher", "regex", "`matches: TEXT`"),
    ("a matcher", "pattern", "`matches: TEXT`"),
    ("a matcher", "exists", "`present: true`, or `false`"),
    ("a matcher", "in", "`one-of: [...]`"),
    ("a matcher", "min", "`at-least: NUMBER`"),
    ("a matcher", "max", "`at-most: NUMBER`"),
];

/// What to write in place of an old name, or of one that other tools have.
pub fn new_name(place: &str, typed: &str) -> Option<String> {
    let of = |names: &[(&str, &str, &'static str)]| {
        names.iter().find(|(of, name, _)| *of == place && *name == typed).map(|(.., new)| *new)
    };
    let renamed = of(&RENAMED).map(|new| format!("it is now {new}"));
    renamed.or_else(|| Some(format!("write {}", of(&EXPECTED)?)))
}
