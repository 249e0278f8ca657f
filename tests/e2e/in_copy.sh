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
image=
if [ "${CORDON_TEST_BACKEND:-}" = podman ]; then
  # An image that holds the server and nothing else.
  skip() {
    echo "[skip] e2e under podman: $1"
    [ "${CORDON_REQUIRE_SANDBOX:-}" = 1 ] && exit 1
    exit 77
  }
  command -v podman >/dev/null 2>&1 || skip 'podman is not installed'
  [ "$who" = caller ] && [ "$(id -u)" = 0 ] || skip 'images are made as root only'
  tag=localhost/mcp-cordon-e2e-$$
  mkdir -p "$place/root$place/bin"
  cp "$place/bin/fake-server" "$place/root$place/bin/"
  tar -C "$place/root" -cf "$place/root.tar" .
  podman import -q "$place/root.tar" "$tag:1" >/dev/null 2>&1 || skip 'podman cannot import an image'
  trap 'podman rmi -f "$tag:1" >/dev/null 2>&1; rm -rf "$place"' EXIT
  image=CORDON_TEST_IMAGE=$tag@$(podman image inspect --format '{{.Digest}}' "$tag:1")
fi
cd "$place/tmp"
# shellcheck disable=SC2086  # a command or nothing
$as env -i PATH=/usr/bin:/bin HOME="$place/tmp" TMPDIR="$place/tmp" CORDON_BIN="$place/bin/mcp-cordon" \
  FAKE_SERVER="$place/bin/fake-server" $image ${CORDON_MIX_SEED:+"CORDON_MIX_SEED=$CORDON_MIX_SEED"} CORDON_TEST_BACKEND="${CORDON_TEST_BACKEND:-auto}" "$place/bin/test" ${CORDON_TEST_ARGS:-}
