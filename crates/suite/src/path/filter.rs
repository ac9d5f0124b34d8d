//! Filters (`[?@.kind == 'junk' && !@.event]`): tests that a field exists, or equals a constant or another field.

use serde_json::Value;

use super::chain::{Segment, follow, selects, take};

#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    Any(Vec<Filter>),
    All(Vec<Filter>),
    Not(Box<Filter>),
    Exists(Vec<Segment>),
    Compares { what: Vec<Segment>, how: Comparison, with: Operand },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Constant(Value),
    Field(Vec<Segment>),
}

/// A field that must equal one of these texts; otherwise the filter fails.
pub struct Demand<'f> {
    what: &'f [Segment],
    pub texts: Vec<&'f str>,
}

impl Demand<'_> {
    pub fn is_on_the_same_as(&self, other: &Self) -> bool {
        self.what == other.what
    }

    /// The text of that field in a value.
    pub fn text_of<'v>(&self, value: &'v Value) -> Option<&'v str> {
        follow(value, self.what)?.as_str()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Below,
    Above,
}

/// Longer operators first, since `<` is a prefix of `<=`.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Below),
    (">", Comparison::Above),
];

impl Filter {
    /// Parses the expression after `?`, and returns the rest of the text.
    pub fn parse(text: &str) -> Option<(Self, &str)> {
        let (mut tests, rest) = separated(text.trim_start_matches(' '), "||", all)?;
        Some((if tests.len() == 1 { tests.swap_remove(0) } else { Self::Any(tests) }, rest))
    }

    pub fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Any(filters) => filters.iter().any(|filter| filter.holds(value)),
            Self::All(filters) => filters.iter().all(|filter| filter.holds(value)),
            Self::Not(filter) => !filter.holds(value),
            Self::Exists(segments) => selects(value, segments),
            Self::Compares { what, how, with } => {
                let with = match with {
                    Operand::Constant(with) => Some(with),
                    Operand::Field(path) => follow(value, path),
                };
                how.holds(follow(value, what), with)
            }
        }
    }

    /// A cheap test that rules out this filter, and others like it, for a value.
    pub fn demand(&self) -> Option<Demand<'_>> {
        match self {
            Self::All(filters) => filters.iter().find_map(Self::demand),
            Self::Any(filters) => filters.iter().map(Self::demand).reduce(|one, other| {
                let (mut one, other) = (one?, other?);
                one.texts.extend(&other.texts);
                one.is_on_the_same_as(&other).then_some(one)
            })?,
            Self::Compares { what, how: Comparison::Equal, with: Operand::Constant(Value::String(text)) } => {
                Some(Demand { what, texts: vec![text] })
            }
            _ => None,
        }
    }

    /// Whether the filter fails whatever the values of the fields in `lacking`, which are not set yet.
    pub fn fails_without(&self, value: &Value, lacking: &[&str]) -> bool {
        match self {
            Self::Any(filters) => filters.iter().all(|filter| filter.fails_without(value, lacking)),
            Self::All(filters) => filters.iter().any(|filter| filter.fails_without(value, lacking)),
            Self::Not(_) | Self::Compares { with: Operand::Field(_), .. } => false,
            Self::Exists(path) | Self::Compares { what: path, .. } => {
                matches!(path.first(), Some(Segment::Member(name)) if !lacking.contains(&name.as_str()))
                    && !self.holds(value)
            }
        }
    }
}

impl Comparison {
    /// A missing field is unequal to everything. Only numbers and strings have an order.
    fn holds(self, value: Option<&Value>, with: Option<&Value>) -> bool {
        let order = value.zip(with).and_then(|pair| match pair {
            (Value::Number(a), Value::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()),
            (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
            _ => None,
        });
        let equal = || order.map_or_else(|| value == with, std::cmp::Ordering::is_eq);
        match self {
            Self::Equal => equal(),
            Self::Unequal => !equal(),
            Self::AtMost => order.map_or_else(equal, std::cmp::Ordering::is_le),
            Self::AtLeast => order.map_or_else(equal, std::cmp::Ordering::is_ge),
            Self::Below => order.is_some_and(std::cmp::Ordering::is_lt),
            Self::Above => order.is_some_and(std::cmp::Ordering::is_gt),
        }
    }
}

fn all(text: &str) -> Option<(Filter, &str)> {
    let (mut tests, rest) = separated(text, "&&", one)?;
    Some((if tests.len() == 1 { tests.swap_remove(0) } else { Filter::All(tests) }, rest))
}

fn separated<'t>(
    text: &'t str,
    by: &str,
    part: impl Fn(&'t str) -> Option<(Filter, &'t str)>,
) -> Option<(Vec<Filter>, &'t str)> {
    let (first, mut rest) = part(text)?;
    let mut parts = vec![first];
    while let Some(after) = rest.trim_start_matches(' ').strip_prefix(by) {
        let (next, after) = part(after.trim_start_matches(' '))?;
        parts.push(next);
        rest = after;
    }
    Some((parts, rest))
}

