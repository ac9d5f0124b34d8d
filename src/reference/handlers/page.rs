//! Lists in pages. A cursor holds the place and a seal over the list that it belongs to.
//!
//! Nothing is remembered: the same cursor gives the same page on any connection, and a cursor that was made up, or that
//! belongs to another list, does not carry the right seal.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::reference::{fail::Fail, handlers::Params};

/// One page of `items` as a result; `list` tells apart all lists that can be asked for.
pub fn page(params: Params, member: &str, items: Vec<Value>, size: usize, list: &str) -> Result<Value, Fail> {
    let length = items.len();
    let told = |page: Range<usize>| items.into_iter().skip(page.start).take(page.len()).collect();
    page_of(params, member, length, told, size, list)
}

/// As `page`, of a list of which only that page is made.
pub fn page_of(
    params: Params,
    member: &str,
    length: usize,
    make: impl FnOnce(Range<usize>) -> Vec<Value>,
    size: usize,
    list: &str,
) -> Result<Value, Fail> {
    let start = match params.optional_string("cursor")? {
        Some(cursor) => place(cursor, list).ok_or_else(|| Fail::params("Invalid cursor"))?,
        None => 0,
    };
    let end = start.saturating_add(size);
    let more = end < length;
    let items = make(start.min(length)..end.min(length));
    let mut result = Map::new();
    result.insert(member.to_owned(), items.into());
    if more {
        result.insert("nextCursor".to_owned(), cursor(end, list).into());
    }
    Ok(result.into())
}

fn cursor(place: usize, list: &str) -> String {
    format!("{place:x}.{:016x}", seal(place, list))
}

fn place(cursor: &str, list: &str) -> Option<usize> {
    let place = usize::from_str_radix(cursor.split_once('.')?.0, 16).ok()?;
    (self::cursor(place, list) == cursor).then_some(place)
}

/// FNV-1a. No secret: a forged cursor would harm nobody.
fn seal(place: usize, list: &str) -> u64 {
    let bytes = list.bytes().chain(place.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
