#!/usr/bin/env bash
# Counts lines, untyped accesses, parsed sentences and long files. It never fails: compare its figures before and after
# a change.
set -euo pipefail
cd "$(dirname "$0")/.."

is_proof='^crates/(reference-[a-z]*|faults|proof|client-faults)/|^tests/|/tests/|/tests\.rs$'
product=$(find src crates -name '*.rs' | grep -Ev "$is_proof" | sort)
proof=$(find src crates tests -name '*.rs' | grep -E "$is_proof" | sort)
merged=target/house.txt
mkdir -p target

# A file without its unit tests, each line after the name of its file. `mod tests {` is the last thing in a file.
awk 'FNR == 1 { test = 0 } /^#\[cfg\(test\)\]$/ { test = 1 } !test { print FILENAME ": " $0 }' $product > "$merged"

row() { printf '%7s  %s\n' "$1" "$2"; }
lines() { cat "$@" | wc -l; }
matches() { grep -oE "$1" "$merged" | wc -l || true; }

row "$(wc -l < "$merged")" 'lines of Rust in the product'
row "$(($(lines $product) - $(wc -l < "$merged") + $(lines $proof)))" 'lines of Rust in the proof and its programs'
row "$(lines $(find crates -name '*.yaml'))" 'lines of faults in YAML'
row "$(lines $(find suites -name '*.yaml'))" 'lines of suites'
row "$(matches '\["[A-Za-z0-9_/.-]+"\]')" 'untyped accesses ["name"] in the product'
row "$(matches '(starts_with|ends_with|contains|strip_prefix|split_once|split|find)\("[^"]*[a-z:] [^"]*"')" 'sentences that the product parses'
row "$(matches 'struct Course\b')" 'types called Course'
row "$(awk '/: (pub |pub.[a-z]+. )?enum / { name = $0 } /: +Stdio[,({ ]/ { if (name != "") { count++; name = "" } } END { print count + 0 }' "$merged")" 'enums of transports in the product'
row "$(find src crates tests -name '*.rs' | xargs awk 'FNR == 351 { count++ } END { print count + 0 }')" 'Rust files over 350 lines'
row "$(find src crates suites tests -type f -not -path '*/tests/*-corpus/*' | xargs -n1 dirname | sort | uniq -c | awk '$1 > 25 { count++ } END { print count + 0 }')" 'folders over 25 files'
