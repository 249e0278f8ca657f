#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the figures of docs/performance.md from one run: ./dev bench, or bench/run.sh BUILD [--rounds N] [--only NAME]
set -eu
# Allowed hosts are measured with a name of their own, in a view of /etc/hosts that only this run has; where that cannot
# be, with localhost.
if [ -z "${CORDON_BENCH_HOST:-}" ] && unshare -m true 2>/dev/null; then
  exec env CORDON_BENCH_HOST=bench.test unshare -m sh "$0" "$@"
fi
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
if [ "${CORDON_BENCH_HOST:-}" = bench.test ]; then
  { cat /etc/hosts; echo '127.0.0.1 bench.test'; } >"$work/hosts"
  chmod 644 "$work/hosts"
  mount --bind "$work/hosts" /etc/hosts
  set -- --host bench.test "$@"
fi
srt=$(command -v srt || true)
"$build/bench/bench" --cordon "$cordon" ${srt:+--srt "$srt"} "$@"
