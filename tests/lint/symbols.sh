#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The archives of the pure core must not call for files, time, environment, threads or chance.
# usage: symbols.sh ARCHIVE…
set -eu
[ $# -gt 0 ] || { echo "no archive was given"; exit 1; }

for archive; do
  nm --undefined-only --demangle "$archive" 2>/dev/null | awk -v archive="${archive##*/}" '
    /:$/ { member = $0; next }
    $1 == "U" || $1 == "w" { symbol = $0; sub(/^ *[Uw] /, "", symbol); seen++; judge(symbol) }
    function judge(symbol,   plain) {
      plain = symbol
      sub(/@.*/, "", plain); sub(/^__isoc99_/, "", plain); sub(/^__/, "", plain); sub(/_(chk|2)$/, "", plain)
      if (plain ~ /^(open|openat|creat|fopen|freopen|read|pread|write|pwrite|readv|writev|fread|fwrite|stat|lstat|fstat|unlink|rename)(64)?$/ ||
          plain ~ /^(printf|fprintf|vfprintf|dprintf|puts|fputs|putchar|fputc|perror|syslog)$/ ||
          plain ~ /^(getenv|secure_getenv|setenv|putenv|environ)$/ ||
          plain ~ /^(clock_gettime|gettimeofday|time|clock|nanosleep|clock_nanosleep|usleep|sleep|localtime|localtime_r|gmtime)$/ ||
          plain ~ /^(rand|srand|random|srandom|getrandom|arc4random|randombytes.*)$/ ||
          plain ~ /^(pthread_create|fork|vfork|posix_spawn.*|exec[lv].*|system|popen|kill|raise|signal|sigaction|exit|_exit|quick_exit)$/ ||
          plain ~ /^(socket|connect|bind|listen|accept|accept4|send.*|recv.*|poll|select|epoll_.*|mmap|syscall)$/ ||
          plain ~ /^std::(cout|cerr|clog|cin|random_device|thread|this_thread|filesystem|basic_.?fstream|basic_filebuf)/ ||
          plain ~ /^std::chrono::.*clock::now/) {
        print archive " " member " uses " symbol
        bad = 1
      }
    }
    END {
      if (!seen) { print archive ": nm shows no symbol"; bad = 1 }
      exit bad
    }
  ' || failed=1
done
exit "${failed:-0}"
