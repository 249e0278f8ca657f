// SPDX-License-Identifier: Apache-2.0
#include "core/policy/paths.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

using Answer = PathJudge::Answer;

constexpr std::size_t kMaxPathBytes = 4096;  // PATH_MAX
constexpr int kMaxDecodings = 3;

std::unexpected<Error> unclear(std::string_view what) { return fail(Errc::argument_denied, std::string(what)); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Percent escapes decoded once; what is none stays.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Characters that a server may drop, or turn into a dot, a slash or a tilde.
bool unsteady(char32_t c) {
  return c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0) || c == U'\\' || c == 0xad || c == 0x34f || c == 0x61c ||
         c == 0x180e || (c >= 0x200b && c <= 0x200f) || c == 0x2024 || c == 0x2025 || c == 0x2026 || c == 0x2028 ||
         c == 0x2029 || (c >= 0x202a && c <= 0x202e) || c == 0x2044 || (c >= 0x2060 && c <= 0x206f) || c == 0x2215 ||
         (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfe19 || c == 0xfe30 || c == 0xfe52 || c == 0xfe68 || c == 0xfeff ||
         c == 0xff0e || c == 0xff0f || c == 0xff3c || c == 0xff5e || (c >= 0xe0000 && c <= 0xe01ef);
}

// Blanks beyond ASCII, which servers cut off as well: what is left may be another path.
bool wide_blank(char32_t c) {
  return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
}

// A path that begins behind a comma, a colon and the like: what a server that takes lists would read.
bool looks_like_list(std::string_view text) {
  if (text::lower_ascii(text.substr(0, 7)) == "file://") {
    text.remove_prefix(7);
  }
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (std::string_view(",;:| ").find(text[i]) == std::string_view::npos) {
      continue;
    }
    const std::string_view next = text.substr(i + 1);
    if (next.starts_with('/') || next.starts_with("~/") || next == ".." || next.starts_with("../")) {
      return true;
    }
  }
  return false;
}

// What is unclear about the text itself; empty when nothing is.
std::string_view blemish(std::string_view text) {
  if (text.empty() || text.size() > kMaxPathBytes) {
    return text.empty() ? "it is empty" : "it is longer than a path can be";
  }
  constexpr std::string_view kEdges = " \"'`<>";
  if (kEdges.find(text.front()) != std::string_view::npos || kEdges.find(text.back()) != std::string_view::npos) {
    return "it begins or ends with a blank or a quote, which servers cut off";
  }
  for (std::size_t i = 0; i < text.size();) {
    const text::CodePoint point = text::decode_utf8(text, i);
    if (point.length == 0 || unsteady(point.value)) {
      return "a backslash, a control character or one that servers read as something else is in it";
    }
    if (wide_blank(point.value) && (i == 0 || i + point.length == text.size())) {
      return "it begins or ends with a blank or a quote, which servers cut off";
    }
    i += point.length;
  }
  if (text.front() == '-') {
    return "it begins with -, which programs that a server calls take for an option; ./- is a file";
  }
  if ((text.front() == '[' || text.front() == '{') && text.find('"') != std::string_view::npos) {
    return "it looks like JSON, out of which servers read a list or an object";
  }
  if (looks_like_list(text)) {
    return "it looks like a list of paths, which servers take apart";
  }
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '$' && (is_letter(text[i + 1]) || text[i + 1] == '_' || text[i + 1] == '{' || text[i + 1] == '(')) {
      return "$ in it may stand for a variable";
    }
  }
  return {};
}

bool has_parent_step(std::string_view path) {
  return std::ranges::any_of(text::split(path, '/'), [](std::string_view part) { return part == ".."; });
}

class Readings {
 public:
  explicit Readings(const ServerView& view) : view_(view) {}

  // Empty: done. Else what is unclear.
  std::string_view add(std::string_view text) {
    if (const std::string_view bad = blemish(text); !bad.empty()) {
      return bad;
    }
    if (text.front() == '/') {
      out_.push_back({std::string(text), {}});
      return {};
    }
    if (text.front() == '~') {
      if (text.size() > 1 && text[1] != '/') {
        return "~ in front of a name may be somebody's home";
      }
      out_.push_back({text::cat(view_.home, text.substr(1)), {}});
      return literal(text);
    }
    std::size_t scheme = 0;
    while (scheme < text.size() &&
           (is_letter(text[scheme]) || (scheme > 0 && text[scheme] != ':' && text[scheme] != '/'))) {
      ++scheme;
    }
    if (scheme > 0 && text.substr(scheme).starts_with(":")) {
      return with_scheme(text, text::lower_ascii(text.substr(0, scheme)), text.substr(scheme + 1));
    }
    out_.push_back({text::cat(view_.cwd, '/', text), {}});
    return {};
  }

