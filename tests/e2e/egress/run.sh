#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Allowed hosts, end to end: real clients, the real broker, TLS servers in a network namespace of the test's own, names
# from a hosts file that only this test sees. usage: run.sh caller|user BACKEND PROGRAM STAGE [MUSL_CLIENT]
# Once with hosts that are reached by their names and once by a proxy. A client that is not installed is skipped. Nothing
# leaves the namespace: it has lo alone.
set -eu
who=$1 backend=$2 program=$3 stage=$4 musl=${5:-}
here=$(cd "$(dirname "$0")" && pwd)

skip() {
  echo "[skip] egress clients: $1"
  exit 77
}

if [ -z "${CORDON_EGRESS_WORLD:-}" ]; then
  for tool in openssl ip unshare setpriv curl python3; do
    command -v $tool >/dev/null 2>&1 || skip "$tool is not installed"
  done
  # Only root can be root here and an ordinary user in turn without a second namespace of users.
  [ "$(id -u)" = 0 ] || skip 'its world is made by root'
  exec env CORDON_EGRESS_WORLD=1 unshare -m -n -p -f --mount-proc sh "$0" "$@"
fi

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
ip link set lo up
mkdir -p "$place/bin" "$place/libexec/mcp-cordon" "$place/home" "$place/data" "$place/www"
cp "$program" "$place/bin/mcp-cordon"
cp "$stage" "$place/libexec/mcp-cordon/stage"
cp "$here/clients.sh" "$place/data/"
[ -z "$musl" ] || cp "$musl" "$place/data/musl-client"
if command -v go >/dev/null 2>&1; then
  cp "$here/client.go" "$place/www/"
  (cd "$place/www" && HOME=$place CGO_ENABLED=0 GOFLAGS=-mod=mod GO111MODULE=off go build -o "$place/data/go-client" client.go)
fi
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=api.test -keyout "$place/key.pem" -out "$place/data/cert.pem" \
  -addext 'subjectAltName=DNS:api.test,DNS:a.wild.test,DNS:other.test,DNS:rebound.test' 2>/dev/null
printf '127.0.0.1 localhost\n127.77.0.1 api.test a.wild.test rebound.test\n127.77.0.2 other.test\n' >"$place/hosts"
mount --bind "$place/hosts" /etc/hosts
for at in 127.77.0.1:443 127.77.0.1:8443 127.77.0.1:8444 127.77.0.2:443; do
  openssl s_server -quiet -accept $at -cert "$place/data/cert.pem" -key "$place/key.pem" -www >/dev/null 2>&1 &
done
echo 'plain page' >"$place/www/index.html"
python3 -u -m http.server --bind 127.77.0.1 --directory "$place/www" 8080 >"$place/http.log" 2>&1 &
for at in 127.77.0.1:443 127.77.0.1:8443 127.77.0.1:8444 127.77.0.2:443; do
  curl -sk --retry 100 --retry-delay 0 --retry-connrefused -m 30 "https://$at/" >/dev/null
done
curl -s --retry 100 --retry-delay 0 --retry-connrefused -m 30 http://127.77.0.1:8080/ >/dev/null
chmod -R u=rwX,go=rX "$place"

# What a configuration would hold: for podman an image that has these programs alone.
command="/bin/sh, $place/data/clients.sh, $place/data"
filesystem="{runtime: [PRESET], read: [$place/data]}"
if [ "$backend" = podman ]; then
  [ "$who" = caller ] || skip 'images are made as root only'
  for tool in podman busybox; do
    command -v $tool >/dev/null 2>&1 || skip "$tool is not installed"
  done
  mkdir -p "$place/root/bin" "$place/root/tmp" "$place/root/etc"
  cp "$(command -v busybox)" "$place/root/bin/busybox"
  for name in sh tr; do
    ln -s busybox "$place/root/bin/$name"
  done
  cp -r "$place/data" "$place/root/data"
  tar --numeric-owner --owner=0 --group=0 -C "$place/root" -cf "$place/root.tar" .
  tag=localhost/mcp-cordon-egress-$$
  podman import -q "$place/root.tar" "$tag:1" >/dev/null 2>&1 || skip 'podman cannot import an image'
  trap 'podman rmi -f "$tag:1" >/dev/null 2>&1; rm -rf "$place"' EXIT
  command="docker, run, -i, --rm, \"$tag@$(podman image inspect --format '{{.Digest}}' "$tag:1")\", /bin/sh, /data/clients.sh, /data"
  filesystem='{}'
