// SPDX-License-Identifier: Apache-2.0
#include "formats/uv_settings.hpp"

#include <optional>

#include "base/text.hpp"

namespace cordon::formats {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// A string in one line without escapes, and what stands behind it.
std::optional<std::string> take_string(std::string_view& rest) {
  rest = trimmed(rest);
  if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) {
    return std::nullopt;
  }
  const std::size_t end = rest.find(rest.front(), 1);
  if (end == std::string_view::npos || end == 1 || rest.substr(0, end).find('\\') != std::string_view::npos) {
    return std::nullopt;
  }
  std::string out(rest.substr(1, end - 1));
  rest = trimmed(rest.substr(end + 1));
  return out;
}

bool is_end(std::string_view rest) { return rest.empty() || rest.front() == '#'; }

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Result<UvIndexes> run(std::string_view text) {
    for (const std::string_view raw : text::split(text, '\n')) {
      ++line_;
      const std::string_view line = trimmed(raw);
      if (is_end(line)) {
        continue;
      }
      if (line.front() == '[') {
        end_index();
        table_ = trimmed(line.substr(0, line.find('#')));
        continue;
      }
      const std::size_t equals = line.find('=');
      if (equals != std::string_view::npos &&
          !read(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)))) {
        return fail(Errc::policy_invalid, "says where packages come from in a way that is not understood",
                    text::cat(file_, ":", line_),
                    "write the address in one line, as index-url = \"https://HOST/simple\"");
      }
    }
    end_index();
    return std::move(out_);
  }

 private:
  // False when it matters and is not understood.
  bool read(std::string_view key, std::string_view value) {
    const bool general = table_.empty() || table_ == "[pip]";
    if (general && (key == "index-url" || key == "default-index")) {
      auto url = take_string(value);
      out_.main = url.value_or("");
      return url && is_end(value);
    }
    if (general && key == "extra-index-url") {
      return read_list(value);
    }
    if (general && key == "index") {
      return false;
    }
    if (table_ == "[[index]]") {
      if (key == "url") {
        auto url = take_string(value);
        url_ = url.value_or("");
        return url && is_end(value);
      }
      if (key == "explicit") {
        return !value.starts_with("true");
      }
      is_default_ = is_default_ || (key == "default" && value.starts_with("true"));
    }
    return true;
  }

  bool read_list(std::string_view value) {
    if (!value.starts_with('[')) {
      return false;
    }
    value.remove_prefix(1);
    for (value = trimmed(value); !value.starts_with(']'); value = trimmed(value)) {
      auto url = take_string(value);
      if (!url) {
        return false;
      }
      out_.more.push_back(std::move(*url));
      if (value.starts_with(',')) {
        value.remove_prefix(1);
      } else if (!value.starts_with(']')) {
        return false;
      }
    }
    return is_end(trimmed(value.substr(1)));
  }

  void end_index() {
    if (!url_.empty()) {
      if (is_default_) {
        out_.main = url_;
      } else {
        out_.more.push_back(url_);
      }
    }
    url_.clear();
    is_default_ = false;
  }

  std::string_view file_;
  int line_ = 0;
  std::string table_ = {};
  std::string url_ = {};
  bool is_default_ = false;
  UvIndexes out_ = {};
};

}  // namespace

Result<UvIndexes> read_uv_settings(std::string_view text, std::string_view file) { return Reader(file).run(text); }

}  // namespace cordon::formats
