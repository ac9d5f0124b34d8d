//! A YAML mapping whose keys have a window of revisions; several rows may share a name.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use super::window::Dated;
use conform_model::revision::Revision;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows<T>(Vec<(Dated, T)>);

impl<T> Rows<T> {
    /// All rows, in file order.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Dated, &T)> {
        self.0.iter().map(|(heading, row)| (heading, row))
    }

    /// The rows that apply in a revision.
    pub(super) fn of(&self, revision: Revision) -> impl Iterator<Item = (&str, &T)> {
        self.all().filter(move |(heading, _)| heading.window.holds(revision)).map(|(h, row)| (h.text.as_str(), row))
    }

    pub(super) fn find(&self, name: &str, revision: Revision) -> Option<(&str, &T)> {
        self.of(revision).find(|(text, _)| *text == name)
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Rows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowsVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for RowsVisitor<T> {
            type Value = Rows<T>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rows<T>, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = map.next_entry()? {
                    rows.push(row);
                }
                Ok(Rows(rows))
            }
        }

        deserializer.deserialize_map(RowsVisitor(PhantomData))
    }
}