  std::vector<PathReading> take() { return std::move(out_); }

 private:
  // Taken as a name, below the working directory: nothing is there as a rule, unless somebody has put it there.
  std::string_view literal(std::string_view text) {
    const std::string first = text::cat(view_.cwd, '/', text.substr(0, text.find('/')));
    out_.push_back({text::cat(view_.cwd, '/', text), has_parent_step(text) ? std::string() : first});
    return {};
  }

  std::string_view with_scheme(std::string_view text, std::string_view scheme, std::string_view rest) {
    if (scheme != "file") {
      // a:b is a name; a:/b is a URL to some, or a drive, and so is what others find within url:file:/b.
      if (rest.find(":/") != std::string_view::npos || rest.starts_with("/")) {
        return "it looks like a URL that is not file:";
      }
      out_.push_back({text::cat(view_.cwd, '/', text), {}});
      return {};
    }
    if (!rest.starts_with("//")) {
      return "file: is not followed by //";
    }
    rest.remove_prefix(2);
    if (text::lower_ascii(rest.substr(0, rest.find('/'))) == "localhost") {
      rest.remove_prefix(9);
    }
    if (!rest.starts_with('/') || rest.find_first_of("?#") != std::string_view::npos) {
      return "the file URL names a host, or has a query or a fragment";
    }
    out_.push_back({std::string(rest), {}});
    return literal(text);
  }

  const ServerView& view_;
  std::vector<PathReading> out_ = {};
};

// The answer for one reading and all folders.
Answer judge(const std::vector<std::string>& folders, const std::string& path, PathJudge& files) {
  Answer out = Answer::outside;
  for (const std::string& folder : folders) {
    const Answer answer = files.within(path, folder);
    if (answer == Answer::inside) {
      return answer;
    }
    out = answer == Answer::unknown ? answer : out;
  }
  return out;
}

}  // namespace

std::string lexically_normal(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view part : text::split(path, '/')) {
    if (part == "..") {
      if (!kept.empty()) {
        kept.pop_back();
      }
    } else if (!part.empty() && part != ".") {
      kept.push_back(part);
    }
  }
  std::string out;
  for (const std::string_view part : kept) {
    out += text::cat('/', part);
  }
  return out.empty() ? "/" : out;
}

PathJudge::Answer LexicalPaths::within(const std::string& path, const std::string& folder) {
  const std::string inner = lexically_normal(path);
  const std::string outer = lexically_normal(folder);
  const bool inside = outer == "/" || inner == outer || (inner.starts_with(outer) && inner[outer.size()] == '/');
  return inside ? Answer::inside : Answer::outside;
}

Result<std::vector<PathReading>> path_readings(std::string_view text, const ServerView& view) {
  Readings readings(view);
  std::string now(text);
  for (int i = 0;; ++i) {
    if (const std::string_view bad = readings.add(now); !bad.empty()) {
      return unclear(bad);
    }
    std::string next = decoded(now);
    if (next == now) {
      return readings.take();
    }
    if (i == kMaxDecodings) {
      return unclear("it is escaped again and again");
    }
    now = std::move(next);
  }
}

PathFinding contains(const std::vector<std::string>& folders, std::string_view text, const ServerView& view) {
  if (view.files == nullptr) {
    return {Containment::unclear, "nobody can look into the server's file system"};
  }
  const Result<std::vector<PathReading>> readings = path_readings(text, view);
  if (!readings) {
    return {Containment::unclear, readings.error().detail};
  }
  std::size_t inside = 0;
  std::size_t judged = 0;
  for (const PathReading& reading : *readings) {
    if (!reading.only_if.empty() && view.files->exists(reading.only_if) == Answer::outside) {
      continue;
    }
    std::vector<std::string> spellings = {reading.path};
    if (has_parent_step(reading.path)) {
      // Programs take `..` away by text, the kernel follows links first.
      spellings.push_back(lexically_normal(reading.path));
    }
    for (const std::string& spelling : spellings) {
      const Answer answer = judge(folders, spelling, *view.files);
      if (answer == Answer::unknown) {
        return {Containment::unclear, "where it leads cannot be looked up"};
      }
      ++judged;
      inside += answer == Answer::inside ? 1U : 0U;
    }
  }
  if (judged == 0) {
    return {Containment::unclear, "nothing of it could be judged"};
  }
  if (inside == judged) {
    return {Containment::inside, {}};
  }
  return inside == 0 ? PathFinding{Containment::outside, {}}
                     : PathFinding{Containment::unclear, "a server may read it in two ways, of which one lies outside"};
}

}  // namespace cordon::policy
