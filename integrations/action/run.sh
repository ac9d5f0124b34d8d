#!/usr/bin/env bash
# Runs mcp-conform with the inputs of the action, which come as variables. The job fails when the server or the client does.
set -uo pipefail

mkdir -p "${REPORTS:?}"
# The words of a line, one on each line: xargs splits at blanks and quotes, and runs nothing that stands in them.
words_of() { printf '%s' "$1" | xargs printf '%s\n'; }

arguments=(run)
[ -z "${CLIENT:-}" ] || arguments=(client)
arguments+=(--revision "${REVISION:-auto}")
[ -z "${BASELINE:-}" ] || arguments+=(--baseline "$BASELINE")
[ "${STRICT:-}" != true ] || arguments+=(--strict)
summary="${RUNNER_TEMP:?}/mcp-conform-summary.md"
arguments+=(--report human --report github --report "markdown=$summary" --report "json=$REPORTS/report.json")
arguments+=(--report "junit=$REPORTS/junit.xml" --report "html=$REPORTS/report.html")

[ -z "${STDIO:-}" ] || arguments+=(--stdio "$STDIO")
[ -z "${HTTP:-}" ] || arguments+=(--http "$HTTP")
if [ -n "${ARGS:-}" ]; then
  words=$(words_of "$ARGS") || exit 2
  mapfile -t -O "${#arguments[@]}" arguments <<<"$words"
fi
[ -z "${TARGET:-}" ] || arguments+=("$TARGET")
if [ -n "${CLIENT:-}" ]; then
  words=$(words_of "$CLIENT") || exit 2
  arguments+=(--)
  mapfile -t -O "${#arguments[@]}" arguments <<<"$words"
fi

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
