// SPDX-License-Identifier: Apache-2.0
#include "app/named_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "app/grants.hpp"
#include "app/paths.hpp"
#include "app/way.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/paths.hpp"

namespace cordon::app {
namespace {

constexpr int kMaxInterpreters = 5;  // as the kernel

bool is_regular_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The path of a file: URL; nothing for every other text.
std::optional<std::string> url_path(std::string_view text) {
  constexpr std::string_view kScheme = "file:";
  if (text::lower_ascii(text.substr(0, kScheme.size())) != kScheme) {
    return std::nullopt;
  }
  text.remove_prefix(kScheme.size());
  text = text.substr(0, text.find_first_of("?#"));
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    text = text.substr(std::min(text.find('/'), text.size()));  // whatever the host: it is this one
  }
  if (!text.starts_with('/')) {
    return std::nullopt;
  }
  return percent_decoded(text);
}

std::optional<NamedFile> regular_at(const std::string& inside, const View& view) {
  if (inside.find('\0') != std::string::npos) {
    return std::nullopt;
  }
  NamedFile out;
  out.inside = normalised(inside);
  out.way = way_to(inside, view.mounts);
  // A grant may also be placed below a folder that is a symlink outside.
  if (std::string placed = outside_path(view.mounts, out.inside); !is_regular_file(out.way.back())) {
    out.way.push_back(std::move(placed));
  }
  out.outside = out.way.back();
  return is_regular_file(out.outside) ? std::optional(std::move(out)) : std::nullopt;
}

void add_named(std::string_view text, const View& view, std::vector<NamedFile>& out) {
  std::string path;
  if (std::optional<std::string> url = url_path(text)) {
    path = std::move(*url);
  } else if (text.starts_with('/')) {
    path = text;
  } else if (!text.empty() && !view.cwd.empty()) {
    path = text::cat(view.cwd, '/', text);
  } else {
    return;
  }
  if (auto file = regular_at(path, view)) {
    out.push_back(std::move(*file));
  }
}

// The words of a "#!" line: the interpreter, and what it is told.
std::vector<std::string> script_line(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  std::array<char, 256> buffer{};  // as much as the kernel looks at
  const ssize_t got = file ? ::pread(file.get(), buffer.data(), buffer.size(), 0) : -1;
  std::string_view line(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  if (!line.starts_with("#!")) {
    return {};
  }
  line = line.substr(2, std::min(line.find('\n'), line.size()) - 2);
  std::vector<std::string> out;
  std::string blanked(line);
  std::ranges::replace(blanked, '\t', ' ');
  for (const std::string_view word : text::split(blanked, ' ')) {
    if (!word.empty()) {
      out.emplace_back(word);
    }
  }
  return out;
}

// `env` and its words: the program is the first that is neither an option nor an assignment.
std::optional<NamedFile> env_program(const std::vector<std::string>& line, const View& view) {
  const auto name = std::ranges::find_if(line.begin() + 1, line.end(), [](const std::string& word) {
    return !word.starts_with('-') && word.find('=') == std::string::npos;
  });
  if (name == line.end()) {
    return std::nullopt;
  }
  if (name->find('/') != std::string::npos) {
    return name->starts_with('/') ? regular_at(*name, view) : std::nullopt;
  }
  for (const std::string_view folder : text::split(view.search_path, ':')) {
    if (auto found = folder.starts_with('/') ? regular_at(text::cat(folder, '/', *name), view) : std::nullopt) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<NamedFile> named_files(const std::vector<std::string>& command, const View& view) {
  std::vector<NamedFile> out;
  for (std::size_t i = 1; i < command.size(); ++i) {
    for (const std::string_view text : sandbox::names_in_word(command[i])) {
      add_named(text, view, out);
    }
  }
  return out;
}

std::vector<NamedFile> granted_files(const std::vector<std::string>& arguments, const View& view) {
  std::vector<std::string> words = {""};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<NamedFile> out = named_files(words, view);
  std::erase_if(out, [&](const NamedFile& file) {
    return std::ranges::none_of(view.mounts,
                                [&](const sandbox::Mount& mount) { return is_within(file.inside, mount.target); });
  });
  return out;
}

std::vector<NamedFile> interpreters(const std::string& outside, const View& view) {
  std::vector<NamedFile> out;
  std::string script = outside;
  for (int depth = 0; depth < kMaxInterpreters; ++depth) {
    const std::vector<std::string> line = script_line(script);
    if (line.empty()) {
      break;
    }
    const std::string spelled = line[0].starts_with('/') ? line[0] : text::cat(view.cwd, '/', line[0]);
    std::optional<NamedFile> next = regular_at(spelled, view);
    if (!next) {
      break;
    }
    script = next->outside;
    out.push_back(std::move(*next));
    if (file_name_of(spelled) != "env") {
      continue;
    }
    std::optional<NamedFile> program = env_program(line, view);
    if (!program) {
      break;
    }
    script = program->outside;
    out.push_back(std::move(*program));
  }
  return out;
}

}  // namespace cordon::app
