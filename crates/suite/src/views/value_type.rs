//! The types of the names in a suite, so that a value of ours is never taken for data of a server, nor the other way
//! round.

use super::{Holds, OF_CLIENT, OF_PROFILE, SERVER, SURVEY, View, streamed};
use crate::{
    SURVEY as SURVEYED,
    model::{Each, Suite, Verb},
    path::Path,
};
use conform_model::evidence::Side;

/// The type of a value, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueType {
    /// Data from the server, text or a number.
    Anything,
    One(&'static View),
    /// What a step with `each` saves for one item: the item by its name, and the `reply`.
    Entry {
        var: String,
        item: Box<ValueType>,
        view: &'static View,
    },
    List(Box<ValueType>),
}

impl ValueType {
    /// What a step saves for these items.
    pub fn of(verb: &Verb, each: Option<&Each>, item: Self) -> Self {
        let view = verb.spec().saves;
        match each {
            Some(each) => Self::List(Self::Entry { var: each.var.clone(), item: item.into(), view }.into()),
            None => Self::One(view),
        }
    }

    /// What this name stands for when the suite is judged. If several steps save under one name, the first one counts.
    pub fn of_name(root: &str, suite: &Suite) -> Self {
        if let Some(step) = suite.gather.iter().find(|step| step.save.as_deref() == Some(root)) {
            let over = step.each.as_ref().map(|each| each.over.references()).unwrap_or_default();
            let item = over.first().map_or(Self::Anything, |path| Self::of_path(path, suite));
            let item = if let Self::List(item) = item { *item } else { item };
            return Self::of(&step.verb, step.each.as_ref(), item);
        }
        let of_client = OF_CLIENT.iter().find(|(name, _)| *name == root && suite.subject == Side::Client);
        let of_profile = OF_PROFILE.iter().find(|(name, _)| *name == root && suite.profile.is_some());
        match streamed(suite.subject).iter().find(|(name, _)| *name == root).or(of_client).or(of_profile) {
            Some((_, view)) => Self::List(Self::One(view).into()),
            None if root == SURVEYED => Self::One(&SURVEY),
            None if root == "server" => Self::One(&SERVER),
            None => Self::Anything,
        }
    }

    /// What a path selects, each by itself.
    fn of_path(path: &Path, suite: &Suite) -> Self {
        path.members().fold(Self::of_name(&path.root, suite), |value_type, member| match member {
            Some(name) => value_type.field(name).unwrap_or(Self::Anything),
            None => value_type.item(),
        })
    }

    /// The type of what a JSON Pointer leads to.
    #[must_use]
    pub fn at(self, pointer: &str) -> Self {
        pointer.split('/').skip(1).fold(self, Self::step)
    }

    /// The type of the field or element with this name in a JSON Pointer.
    #[must_use]
    pub fn step(self, token: &str) -> Self {
        if let Self::List(item) = self { *item } else { self.field(token).unwrap_or(Self::Anything) }
    }

    /// The type of what `[*]` or a filter selects.
    #[must_use]
    pub fn item(self) -> Self {
        match self {
            Self::List(item) => *item,
            // The fields of an object differ in type.
            Self::Anything | Self::One(_) | Self::Entry { .. } => Self::Anything,
        }
    }

    /// The type of a field, if there is one.
    pub fn field(&self, name: &str) -> Option<Self> {
        match self {
            Self::Anything => Some(Self::Anything),
            Self::One(view) => view.field(name).map(|field| Self::of_field(field.holds)),
            Self::Entry { var, item, .. } if var == name => Some(Self::clone(item)),
            Self::Entry { view, .. } if name == "reply" => Some(Self::One(view)),
            Self::Entry { .. } | Self::List(_) => None,
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
}
