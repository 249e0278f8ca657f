#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tree is formatted by one version of one tool. usage: format.sh SOURCE_ROOT [--fix]
set -eu
cd "$1"
formatter=${CLANG_FORMAT:-clang-format-19}
if ! command -v "$formatter" >/dev/null 2>&1; then
  echo "[skip] format: $formatter is not installed (./dev setup brings it)"
  exit 77
fi
if [ "${2:-}" = --fix ]; then
  action='-i'
else
  action='--dry-run -Werror'
fi
# shellcheck disable=SC2086  # several words on purpose
find src include tests fuzz bench -type f -name '*.[ch]pp' -not -path '*/node_modules/*' | LC_ALL=C sort | xargs "$formatter" $action
