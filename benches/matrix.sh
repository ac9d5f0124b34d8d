#!/usr/bin/env bash
# A matrix of servers with one fault each: whether each fault is found, whether a matrix that was stopped goes on without loss,
# and how its pace compares with single runs of the same servers, as many at once. Needs python3.
# benches/matrix.sh [BINARY [SERVERS]]
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(realpath "${1:-target/release/mcp-conform}")
servers=${2:-300}
if [ $# -eq 0 ]; then
  cargo build --release --locked
fi
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
jobs=$(nproc)

# Faults that show over stdio in the newest revision, evenly taken from all of them, with what is known about the reference server.
"$program" list faults --json >"$place/faults"
"$program" list rules --json >"$place/rules"
"$program" run --reference --filter base.codes --transcript "$place/transcript" --quiet >/dev/null || true
python3 - "$place" "$program" "$servers" <<'PYTHON'
import json, sys
place, program, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
read = lambda name: [json.loads(line) for line in open(f"{place}/{name}")]
elsewhere = ("auth.", "dialect.", "sep-prefix.", "resources.headers", "tools.headers")
rules = [rule for rule in read("rules") if "rule" in rule and rule["level"] in ("must", "should")
         and "stdio" in rule["transports"] and not rule["suite"].startswith(elsewhere) and (not rule["window"] or rule["window"].endswith(".."))]
shown = {fault for rule in rules for fault in rule["faults"]}
faults = [fault["fault"] for fault in read("faults") if fault["fault"] in shown and fault["until"] is None
          and "stdio" in fault["transports"]]
faults = [faults[at * len(faults) // min(count, len(faults))] for at in range(min(count, len(faults)))]

def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(of)}" for key, of in value.items()) + " }"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else json.dumps(value)

facts = next(line["scene"]["facts"] for line in read("transcript") if "scene" in line)
known = ("change list_change slow versions tool_list_change prompt_list_change arguments children task slow_task task_input "
         "failing_task broken_task asking outside_roots").split()
with open(f"{place}/targets.toml", "w") as file:
    for name in ("tools", "prompts"):
        file.write(f"{name} = {toml(facts[name])}\n")
    file.write(f"facts = {toml({name: facts[name] for name in known})}\n")
    for fault in faults:
        file.write(f'[targets.{fault}]\nstdio = {json.dumps([program, "serve", "--fault", fault])}\n')
print(f"servers           {len(faults)}")
PYTHON

now() { date +%s%N; }
pace() { # label, servers, nanoseconds
  awk -v l="$1" -v n="$2" -v t="$3" 'BEGIN { printf "%-17s %d servers in %.1f s, %.2f a second\n", l, n, t / 1e9, n * 1e9 / t }'
}

# Both by turns, so that what else the machine does weighs on both.
sample=${SAMPLE:-40}
head -n $((3 + 2 * sample)) "$place/targets.toml" >"$place/sample.toml"
grep -o 'targets\.[^]]*' "$place/sample.toml" | cut -d. -f2- >"$place/names"
single=0 together=0
for turn in 1 2 3; do
  began=$(now)
  xargs -P "$jobs" -I NAME "$program" run --config "$place/sample.toml" --report json="$place/NAME.json" NAME <"$place/names" || true
  single=$((single + $(now) - began))
  began=$(now)
  "$program" matrix "$place/sample.toml" --out "$place/sample-$turn" >/dev/null || true
  together=$((together + $(now) - began))
done
pace "single runs" $((3 * sample)) $single
pace "matrix" $((3 * sample)) $together
awk -v s=$single -v m=$together 'BEGIN { printf "pace              %.0f%% of the single runs\n", 100 * s / m }'

code=0
timeout --signal INT "${STOP:-20}" "$program" matrix "$place/targets.toml" --out "$place/all" >"$place/first" 2>"$place/stopped" || code=$?
printf 'stopped           %s\n' "$(sed "s#$place/##" "$place/stopped")"
began=$(now)
"$program" matrix "$place/targets.toml" --out "$place/all" >"$place/second" || code=$?
printf 'gone on           %s\n' "$(head -1 "$place/second" | sed "s#$place/##")"
pace "the rest" "$(grep -c '^ *[0-9]*/' "$place/second")" $(($(now) - began))
tail -3 "$place/second" | sed "s#$place/##"

python3 - "$place" <<'PYTHON'
import glob, json, sys, urllib.parse
place = sys.argv[1]
faults = {}
for line in open(f"{place}/rules"):
    rule = json.loads(line)
    for fault in rule.get("faults") or []:
        faults.setdefault(fault, set()).add(rule["rule"])
found, missed = 0, []
for path in glob.glob(f"{place}/all/*.json"):
    name = path.rsplit("/", 1)[1]
    if name == "matrix.json":
        continue
    fault = urllib.parse.unquote(name.rsplit(".", 2)[0])
    unheld = {rule["id"] for rule in json.load(open(path))["rules"] if rule["status"] in ("fail", "warn", "advice", "broken")}
    if unheld & faults[fault]:
        found += 1
    else:
        missed.append(fault)
print(f"faults found      {found} by a rule that names them; not: {', '.join(missed) or 'none'}")
sys.exit(bool(missed))
PYTHON
