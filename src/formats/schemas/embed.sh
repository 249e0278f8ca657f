#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The schemas as C++ text. usage: embed.sh OUTPUT SCHEMA.json...
set -eu
output=$1
shift
{
  echo '#include "formats/schemas.hpp"'
  echo 'namespace cordon::formats {'
  echo 'namespace {'
  echo 'constexpr Schema kSchemas[] = {'
  for file in "$@"; do
    printf '{"%s", R"~schema~(' "$(basename "$file" .json)"
    cat "$file"
    echo ')~schema~"},'
  done
  echo '};'
  echo '}  // namespace'
  echo 'std::span<const Schema> schemas() { return kSchemas; }'
  echo '}  // namespace cordon::formats'
} >"$output"
