//! Pages of lists. A cursor contains the position and a checksum of the list that it belongs to.
//!
//! The server keeps no state: the same cursor returns the same page on any connection. A forged cursor, or one of
//! another list, has a wrong checksum.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::{fail::Fail, handlers::Params};

/// One page of `items` as a result; `list` identifies the list.
pub fn page(params: Params, member: &str, items: Vec<Value>, size: usize, list: &str) -> Result<Value, Fail> {
    let length = items.len();
    let told = |page: Range<usize>| items.into_iter().skip(page.start).take(page.len()).collect();
    page_of(params, member, length, told, size, list)
}

/// Like `page`, for a list of which only this page is generated.
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

/// FNV-1a. It is not a secret: a forged cursor does no harm.
fn seal(place: usize, list: &str) -> u64 {
    let bytes = list.bytes().chain(place.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
