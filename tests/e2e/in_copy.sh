#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs an end-to-end test on a copy of the program that is laid out as an installed one, and that an ordinary user can
# reach. usage: in_copy.sh caller|user TEST PROGRAM STAGE FAKE_SERVER
set -eu
who=$1
if [ "$who" = user ] && [ "$(id -u)" != 0 ]; then
  echo '[skip] e2e as an ordinary user: started by one already'
  exit 77
fi
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/bin" "$place/libexec/mcp-cordon" "$place/tmp"
cp "$2" "$place/bin/test" ${CORDON_TEST_ARGS:-}
cp "$3" "$place/bin/mcp-cordon"
cp "$4" "$place/libexec/mcp-cordon/stage"
[ -z "${CORDON_PROBE:-}" ] || cp "$CORDON_PROBE" "$place/libexec/mcp-cordon/probe"
cp "$5" "$place/bin/fake-server"
chmod -R u=rwX,go=rX "$place"

as=
if [ "$who" = user ]; then
  account=54321
  chown "$account:$account" "$place/tmp"
  as="setpriv --reuid $account --regid $account --clear-groups --inh-caps=-all"
fi
cd "$place/tmp"
# shellcheck disable=SC2086  # a command or nothing
$as env -i PATH=/usr/bin:/bin HOME="$place/tmp" TMPDIR="$place/tmp" CORDON_BIN="$place/bin/mcp-cordon" \
  FAKE_SERVER="$place/bin/fake-server" CORDON_TEST_BACKEND="${CORDON_TEST_BACKEND:-auto}" "$place/bin/test" ${CORDON_TEST_ARGS:-}
