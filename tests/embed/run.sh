#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Uses the library as a stranger would: each installed header alone, the sample through pkg-config, and the sample with
# this tree as a Meson subproject. usage: run.sh BUILD WORK, where `meson install` went to WORK/root before.
# Prints lines of name <tab> passed <tab> failed <tab> skipped.
set -u
tree=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
work=$2
compiler=${CXX:-g++}
command -v ccache >/dev/null 2>&1 && compiler="ccache $compiler"
prefix=$(meson introspect --buildoptions "$build" | tr '{' '\n' | sed -n 's/.*"name": "prefix", "value": "\([^"]*\)".*/\1/p')
installed=$work/root$prefix

outcome() { if [ "$2" = 0 ]; then printf '%s\t1\t0\t0\n' "$1"; else printf '%s\t0\t1\t0\n' "$1"; fi; }

pc=$(find "$installed" -name cordon.pc)
[ -n "$pc" ] || { echo "no cordon.pc below $installed" >&2; outcome 'cordon.pc is installed' 1; exit 1; }
# The file names the final prefix; the copy of this test says where the files are now.
mkdir -p "$work/pc"
sed "s|^prefix=.*|prefix=$installed|" "$pc" >"$work/pc/cordon.pc"
export PKG_CONFIG_PATH="$work/pc"
cflags=$(pkg-config --cflags cordon) && libs=$(pkg-config --libs cordon)
outcome 'pkg-config finds cordon' $?

status=0
headers=0
for header in $(cd "$installed/include" && find cordon -name '*.hpp' | LC_ALL=C sort); do
  headers=$((headers + 1))
  printf '#include <%s>\nint main() {}\n' "$header" >"$work/alone.cpp"
  # shellcheck disable=SC2086  # lists of options
  $compiler -std=c++23 -fsyntax-only -Wall -Wextra -Werror $cflags "$work/alone.cpp" >&2 ||
    { echo "$header does not compile alone" >&2; status=1; }
done
[ "$headers" -gt 5 ] || status=1
outcome 'each public header compiles alone' $status

# shellcheck disable=SC2086
$compiler -std=c++23 -Wall -Wextra -Werror $cflags "$tree/tests/embed/main.cpp" -o "$work/sample" $libs >&2 && "$work/sample" >&2
outcome 'the sample runs with pkg-config' $?

mkdir -p "$work/embed/subprojects"
cp "$tree/tests/embed/main.cpp" "$tree/tests/embed/meson.build" "$work/embed/"
ln -s "$tree" "$work/embed/subprojects/mcp-cordon"
{ CXX=$compiler meson setup "$work/embed/build" "$work/embed" --wrap-mode=nofallback && ninja -C "$work/embed/build" --quiet sample; } >&2 &&
  "$work/embed/build/sample" >&2
outcome 'the sample runs with a Meson subproject' $?