fi

as=
if [ "$who" = user ]; then
  chown 54321:54321 "$place/home"
  as='setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps=-all'
fi

# SNI BROWSER PRESET MODE: one session; what the clients say goes to stdout.
session() {
  cat >"$place/home/clients.yaml" <<POLICY
version: 1
server: clients
launch:
  command: [$command]
  environment: {set: {BROWSER: "$2", EGRESS: "$4"}}
isolation:
  backend: $backend
  filesystem: $(echo "$filesystem" | sed "s/PRESET/$3/")
  network:
    allow:
      - {host: api.test, ports: [443, 8443, 8080], private: true}
      - {host: "*.wild.test", ports: [443], private: true, reason: test}
      - "rebound.test:443"
    sni: $1
    mode: $4
  require: [filesystem, network, processes, syscalls, environment, descriptors, devices]
catalog: {missing: flag}
POLICY
  chmod 644 "$place/home/clients.yaml"
  rm -f "$place/in" "$place/err"
  mkfifo -m 666 "$place/in" "$place/err"
  # shellcheck disable=SC2086  # a command or nothing
  $as env -i PATH=/usr/bin:/bin HOME="$place/home" "$place/bin/mcp-cordon" run --policy "$place/home/clients.yaml" \
    <"$place/in" >/dev/null 2>"$place/err" &
  exec 3>"$place/in" 4<"$place/err"
  while read -r line <&4; do
    echo "$line"
    case $line in
      '[clients] done') exec 3>&- ;;
    esac
  done
  exec 4<&-
}

failed=0
judge() {
  grep '^\[clients\] \(ok\|not ok\|skipped\)' "$1" || true
  grep '^mcp-cordon: egress_denied' "$1" | sed "s|$place|…|" || true
  # All of them came to an end, and each went as it had to.
  if ! grep -q '^\[clients\] done' "$1" || grep -q '^\[clients\] not ok' "$1"; then
    cat "$1"
    failed=1
  fi
}
session match no system transparent >"$place/one.log"
judge "$place/one.log"
# Refused by the kernel, and told all the same.
for line in 'other.test: unlisted_name; to allow it' 'api.test:8444: unlisted_port; to allow it' \
  '169.254.169.254:80: unlisted_address' 'rebound.test:443 (127.77.0.1): loopback_address; it is listed, but not with `private: true`'; do
  grep -qF "mcp-cordon: egress_denied: $line" "$place/one.log" || { echo "not told: $line"; failed=1; }
done
session match no system proxy >"$place/proxy.log"
judge "$place/proxy.log"
for line in 'other.test:443: unlisted_name; to allow it' 'api.test: not_by_proxy' 'api.test:8444: unlisted_port' \
  'rebound.test:443 (127.77.0.1): loopback_address'; do
  grep -qF "mcp-cordon: egress_denied: $line" "$place/proxy.log" || { echo "not told: $line"; failed=1; }
done
# Nobody was asked to relay.
if grep CONNECT "$place/http.log"; then
  failed=1
fi
if [ "$backend" != podman ] && command -v chromium >/dev/null 2>&1; then
  # A browser hides a part of its hello always (ECH).
  session flag yes browser transparent >"$place/two.log"
  grep 'chromium' "$place/two.log" || true
  grep -q '^\[clients\] ok chromium' "$place/two.log" || { cat "$place/two.log"; failed=1; }
fi
exit $failed
