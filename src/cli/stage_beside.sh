#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts the helper programs of the build tree where the program of the build tree looks for them.
# usage: stage_beside.sh FOLDER_OF_PROGRAM STAMP HELPER...
set -eu
folder=$1/libexec/mcp-cordon
stamp=$2
shift 2
mkdir -p "$folder"
for helper; do
  name=$(basename "$helper")
  # Renamed into place: a running copy is not written to.
  cp "$helper" "$folder/$name.new"
  chmod go-w "$folder/$name.new"
  mv "$folder/$name.new" "$folder/$name"
done
: >"$stamp"
