#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every flag and command of --help is in the man page, and every flag of the man page is one of --help.
# usage: man_page.sh PROGRAM PAGE
set -eu
program=$1
page=$2
failed=0
complain() {
  echo "$*"
  failed=1
}

# The page as plain words: groff writes a hyphen of a flag as \-.
plain=$(sed 's/\\-/-/g; s/\\f[A-Z]//g; s/"//g' "$page")
commands=$("$program" --help | sed -n '/^Subcommands:/,$p' | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] || complain "no commands in --help"
offered=$("$program" --help; for command in $commands; do "$program" "$command" --help; done)
flags=$(printf '%s\n' "$offered" | grep -oE -- '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,' | sort -u)
[ "$(printf '%s\n' "$flags" | wc -l)" -ge 8 ] || complain "too few flags were found in --help: $flags"

for flag in $flags; do
  printf '%s\n' "$plain" | grep -qE -- "(^|[^a-z-])$flag([^a-z-]|\$)" || complain "$flag is not in $page"
done
for command in $commands; do
  printf '%s\n' "$plain" | grep -qE "^\.B (mcp-cordon )?$command( |\$)" || complain "the command $command is not in $page"
done
for flag in $(printf '%s\n' "$plain" | grep -oE -- '(^|[^a-z-])--[a-z][a-z-]+' | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
  printf '%s\n' "$flags" | grep -qx -- "$flag" || complain "$flag of $page is not in --help"
done
exit $failed
