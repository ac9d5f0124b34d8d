#!/usr/bin/env bash
# Time and memory of `matrix merge` over many results. Needs python3 and /usr/bin/time.
# benches/merge.sh [BINARY [RESULTS...]]
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(realpath "${1:-target/release/mcp-conform}")
if [ $# -eq 0 ]; then
  cargo build --release --locked
fi
shift || true
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

"$program" run --reference --fault list-item-without-name --filter resources.list --filter tools.list --filter base.framing \
  --report json="$place/one.json" >/dev/null || true
for results in "${@:-2000 20000}"; do
  for count in $results; do
    mkdir "$place/$count"
    python3 - "$place" "$count" <<'PYTHON'
import json, random, sys
place, count = sys.argv[1], int(sys.argv[2])
report = json.load(open(f"{place}/one.json"))
report.pop("timeline", None)
judged = [rule for rule in report["rules"] if rule["status"] in ("pass", "fail")]
chance = random.Random(1)
for number in range(count):
    for rule in judged:
        rule["status"] = "fail" if chance.random() < 0.05 else "pass"
    failed = any(rule["status"] == "fail" for rule in judged)
    report["exit_code"] = int(failed)
    with open(f"{place}/{count}/server-{number}.{number:016x}.json", "w") as file:
        json.dump(report, file)
PYTHON
    bytes=$(du -sb "$place/$count" | cut -f1)
    /usr/bin/time -o "$place/time" -f '%M %U %e' "$program" matrix merge "$place/$count" >/dev/null || true
    read -r memory user wall < <(tail -1 "$place/time")
    printf '%7d results of %d bytes: %d KiB at most, %s s of processor time, %s s in all; matrix.html %d KiB, matrix.json %d KiB\n' \
      "$count" $((bytes / count)) "$memory" "$user" "$wall" \
      $(($(wc -c <"$place/$count/matrix.html") / 1024)) $(($(wc -c <"$place/$count/matrix.json") / 1024))
  done
done
