//! All descriptions, parsed once: the shapes and methods, and the shapes of each method's params and result.

use std::{fmt::Display, str::FromStr, sync::LazyLock};

use serde::Deserialize;
use serde_json::Value;

use super::{
    rows::Rows,
    types::{Type, constant},
    window::{Dated, Window},
};
use conform_model::revision::Revision;
use conform_texts::SHAPES;

/// One file of descriptions, or all of them together.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Book {
    #[serde(default)]
    pub(super) shapes: Rows<Shape>,
    #[serde(default)]
    pub(super) methods: Rows<Method>,
}

#[derive(Deserialize)]
#[serde(try_from = "Description")]
pub(super) enum Shape {
    Object {
        extends: Vec<Dated>,
        members: Rows<Type>,
    },
    /// The first branch whose condition holds names the shape.
    When(Vec<Branch>),
    Is(Type),
}

pub(super) struct Branch {
    pub(super) window: Window,
    pub(super) condition: Condition,
    pub(super) shape: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    /// `member is a | b`
    Is {
        member: String,
        values: Vec<Value>,
    },
    /// `has member`
    Has(String),
    Otherwise,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Method {
    pub(super) from: Sender,
    pub(super) params: String,
    pub(super) result: Option<String>,
}

/// Who may send a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sender {
    Client,
    Server,
    Either,
}

/// A shape as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// Documentation only.
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    extends: Vec<Dated>,
    members: Option<Rows<Type>>,
    when: Option<Rows<String>>,
    is: Option<Type>,
}

impl TryFrom<Description> for Shape {
    type Error = String;

    fn try_from(written: Description) -> Result<Self, String> {
        match (written.members, written.when, written.is) {
            (members, None, None) if members.is_some() || !written.extends.is_empty() => {
                Ok(Self::Object { extends: written.extends, members: members.unwrap_or_default() })
            }
            (None, Some(when), None) if written.extends.is_empty() => {
                let branch = |(heading, shape): (&Dated, &String)| {
                    let condition = heading.text.parse()?;
                    Ok(Branch { window: heading.window, condition, shape: shape.clone() })
                };
                when.all().map(branch).collect::<Result<_, String>>().map(Self::When)
            }
            (None, None, Some(is)) if written.extends.is_empty() => Ok(Self::Is(is)),
            _ => Err("a shape has either `members` (and `extends`), or `when`, or `is`".to_owned()),
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((member, values)) = text.split_once(" is ") {
            let values = values.split('|').map(|value| constant(value.trim())).collect();
            Ok(Self::Is { member: member.to_owned(), values })
        } else if let Some(member) = text.strip_prefix("has ") {
            Ok(Self::Has(member.to_owned()))
        } else if text == "otherwise" {
            Ok(Self::Otherwise)
        } else {
            Err(format!("`{text}` is not a condition; write `member is value`, `has member` or `otherwise`"))
        }
    }
}

impl Book {
    pub(super) fn read(files: &[(&str, &str)]) -> Result<Self, String> {
        let mut book = Self::default();
        for (path, text) in files {
            let file = parse(text).map_err(|error| format!("{path}: {error}"))?;
            book.shapes.append(file.shapes);
            book.methods.append(file.methods);
        }
        Ok(book)
    }

    /// The built-in descriptions.
    pub(super) fn built_in() -> &'static Self {
        static BOOK: LazyLock<Book> = LazyLock::new(|| {
            Book::read(&SHAPES).unwrap_or_else(|error| unreachable!("a test reads these files: {error}"))
        });
        &BOOK
    }
}

#[cfg(debug_assertions)]
fn parse(text: &str) -> Result<Book, impl Display> {
    serde_saphyr::from_str(text)
}

/// A release embeds them as JSON, which parses ten times as fast.
#[cfg(not(debug_assertions))]
fn parse(text: &str) -> Result<Book, impl Display> {
    serde_json::from_str(text)
}

/// The names of all shapes and methods. The name of a method stands for the shape of its whole message.
pub fn names() -> impl Iterator<Item = &'static str> {
    let book = Book::built_in();
    book.shapes.all().map(|(heading, _)| heading).chain(book.methods.all().map(|(h, _)| h)).map(|h| h.text.as_str())
}

/// Whether the shape or method exists in a revision.
pub fn exists(name: &str, revision: Revision) -> bool {
    let book = Book::built_in();
    book.shapes.find(name, revision).is_some() || book.methods.find(name, revision).is_some()
}

/// The shape of the result of a request.
pub fn result_shape(method: &str, revision: Revision) -> Option<&'static str> {
    Book::built_in().methods.find(method, revision)?.1.result.as_deref()
}

/// The shape of the params of a request or notification.
pub fn params_shape(method: &str, revision: Revision) -> Option<&'static str> {
    Some(&Book::built_in().methods.find(method, revision)?.1.params)
}

/// The shape of a whole request, from either side.
pub fn request_shape(method: &str, revision: Revision) -> Option<&'static str> {
    let (name, method) = Book::built_in().methods.find(method, revision)?;
    method.result.is_some().then_some(name)
}

/// The shape of a whole notification, from either side.
pub fn notification_shape(method: &str, revision: Revision) -> Option<&'static str> {
    let (name, method) = Book::built_in().methods.find(method, revision)?;
    method.result.is_none().then_some(name)
}

pub fn sender(method: &str, revision: Revision) -> Option<Sender> {
    Book::built_in().methods.find(method, revision).map(|(_, method)| method.from)
}
