// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/html_style.hpp"

#include <algorithm>
#include <cstdint>

#include "base/hash.hpp"

namespace cordon::formats {

namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#f3f4f6;--line:#c9ced6;--dim:#57606a;--del:#ffdcd8;--ins:#d3f5d8;
--critical:#8a0a2b;--high:#b42318;--medium:#8a5a00;--low:#0b5c8a;--info:#57606a}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6e8eb;--soft:#1e2329;--line:#3b424b;--dim:#a3abb5;--del:#5c2320;--ins:#1c4a2a;
--critical:#ff8fa8;--high:#ff9c90;--medium:#f2c14e;--low:#7cc4f2;--info:#a3abb5}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--bg);color:var(--fg);font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.05rem;margin:0}h3{font-size:.95rem;margin:1rem 0 .3rem;font-weight:600}
h4{font-size:.8rem;margin:0;color:var(--dim);font-weight:600}
code,pre{font-family:ui-monospace,monospace;font-size:.86rem;unicode-bidi:isolate;overflow-wrap:anywhere}
pre{white-space:pre-wrap;margin:.2rem 0 0}
.f{position:absolute;opacity:0}
.filters{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin:1rem 0}
.filters label{border:1px solid var(--line);border-radius:1rem;padding:.1rem .8rem;cursor:pointer;background:var(--soft)}
article{border:1px solid var(--line);border-left-width:.4rem;border-radius:.4rem;padding:.8rem 1rem;margin:0 0 1rem}
.sev{font-weight:700;margin-right:.4rem}
article.critical{border-left-color:var(--critical)}article.high{border-left-color:var(--high)}
article.medium{border-left-color:var(--medium)}article.low{border-left-color:var(--low)}article.info{border-left-color:var(--info)}
.critical .sev{color:var(--critical)}.high .sev{color:var(--high)}.medium .sev{color:var(--medium)}.low .sev{color:var(--low)}.info .sev{color:var(--info)}
.names{display:flex;flex-wrap:wrap;gap:.2rem .8rem;list-style:none;margin:.4rem 0 0;padding:0}
.names code{font-weight:700}
.cues{margin:.3rem 0;padding-left:1.2rem}
.sides{display:grid;grid-template-columns:1fr 1fr;gap:.6rem}
.sides>div{background:var(--soft);border-radius:.3rem;padding:.4rem .6rem;min-width:0}
@media(max-width:44rem){.sides{grid-template-columns:1fr}}
del{background:var(--del);text-decoration:line-through}ins{background:var(--ins);text-decoration:underline}
.whole del,.whole ins{text-decoration:none}
pre.whole{border-left:.25rem solid var(--line);padding-left:.6rem}
#f-critical:not(:checked)~main>article.critical,#f-high:not(:checked)~main>article.high,#f-medium:not(:checked)~main>article.medium,
#f-low:not(:checked)~main>article.low,#f-info:not(:checked)~main>article.info{display:none}
#f-critical:not(:checked)~.filters [for=f-critical],#f-high:not(:checked)~.filters [for=f-high],
#f-medium:not(:checked)~.filters [for=f-medium],#f-low:not(:checked)~.filters [for=f-low],
#f-info:not(:checked)~.filters [for=f-info]{text-decoration:line-through;color:var(--dim)}
#f-critical:focus-visible~.filters [for=f-critical],#f-high:focus-visible~.filters [for=f-high],
#f-medium:focus-visible~.filters [for=f-medium],#f-low:focus-visible~.filters [for=f-low],
#f-info:focus-visible~.filters [for=f-info]{outline:3px solid var(--low);outline-offset:2px}
@media print{.filters,.f{display:none}body{max-width:none;padding:0}article{break-inside:avoid-page}}
)css";

std::string base64(const Digest& digest) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < digest.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, digest.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = (group << 8U) | (j < have ? digest[i + j] : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += j <= have ? kLetters[(group >> (18U - 6U * j)) & 63U] : '=';
    }
  }
  return out;
}

}  // namespace

std::string_view html_style() { return kStyle; }

std::string style_source(std::string_view style) { return "'sha256-" + base64(sha256(style)) + "'"; }

}  // namespace cordon::formats
