// SPDX-License-Identifier: Apache-2.0
#include "fakes/fake_options.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

namespace fake {
namespace {

[[noreturn]] void refuse(const std::string& word) {
  std::fprintf(stderr, "fake-server: what is %s?\n", word.c_str());
  std::exit(2);
}

void set_later_drift(Options& options, const std::string& value, bool announced) {
  const auto colon = value.find(':');
  if (colon == std::string::npos) refuse(value);
  options.drift_after = std::atoi(value.c_str());
  options.later_drift = value.substr(colon + 1);
  options.drift_is_announced = announced;
}

using Setter = std::function<void(Options&, const std::string&)>;

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = {
      {"--drift", [](Options& o, const std::string& v) { o.drift = v; }},
      {"--drift-after", [](Options& o, const std::string& v) { set_later_drift(o, v, true); }},
      {"--quiet-drift-after", [](Options& o, const std::string& v) { set_later_drift(o, v, false); }},
      {"--page", [](Options& o, const std::string& v) { o.page_size = std::atoi(v.c_str()); }},
      {"--cursor", [](Options& o, const std::string& v) { o.cursor = v; }},
      {"--duplicate-tools", [](Options& o, const std::string&) { o.duplicate_tools = true; }},
      {"--tools", [](Options& o, const std::string& v) { o.more_tools = std::atoi(v.c_str()); }},
      {"--prompts", [](Options& o, const std::string&) { o.more_kinds = true; }},
      {"--one-era", [](Options& o, const std::string&) { o.one_era = true; }},
      {"--exit-on-probe", [](Options& o, const std::string&) { o.exit_on_probe = true; }},
      {"--banner", [](Options& o, const std::string&) { o.banner = true; }},
      {"--chatter", [](Options& o, const std::string&) { o.chatter = true; }},
      {"--flood", [](Options& o, const std::string& v) { o.flood = std::atoi(v.c_str()); }},
      {"--stderr", [](Options& o, const std::string& v) { o.stderr_lines = std::atoi(v.c_str()); }},
      {"--silent", [](Options& o, const std::string& v) { o.silent = v; }},
      {"--crash", [](Options& o, const std::string& v) { o.crash = v; }},
      {"--exit", [](Options& o, const std::string& v) { o.exit_now = std::atoi(v.c_str()); }},
      {"--ignore-eof", [](Options& o, const std::string&) { o.ignore_eof = true; }},
      {"--ignore-sigterm", [](Options& o, const std::string&) { o.ignore_sigterm = true; }},
      {"--grandchild", [](Options& o, const std::string&) { o.grandchild = true; }},
      {"--mix", [](Options& o, const std::string& v) { o.mix = static_cast<unsigned>(std::atoi(v.c_str())); }},
      {"--mark", [](Options& o, const std::string& v) { o.mark = v; }},
      {"--reply",
       [](Options& o, const std::string& v) {
         const auto colon = v.find(':');
         if (colon == std::string::npos) refuse(v);
         o.replies[v.substr(0, colon)] = v.substr(colon + 1);
       }},
  };
  return table;
}

std::string with_other_type(const std::string& id) { return id.front() == '"' ? "7" : "\"" + id + "\""; }

}  // namespace

Options parse_options(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (const char* more = std::getenv("FAKE_SWITCHES")) {
    std::istringstream stream(more);
    words.insert(words.end(), std::istream_iterator<std::string>(stream), {});
  }
  Options options;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    const auto found = setters().find(word.substr(0, equals));
    if (found == setters().end()) refuse(word);
    found->second(options, equals == std::string::npos ? std::string() : word.substr(equals + 1));
  }
  return options;
}

std::string spoil(const std::string& kind, const std::string& id, const std::string& result) {
  const std::string head = R"({"jsonrpc":"2.0","id":)";
  const std::string whole = head + id + R"(,"result":)" + result + "}\n";
  if (kind == "duplicate") return whole + whole;
  if (kind == "unsolicited") return head + "987654" + R"(,"result":)" + result + "}\n" + whole;
  if (kind == "other-id-type") return head + with_other_type(id) + R"(,"result":)" + result + "}\n" + whole;
  if (kind == "repeat-keys") return head + id + R"(,"result":)" + result + R"(,"result":{"content":[]}})" + "\n";
  if (kind == "escaped-repeat")
    return head + id + R"(,"result":)" + result + R"(,"\u0072esult":{"content":[]}})" + "\n";
  if (kind == "case-repeat") return head + id + R"(,"result":)" + result + R"(,"Result":{"content":[]}})" + "\n";
  if (kind == "both") return head + id + R"(,"result":)" + result + R"(,"error":{"code":1,"message":"x"}})" + "\n";
  if (kind == "trailing") return head + id + R"(,"result":)" + result + "} {}\n";
  if (kind == "array") return "[" + whole.substr(0, whole.size() - 1) + "]\n";
  if (kind == "bare-cr") return head + id + ",\r" + R"("result":)" + result + "}\n";
  if (kind == "bom") return "\xEF\xBB\xBF" + whole;
  if (kind == "bad-utf8")
    return head + id + R"(,"result":{"content":[{"type":"text","text":")" + "\xC0\xAF" + "\"}]}}\n";
  if (kind == "cut") return whole.substr(0, whole.size() / 2) + "\n";
  if (kind == "crlf") return whole.substr(0, whole.size() - 1) + "\r\n";
  refuse(kind);
}

}  // namespace fake
