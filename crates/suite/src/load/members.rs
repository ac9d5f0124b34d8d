//! What the names of a suite stand for, and the fields that a path may name there. A field that does not exist selects
//! nothing in any run, so a rule with `present: false` on it would always pass.

use super::{SURVEY, lint::Lint};
use crate::{
    model::Template,
    path::Path,
    views::{self, ValueType},
};
use conform_model::evidence::Side;
use conform_source::{diagnostic::suggestion_or_all, yaml::At};

/// The type of a field, or an error message and a suggestion.
fn field(shape: &ValueType, name: &str) -> Result<ValueType, (String, Option<String>)> {
    if let Some(field) = shape.field(name) {
        return Ok(field);
    }
    let known = match shape {
        ValueType::Entry { view, .. } if view.field(name).is_some() => {
            return Err((String::new(), Some(format!("write `.reply.{name}`"))));
        }
        ValueType::List(_) => return Err((", which is a list".to_owned(), Some(format!("write `[*].{name}`")))),
        ValueType::Entry { var, .. } => vec![var.as_str(), "reply"],
        ValueType::One(view) => view.fields.iter().map(|field| field.name).collect(),
        ValueType::Anything => Vec::new(),
    };
    Err((String::new(), suggestion_or_all(name, known)))
}

impl Lint<'_> {
    /// Records what a step saves under this name. If several steps save different types under one name, the type is
    /// unknown.
    pub fn saves(&mut self, name: &str, shape: ValueType) {
        let known = self.shapes.iter().rfind(|(of, _)| of == name);
        let same = known.is_none_or(|(_, known)| *known == shape);
        self.shapes.push((name.to_owned(), if same { shape } else { ValueType::Anything }));
    }

    /// Binds the variable to what these paths select, or to the items of the list that a path selects.
    pub fn goes_over(&mut self, var: &str, over: &[&Path]) {
        let mut shapes = over.iter().map(|path| match self.shape_of(path) {
            ValueType::List(item) => *item,
            other => other,
        });
        let first = shapes.next().unwrap_or(ValueType::Anything);
        let shape = if shapes.all(|other| other == first) { first } else { ValueType::Anything };
        self.shapes.push((var.to_owned(), shape));
    }

    /// Binds the variable of an `each`.
    pub fn loops_over(&mut self, var: &str, over: &Template) {
        match over {
            Template::Reference(path) => self.goes_over(var, &[path]),
            Template::Array(parts) if parts.iter().all(|part| matches!(part, Template::Reference(_))) => {
                self.goes_over(var, &over.references());
            }
            _ => self.shapes.push((var.to_owned(), ValueType::Anything)),
        }
    }

    fn shape_of(&self, path: &Path) -> ValueType {
        follow(self.shape_of_root(&path.root), &path.text[path.root.len() + 1..], "", &mut |_, _| ())
    }

    fn shape_of_root(&self, root: &str) -> ValueType {
        if let Some((_, shape)) =
            self.shapes.iter().rfind(|(of, _)| of == root).filter(|_| self.names.iter().any(|name| name == root))
        {
            return shape.clone();
        }
        let of_client = views::OF_CLIENT.iter().find(|(name, _)| *name == root && self.subject == Side::Client);
        let streamed = views::streamed(self.subject).iter().find(|(name, _)| *name == root && self.in_rules);
        let of_profile = views::OF_PROFILE.iter().find(|(name, _)| *name == root && self.is_profile);
        match streamed.or(of_client).or(of_profile) {
            Some((_, view)) => ValueType::List(ValueType::One(view).into()),
            None if root == SURVEY => ValueType::One(&views::SURVEY),
            _ => ValueType::Anything,
        }
    }

    /// Reports fields that do not exist in the value that the path leads to.
    pub fn check_fields(&mut self, text: &At<String>, path: &Path) {
        let shape = self.shape_of_root(&path.root);
        let rest = &path.text[path.root.len() + 1..];
        let mut unknown = Vec::new();
        follow(shape, rest, &format!("${}", path.root), &mut |what, help| unknown.push((what, help)));
        for (what, help) in unknown {
            self.problems.add_with(text.at, format!("unknown field {what}"), help);
        }
    }
}

/// Follows the segments of a path, and reports each unknown field with its position and a suggestion.
fn follow(mut shape: ValueType, path: &str, root: &str, unknown: &mut dyn FnMut(String, Option<String>)) -> ValueType {
    let (mut rest, mut before) = (path, 0);
    while let Some((segment, length)) = segment(rest) {
        let done = &path[..before];
        before += length;
        rest = &rest[length..];
        shape = match segment {
            Segment::Field(name) => match field(&shape, name) {
                Ok(inner) => inner,
                Err((why, help)) => {
                    unknown(format!("`{root}{done}.{name}`{why}"), help);
                    return ValueType::Anything;
                }
            },
            Segment::Items => shape.item(),
            Segment::Filter(filter) => {
                let item = shape.item();
                for chain in chains(filter) {
                    follow(item.clone(), chain, "@", unknown);
                }
                item
            }
            Segment::Other => return ValueType::Anything,
        };
    }
    shape
}

enum Segment<'p> {
    Field(&'p str),
    /// `[*]`, an index or a slice.
    Items,
    /// The expression of `[?...]`.
    Filter(&'p str),
    Other,
}

/// The segment at the start of the path, and its length.
fn segment(path: &str) -> Option<(Segment<'_>, usize)> {
    if let Some(rest) = path.strip_prefix('.') {
        let name = &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())];
        let segment = if name.is_empty() { Segment::Other } else { Segment::Field(name) };
        return Some((segment, 1 + name.len()));
    }
    let inside = path.strip_prefix('[')?;
    let end = bracket(inside)?;
    let selector = inside[..end].trim();
    let quoted = |quote| selector.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let segment = match quoted('\'').or_else(|| quoted('"')) {
        Some(name) if !name.contains(['\'', '"', '\\']) => Segment::Field(name),
        Some(_) => Segment::Other,
        None if selector.starts_with('?') => Segment::Filter(&selector[1..]),
        None if selector.contains(',') => Segment::Other,
        None => Segment::Items,
    };
    Some((segment, end + 2))
}

/// Position of the bracket that closes the one around this text.
fn bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    outside_quotes(text).find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
        None
    })
}

/// The text after each `@` in a filter that refers to the item itself.
fn chains(filter: &str) -> Vec<&str> {
    let (mut chains, mut after) = (Vec::new(), 0);
    for (at, _) in outside_quotes(filter).filter(|(_, c)| *c == '@') {
        if at >= after {
            let chain = &filter[at + 1..];
            let mut length = 0;
            while let Some((_, more)) = segment(&chain[length..]) {
                length += more;
            }
            chains.push(&chain[..length]);
            after = at + 1 + length;
        }
    }
    chains
}

fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut escaped) = (None, false);
    text.char_indices().filter(move |(_, c)| {
        let was = quote;
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if *c == '\\' => escaped = true,
            Some(open) if *c == open => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(*c),
            _ => {}
        }
        was.is_none() && quote.is_none()
    })
}
