# SPDX-License-Identifier: Apache-2.0
# Reads meson-logs/testlog.txt and prints one line for each test:
#   name <tab> passed <tab> failed <tab> skipped
# and after it `  reason` lines for what failed or was skipped. A doctest program counts its cases; any other test is
# one. A program that did not end well counts as a failure even if all its cases passed. A case that could not run here
# says `[skip] what: why` or `SKIPPED: why` on a line of its own and counts as skipped, not as passed.
function flush_test() {
  if (name == "") return
  ok = result ~ /^exit status 0/
  if (result ~ /^exit status 77/) { passed = failed = 0; skipped = 1 }
  else if (!summaries) { passed = ok ? 1 : 0; failed = ok ? 0 : 1; skipped = 0 }
  else if (!ok && failed == 0) failed = 1
  if (result !~ /^exit status 77/) {
    skipped = skips > passed ? passed : skips
    passed -= skipped
  }
  printf "%s\t%d\t%d\t%d\n", name, passed, failed, skipped
  if (failed) printf "  failed: %s (%s)\n", name, result
  printf "%s", reasons
  name = ""
}
/^test:         / { flush_test(); name = substr($0, 15); result = ""; passed = failed = skipped = summaries = skips = 0; reasons = ""; next }
/^result:       / && result == "" { result = substr($0, 15); next }
name == "" { next }
/^(\[skip\]|SKIPPED:) / {
  skips++
  sub(/^[^ ]* /, "")
  reasons = reasons "  skipped: " $0 "\n"
  next
}
/^\[doctest\] test cases: / {
  # [doctest] test cases:  12 |  12 passed | 0 failed | 0 skipped
  split($0, part, "|")
  passed += part[2]; failed += part[3]; summaries++
}
END { flush_test() }
