#!/usr/bin/env bash
# Wall time and memory of `run --reference`, and the size of the program. Builds the release binary, unless one is given:
# benches/run.sh [BINARY]
set -euo pipefail
cd "$(dirname "$0")/.."

runs=20
program=${1:-target/release/mcp-conform}
if [ $# -eq 0 ]; then
  cargo build --release --locked
fi

now() { date +%s%N; }

"$program" run --reference --quiet >/dev/null # A first run, so that none pays for reading the program from disk.
times=()
for _ in $(seq $runs); do
  began=$(now)
  "$program" run --reference --quiet >/dev/null
  times+=($((($(now) - began) / 1000000)))
done
mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)

printf 'run --reference   %d ms (median of %d; fastest %d, slowest %d)\n' \
  "${times[$((runs / 2))]}" "$runs" "${times[0]}" "${times[-1]}"
if [ -x /usr/bin/time ]; then
  peak=$(/usr/bin/time -f %M "$program" run --reference --quiet 2>&1 >/dev/null | tail -1)
  printf 'peak memory       %d KiB (the larger of the program and its reference server)\n' "$peak"
else
  echo 'peak memory       not measured: there is no /usr/bin/time'
fi
printf 'binary            %d KiB\n' $(($(wc -c <"$program") / 1024))
