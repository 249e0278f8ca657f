#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole suite (./dev test). Each part appends to a list of results; the last line is the sum.
# usage: run.sh [PART…]   parts: gcc sanitizers guards install e2e demo
set -u
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/results"
: >"$work/why"
jobs=$(nproc 2>/dev/null || echo 2)
[ "$jobs" -le 4 ] || jobs=4

# result PART TEST PASSED FAILED SKIPPED
result() { printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$work/results"; }

# one PART TEST LOG STATUS: a test that is a command; 77 means skipped
one() {
  case $4 in
    0) result "$1" "$2" 1 0 0 ;;
    77) result "$1" "$2" 0 0 1; sed -n 's/^\[skip\] /  skipped: /p' "$3" ;;
    *) result "$1" "$2" 0 1 0; echo "-- $1: $2 failed:"; tail -n 60 "$3"; complain <"$3" ;;
  esac
}

compiler() {
  if command -v ccache >/dev/null 2>&1; then echo "ccache $1"; else echo "$1"; fi
}

# configure FOLDER COMPILER "SETUP OPTIONS"
configure() {
  # shellcheck disable=SC2086  # lists of options
  if [ -f "$1/build.ninja" ]; then
    meson configure "$1" $3
  else
    CXX=$(compiler "$2") meson setup "$1" --wrap-mode=nofallback $3
  fi
}

# Many tests run alone and wait more than they work: what time they leave goes into compiling for the next part.
sanitized='-Doptimization=0 -Ddebug=false -Dcpp_args=-gline-tables-only -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=true'
ahead=
compile_ahead() {
  case " $parts " in
    *' sanitizers '*) ;;
    *) return ;;
  esac
  { configure build-asan clang++-19 "$sanitized" && nice -n 19 ninja -C build-asan; } >"$work/ahead.log" 2>&1 &
  ahead=$!
}

# What is said once more at the end, where whoever sees only the last lines of a run looks.
complain() { awk -f tests/suite/complaints.awk >>"$work/why"; }

# meson_part PART FOLDER COMPILER "SETUP OPTIONS" "TEST OPTIONS"
meson_part() {
  part=$1
  folder=$2
  log=$work/$part.log
  echo "== $part"
  configure "$folder" "$3" "$4" >"$log" 2>&1 || { one "$part" configure "$log" 1; [ "$part" != gcc ] || broken=1; return; }
  # shellcheck disable=SC2086
  { [ "$part" != gcc ] || ninja -C "$folder" >"$log" 2>&1; } || { one "$part" build "$log" 1; broken=1; return; }
  [ "$part" != gcc ] || compile_ahead
  rm -f "$folder/meson-logs/testlog.txt"
  # shellcheck disable=SC2086
  meson test -C "$folder" --num-processes "$jobs" $5 >"$log" 2>&1
  status=$?
  if [ ! -f "$folder/meson-logs/testlog.txt" ]; then
    one "$part" 'build of the tests' "$log" 1
    return
  fi
  awk -f tests/suite/count.awk "$folder/meson-logs/testlog.txt" >"$work/$part.counted"
  awk -F '\t' -v part="$part" 'NF == 4 { print part "\t" $0 }' "$work/$part.counted" >>"$work/results"
  grep '^  skipped: ' "$work/$part.counted"
  failures=$(awk -F '\t' 'NF == 4 { n += $3 } END { print n + 0 }' "$work/$part.counted")
  if [ "$failures" != 0 ]; then
    awk '/^test:         / { flush(); text = ""; show = 0 }
         /^result:       / && $0 !~ /: +exit status (0|77)/ { show = 1 }
         { text = text $0 "\n" }
         function flush() { if (show) printf "%s", substr(text, 1, 20000) }
         END { flush() }' "$folder/meson-logs/testlog.txt"
    grep '^  failed: ' "$work/$part.counted"
    complain <"$folder/meson-logs/testlog.txt"
  elif [ "$status" != 0 ]; then
    one "$part" 'meson test' "$log" 1
  fi
}

# Debug information costs two fifths of the time to compile, and nobody debugs on a machine of CI.
gcc() {
  if [ "${CI:-}" = true ]; then how='-Doptimization=2 -Ddebug=false'; else how='--buildtype=debugoptimized'; fi
  meson_part gcc build g++ "$how -Dwerror=true" ''
}

