//! Strings: plain ones, those of a format or a pattern, and those that programs often handle wrongly.

use fastrand::Rng;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Words without a meaning, so that no tool takes them for a command.
const WORDS: [&str; 8] = ["alpha", "bravo", "delta", "golf", "lima", "oscar", "romeo", "tango"];
/// Maximum number of repetitions without an upper bound.
const REPEATED: u32 = 6;
/// Patterns with longer strings are not supported.
const LONGEST: usize = 4096;

/// A string of this length, without characters that a program might trim or escape.
pub fn plain(rng: &mut Rng, least: usize, most: usize) -> String {
    let length = if most > least + 24 { least + rng.usize(1..=24) } else { rng.usize(least..=most.max(least)) };
    let mut text = String::new();
    while text.len() < length {
        text.push_str(WORDS[rng.usize(..WORDS.len())]);
    }
    text.truncate(length);
    text
}

/// A string of exactly this many characters.
pub fn of_length(length: usize) -> String {
    WORDS.concat().chars().cycle().take(length).collect()
}

/// A text that the pattern matches, unless it looks around or back. Without `^` and `$` more could stand around it.
pub fn of_pattern(rng: &mut Rng, pattern: &str) -> Option<String> {
    let parsed = regex_syntax::ParserBuilder::new().nest_limit(50).build().parse(pattern).ok()?;
    let mut text = String::new();
    write(rng, &parsed, &mut text)?;
    Some(text)
}

fn write(rng: &mut Rng, part: &Hir, text: &mut String) -> Option<()> {
    if text.len() > LONGEST {
        return None;
    }
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            // Plain characters first: unusual ones are tested on purpose, elsewhere.
            let plain = |c: &char| c.is_ascii_alphanumeric();
            let shown = ranges.iter().flat_map(|range| range.start()..=range.end()).take(LONGEST);
            let usual: Vec<char> = shown.filter(plain).collect();
            if usual.is_empty() {
                text.push(ranges.get(rng.usize(..ranges.len().max(1)))?.start());
            } else {
                text.push(usual[rng.usize(..usual.len())]);
            }
        }
        HirKind::Class(Class::Bytes(class)) => text.push(char::from(class.ranges().first()?.start())),
        HirKind::Repetition(repetition) => {
            let most = repetition
                .max
                .unwrap_or(repetition.min.saturating_add(REPEATED))
                .min(repetition.min.saturating_add(REPEATED));
            for _ in 0..rng.u32(repetition.min..=most.max(repetition.min)) {
                write(rng, &repetition.sub, text)?;
            }
        }
        HirKind::Capture(capture) => write(rng, &capture.sub, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(rng, part, text))?,
        HirKind::Alternation(parts) => {
            let chosen = rng.usize(..parts.len());
            write(rng, &parts[chosen], text)?;
        }
    }
    Some(())
}

/// The number of strings that are tried first.
pub const FIRST: usize = 4;
/// The most effective ones first: where a string has to be short, the end is omitted.
pub const MANY: &str = "a\0'\"\\%$({[[<;é😀\r\n\t\u{1b} ${7*7} {{7*7}} <%= 7 %> %s%n%00 $(echo) `echo` |& <b>&amp; ../../etc/passwd 日本 \u{202e}\u{200b} ((#";

/// Strings that programs often handle wrongly, each with a description.
pub fn hostile() -> Vec<(&'static str, String)> {
    let repeated = |text: &str, times: usize, end: &str| text.repeat(times) + end;
    vec![
        // The first one finds failures of any unusual character, and shrinking shows which character it was.
        ("characters of many kinds", MANY.into()),
        ("an empty text", String::new()),
        ("a text that repeats and then differs", repeated("a", 40, "!")),
        ("a text of 100,000 characters", "a".repeat(100_000)),
        ("a space", " ".into()),
        ("a NUL character", "alpha\0bravo".into()),
        ("control characters", "alpha\u{1}\u{7}\u{8}\u{1b}[31m\u{7f}".into()),
        ("line breaks", "alpha\r\nbravo\ndelta\u{2028}golf".into()),
        ("letters of other scripts", "Ünïcödé Ελληνικά Русский 中文 日本語".into()),
        ("letters from right to left", "שלום العربية\u{202e}abc".into()),
        ("a character beyond 16 bits", "𝒜😀".into()),
        ("characters that combine", "e\u{301}\u{302}\u{303} 👩‍👩‍👧‍👦 \u{200b}\u{feff}".into()),
        ("letters that change their length", "İıßﬁǅ".into()),
        ("a path that leads outside", "../../../../../../../../etc/passwd".into()),
        ("a path that leads outside, encoded", "..%2f..%2f..%2fetc%2fpasswd".into()),
        ("an absolute path", "/etc/passwd".into()),
        ("a file URI that leads outside", "file:///etc/passwd".into()),
        ("characters of a shell", "; echo alpha && $(echo bravo) `echo delta` | true".into()),
        ("characters of SQL", "' OR '1'='1' --".into()),
        ("characters of templates", "{{7*7}} ${7*7} <%= 7*7 %> #{7*7} %s%n %x".into()),
        ("characters of HTML", "<script>alert(1)</script>&amp;".into()),
        ("characters of JSON", "\"}],\\u0000{".into()),
        ("a name that objects inherit", "__proto__".into()),
        ("the name of a constructor", "constructor".into()),
        ("the word null", "null".into()),
        ("a number with an exponent", "1e309".into()),
        ("a negative number", "-1".into()),
        ("characters of regular expressions", "((a+)+[(*?{1,}\\".into()),
        ("percent signs", "%00%ff%zz%".into()),
        ("digits that repeat and then differ", repeated("1", 40, "!")),
        ("words that repeat and then differ", repeated("a ", 30, "!")),
        ("an address that repeats and then differs", repeated("a", 40, "@") + &repeated("a.", 30, "!")),
        ("spaces that repeat and then differ", repeated(" ", 40, "!")),
        ("marks that repeat and then differ", repeated("-", 40, "!")),
        ("names that repeat and then differ", repeated("a-a_", 20, "!")),
        ("20,000 spaces and then a letter", repeated(" ", 20_000, "a")),
        ("10,000 opening brackets", "[".repeat(10_000)),
    ]
}
