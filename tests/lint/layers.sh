#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who may include whom (docs/architecture.md, section 3), and which file holds each third-party library.
# usage: layers.sh SOURCE_ROOT
set -eu
cd "$1"

find src -name '*.[ch]pp' | LC_ALL=C sort | xargs awk '
  BEGIN {
    core = "core/json core/schema core/wire core/catalog core/policy core/gate"
    may["base"] = "base"
    may["core/json"] = "base core/json"
    may["core/schema"] = "base core/json core/schema"
    may["core/wire"] = "base core/json core/wire"
    may["core/catalog"] = "base core/json core/wire core/catalog"
    may["core/policy"] = "base core/json core/wire core/catalog core/policy"
    may["core/gate"] = "base " core
    may["clients"] = "base core/json clients"
    may["formats"] = "base " core " egress clients formats"
    may["egress"] = "base core/json core/policy egress"
    may["probe"] = "base core/json probe"
    may["sandbox"] = "base core/json egress sandbox"
    may["audit"] = "base core/json audit"
    may["run"] = "base " core " egress sandbox audit run"
    may["app"] = "base " core " clients formats egress sandbox audit run app"
    may["cli"] = "base " core " clients formats egress sandbox audit run app cli"

    # library: the header that marks it, where it may stand, in how many files (0: any number)
    library("^simdjson", "src/core/json/", 1)
    library("^re2/", "src/base/", 1)
    library("^yaml-cpp/", "src/formats/", 1)
    library("^idn2\\.h", "src/egress/", 1)
    library("^libpsl\\.h", "src/egress/", 1)
    library("^seccomp\\.h", "src/sandbox/", 1)
    library("^nettle/", "src/base/", 1)
    library("^uv\\.h", "src/run/", 0)
    library("^CLI/", "src/cli/", 0)
    library("^(spdlog|fmt)/", "nowhere", 0)
    library("^(nlohmann|rapidjson|boost|absl)/", "nowhere", 0)

    # The core is told everything and asks for nothing.
    impure = "^(fstream|iostream|ostream|filesystem|thread|jthread|mutex|condition_variable|future|chrono|random|ctime|" \
             "cstdio|csignal|time\\.h|stdio\\.h|signal\\.h|unistd\\.h|fcntl\\.h|poll\\.h|pthread\\.h|spawn\\.h|sys/.*|linux/.*)$"
  }
  function library(header, folder, files) {
    n_libraries++
    lib_header[n_libraries] = header; lib_folder[n_libraries] = folder; lib_files[n_libraries] = files
  }
  function finding(text) { print FILENAME ":" FNR ": " text; bad = 1 }
  # The layer of a path below src: base, core/json, sandbox, …
  function layer_of(path,   part) {
    split(path, part, "/")
    return part[1] == "core" ? part[1] "/" part[2] : part[1]
  }
  FNR == 1 { layer = layer_of(substr(FILENAME, 5)) }
  !/^[ \t]*#[ \t]*include/ { next }
  /"/ {
    split($0, quoted, "\"")
    target = layer_of(quoted[2])
    if (!(layer in may)) finding("folder src/" layer " is not in the table of layers")
    else if (!(target in may)) finding("include \"" quoted[2] "\": write the full path from src")
    else if (index(" " may[layer] " ", " " target " ") == 0) finding("src/" layer " must not include " target " (\"" quoted[2] "\")")
    next
  }
  /</ {
    header = $0; sub(/^[^<]*</, "", header); sub(/>.*$/, "", header)
    if (layer ~ /^(core\/|clients)/ && header ~ impure) finding("<" header ">: the core is pure (no I/O, clock, threads, random)")
    for (i = 1; i <= n_libraries; i++) {
      if (header !~ lib_header[i]) continue
      if (index(FILENAME, lib_folder[i]) != 1) finding("<" header "> may stand only in " lib_folder[i])
      else if (lib_files[i] == 1 && (i in holder) && holder[i] != FILENAME)
        finding("<" header "> is included by " holder[i] " already; one file for each library")
      else holder[i] = FILENAME
    }
  }
  END { exit bad }
'
