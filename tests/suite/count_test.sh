#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The counting of the suite: a crash is a failure, a skip is no pass; and what it says of a failure at its end.
# usage: count_test.sh COUNT.AWK COMPLAINTS.AWK
set -eu
bar===============================================================================
entry() { # NAME RESULT LINE…
  printf '%s\ntest:         %s\nstart time:   00:00:00\nduration:     0.01s\nresult:       %s\ncommand:      x\n' "== 1/1 ==" "$1" "$2"
  shift 2
  printf -- '----- output -----\n'
  [ $# = 0 ] || printf '%s\n' "$@"
  printf '%s\n\n' "$bar"
}
got=$({
  entry good 'exit status 0' '[doctest] test cases:  12 |  12 passed | 0 failed | 0 skipped'
  entry bad 'exit status 1' "$bar" 'TEST CASE: x' "$bar" '[doctest] test cases:  3 |  1 passed | 2 failed | 0 skipped'
  entry crashed 'killed by signal 11 SIGSEGV'
  entry late 'exit status 1' '[doctest] test cases:  2 |  2 passed | 0 failed | 0 skipped'
  entry script 'exit status 0' 'all is well'
  entry absent 'exit status 77' '[skip] the tool: not installed'
  entry partly 'exit status 0' '[skip] one case: no user namespaces' 'SKIPPED: another' '[doctest] test cases:  5 |  5 passed | 0 failed | 0 skipped'
} | awk -f "$1")
want=$(printf '%s\n' \
  'good	12	0	0' \
  'bad	1	2	0' '  failed: bad (exit status 1)' \
  'crashed	0	1	0' '  failed: crashed (killed by signal 11 SIGSEGV)' \
  'late	2	1	0' '  failed: late (exit status 1)' \
  'script	1	0	0' \
  'absent	0	0	1' '  skipped: the tool: not installed' \
  'partly	3	0	2' '  skipped: one case: no user namespaces' '  skipped: another')
[ "$got" = "$want" ] || { printf 'got:\n%s\nwanted:\n%s\n' "$got" "$want"; exit 1; }

log=$({
  printf 'Log of Meson test suite\n\nInherited environment: ERROR=1\n\n'
  entry good 'exit status 0' 'TEST CASE: not told'
  entry bad 'exit status 1' 'TEST CASE: x' 'x.cpp:3: ERROR: CHECK( a ) is NOT correct!' '  values: CHECK( 1 )' 'more'
  entry crashed 'killed by signal 6 SIGABRT' 'assertion failed: b'
} | sed 's|^== 1/1 ==$|=================================== 1/2 ====================================|')
got=$(printf '%s\n' "$log" | awk -f "$2")
want=$(printf '%s\n' 'TEST CASE: x' 'x.cpp:3: ERROR: CHECK( a ) is NOT correct!' '  values: CHECK( 1 )' 'assertion failed: b')
[ "$got" = "$want" ] || { printf 'got:\n%s\nwanted:\n%s\n' "$got" "$want"; exit 1; }
