#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The end-to-end tests again as an ordinary user, on copies that such a user can reach. Needs root.
# usage: as_user.sh TEST PROGRAM STAGE FAKE_SERVER
set -eu
if [ "$(id -u)" != 0 ]; then
  echo '[skip] e2e as an ordinary user: started by one already'
  exit 77
fi
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/bin" "$place/libexec/mcp-cordon" "$place/tmp"
cp "$1" "$place/bin/test"
cp "$2" "$place/bin/mcp-cordon"
cp "$3" "$place/libexec/mcp-cordon/stage"
cp "$4" "$place/bin/fake-server"
chmod 755 "$place" "$place/bin" "$place/bin"/* "$place/libexec" "$place/libexec/mcp-cordon" "$place/libexec/mcp-cordon/stage"
user=54321
chown "$user:$user" "$place/tmp"
cd "$place/tmp"
setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all \
  env -i PATH=/usr/bin:/bin HOME="$place/tmp" TMPDIR="$place/tmp" CORDON_BIN="$place/bin/mcp-cordon" \
  FAKE_SERVER="$place/bin/fake-server" CORDON_TEST_BACKEND="${CORDON_TEST_BACKEND:-auto}" "$place/bin/test"
