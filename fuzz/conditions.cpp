// SPDX-License-Identifier: Apache-2.0
// What conditions say of paths, URLs and numbers, against readings made the simple way. The first byte picks one.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "core/json/number.hpp"
#include "core/json/read.hpp"
#include "core/policy/paths.hpp"
#include "core/policy/url_host.hpp"

namespace {

using namespace cordon;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

int hex(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }
bool is_hex(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

std::string decode_once(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2])) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// One server's reading: a URL or ~ understood or not, `\` a slash, blanks and quotes cut off.
std::string read_as(std::string text, bool knowing) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '"' || text.back() == '\'' || text.back() == '\n')) {
    text.pop_back();
  }
  while (!text.empty() &&
         (text.front() == ' ' || text.front() == '"' || text.front() == '\'' || text.front() == '\n')) {
    text.erase(0, 1);
  }
  for (char& c : text) {
    c = c == '\\' ? '/' : c;
  }
  if (knowing && text::lower_ascii(text.substr(0, 7)) == "file://") {
    text.erase(0, 7);
    text.erase(0, text.find('/'));
  } else if (knowing && text.starts_with("~/")) {
    text = "/home/cordon" + text.substr(1);
  }
  if (!text.starts_with('/')) {
    text = "/data/" + text;
  }
  return std::filesystem::path(text).lexically_normal().string();
}

bool below(const std::string& path, const std::string& folder) {
  return path == folder || path == folder + "/" || path.starts_with(folder + "/");
}

void path(const std::string& text) {
  policy::LexicalPaths files;
  const policy::ServerView view{.cwd = "/data", .home = "/home/cordon", .files = &files};
  if (policy::contains({"/data/out"}, text, view).containment != policy::Containment::inside) {
    return;
  }
  std::string now = text;
  for (int i = 0; i < 6; ++i) {
    require(below(read_as(now, true), "/data/out"));
    // A name that is no URL and has no ~ has one reading more, the literal one.
    if (!now.starts_with('~') && text::lower_ascii(now.substr(0, 5)) != "file:") {
      require(below(read_as(now, false), "/data/out"));
    } else {
      require(now.find("..") == std::string::npos || below(read_as(now, false), "/data"));
    }
    now = decode_once(now);
  }
}

// The authority up to one of `ends`, the host after the last @ and before the last colon.
std::string simple_host(const std::string& url, std::string_view ends) {
  const std::size_t begin = url.find("://") + 3;
  std::string authority = url.substr(begin, std::min(url.find_first_of(ends, begin), url.size()) - begin);
  authority.erase(0, authority.rfind('@') + 1);
  const std::size_t colon = authority.rfind(':');
  return text::lower_ascii(authority.substr(0, colon));
}

void url(const std::string& text) {
  const Result<std::string> host = policy::url_host(text);
  if (!host) {
    return;
  }
  for (const char c : *host) {
    require((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' || c == ':');
  }
  if (host->find(':') == std::string::npos) {
    require(simple_host(text, "/?#") == *host);
    require(simple_host(text, "/?#\\") == *host);
  }
  require(policy::host_listed({*host}, *host));
  require(!policy::host_listed({"x" + *host}, *host));
}

void numbers(const std::string& text) {
  const std::size_t cut = text.find(' ');
  const std::string left = text.substr(0, cut);
  const std::string right = cut == std::string::npos ? "0" : text.substr(cut + 1);
  for (const std::string& one : {left, right}) {
    const auto document = json::read(one, {});
    if (!document || !document->root().is(json::Kind::number) || document->root().number_text() != one) {
      return;
    }
  }
  const auto a = json::decimal(left);
  const auto b = json::decimal(right);
  if (!a || !b || !json::same_everywhere(*a) || !json::same_everywhere(*b)) {
    return;
  }
  const double x = std::strtod(left.c_str(), nullptr);
  const double y = std::strtod(right.c_str(), nullptr);
  require((json::compare(*a, *b) < 0) == (x < y));
  require((json::compare(*a, *b) == 0) == (x == y));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  if (text.size() < 2 || text.size() > 5'000) {
    return 0;
  }
  const std::string rest = text.substr(1);
  switch (text.front()) {
    case 'u':
      url(rest);
      break;
    case 'n':
      numbers(rest);
      break;
    default:
      path(rest);
  }
  return 0;
}
