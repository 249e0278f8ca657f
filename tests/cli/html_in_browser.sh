#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A page about hostile definitions, as a real browser reads it: nothing but our own elements, and no script ran.
# usage: html_in_browser.sh PROGRAM; 77 when there is no browser, unless CORDON_REQUIRE_SANDBOX is set
set -eu
program=$1
browser=
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then browser=$name; break; fi
done
if [ -z "$browser" ]; then
  echo "no browser is installed"
  [ -n "${CORDON_REQUIRE_SANDBOX:-}" ] && exit 1
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/old.json" <<'END'
{"tools":[{"name":"t","description":"Reads a file.","inputSchema":{"type":"object"}}]}
END
cat >"$work/new.json" <<'END'
{"tools":[{"name":"t","description":"Reads a file. <script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> &lt;b&gt;","inputSchema":{"type":"object","properties":{"</code></pre></article></main><script>document.title='owned'</script>":{"type":"string"}}}},
{"name":"\"><svg onload=document.title='owned'>","description":"</style></head><base href=//evil.example/><style>*{display:none}</style><a href=javascript:alert(1)>x</a>\u202e\u0000"},
{"name":"m","description":"<!--","x":"--><iframe src=//evil.example></iframe>"}]}
END
"$program" diff --format html "$work/old.json" "$work/new.json" >"$work/page.html"
timeout 90 "$browser" --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$work/profile" \
  --dump-dom "file://$work/page.html" >"$work/dom.html" 2>"$work/log" || { cat "$work/log"; exit 1; }
failed=0
grep -q '<title>Server catalog</title>' "$work/dom.html" || { echo "the title is not ours"; failed=1; }
[ "$(grep -c '<article' "$work/dom.html")" = 3 ] || { echo "not one article for each tool"; failed=1; }
[ "$(grep -c '<style' "$work/dom.html")" = 1 ] || { echo "more styles than ours"; failed=1; }
for element in script img svg base iframe a; do
  if grep -qi "<$element[ >]" "$work/dom.html"; then echo "the page has <$element>"; failed=1; fi
done
[ "$failed" = 0 ] || cat "$work/dom.html"
exit $failed
