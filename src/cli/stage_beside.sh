#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts the stage helper of the build tree where the program of the build tree looks for it.
# usage: stage_beside.sh STAGE FOLDER_OF_PROGRAM STAMP
set -eu
mkdir -p "$2/libexec/mcp-cordon"
# Renamed into place: a running copy is not written to.
cp "$1" "$2/libexec/mcp-cordon/stage.new"
chmod go-w "$2/libexec/mcp-cordon/stage.new"
mv "$2/libexec/mcp-cordon/stage.new" "$2/libexec/mcp-cordon/stage"
: >"$3"
