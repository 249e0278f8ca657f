#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The server of this test: runs programs as they are, each reaching out by its own means, and says on stderr how it
# went. usage: clients.sh FOLDER, with the certificate in FOLDER/cert.pem
folder=$1
ca=$folder/cert.pem
export SSL_CERT_FILE="$ca" NODE_EXTRA_CA_CERTS="$ca"

# NAME EXPECTED COMMAND...: the output of the command has to hold EXPECTED.
expect() {
  name=$1 wanted=$2
  shift 2
  command -v "$1" >/dev/null 2>&1 || [ -x "$1" ] || { echo "skipped $name" >&2; return; }
  out=$("$@" 2>&1 </dev/null | tr '\n' ' ')
  case $out in
    *"$wanted"*) echo "ok $name" >&2 ;;
    *) printf 'not ok %s: %.300s\n' "$name" "$out" >&2 ;;
  esac
}

page=s_server
if [ "$BROWSER" = yes ]; then
  expect 'chromium' $page chromium --headless --disable-gpu --ignore-certificate-errors --user-data-dir=/tmp/profile \
    --dump-dom https://api.test/
  echo done >&2
  read -r line
  exit 0
fi
if [ "$EGRESS" = proxy ]; then
  # By HTTPS_PROXY, which is there, or by SOCKS5 at the same door.
  door=127.0.0.1:1080
  expect 'curl by CONNECT' $page curl -sS -m 20 https://api.test/
  expect 'curl by CONNECT, odd port' $page curl -sS -m 20 https://api.test:8443/
  expect 'curl by CONNECT, below a wildcard' $page curl -sS -m 20 https://a.wild.test/
  expect 'curl by SOCKS5' $page curl -sS -m 20 -x "socks5h://$door" https://api.test/
  expect 'curl by SOCKS5, plain HTTP' 'plain page' curl -sS -m 20 --socks5-hostname $door http://api.test:8080/
  expect 'python urllib' $page python3 -c 'import urllib.request as r; print(r.urlopen("https://api.test/").read().decode())'
  expect 'go, static' $page "$folder/go-client" https://api.test/
  if node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 23 || (a === 22 && b > 20) ? 0 : 1)'; then
    expect 'node fetch' $page node -e 'fetch("https://api.test/").then(r => r.text()).then(console.log, console.log)'
  else
    echo 'skipped node fetch: this version knows no proxy' >&2
  fi
  expect 'without the proxy' 'Could not resolve' curl -sS -m 20 --noproxy '*' https://api.test/
  expect 'an address without the proxy' 'curl: (7)' curl -sSk -m 20 --noproxy '*' https://127.77.0.1/
  expect 'unlisted name' '403' curl -sS -m 20 https://other.test/
  expect 'unlisted name by SOCKS5' 'curl: (97)' curl -sS -m 20 -x "socks5h://$door" https://other.test/
  expect 'unlisted port' '403' curl -sS -m 20 https://api.test:8444/
  expect 'address of the host' '403' curl -sSk -m 20 https://127.77.0.1/
  expect 'metadata' '403' curl -sS -m 20 -p -x "http://$door" http://169.254.169.254/
  expect 'plain HTTP by the proxy' '501' curl -sSi -m 20 http://api.test:8080/
  expect 'another name in TLS' 'curl: (35)' curl -sSk -m 20 --connect-to other.test:443:api.test:443 https://other.test/
  expect 'a name that leads to this machine' 'curl: (35)' curl -sSk -m 20 https://rebound.test/
  expect 'go, unlisted name' 'Forbidden' "$folder/go-client" https://other.test/
  expect 'go, unlisted port' 'Forbidden' "$folder/go-client" https://api.test:8444/
  expect 'go, a name that leads to this machine' 'reset' "$folder/go-client" https://rebound.test/
  expect 'musl, without the proxy' 'EAI_' "$folder/musl-client" resolve:api.test
  echo done >&2
  read -r line
  exit 0
fi
expect 'curl' $page curl -sS -m 20 https://api.test/
expect 'curl, odd port' $page curl -sS -m 20 https://api.test:8443/
expect 'curl, below a wildcard' $page curl -sS -m 20 https://a.wild.test/
expect 'curl, plain HTTP' 'plain page' curl -sS -m 20 http://api.test:8080/
expect 'node fetch' $page node -e 'fetch("https://api.test/").then(r => r.text()).then(console.log, console.log)'
expect 'node https' $page node -e 'require("https").get("https://api.test:8443/", r => r.on("data", d => console.log(String(d)))).on("error", console.log)'
expect 'node c-ares' '198.18.' node -e 'require("dns").resolve4("api.test", (e, a) => console.log(e, a))'
expect 'python urllib' $page python3 -c 'import urllib.request as r; print(r.urlopen("https://api.test/").read().decode())'
expect 'a name from /etc/hosts' '198.18.1.1' getent hosts api.test
expect 'python sockets' $page python3 -c '
import socket, ssl
s = ssl.create_default_context().wrap_socket(socket.create_connection(("a.wild.test", 443)), server_hostname="a.wild.test")
s.send(b"GET / HTTP/1.0\r\n\r\n")
print(b"".join(iter(lambda: s.recv(4096), b"")).decode())'
expect 'go, static' $page "$folder/go-client" https://api.test/
expect 'musl, static' 'plain page' "$folder/musl-client" get:api.test:8080

expect 'go, unlisted name' 'no such host' "$folder/go-client" https://other.test/
expect 'go, unlisted port' 'connection refused' "$folder/go-client" https://api.test:8444/
expect 'go, metadata' 'connection refused' "$folder/go-client" http://169.254.169.254/
expect 'go, a name that leads to this machine' 'reset' "$folder/go-client" https://rebound.test/
expect 'unlisted name' 'Could not resolve' curl -sS -m 20 https://other.test/
expect 'unlisted name, c-ares' 'ENOTFOUND' node -e 'require("dns").resolve4("other.test", e => console.log(e.code))'
expect 'unlisted port' 'Failed to connect' curl -sS -m 20 https://api.test:8444/
expect 'address of the host' 'Failed to connect' curl -sSk -m 20 https://127.77.0.1/
expect 'metadata' 'connect to 169.254.169.254' curl -sS -m 20 http://169.254.169.254/
expect 'another name in TLS' 'curl: (35)' curl -sSk -m 20 --resolve other.test:443:198.18.1.1 https://other.test/
expect 'another name in HTTP' 'curl: (' curl -sS -m 20 -H 'Host: other.test' http://api.test:8080/
expect 'relayed CONNECT' 'curl: (' curl -sSk -m 20 -x http://api.test:8080 https://other.test/
expect 'a name that leads to this machine' 'curl: (' curl -sSk -m 20 https://rebound.test/
echo done >&2
read -r line
