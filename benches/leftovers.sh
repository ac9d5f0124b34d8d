#!/usr/bin/env bash
# Runs against servers that die, hang or leave processes behind, one after another, and counts after each of them what is
# left: processes, temporary files and, in one program that watches and runs again and again, descriptors.
# `benches/leftovers.sh [RUNS] [PROGRAM]`; Linux.
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-200}
program=$(realpath "${2:-target/release/mcp-conform}")
work=$(mktemp -d)
mkdir "$work/tmp" "$work/watched"
trap 'rm -r "$work"' EXIT
limits=(--timeout 0.3 --limit grace=0.2 --filter base.lifecycle)

servers=(
  'read line; exit 3'
  'read line; kill -SEGV $$'
  'read line; printf "{\"jsonrpc\":"; exit 1'
  'sleep 1000'
  'trap "" TERM; while :; do sleep 1; done'
  'exec >&-; sleep 1000'
  'setsid sleep 1000 & exec cat'
  'setsid sleep 1000 <&- >&- 2>&- & read line'
  '(setsid bash -c "trap \"\" TERM; sleep 1000 & sleep 1000" &); exec cat'
)
# The program and all that it starts carry a mark which nothing else on the machine has.
marked() { exec env LEFTOVERS_OF="$work" TMPDIR="$work/tmp" "$program" "$@"; }
processes() { grep -lsz "^LEFTOVERS_OF=$work\$" /proc/[0-9]*/environ | grep -vx "/proc/${1:-none}/environ" || true; }
descriptors() { find "/proc/$1/fd" -mindepth 1 | wc -l; }

left=0 files=0
count() { # after SERVER, while the process WATCHING, if any, still runs
  local process
  for process in $(processes "${2:-}"); do
    echo "left by: $1"
    tr '\0' ' ' < "${process%environ}cmdline" && echo || true
    left=$((left + 1))
  done
  files=$((files + $(find "$work/tmp" -mindepth 1 | wc -l)))
}
told() {
  echo "$1: processes left $left, temporary files left $files${2:-}"
  left=0 files=0
}

declare -A codes=()
for ((run = 0; run < runs; run++)); do
  server=${servers[run % ${#servers[@]}]}
  code=0
  (marked run "${limits[@]}" --report "json=$work/report" -- bash -c "$server" 2> /dev/null) || code=$?
  codes[$code]=$((${codes[$code]:-0} + 1))
  count "$server"
done
told "$runs runs, by exit code$(for code in "${!codes[@]}"; do printf ' %s×%s' "$code" "${codes[$code]}"; done)"

watched() { # NAME SERVER...: one program that runs again whenever a server is written, each time against the next one
  local name=$1 run first now watching target=(-- bash "$work/watched/server")
  shift
  [[ $name == http ]] && target=(--http "$url")
  echo "$1" > "$work/watched/server"
  marked run "${limits[@]}" --watch "$work/watched" --report "json=$work/report" "${target[@]}" > /dev/null 2> "$work/said" &
  watching=$!
  for ((run = 1; run <= runs; run++)); do
    until (($(grep -c '^waiting for a change' "$work/said" || true) >= run)); do
      kill -0 "$watching"
      sleep 0.05
    done
    now=$(descriptors "$watching")
    count "${!#}" "$watching"
    first=${first:-$now}
    ((run == runs)) || echo "${@:run % $# + 1:1}" > "$work/watched/server"
  done
  kill -INT "$watching"
  wait "$watching" || true
  count "$name"
  told "$runs runs of one program over $name" ", descriptors $first after the first run and $now after the last"
}
watched stdio "${servers[@]}"

# It is stopped, so that the system takes connections for it that it never answers.
"$program" serve --http 127.0.0.1:0 > "$work/serving" &
server=$!
disown
until grep -q mcp "$work/serving"; do sleep 0.05; done
url=$(head -1 "$work/serving")
kill -STOP "$server"
watched http 'never answers' 'never answers, again'
kill -KILL "$server"