# Address and undefined-behaviour sanitizers over the suites that need no processes of other users or namespaces. Without
# optimization: that compiles in a third of the time, and the tests take less than what is gained.
sanitizers() {
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  # What did not compile is told by the part itself.
  [ -z "$ahead" ] || wait "$ahead" || true
  meson_part sanitizers build-asan clang++-19 "$sanitized" \
    '--timeout-multiplier 5 --no-suite lint --no-suite e2e --no-suite sandbox'
  unset ASAN_OPTIONS UBSAN_OPTIONS
}

install() {
  echo '== install'
  rm -rf "$work/root"
  DESTDIR=$work/root meson install -C build --no-rebuild >"$work/install.log" 2>&1
  one install 'meson install into a DESTDIR' "$work/install.log" $?
  sh tests/embed/run.sh build "$work" >"$work/embed.counted" 2>"$work/embed.log"
  awk -F '\t' 'NF == 4 { print "install\t" $0; n += $3 } END { exit n > 0 || NR == 0 }' "$work/embed.counted" >>"$work/results" ||
    { tail -n 60 "$work/embed.log"; [ -s "$work/embed.counted" ] || result install 'embed sample' 0 1 0; }
}

# runner PART TEST STATUS LINES: a runner of its own, of which $work/PART.log is the output, that ends with `N passed,
# N failed[, N skipped]`; LINES of it are shown when something failed
runner() {
  sed -n 's/^\[skip\] /  skipped: /p' "$work/$1.log"
  counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/p' "$work/$1.log" | tail -n 1)
  if [ -z "$counts" ]; then
    one "$1" "$2 (no closing line)" "$work/$1.log" 1
    return
  fi
  # shellcheck disable=SC2086  # two or three numbers
  set -- "$@" $counts
  failures=$6
  [ "$3" = 0 ] || [ "$failures" != 0 ] || failures=1
  result "$1" "$2" "$5" "$failures" "${7:-0}"
  [ "$failures" = 0 ] || { tail -n "$4" "$work/$1.log"; complain <"$work/$1.log"; }
}

# Each guard switched off in turn, and what then has to fail.
guards() {
  echo '== guards'
  python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  [ -f build/build.ninja ] || CXX=$(compiler g++) meson setup build --wrap-mode=nofallback --buildtype=debugoptimized >"$work/guards.log" 2>&1
  ninja -C build tests/guards/guards-test >>"$work/guards.log" 2>&1 || { one guards build "$work/guards.log" 1; return; }
  "$python" tests/guards/run.py build . >"$work/guards.log" 2>&1 </dev/null
  runner guards 'guards switched off' $? 100
}

# Real servers and clients from npm.
e2e() {
  echo '== e2e'
  if [ ! -x tests/e2e/run ]; then
    echo '  skipped: e2e: tests/e2e/run is not there'
    result e2e 'real servers' 0 0 1
    return
  fi
  tests/e2e/run build >"$work/e2e.log" 2>&1 </dev/null
  runner e2e 'real servers' $? 200
}

demo() {
  echo '== demo'
  sh tests/demo/demo.sh build >"$work/demo.log" 2>&1 </dev/null
  one demo 'the demo shows what it says' "$work/demo.log" $?
}

broken=0
began=$(date +%s)
[ $# -gt 0 ] || set -- gcc sanitizers guards install e2e demo
parts=$*
for part; do
  case $part in
    gcc | sanitizers) "$part" ;;
    guards | install | e2e | demo)
      if [ "$broken" = 0 ]; then "$part"; else result "$part" 'not run: there is no program' 0 1 0; fi
      ;;
    *) echo "no part $part"; exit 2 ;;
  esac
  awk -F '\t' -v part="$part" '$1 == part { p += $3; f += $4; s += $5 } END { printf "   %s: %d passed, %d failed, %d skipped\n", part, p, f, s }' \
    "$work/results"
done

cat "$work/why"
echo "== $(($(date +%s) - began)) s"
awk -F '\t' '
  $4 > 0 { print "FAILED " $1 ": " $2 " (" $4 ")" }
  { p += $3; f += $4; s += $5 }
  END {
    if (s) printf "%d passed, %d failed, %d skipped\n", p, f, s
    else printf "%d passed, %d failed\n", p, f
    exit f > 0 || p == 0
  }' "$work/results"
