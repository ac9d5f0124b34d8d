#!/usr/bin/env bash
# Runs mcp-conform with the inputs of the action, which come as variables. The job fails when the server does.
set -uo pipefail

mkdir -p "${REPORTS:?}"
arguments=(run --revision "${REVISION:-auto}")
[ -z "${BASELINE:-}" ] || arguments+=(--baseline "$BASELINE")
[ "${STRICT:-}" != true ] || arguments+=(--strict)
summary="${RUNNER_TEMP:?}/mcp-conform-summary.md"
arguments+=(--report human --report github --report "markdown=$summary" --report "json=$REPORTS/report.json")
arguments+=(--report "junit=$REPORTS/junit.xml" --report "html=$REPORTS/report.html")

[ -z "${STDIO:-}" ] || arguments+=(--stdio "$STDIO")
[ -z "${HTTP:-}" ] || arguments+=(--http "$HTTP")
if [ -n "${ARGS:-}" ]; then
  # xargs splits at blanks and quotes, and runs nothing that stands in them.
  words=$(printf '%s' "$ARGS" | xargs printf '%s\n') || exit 2
  mapfile -t -O "${#arguments[@]}" arguments <<<"$words"
fi
[ -z "${TARGET:-}" ] || arguments+=("$TARGET")

mcp-conform "${arguments[@]}"
code=$?

[ ! -s "$summary" ] || cat "$summary" >>"${GITHUB_STEP_SUMMARY:?}"
failed=$(grep --count '<failure' "$REPORTS/junit.xml" 2>/dev/null)
{
  echo "exit-code=$code"
  echo "failed=${failed:-0}"
  echo "report=$REPORTS/report.json"
} >>"${GITHUB_OUTPUT:?}"
exit "$code"
