#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole idea on one screen. Every line that begins with `>` is what a program really printed, and each step checks
# it: the demonstration ends with status 1 as soon as a guard does not hold. usage: demo.sh BUILD
set -eu
build=$(cd "$1" && pwd)
server=$build/tests/fakes/fake-server
client=$build/tests/fakes/fake-client

place=$(mktemp -d /tmp/cordon-demo-XXXXXX)
trap 'rm -rf "$place"' EXIT
DESTDIR=$place/root meson install -C "$build" --no-rebuild >"$place/install.log" 2>&1 || { cat "$place/install.log"; exit 1; }
cordon=$(find "$place/root" -type f -name mcp-cordon -path '*/bin/*')
mkdir "$place/data" "$place/home" "$place/outside"
echo 'hello from a folder that was granted' >"$place/data/hello.txt"
echo 'PRIVATE KEY of the user' >"$place/outside/id_ed25519"
HOME=$place/home
export HOME
unset FAKE_SWITCHES XDG_CONFIG_HOME XDG_STATE_HOME

cat >"$place/demo.yaml" <<END
version: 1
server: demo
launch:
  command: ["$server"]
  environment: {pass: [FAKE_SWITCHES]}     # the demo's way to make the same server change its mind
isolation:
  filesystem:
    read: ["$server"]
    write: ["$place/data"]
catalog: {accept_unattended: true}         # a person reviews at a terminal; this demo has none
tools:
  rules:
    - {tools: [write_file], action: block}
    - {tools: ["*"], action: allow}
END

bold= plain=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi
step() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
explain() { printf '  %s\n' "$@"; }
show() { printf '%s\n' "$1" | sed '/^$/d' | fold -s -w 100 | sed 's/^/  > /'; }
broken() {
  printf '\nTHE GUARD DID NOT HOLD: %s\n' "$1"
  printf '%s\n' "$output"
  cat "$place/stderr" 2>/dev/null || true
  exit 1
}
holds() { printf '%s\n' "$output" | grep -qF -- "$1" || broken "expected to see: $1"; }
lacks() { if printf '%s\n' "$output" | grep -qF -- "$1"; then broken "must not be seen: $1"; fi; }

# through the proxy, and around it
guarded() { output=$("$client" "$@" -- "$cordon" run --policy "$place/demo.yaml" 2>"$place/stderr") || broken 'the session did not end well'; }
bare() { output=$("$client" "$@" -- "$server" 2>"$place/stderr") || broken 'the bare server did not answer'; }

step '1. What the server offers was reviewed; a clean run shows just that'
explain 'A person decides item by item (mcp-cordon review). Nobody is here to ask, so all of it is accepted as it is, which' \
  'the snapshot records as unattended and the policy of this demo allows. The policy lets every tool pass but write_file.'
output=$("$cordon" review --policy "$place/demo.yaml" --accept-all --reviewer demo 2>&1 </dev/null) || broken 'review failed'
guarded --list --call echo '{"text":"hello"}' --call read_file "{\"path\":\"$place/data/hello.txt\"}"
show "$output"
holds 'tools: echo, read_file, write_file'
holds 'echo -> hello'
holds 'read_file -> hello from a folder that was granted'

step '2. The next start brings another description for the same tool (a "rug pull"): the call is refused'
export FAKE_SWITCHES=--drift=description
guarded --call echo '{"text":"hello"}' --call read_file "{\"path\":\"$place/data/hello.txt\"}"
show "$output"
holds 'echo -> error: '
lacks 'echo -> hello'
holds 'read_file -> hello from'
explain 'and `mcp-cordon diff` shows a person what changed:'
status=0
output=$("$cordon" diff --policy "$place/demo.yaml" --exit-code 2>"$place/stderr" </dev/null) || status=$?
[ "$status" = 1 ] || broken "diff --exit-code gave $status, not 1"
show "$output"
holds 'id_ed25519'
unset FAKE_SWITCHES

step '3. A tool that writes is refused, though the server would have done it'
guarded --call write_file "{\"path\":\"$place/data/new.txt\",\"text\":\"x\"}"
show "$output"
holds 'write_file -> error: '
[ ! -e "$place/data/new.txt" ] || broken 'the file was written'
explain 'The file does not exist. Asked without the proxy, the same server writes it:'
bare --call write_file "{\"path\":\"$place/data/new.txt\",\"text\":\"x\"}"
show "$output"
[ -e "$place/data/new.txt" ] || broken 'the control shows nothing: the bare server did not write'

step '4. A file that was not granted does not exist for the server, even where the call is allowed'
guarded --call read_file "{\"path\":\"$place/outside/id_ed25519\"}"
show "$output"
holds 'read_file -> error: '
lacks 'PRIVATE KEY'
explain 'That was the server'"'"'s own answer: the kernel shows it a file system without that file. Without the proxy:'
bare --call read_file "{\"path\":\"$place/outside/id_ed25519\"}"
show "$output"
holds 'PRIVATE KEY'

step 'What this does not show'
explain 'A reviewed tool that is allowed can still do harm inside what was granted, and its results are text that a model' \
  'reads: this gate does not judge what they say. See docs/threat-model.md.'

step 'What to do next'
explain './dev build && meson install -C build, and then, for the servers that your clients have: mcp-cordon wrap' \
  '(README.md, Use it).'
