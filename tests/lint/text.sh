#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a reader should never meet in our files: see each finding's text.
# usage: text.sh SOURCE_ROOT
set -eu
cd "$1"

# report RULE: each line of standard input is a finding against it
report() { sed "s|\$|  <- $1|"; }

code=$(find src include tests fuzz bench -type f \( -name '*.[ch]pp' -o -name '*.sh' -o -name '*.awk' \) -not -path '*/node_modules/*' |
       LC_ALL=C sort)
everything=$(find README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md dev .ci meson.build docs policies src include tests fuzz bench \
             -type f -not -path '*/node_modules/*' -not -path 'fuzz/corpus/*' 2>/dev/null | LC_ALL=C sort)

# shellcheck disable=SC2086  # paths of ours hold no blanks
find_all() {
  awk 'FNR == 501 { print FILENAME ": more than 500 lines" }' $code | report 'split it: one class or one small family of functions per file'

  awk 'FNR <= 2 && /SPDX-License-Identifier: Apache-2\.0/ { has[FILENAME] = 1 }
       END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] ":1: no SPDX line" }' $code |
    report 'begin with SPDX-License-Identifier: Apache-2.0'

  for header in $(find src include -name '*.hpp'); do
    grep -q '^#pragma once' "$header" || echo "$header: no #pragma once"
  done | report 'headers are included once'

  grep -nE 'TOD[O]\((now|security)\)' $code /dev/null | report 'do it before it lands'
  grep -nwE 'TOD[O]([^(]|$)|FIXM[E]|XX[X]' $code /dev/null | report 'give it a kind that may stay: cleanup or test'

  grep -nIE '(^|[^A-Za-z0-9._~-])/(wor[k]/|roo[t]/[A-Za-z])' $everything /dev/null | report 'a path of one machine'

  # What the probe prints is its own; it is never part of a session.
  outside_cli=$(find src -name '*.[ch]pp' -not -path 'src/cli/*' -not -path 'src/probe/*')
  grep -nE 'std::(cout|cin)|(^|[^a-z_])(printf|puts|putchar) *\(|[(, ]stdout[),]|STDOUT_FILENO' $outside_cli /dev/null |
    grep -vE '^[^:]*:[0-9]+: *//' | grep -vE '//.*(stdout|printf)' | grep -vE '^src/(run|sandbox)/.*STDOUT_FILENO' |
    report 'stdout belongs to the protocol'
  grep -nE 'std::(cerr|clog)|fprintf *\( *stderr' $outside_cli /dev/null | grep -vE '^src/(base/error\.cpp|run/log|sandbox/stage/|probe/)' |
    report 'only one writer speaks to stderr'

  # Functions in files (column 0) and in classes: from the line that opens the body to the brace in the same column.
  awk 'FNR == 1 { start = 0 }
       !start && /^[A-Za-z~].*\{$/ && !/^(namespace|class|struct|enum|union|extern|template|\}|#)/ && !/= *\{$/ && !/^(constexpr|const|constinit|inline constexpr|static const)[^(]*\{$/ {
         start = FNR; text = $0
       }
       start && /^\}/ { if (FNR - start - 1 > 60) print FILENAME ":" start ": " FNR - start - 1 " lines: " text; start = 0 }' \
    $(find src include -name '*.[ch]pp') | report 'functions have at most 60 lines'
}

findings=$(find_all)
[ -z "$findings" ] || { printf '%s\n' "$findings"; exit 1; }
