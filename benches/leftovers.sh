#!/usr/bin/env bash
# Runs against servers that die, hang or leave processes behind, one after another, and counts what is left of all of them:
# processes, temporary files, descriptors. `benches/leftovers.sh [RUNS] [PROGRAM]`; Linux.
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-200}
program=${2:-target/release/mcp-conform}
export TMPDIR
TMPDIR=$(mktemp -d)

servers=(
  'read line; exit 3'
  'read line; kill -SEGV $$'
  'read line; printf "{\"jsonrpc\":"; exit 1'
  'sleep 1000'
  'trap "" TERM; while :; do sleep 1; done'
  'exec >&-; sleep 1000'
  'setsid sleep 1000 & exec cat'
  'setsid sleep 1000 <&- >&- 2>&- & read line'
)
descriptors() { ls "/proc/$$/fd" | wc -l; }
processes() { (grep -lsz "^LEFTOVERS_OF=$$\$" /proc/[0-9]*/environ || true) | wc -l; }

before=$(descriptors) processes_before=$(processes)
declare -A codes=()
for ((run = 0; run < runs; run++)); do
  code=0
  LEFTOVERS_OF=$$ "$program" run --timeout 0.3 --limit grace=0.2 --filter base.lifecycle --report "json=$TMPDIR/../report.$$" \
    -- bash -c "${servers[run % ${#servers[@]}]}" 2> /dev/null || code=$?
  codes[$code]=$((${codes[$code]:-0} + 1))
done
rm -f "$TMPDIR/../report.$$"

echo "runs $runs, by exit code:$(for code in "${!codes[@]}"; do printf ' %s×%s' "$code" "${codes[$code]}"; done)"
echo "processes left: $(($(processes) - processes_before))"
echo "temporary files left: $(find "$TMPDIR" -mindepth 1 | wc -l)"
echo "descriptors left: $(($(descriptors) - before))"
rm -r "$TMPDIR"
