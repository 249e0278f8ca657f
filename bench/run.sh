#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the figures of docs/performance.md from one run: ./dev bench, or bench/run.sh BUILD [--rounds N] [--only NAME]
set -eu
build=$(CDPATH='' cd -- "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
set -- --relay "$build/bench/bench-relay" --echo "$build/bench/bench-echo-server" --fetch "$build/bench/bench-fetch" "$@"
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT INT TERM
export TMPDIR="$work"
# Measured is what a user would have: the installed program.
DESTDIR=$work meson install -C "$build" --no-rebuild --quiet >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cordon=$(find "$work" -path '*/bin/mcp-cordon' -type f)
srt=$(command -v srt || true)
"$build/bench/bench" --cordon "$cordon" ${srt:+--srt "$srt"} "$@"
