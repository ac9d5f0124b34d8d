#!/usr/bin/env bash
# Puts mcp-conform on the PATH of the job: the archive of the release that the action was named by, or, where there is none,
# what cargo builds of the action's own source.
set -euo pipefail

if command -v mcp-conform >/dev/null; then
  mcp-conform --version
  exit 0
fi

into="${RUNNER_TEMP:?}/mcp-conform"
mkdir -p "$into"
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=x86_64-unknown-linux-musl ;;
  Linux-aarch64) platform=aarch64-unknown-linux-musl ;;
  Darwin-arm64) platform=aarch64-apple-darwin ;;
  Darwin-x86_64) platform=x86_64-apple-darwin ;;
  *) platform= ;;
esac

archive="mcp-conform-$platform.tar.gz"
from="${GITHUB_SERVER_URL:-}/${REPOSITORY:-}/releases/download/${REF:-}"
fetch() { curl --fail --silent --show-error --location --output "$into/$1" "$from/$1"; }
if [ -n "$platform" ] && [ -n "${REPOSITORY:-}" ] && fetch "$archive" && fetch "$archive.sha256"; then
  (cd "$into" && shasum --algorithm 256 --check "$archive.sha256" && tar -xzf "$archive")
else
  cargo install --locked --path "${ACTION_PATH:?}" --root "$into"
  mv "$into/bin/mcp-conform" "$into/mcp-conform"
fi
echo "$into" >>"${GITHUB_PATH:?}"
"$into/mcp-conform" --version
