//! Whether session ids can be guessed, as far as a sample shows: only what differs between ids makes guessing hard.

use std::collections::BTreeSet;

use super::unguessable::guessable;
use crate::checks::{Check, Given, Report, texts};

pub const CHECK: Check = Check { name: "session-ids", given: &["ids"], run };

/// Ids with fewer differing bits can be guessed. 64 bits are recommended; a small sample of such ids may show
/// fewer.
const BITS: f64 = 48.0;

fn run(given: &Given) -> Report {
    let ids = texts(given.value("ids"));
    if ids.len() < 2 {
        return Report::default();
    }
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    let bits = bits(&ids);
    let message = if distinct.len() < ids.len() {
        Some("several connections received the same session id".to_owned())
    } else {
        (bits < BITS).then(|| format!("from one session id to the next no more than {bits:.0} bits differ"))
    };
    guessable(&ids, message)
}

/// The number of positions at which the ids differ, times the bits per character. Some positions agree by chance.
fn bits(ids: &[&str]) -> f64 {
    let longest = ids.iter().map(|id| id.len()).max().unwrap_or_default();
    let at = |place: usize| ids.iter().map(move |id| id.as_bytes().get(place)).collect::<BTreeSet<_>>();
    let places = u32::try_from((0..longest).filter(|&place| at(place).len() > 1).count()).unwrap_or(u32::MAX);
    let all = ids.concat();
    let kinds: f64 = if all.bytes().all(|byte| byte.is_ascii_digit()) {
        10.0
    } else if all.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        16.0
    } else {
        62.0
    };
    f64::from(places) * kinds.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_up_or_taken_from_the_clock_is_told_from_chance() {
        for poor in [["1", "2"], ["session-0001", "session-0002"], ["1732231234567", "1732231239876"], ["abcd", "wxyz"]]
        {
            assert!(bits(&poor) < BITS, "{poor:?}");
        }
        for rich in [
            ["f3c1a7a05b0e4f6c9d2e8b7a61530c4d", "0b9d24c8e71f4a53b6c0d9e8f7a61524"],
            ["0193a1b2-5d6e-7a01-8f3c-2b1d9e7a6c50", "0193a1b2-5d9f-7bc4-b1e2-7f60a3d48c19"],
            ["V1StGXR8_Z5jdHi6B-myT", "k2Lw0PqZ7uXc9Rb3-NdYe"],
        ] {
            assert!(bits(&rich) >= BITS, "{rich:?}");
        }
    }
}
