#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The lint scripts find what they are for: each case is one file that breaks one rule. usage: selftest.sh LINT_FOLDER
set -eu
lint=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# expect SCRIPT PATTERN FILE: standard input becomes FILE in an otherwise empty tree; a finding must match PATTERN
expect() {
  rm -rf "$tree/src" "$tree/include" "$tree/tests" "$tree/fuzz" "$tree/bench"
  mkdir -p "$tree/include" "$tree/tests" "$tree/fuzz" "$tree/bench" "$tree/$(dirname "$3")"
  cat >"$tree/$3"
  if found=$(sh "$lint/$1.sh" "$tree" 2>&1); then
    echo "$1 accepts $3 (wanted: $2)"
  elif ! printf '%s\n' "$found" | grep -q -- "$2"; then
    echo "$1 finds something else in $3: $found (wanted: $2)"
  fi
}

spdx='// SPDX-License-Identifier: Apache-2.0'
line() { printf '%s\n' "$spdx" "$@"; }

all() {
  line '#include "run/loop.hpp"' | expect layers 'must not include run' src/core/json/a.cpp
  line '#include "core/gate/session.hpp"' | expect layers 'must not include core/gate' src/core/json/a.cpp
  line '#include "a.hpp"' | expect layers 'full path from src' src/core/json/a.cpp
  line '#include <fstream>' | expect layers 'the core is pure' src/core/wire/a.cpp
  line '#include <simdjson.h>' | expect layers 'may stand only in src/core/json/' src/core/wire/a.cpp
  line '#include <uv.h>' | expect layers 'may stand only in src/run/' src/sandbox/a.cpp
  line '#include <spdlog/spdlog.h>' | expect layers 'may stand only in nowhere' src/run/a.cpp
  line '#include "base/text.hpp"' | expect layers 'not in the table' src/newfolder/a.cpp

  printf 'int a;\n' | expect text 'begin with SPDX' src/base/a.cpp
  line 'int a;' | expect text 'headers are included once' src/base/a.hpp
  line "$(yes 'int a;' | head -n 500)" | expect text 'split it' src/base/a.cpp
  line "// TOD""O(security): later" | expect text 'before it lands' src/base/a.cpp
  line "// TOD""O: later" | expect text 'give it a kind' src/base/a.cpp
  line 'const char* p = "/roo''t/x";' | expect text 'one machine' src/base/a.cpp
  line 'void f() { std::cout << 1; }' | expect text 'belongs to the protocol' src/run/a.cpp
  line 'void f() { std::cerr << 1; }' | expect text 'only one writer' src/audit/a.cpp
  line 'int f() {' "$(yes '  g();' | head -n 62)" '}' | expect text 'at most 60 lines' src/base/a.cpp
}

complaints=$(all)
[ -z "$complaints" ] || { printf '%s\n' "$complaints"; exit 1; }
