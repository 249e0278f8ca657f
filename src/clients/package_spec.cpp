// SPDX-License-Identifier: Apache-2.0
#include "clients/package_spec.hpp"

#include <algorithm>

#include "clients/command_shape.hpp"
#include "clients/package_words.hpp"

namespace cordon::clients {
namespace {

using Words = std::span<const std::string>;

// The options of a runner, taken from the front of its words.
struct Taken {
  std::vector<std::string> options = {};
  std::vector<std::string> packages = {};  // values of the options that name packages
  std::vector<std::string> more = {};      // values of those that add packages beside it
  std::optional<std::string> line = {};    // value of the option that says what is started
  bool script = false;                     // an option that makes the rest something else
  bool ended = false;                      // by "--": what follows holds no options of the runner
  Words rest = {};
};

bool names(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// The value after `=`, or the next word.
std::string value_of(Words words, std::size_t& at) {
  const std::string& word = words[at];
  if (const std::size_t equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
    return word.substr(equals + 1);
  }
  return at + 1 < words.size() ? words[++at] : std::string();
}

// `npm --package=x exec y` says the same as `npm exec --package=x y`: `before` is what stood there.
Taken take_options(const RunnerWords& runner, Words words, Taken before = {}) {
  Taken out = std::move(before);
  std::size_t at = 0;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      ++at;
      out.ended = true;
      break;
    }
    if (word.size() < 2 || word.front() != '-') {
      break;
    }
    const std::size_t first = at;
    const std::string key = word.starts_with("--") ? word.substr(0, word.find('=')) : word;
    const bool joined = key.size() != word.size();
    if (names(runner.package, key)) {
      out.packages.push_back(value_of(words, at));
    } else if (names(runner.more, key)) {
      out.more.push_back(value_of(words, at));
    } else if (names(runner.call, key)) {
      out.line = value_of(words, at);
    } else if (names(runner.other, key)) {
      out.script = true;
    } else if (!joined && names(runner.values, key)) {
      ++at;
    } else if (!joined && runner.unknown_takes_next && !names(runner.switches, key) && !key.starts_with("--no-") &&
               at + 1 < words.size() && !words[at + 1].starts_with('-')) {
      ++at;
    }
    for (std::size_t i = first; i <= at && i < words.size(); ++i) {
      out.options.push_back(words[i]);
    }
  }
  out.rest = words.subspan(std::min(at, words.size()));
  return out;
}

std::vector<std::string> list_of(Words words) { return {words.begin(), words.end()}; }

std::optional<PackageSpec> finish(const RunnerWords& runner, PackageSpec spec, Taken taken) {
  if (spec.written.empty()) {
    return std::nullopt;
  }
  spec.kind = runner.kind;
  spec.runner = runner.name;
  spec.options = std::move(taken.options);
  read_specification(spec);
  if (!spec.registry && is_local(spec.written)) {
    return std::nullopt;  // nothing is fetched
  }
  for (const std::string& word : spec.more) {
    PackageSpec other;
    other.kind = spec.kind;
    other.written = word;
    read_specification(other);
    spec.pinned = spec.pinned && (other.pinned || is_local(word));
  }
  return spec;
}

// npx, uvx and their like: OPTIONS PACKAGE ARGUMENTS, --package PACKAGE PROGRAM ARGUMENTS, or --package PACKAGE
// --call 'PROGRAM ARGUMENTS'.
std::optional<PackageSpec> package_then_arguments(const RunnerWords& runner, Taken before) {
  Taken taken = take_options(runner, before.rest, before);
  PackageSpec spec;
  spec.more = taken.more;
  if (taken.script) {
    return std::nullopt;
  }
  const std::optional<std::vector<std::string>> line = taken.line ? plain_words(*taken.line) : std::nullopt;
  if (taken.line && (!line || taken.packages.empty() || !taken.rest.empty())) {
    return std::nullopt;  // a script, or one that looks for its program in the working directory
  }
  taken.rest = line ? Words(*line) : taken.rest;
  if (!taken.packages.empty()) {
    spec.written = taken.packages.front();
    spec.more.insert(spec.more.begin(), taken.packages.begin() + 1, taken.packages.end());
    if (!taken.rest.empty()) {
      spec.bin = taken.rest.front();
      spec.arguments = list_of(taken.rest.subspan(1));
    }
  } else if (!taken.rest.empty()) {
    spec.written = taken.rest.front();
    spec.arguments = list_of(taken.rest.subspan(1));
    // npm exec takes options of its own behind the package too, up to "--".
    if (runner.options_after_package && !taken.ended) {
      const Taken after = take_options(runner, taken.rest.subspan(1));
      spec.arguments = list_of(after.rest);
      taken.options.insert(taken.options.end(), after.options.begin(), after.options.end());
    }
  }
  return finish(runner, std::move(spec), std::move(taken));
}

// uv run --with PACKAGE PROGRAM ARGUMENTS: without --with it is a project or a script of this machine.
std::optional<PackageSpec> uv_run(const RunnerWords& runner, Taken before) {
  Taken taken = take_options(runner, before.rest, before);
  if (taken.script || taken.packages.empty() || taken.rest.empty()) {
    return std::nullopt;
  }
  PackageSpec spec;
  spec.written = taken.packages.front();
  spec.more.assign(taken.packages.begin() + 1, taken.packages.end());
  spec.bin = taken.rest.front();
  spec.arguments = list_of(taken.rest.subspan(1));
  return finish(runner, std::move(spec), std::move(taken));
}

std::optional<PackageSpec> deno_run(const RunnerWords& runner, Taken before) {
  Taken taken = take_options(runner, before.rest, before);
  if (taken.script || taken.rest.empty() || !taken.rest.front().starts_with("npm:")) {
    return std::nullopt;
  }
  PackageSpec spec;
  spec.written = taken.rest.front().substr(4);
  spec.arguments = list_of(taken.rest.subspan(1));
  return finish(runner, std::move(spec), std::move(taken));
}

// docker run OPTIONS IMAGE ARGUMENTS, where short options may stand together: -it, -eNAME=VALUE.
std::optional<PackageSpec> image_run(const RunnerWords& runner, Words words) {
  Taken taken;
  std::size_t at = 0;
  for (; at < words.size() && words[at].size() > 1 && words[at].front() == '-'; ++at) {
    const std::string& word = words[at];
    taken.options.push_back(word);
    if (word == "--") {
      taken.options.pop_back();
      ++at;
      break;
    }
    bool takes_next = false;
    if (word.starts_with("--")) {
      takes_next = word.find('=') == std::string::npos && !names(runner.switches, word);
    } else {
      // The first letter that takes a value ends the word: the rest is the value.
      const std::size_t letter = word.find_first_not_of("ditPq", 1);
      takes_next = letter != std::string::npos && letter + 1 == word.size();
    }
    if (takes_next && at + 1 < words.size()) {
      taken.options.push_back(words[++at]);
    }
  }
  if (at >= words.size()) {
    return std::nullopt;
  }
  PackageSpec spec;
  spec.written = words[at];
  spec.arguments = list_of(words.subspan(at + 1));
  return finish(runner, std::move(spec), std::move(taken));
}

std::optional<PackageSpec> by_runner(const RunnerWords& runner, Taken before) {
  switch (runner.shape) {
    case RunnerShape::package:
      return package_then_arguments(runner, std::move(before));
    case RunnerShape::with:
      return uv_run(runner, std::move(before));
    case RunnerShape::specifier:
      return deno_run(runner, std::move(before));
    case RunnerShape::image:
      return image_run(runner, before.rest);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(PackageKind kind) {
  switch (kind) {
    case PackageKind::npm:
      return "npm";
    case PackageKind::pypi:
      return "pypi";
    case PackageKind::oci:
      return "oci";
  }
  return "";
}

std::optional<PackageSpec> detect(std::span<const std::string> command) {
  const std::vector<std::string> words = innermost(command);
  if (words.empty()) {
    return std::nullopt;
  }
  const std::string program = program_name(words.front());
  for (const RunnerWords& runner : runners()) {
    if (runner.program != program) {
      continue;
    }
    // The subcommand stands behind the program's own options: `uv --directory X run`, `docker --context X run`.
    Taken before;
    before.rest = Words(words).subspan(1);
    bool fits = true;
    for (const std::string_view sub : runner.subcommands) {
      before = take_options(runner, before.rest, before);
      fits = fits && !before.rest.empty() && before.rest.front() == sub;
      before.rest = before.rest.empty() ? before.rest : before.rest.subspan(1);
    }
    if (fits) {
      return by_runner(runner, std::move(before));
    }
  }
  return std::nullopt;
}

}  // namespace cordon::clients
