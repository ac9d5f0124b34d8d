//! Selects one part of a list for one machine: `hash:2/4` is the second of four.
//!
//! By hash, an item stays in its part if others are added. By count, the parts have nearly equal sizes. Either way,
//! each item is in exactly one part.

use std::{fmt, str::FromStr};

/// `hash:K/N` or `count:K/N`, with K from 1 to N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    by: By,
    /// From 0.
    part: u32,
    of: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Hash,
    Count,
}

impl Partition {
    /// Whether the item with that id, at that index of `all` items, is in this part.
    pub fn takes(self, id: &str, place: usize, all: usize) -> bool {
        let (part, of) = (self.part as usize, self.of as usize);
        match self.by {
            By::Hash => hash(id) as usize % of == part,
            // In contiguous ranges, so that neighbors stay together.
            By::Count => (all * part / of..all * (part + 1) / of).contains(&place),
        }
    }

    /// Why these are not all parts of one whole, each exactly once. `None` also for an empty list.
    pub fn gap(parts: &[Self]) -> Option<String> {
        let first = *parts.first()?;
        if let Some(other) = parts.iter().find(|other| (other.by, other.of) != (first.by, first.of)) {
            return Some(format!("`{first}` and `{other}` belong to different partitions"));
        }
        let given = |part: u32| parts.iter().filter(|other| other.part == part).count();
        let told = |part: u32, what: &str| format!("part {} of {} {what}", part + 1, first.of);
        let twice = parts.iter().find(|part| given(part.part) > 1).map(|part| told(part.part, "was specified twice"));
        twice.or_else(|| (0..first.of).find(|part| given(*part) == 0).map(|part| told(part, "is missing")))
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let by = match self.by {
            By::Hash => "hash",
            By::Count => "count",
        };
        write!(f, "{by}:{}/{}", self.part + 1, self.of)
    }
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            |what: &str| format!("`{text}` is not a part: {what}; the second of four is `hash:2/4` or `count:2/4`");
        let (by, rest) = text.split_once(':').ok_or_else(|| wrong("expected `hash:` or `count:` before it"))?;
        let by = match by {
            "hash" => By::Hash,
            "count" => By::Count,
            other => return Err(wrong(&format!("`{other}` is neither `hash` nor `count`"))),
        };
        let (part, of) = rest.split_once('/').ok_or_else(|| wrong("expected K/N"))?;
        let number =
            |digits: &str| digits.parse::<u32>().map_err(|_| wrong(&format!("`{digits}` is not a whole number")));
        match (number(part)?, number(of)?) {
            (_, 0) => Err(wrong("the number of parts must be at least 1")),
            (0, _) => Err(wrong("parts are numbered from 1")),
            (part, of) if part > of => Err(wrong(&format!("part {part} of {of} does not exist"))),
            (part, of) => Ok(Self { by, part: part - 1, of }),
        }
    }
}

/// FNV-1a, folded to half its width because its lowest bits alone are poorly mixed. Implemented here, because a machine
/// must get the same items with a later version or compiler.
fn hash(id: &str) -> u32 {
    let mixed =
        id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (mixed >> 32) as u32 ^ (mixed & 0xffff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(by: &str, of: u32) -> Vec<Partition> {
        (1..=of).map(|part| format!("{by}:{part}/{of}").parse().expect("a part")).collect()
    }

    #[test]
    fn each_thing_is_in_exactly_one_part_and_the_parts_are_about_even() {
        let ids: Vec<String> = (0..1000).map(|number| format!("rule-{number}")).collect();
        for of in [1, 2, 3, 4, 7, 16] {
            for by in ["hash", "count"] {
                let parts = parts(by, of);
                let mut sizes = vec![0_u32; parts.len()];
                for (place, id) in ids.iter().enumerate() {
                    let takers: Vec<_> =
                        (0..parts.len()).filter(|part| parts[*part].takes(id, place, ids.len())).collect();
                    assert_eq!(takers.len(), 1, "{by} of {of}: {id} is in {takers:?}");
                    sizes[takers[0]] += 1;
                }
                let even = 1000 / of;
                assert!(sizes.iter().all(|size| size.abs_diff(even) <= even / 2), "{by} of {of}: {sizes:?}");
            }
        }
    }

    #[test]
    fn by_hash_a_thing_stays_where_it_was() {
        assert_eq!(["", "a", "tools-list-names-unique"].map(hash), [0x4fd0_bfc1, 0x2962_30c0, 0xb17d_5d91]);
        let part: Partition = "hash:2/3".parse().expect("a part");
        assert!((0..9).map(|place| part.takes("a", place, 9)).all(|taken| taken == part.takes("a", 0, 1)));
    }

    #[test]
    fn by_count_neighbours_stay_together() {
        let part: Partition = "count:2/3".parse().expect("a part");
        assert_eq!((0..6).filter(|place| part.takes("a", *place, 6)).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(part.to_string(), "count:2/3");
    }

    #[test]
    fn what_keeps_parts_from_being_the_whole_is_told() {
        let gap = |parts: &[&str]| {
            Partition::gap(&parts.iter().map(|part| part.parse().expect("a part")).collect::<Vec<_>>())
        };
        assert_eq!((gap(&[]), gap(&["hash:2/2", "hash:1/2"]), gap(&["count:1/1"])), (None, None, None));
        for (parts, told) in [
            (["hash:1/2", "hash:1/2"].as_slice(), "part 1 of 2 was specified twice"),
            (&["hash:2/2"], "part 1 of 2 is missing"),
            (&["count:1/3", "count:3/3"], "part 2 of 3 is missing"),
            (&["hash:1/2", "count:2/2"], "`hash:1/2` and `count:2/2` belong to different partitions"),
        ] {
            assert_eq!(gap(parts).as_deref(), Some(told));
        }
    }

    #[test]
    fn what_is_no_part_is_refused_in_words() {
        for (text, why) in [
            ("2/4", "expected `hash:` or `count:`"),
            ("slice:1/2", "`slice` is neither"),
            ("hash:2", "expected K/N"),
            ("hash:x/4", "`x` is not a whole number"),
            ("hash:-1/4", "`-1` is not a whole number"),
            ("count:0/4", "parts are numbered from 1"),
            ("count:1/0", "must be at least 1"),
            ("count:5/4", "part 5 of 4 does not exist"),
        ] {
            let said = text.parse::<Partition>().expect_err(text);
            assert!(said.contains(why) && said.contains("`hash:2/4`"), "{said}");
        }
    }
}
