//! JSON Schemas written by a server, read in the dialect that they declare.
//!
//! They are untrusted: no reference is fetched, backtracking in patterns is limited, and a check that takes too long
//! gives no verdict.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use jsonschema::{
    Draft, PatternOptions, ValidationError, Validator, draft4, draft6, draft7, draft201909, draft202012,
    error::ValidationErrorKind, meta::MetaValidator,
};
use serde_json::Value;

use super::shape::{self, Violation};

/// A check of a schema that takes longer than this gives no verdict. A guess.
const LONGEST: Duration = Duration::from_secs(1);
/// A larger schema gives no verdict. A guess: no tool has a schema of this many bytes, as a model has to read it.
const LARGEST: usize = 1 << 20;
/// A schema within these limits, without references and patterns, is fast enough to check on the calling thread.
const PLAIN: usize = 32 << 10;
const SHALLOW: usize = 24;
const MOST_BACKTRACKS: usize = 100_000;
/// Stack of a worker thread, in bytes: enough for the deepest nesting that the JSON parser accepts.
const STACK: usize = 16 << 20;

/// The dialect that a schema declares, or the default dialect; `None` if the declared one is unknown.
pub fn dialect(schema: &Value) -> Option<Draft> {
    let Some(named) = schema.get("$schema") else { return Some(Draft::Draft202012) };
    let named = named.as_str()?.trim_end_matches('#');
    let named = named.strip_prefix("https://").or_else(|| named.strip_prefix("http://"))?;
    Some(match named {
        "json-schema.org/draft-04/schema" => Draft::Draft4,
        "json-schema.org/draft-06/schema" => Draft::Draft6,
        "json-schema.org/draft-07/schema" => Draft::Draft7,
        "json-schema.org/draft/2019-09/schema" => Draft::Draft201909,
        "json-schema.org/draft/2020-12/schema" => Draft::Draft202012,
        _ => return None,
    })
}

/// Why it is not a valid schema of its dialect; `None` if that cannot be determined.
pub fn flaws(schema: &Value) -> Option<Vec<Violation>> {
    flaws_by(dialect(schema)?, schema)
}

/// Why it is not valid under the metaschema of this draft, `7` or `2020-12`, whatever it declares; `None` if that cannot be
/// determined.
pub fn flaws_in_draft(draft: &str, schema: &Value) -> Option<Vec<Violation>> {
    match draft {
        "7" => flaws_by(Draft::Draft7, schema),
        "2020-12" => flaws_by(Draft::Draft202012, schema),
        _ => None,
    }
}

/// Same as [`flaws`], but a schema that declares no dialect may be valid in any dialect.
pub fn flaws_in_all(schema: &Value) -> Option<Vec<Violation>> {
    let fits = |draft| flaws_by(draft, schema).is_none_or(|flaws| flaws.is_empty());
    if schema.get("$schema").is_none() && [Draft::Draft4, Draft::Draft7].into_iter().any(fits) {
        return Some(Vec::new());
    }
    flaws(schema)
}

fn flaws_by(draft: Draft, schema: &Value) -> Option<Vec<Violation>> {
    let rules = meta(draft)?;
    let schema = schema.clone();
    in_time(schema, move |schema| {
        // Whether a pattern or URI in the schema is well-formed is a separate question, and engines disagree on it.
        let flaws = rules.iter_errors(schema).filter(|e| !matches!(e.kind(), ValidationErrorKind::Format { .. }));
        let mut told: Vec<Violation> = Vec::new();
        for flaw in flaws.map(|error| shape::violation(&error)) {
            // A dialect consists of several vocabularies, and each repeats the same violation.
            if told.len() < shape::MOST && told.iter().all(|known| known.pointer != flaw.pointer) {
                told.push(flaw);
            }
        }
        Some(told)
    })
}

/// How the value violates the schema; `None` if that cannot be determined.
pub fn violations(schema: &Value, value: &Value) -> Option<Vec<Violation>> {
    let draft = dialect(schema)?;
    in_time((schema.clone(), value.clone()), move |(schema, value)| {
        understood(schema, draft, |validator| {
            let mut told = Vec::new();
            for error in validator.iter_errors(value).take(shape::MOST) {
                if gave_up(&error) {
                    return None;
                }
                told.push(shape::violation(&error));
            }
            Some(told)
        })
    })
}

