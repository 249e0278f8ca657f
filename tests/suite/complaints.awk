# SPDX-License-Identifier: Apache-2.0
# The first complaints of each test that failed: from meson-logs/testlog.txt, or from any other log as one test.
BEGIN { RS = "\n=+ [0-9]+/[0-9]+ =+\n"; most = 8; longest = 200 }
/^Log of Meson/ || /\nresult:       exit status (0|77)\n/ { next }
{
  count = split($0, line, "\n")
  for (i = told = 0; i <= count && told < most; ++i) {
    if (line[i] ~ /ERROR|^TEST CASE|values:|logged:|^ *FAIL|^not ok|AssertionError|assertion failed|runtime error|[Tt]imed out/ && line[i] !~ /^command:/) {
      print substr(line[i], 1, longest)
      ++told
    }
  }
}