fn one(text: &str) -> Option<(Filter, &str)> {
    if let Some(after) = text.strip_prefix('!') {
        let after = after.trim_start_matches(' ');
        let (filter, rest) = if after.starts_with('(') {
            in_parentheses(after)?
        } else {
            let (segments, rest) = take(after.strip_prefix('@')?)?;
            (Filter::Exists(segments), rest)
        };
        return Some((Filter::Not(Box::new(filter)), rest));
    }
    if text.starts_with('(') {
        return in_parentheses(text);
    }
    let (what, rest) = take(text.strip_prefix('@')?)?;
    let operator = rest.trim_start_matches(' ');
    let Some((sign, how)) = COMPARISONS.into_iter().find(|(sign, _)| operator.starts_with(sign)) else {
        return Some((Filter::Exists(what), rest));
    };
    let operand = operator[sign.len()..].trim_start_matches(' ');
    let (with, rest) = match operand.strip_prefix('@') {
        Some(path) => take(path).map(|(path, rest)| (Operand::Field(path), rest))?,
        None => constant(operand).map(|(value, rest)| (Operand::Constant(value), rest))?,
    };
    let is_one = |path: &[Segment]| !path.iter().any(Segment::is_plural);
    let are_one = is_one(&what) && !matches!(&with, Operand::Field(path) if !is_one(path));
    are_one.then_some((Filter::Compares { what, how, with }, rest))
}

fn in_parentheses(text: &str) -> Option<(Filter, &str)> {
    let (filter, rest) = Filter::parse(text.strip_prefix('(')?)?;
    Some((filter, rest.trim_start_matches(' ').strip_prefix(')')?))
}

fn constant(text: &str) -> Option<(Value, &str)> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        let (inside, rest) = text[1..].split_once(quote)?;
        return (!inside.contains(|c: char| c == '\\' || c < ' ')).then(|| (inside.into(), rest));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '+' | '.')).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let value = match word {
        "true" => true.into(),
        "false" => false.into(),
        "null" => Value::Null,
        number => super::chain::integer(number)?.into(),
    };
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_demand_is_what_a_filter_cannot_do_without() {
        let value = json!({ "a": "x", "b": { "c": "y" }, "d": 1 });
        for (text, texts, there) in [
            ("@.a == 'z' && @.d", vec!["z"], Some("x")),
            ("@.d == 1 && (@.b.c == 'x' || @.b.c == 'y')", vec!["x", "y"], Some("y")),
            ("@.d == 'x'", vec!["x"], None),
        ] {
            let (filter, _) = Filter::parse(text).expect(text);
            let demand = filter.demand().expect(text);
            assert_eq!((demand.text_of(&value), &demand.texts), (there, &texts), "{text}");
        }
        for text in ["@.a == 'x' || @.b == 'x'", "@.a == 'x' || @.d", "@.a != 'x'", "!(@.a == 'x')", "@.d == 1", "@.a"]
        {
            let (filter, _) = Filter::parse(text).expect(text);
            assert!(filter.demand().is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_lacking_decides_nothing() {
        let client = json!({ "from": "client", "kind": "message" });
        for (text, fails) in [
            ("@.from == 'server' && @.message.id", true),
            ("@.from == 'server' && (@.kind == 'junk' || @.message)", true),
            ("@.from == 'client' && @.message.id", false),
            ("@.from == 'server' || @.message.id", false),
            ("@.message.id == 1", false),
            ("!@.message", false),
            ("@.ended", true),
            ("@..ended", false),
            ("@.ended != 'unasked'", false),
        ] {
            let (filter, _) = Filter::parse(text).expect(text);
            assert_eq!(filter.fails_without(&client, &["message"]), fails, "{text}");
        }
    }
}