/// Runs `work` with the compiled schema. The last one is cached, since the next value usually has the same schema.
fn understood<R>(schema: &Value, draft: Draft, work: impl FnOnce(&Validator) -> Option<R>) -> Option<R> {
    thread_local!(static LAST: RefCell<Option<(Value, Option<Validator>)>> = const { RefCell::new(None) });
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(of, _)| of != schema) {
            *last = Some((schema.clone(), build(schema, draft)));
        }
        work(last.as_ref()?.1.as_ref()?)
    })
}

/// One schema that many values are validated against.
#[derive(Clone)]
pub struct Checker {
    validator: Arc<Validator>,
    plain: bool,
}

/// One violation of a schema by a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The keyword, and its location in the schema.
    pub keyword: String,
    pub schema: String,
    /// The location in the value, and what is wrong there.
    pub violation: Violation,
}

impl Checker {
    /// `None` for a schema that is invalid, or takes too long to compile.
    pub fn new(schema: &Value) -> Option<Self> {
        let draft = dialect(schema)?;
        let validator = in_time(schema.clone(), move |schema| build(schema, draft).map(Arc::new))?;
        Some(Self { validator, plain: is_plain(&schema.to_string()) })
    }

    /// Whether the value is valid; `None` if that cannot be determined.
    pub fn holds(&self, value: &Value) -> Option<bool> {
        if self.plain {
            return Some(self.validator.is_valid(value));
        }
        self.broken(value).map(|broken| broken.is_empty())
    }

    /// How the value violates the schema; `None` if that cannot be determined.
    pub fn broken(&self, value: &Value) -> Option<Vec<Broken>> {
        if self.plain {
            return catch_unwind(AssertUnwindSafe(|| broken(&self.validator, value))).ok().flatten();
        }
        let (validator, value) = (Arc::clone(&self.validator), value.clone());
        watched(move || broken(&validator, &value))
    }
}

fn broken(validator: &Validator, value: &Value) -> Option<Vec<Broken>> {
    let mut told = Vec::new();
    for error in validator.iter_errors(value).take(shape::MOST) {
        if gave_up(&error) {
            return None;
        }
        told.push(Broken {
            keyword: error.kind().keyword().to_owned(),
            schema: error.schema_path().to_string(),
            violation: shape::violation(&error),
        });
    }
    Some(told)
}

fn build(schema: &Value, draft: Draft) -> Option<Validator> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MOST_BACKTRACKS).size_limit(LARGEST);
    let options = jsonschema::options().with_draft(draft).offline().should_validate_formats(false);
    options.with_pattern_options(patterns).build(schema).ok()
}

/// Follows a `$ref` within the same schema. References to other documents are never followed.
pub fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let pointer = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

fn meta(draft: Draft) -> Option<MetaValidator<'static>> {
    Some(match draft {
        Draft::Draft4 => draft4::meta::validator(),
        Draft::Draft6 => draft6::meta::validator(),
        Draft::Draft7 => draft7::meta::validator(),
        Draft::Draft201909 => draft201909::meta::validator(),
        Draft::Draft202012 => draft202012::meta::validator(),
        _ => return None,
    })
}

fn gave_up(error: &ValidationError) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. }
    )
}

type Work = Box<dyn FnOnce() + Send>;

/// Idle worker threads.
static IDLE: Mutex<Vec<mpsc::Sender<Work>>> = Mutex::new(Vec::new());

/// Runs `work` with a time limit. Branches that refer to each other can take forever, and inspecting the schema does
/// not show it beforehand. A thread that takes too long is abandoned.
pub fn in_time<T, R>(of: T, work: impl FnOnce(&T) -> Option<R> + Send + 'static) -> Option<R>
where
    T: serde::Serialize + Send + 'static,
    R: Send + 'static,
{
    let text = serde_json::to_string(&of).ok()?;
    if text.len() > LARGEST {
        return None;
    }
    if is_plain(&text) {
        return catch_unwind(AssertUnwindSafe(|| work(&of))).ok().flatten();
    }
    watched(move || work(&of))
}

/// Runs work that may never end on another thread.
fn watched<R: Send + 'static>(work: impl FnOnce() -> Option<R> + Send + 'static) -> Option<R> {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = idle().pop();
    let worker = worker.or_else(worker_thread)?;
    let (tell, told) = mpsc::channel();
    worker.send(Box::new(move || drop(tell.send(work())))).ok()?;
    let outcome = told.recv_timeout(LONGEST).ok()?;
    idle().push(worker);
    outcome
}

