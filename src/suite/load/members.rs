//! What the names of a suite stand for, and the fields that a path may name there. A field that does not exist selects
//! nothing in any run, so a rule with `present: false` on it would always pass.

use super::{SURVEY, lint::Lint};
use crate::evidence::Side;
use crate::suite::{
    diagnostic::suggestion_or_all,
    model::{Each, Template, Verb},
    path::Path,
    views::{self, Holds, View},
    yaml::At,
};

/// The type of a value, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Data from the server, text or a number.
    Anything,
    One(&'static View),
    /// What a step with `each` saves for one item: the item by its name, and the `reply`.
    Entry(String, &'static View),
    List(Box<Shape>),
}

impl Shape {
    pub fn of(verb: &Verb, each: Option<&Each>) -> Self {
        let view = verb.spec().saves;
        match each {
            Some(each) => Self::List(Self::Entry(each.var.clone(), view).into()),
            None => Self::One(view),
        }
    }

    fn of_field(holds: Holds) -> Self {
        match holds {
            Holds::Anything => Self::Anything,
            Holds::List => Self::List(Self::Anything.into()),
            Holds::One(view) => Self::One(view),
            Holds::Many(view) => Self::List(Self::One(view).into()),
        }
    }

    /// The type of what `[*]` or a filter selects.
    fn item(self) -> Self {
        match self {
            Self::List(item) => *item,
            // The fields of an object differ in type.
            Self::Anything | Self::One(_) | Self::Entry(..) => Self::Anything,
        }
    }

    /// The type of a field, or an error message and a suggestion.
    fn field(&self, name: &str) -> Result<Self, (String, Option<String>)> {
        let known = match self {
            Self::Anything => return Ok(Self::Anything),
            Self::One(view) => match view.field(name) {
                Some(field) => return Ok(Self::of_field(field.holds)),
                None => view.fields.iter().map(|field| field.name).collect(),
            },
            Self::Entry(var, _) if var == name => return Ok(Self::Anything),
            Self::Entry(_, view) if name == "reply" => return Ok(Self::One(view)),
            Self::Entry(_, view) if view.field(name).is_some() => {
                return Err((String::new(), Some(format!("write `.reply.{name}`"))));
            }
            Self::Entry(var, _) => vec![var, "reply"],
            Self::List(_) => return Err((", which is a list".to_owned(), Some(format!("write `[*].{name}`")))),
        };
        Err((String::new(), suggestion_or_all(name, known)))
    }
}

impl Lint<'_> {
    /// Records what a step saves under this name. If several steps save different types under one name, the type is
    /// unknown.
    pub fn saves(&mut self, name: &str, shape: Shape) {
        let known = self.shapes.iter().rfind(|(of, _)| of == name);
        let same = known.is_none_or(|(_, known)| *known == shape);
        self.shapes.push((name.to_owned(), if same { shape } else { Shape::Anything }));
    }

    /// Binds the variable to what these paths select, or to the items of the list that a path selects.
    pub fn goes_over(&mut self, var: &str, over: &[&Path]) {
        let mut shapes = over.iter().map(|path| match self.shape_of(path) {
            Shape::List(item) => *item,
            other => other,
        });
        let first = shapes.next().unwrap_or(Shape::Anything);
        let shape = if shapes.all(|other| other == first) { first } else { Shape::Anything };
        self.shapes.push((var.to_owned(), shape));
    }

    /// Binds the variable of an `each`.
    pub fn loops_over(&mut self, var: &str, over: &Template) {
        match over {
            Template::Reference(path) => self.goes_over(var, &[path]),
            Template::Array(parts) if parts.iter().all(|part| matches!(part, Template::Reference(_))) => {
                self.goes_over(var, &over.references());
            }
            _ => self.shapes.push((var.to_owned(), Shape::Anything)),
        }
    }

    fn shape_of(&self, path: &Path) -> Shape {
        follow(self.shape_of_root(&path.root), &path.text[path.root.len() + 1..], "", &mut |_, _| ())
    }

    fn shape_of_root(&self, root: &str) -> Shape {
        if let Some((_, shape)) =
            self.shapes.iter().rfind(|(of, _)| of == root).filter(|_| self.names.iter().any(|name| name == root))
        {
            return shape.clone();
        }
        let of_client = views::OF_CLIENT.iter().find(|(name, _)| *name == root && self.subject == Side::Client);
        let streamed = views::streamed(self.subject).iter().find(|(name, _)| *name == root && self.in_rules);
        match streamed.or(of_client) {
            Some((_, view)) => Shape::List(Shape::One(view).into()),
            None if root == SURVEY => Shape::One(&views::SURVEY),
            _ => Shape::Anything,
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
fn follow(mut shape: Shape, path: &str, root: &str, unknown: &mut dyn FnMut(String, Option<String>)) -> Shape {
    let (mut rest, mut before) = (path, 0);
    while let Some((segment, length)) = segment(rest) {
        let done = &path[..before];
        before += length;
        rest = &rest[length..];
        shape = match segment {
            Segment::Field(name) => match shape.field(name) {
                Ok(inner) => inner,
                Err((why, help)) => {
                    unknown(format!("`{root}{done}.{name}`{why}"), help);
                    return Shape::Anything;
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
            Segment::Other => return Shape::Anything,
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
