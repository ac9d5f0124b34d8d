//! Typed access to the parameters of a request; an invalid one causes an invalid-params error with the reason.

use serde_json::{Map, Value};

use crate::fail::Fail;

#[derive(Clone, Copy)]
pub struct Params<'a>(pub &'a Map<String, Value>);

impl<'a> Params<'a> {
    pub fn string(self, name: &str) -> Result<&'a str, Fail> {
        self.optional_string(name)?.ok_or_else(|| missing(name, "a string"))
    }

    pub fn optional_string(self, name: &str) -> Result<Option<&'a str>, Fail> {
        self.typed(name, "a string", Value::as_str)
    }

    pub fn object(self, name: &str) -> Result<Params<'a>, Fail> {
        self.optional_object(name)?.map(Params).ok_or_else(|| missing(name, "an object"))
    }

    pub fn optional_object(self, name: &str) -> Result<Option<&'a Map<String, Value>>, Fail> {
        self.typed(name, "an object", Value::as_object)
    }

    pub fn optional_bool(self, name: &str) -> Result<Option<bool>, Fail> {
        self.typed(name, "a boolean", Value::as_bool)
    }

    pub fn optional_unsigned(self, name: &str) -> Result<Option<u64>, Fail> {
        self.typed(name, "an integer, and none below zero", Value::as_u64)
    }

    pub fn optional_strings(self, name: &str) -> Result<Option<Vec<&'a str>>, Fail> {
        let strings = |value: &'a Value| value.as_array()?.iter().map(Value::as_str).collect();
        self.typed(name, "an array of strings", strings)
    }

    pub fn strings(self, name: &str) -> Result<Vec<&'a str>, Fail> {
        self.optional_strings(name)?.ok_or_else(|| missing(name, "an array of strings"))
    }

    /// An object whose fields are all strings.
    pub fn optional_string_map(self, name: &str) -> Result<Option<&'a Map<String, Value>>, Fail> {
        let strings = |value: &'a Value| value.as_object().filter(|object| object.values().all(Value::is_string));
        self.typed(name, "an object of strings", strings)
    }

    fn typed<T>(self, name: &str, what: &str, read: impl Fn(&'a Value) -> Option<T>) -> Result<Option<T>, Fail> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| unfit(name, what))
    }
}

fn missing(name: &str, what: &str) -> Fail {
    Fail::params(format!("`{name}` is required and has to be {what}."))
}

pub fn unfit(name: &str, what: &str) -> Fail {
    Fail::params(format!("`{name}` has to be {what}."))
}