/// Whether handing the work to another thread would take longer than the work itself.
fn is_plain(text: &str) -> bool {
    let nest = text.bytes().scan(0_usize, |depth, byte| {
        match byte {
            b'{' | b'[' => *depth += 1,
            b'}' | b']' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    let spells = ["ref\"", "Ref\"", "pattern"].iter().any(|word| text.contains(word));
    text.len() <= PLAIN && !spells && nest.max().unwrap_or_default() <= SHALLOW
}

fn worker_thread() -> Option<mpsc::Sender<Work>> {
    let (give, given) = mpsc::channel::<Work>();
    let work = move || given.into_iter().for_each(|work| work());
    thread::Builder::new().stack_size(STACK).spawn(work).ok()?;
    Some(give)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(schema: &Value) -> Option<usize> {
        flaws(schema).map(|flaws| flaws.len())
    }

    #[test]
    fn each_schema_is_taken_by_its_own_dialect() {
        let pair = json!({ "type": "array", "items": [{ "type": "string" }, { "type": "string" }] });
        assert_eq!(wrong(&pair), Some(1));
        let mut named = pair;
        named["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        assert_eq!(wrong(&named), Some(0));
        named["$schema"] = json!("https://example.com/dialect");
        assert_eq!(wrong(&named), None);
        assert_eq!(wrong(&json!({ "properties": { "n": { "type": "int" } } })), Some(1));
        assert_eq!(wrong(&json!({ "properties": { "n": { "pattern": "(?<name>\\p{L})(" } } })), Some(0));
    }

    #[test]
    fn values_are_judged_without_fetching_anything() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        assert_eq!(violations(&schema, &json!({ "n": 1.0 })), Some(Vec::new()));
        let told = violations(&schema, &json!({ "n": "1" })).expect("it can be told");
        assert_eq!(
            (told[0].pointer.as_str(), told[0].message.as_str()),
            ("/n", "is the string \"1\", expected an integer")
        );
        assert_eq!(violations(&json!({ "$ref": "http://127.0.0.1:1/schema" }), &json!(1)), None);
    }

    #[test]
    fn only_what_is_through_at_once_is_not_watched() {
        let deep = (0..SHALLOW).fold(json!({}), |inner, _| json!({ "items": inner }));
        for (schema, plain) in [
            (json!({ "type": "object", "properties": { "n": { "enum": [1, 2] } } }), true),
            (json!({ "items": { "$ref": "#" } }), false),
            (json!({ "items": { "$dynamicRef": "#a" } }), false),
            (json!({ "patternProperties": { "a+": {} } }), false),
            (deep, false),
            (json!({ "description": "a".repeat(PLAIN) }), false),
        ] {
            assert_eq!(is_plain(&schema.to_string()), plain, "{schema}");
        }
    }

    #[test]
    fn hostile_schemas_neither_hang_nor_crash() {
        assert!(violations(&json!({ "$ref": "#" }), &json!(1)).is_none_or(|told| told.is_empty()));
        let both = json!({ "anyOf": [{ "$ref": "#/$defs/b" }, { "$ref": "#/$defs/b" }] });
        let b = json!({ "anyOf": [{ "$ref": "#/$defs/a" }, { "$ref": "#/$defs/a" }] });
        let circular = json!({ "$ref": "#/$defs/a", "$defs": { "a": both, "b": b } });
        let _ = violations(&circular, &json!(1));
        let mut steps = serde_json::Map::new();
        for step in 0..40 {
            let next = json!({ "$ref": format!("#/$defs/{}", step + 1) });
            steps.insert(step.to_string(), json!({ "anyOf": [next, next] }));
        }
        steps.insert("40".into(), json!(false));
        let exponential = json!({ "$ref": "#/$defs/0", "$defs": steps });
        assert_eq!(violations(&exponential, &json!(1)), None);
        let backtracks = json!({ "pattern": "^(?=(a+)+$)(a+)+$" });
        let told = violations(&backtracks, &json!("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"));
        assert!(told.is_none_or(|told| told.len() == 1));
    }
}
