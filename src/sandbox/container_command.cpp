// SPDX-License-Identifier: Apache-2.0
#include "sandbox/container_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/text.hpp"
#include "sandbox/container_flags.hpp"
#include "sandbox/container_mounts.hpp"
#include "sandbox/paths.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kDigestDigits = 64;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// "512m", "1g", "1048576": powers of 1024, as these tools read them.
std::optional<std::uint64_t> size_in_bytes(std::string_view text) {
  std::string lower = text::lower_ascii(text);
  if (lower.ends_with('b')) {
    lower.pop_back();
  }
  unsigned shift = 0;
  if (!lower.empty()) {
    const std::size_t unit = std::string_view("kmgt").find(lower.back());
    if (unit != std::string_view::npos) {
      shift = static_cast<unsigned>(10 * (unit + 1));
      lower.pop_back();
    }
  }
  const auto number = whole_number(lower);
  if (!number || *number > (std::numeric_limits<std::uint64_t>::max() >> shift)) {
    return std::nullopt;
  }
  return *number << shift;
}

bool is_switch_value(std::string_view text) { return text == "true" || text == "1"; }

class Parser {
 public:
  Parser(std::span<const std::string> words, ImageNamed named) : words_(words), named_(named) {}

  Result<ContainerCommand> parse() {
    if (Status program = take_program(); !program) {
      return std::unexpected(program.error());
    }
    while (at_ < words_.size() && words_[at_].starts_with('-') && words_[at_] != "-") {
      if (words_[at_] == "--") {
        ++at_;
        break;
      }
      if (Status flag = words_[at_].starts_with("--") ? take_long() : take_short(); !flag) {
        return std::unexpected(flag.error());
      }
    }
    if (Status image = take_image(); !image) {
      return std::unexpected(image.error());
    }
    command_.arguments.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    return std::move(command_);
  }

 private:
  std::unexpected<Error> refuse(std::string detail, std::string remedy = {}) const {
    return fail(Errc::policy_invalid, std::move(detail), text::cat("launch.command, word ", at_ + 1),
                std::move(remedy));
  }

  Status take_program() {
    if (!is_container_command(words_)) {
      return refuse("is neither docker nor podman", "write [docker, run, -i, --rm, NAME@sha256:...]");
    }
    at_ = words_.size() > 1 && words_[1] == "container" ? 2 : 1;
    if (at_ >= words_.size() || words_[at_] != "run") {
      return refuse("only 'run' can be translated, right after the program's name",
                    "write [docker, run, -i, --rm, NAME@sha256:...]");
    }
    ++at_;
    return {};
  }

  Status take_long() {
    const std::string_view word = std::string_view(words_[at_]).substr(2);
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const ContainerFlag* flag = find_flag(name);
    shown_ = text::cat("--", text::printable(name, 80));
    if (flag == nullptr) {
      return refuse(text::cat("unknown flag ", shown_), "take it out; only flags that are understood are translated");
    }
    if (equals != std::string_view::npos) {
      return use(*flag, std::string(word.substr(equals + 1)));
    }
    return use_next(*flag);
  }

  // "-it", "-eK=V", "-e=K=V", "-e K=V".
  Status take_short() {
    const std::string_view word = words_[at_];
    for (std::size_t i = 1; i < word.size(); ++i) {
      const ContainerFlag* flag = find_flag(word[i]);
      shown_ = text::cat('-', text::printable(word.substr(i, 1)));
      if (flag == nullptr) {
        return refuse(text::cat("unknown flag ", shown_), "take it out; only flags that are understood are translated");
      }
      std::string_view rest = word.substr(i + 1);
      if (flag->takes_value || rest.starts_with('=')) {
        if (rest.empty()) {
          return use_next(*flag);
        }
        rest.remove_prefix(rest.starts_with('=') ? 1 : 0);
        return use(*flag, std::string(rest));
      }
      if (Status used = apply(*flag, "true"); !used) {
        return used;
      }
    }
    ++at_;
    return {};
  }

  // The value is the next word, or there is none to a switch.
  Status use_next(const ContainerFlag& flag) {
    if (!flag.takes_value) {
      return use(flag, "true");
    }
    if (flag.use == FlagUse::refused) {
      return refuse(text::cat(shown_, " ", flag.why));
    }
    if (at_ + 1 >= words_.size()) {
      return refuse(text::cat(shown_, " has no value"));
    }
    ++at_;
    return use(flag, words_[at_]);
  }

  Status use(const ContainerFlag& flag, const std::string& value) {
    Status done = apply(flag, value);
    ++at_;
    return done;
  }

  Status apply(const ContainerFlag& flag, const std::string& value) {
    switch (flag.use) {
      case FlagUse::ours:
        if (!flag.takes_value && !is_switch_value(value)) {
          return refuse(text::cat(shown_, "=", text::printable(value, 80), " is not how a server is started here"));
        }
        return {};
      case FlagUse::refused:
        return refuse(text::cat(shown_, " ", flag.why));
      case FlagUse::only:
        return take_word(flag, value);
      case FlagUse::environment:
        return take_variable(value);
      case FlagUse::volume:
        return take_mount(read_volume(value), value);
      case FlagUse::mount:
        return take_mount(read_mount(value), value);
      case FlagUse::tmpfs:
        if (value == "/tmp" || value.starts_with("/tmp:")) {
          return {};  // is there anyway
        }
        return refuse(text::cat(shown_, " ", text::printable(value, 200), ": only /tmp is writable memory inside"),
                      "grant a folder in isolation.filesystem.write");
      case FlagUse::network:
        return take_network(value);
      case FlagUse::working_directory:
        return take_absolute(command_.working_directory, value);
      case FlagUse::user:
        command_.user = value;
        return {};
      case FlagUse::entrypoint:
        command_.entrypoint = value;
        return {};
      case FlagUse::platform:
        command_.platform = value;
        return {};
      case FlagUse::memory:
        return take_number(command_.memory_bytes, size_in_bytes(value), value);
      case FlagUse::processes:
        return take_number(command_.processes, whole_number(value), value);
      case FlagUse::security:
        return take_security(value);
    }
    return {};
  }

  Status take_word(const ContainerFlag& flag, const std::string& value) {
    for (const std::string_view fine : text::split(flag.why, ',')) {
      if (value == fine) {
        return {};
      }
    }
    return refuse(text::cat(shown_, " ", text::printable(value, 80), " is not possible here"),
                  text::cat("take it out, or write ", flag.why));
  }

  Status take_variable(const std::string& value) {
    const std::size_t equals = value.find('=');
    ContainerVariable variable{.name = value.substr(0, equals)};
    if (equals != std::string::npos) {
      variable.value = value.substr(equals + 1);
    }
    if (variable.name.empty() || variable.name.find('*') != std::string::npos) {
      return refuse(text::cat(shown_, " names no variable"));
    }
    command_.variables.push_back(std::move(variable));
    return {};
  }

  Status take_mount(Result<std::optional<ContainerMount>> mount, const std::string& value) {
    const std::string flag = text::cat(shown_, ' ', value);
    if (!mount) {
      return refuse(text::cat(text::printable(flag, 300), ": ", mount.error().detail), mount.error().remedy);
    }
    if (*mount) {
      (*mount)->flag = flag;
      command_.mounts.push_back(std::move(**mount));
    }
    return {};
  }

  Status take_network(const std::string& value) {
    if (value == "host" || value.starts_with("container:") || value.starts_with("ns:")) {
      return refuse(text::cat(shown_, " ", text::printable(value, 80),
                              " would let the container share the network of the machine or of another container"));
    }
    if (!command_.network.empty() && command_.network != value) {
      return refuse(text::cat(shown_, " is given twice"));
    }
    command_.network = value;
    return {};
  }

  Status take_absolute(std::string& out, const std::string& value) {
    if (!is_normal_path(value)) {
      return refuse(text::cat(shown_, " ", text::printable(value, 200), " is not an absolute path"));
    }
    out = value;
    return {};
  }

  Status take_number(std::optional<std::uint64_t>& out, std::optional<std::uint64_t> number, const std::string& value) {
    if (!number || *number == 0) {
      return refuse(text::cat(shown_, " ", text::printable(value, 80), " is not a limit"));
    }
    out = out ? std::min(*out, *number) : number;
    return {};
  }

  Status take_security(const std::string& value) {
    constexpr std::array<std::string_view, 3> kFine = {"no-new-privileges", "no-new-privileges:true",
                                                       "no-new-privileges=true"};
    if (std::ranges::find(kFine, value) != kFine.end()) {
      return {};
    }
    return refuse(text::cat(shown_, " ", text::printable(value, 200),
                            value.find("unconfined") != std::string::npos
                                ? " would switch a wall off"
                                : " is not translated: profiles are those of this backend"));
  }

  Status take_image() {
    if (at_ >= words_.size()) {
      return refuse("there is no image", "write NAME@sha256:... after the flags");
    }
    const std::string& word = words_[at_];
    const auto digest = image_digest(word);
    if (!digest && named_ == ImageNamed::by_digest) {
      return refuse(
          text::cat("the image ", text::printable(word, 200), " is not named by a digest"),
          "pull it once, then write NAME@sha256:... as `docker image inspect --format '{{json .RepoDigests}}' "
          "NAME` (or podman) shows it");
    }
    command_.image = word;
    command_.digest = digest.value_or("");
    ++at_;
    return {};
  }

  std::span<const std::string> words_;
  ImageNamed named_;
  std::size_t at_ = 0;
  std::string shown_ = {};  // the flag that is looked at
  ContainerCommand command_ = {};
};

}  // namespace

bool is_container_command(std::span<const std::string> words) {
  if (words.empty()) {
    return false;
  }
  const std::string_view name = last_component(words.front());
  return name == "docker" || name == "podman";
}

Result<ContainerCommand> parse_container_command(std::span<const std::string> words, ImageNamed named) {
  return Parser(words, named).parse();
}

std::optional<std::string> image_digest(std::string_view reference) {
  constexpr std::string_view kMark = "@sha256:";
  constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:";
  const std::size_t mark = reference.find(kMark);
  if (mark == std::string_view::npos || mark == 0 || reference.starts_with('-') ||
      reference.substr(0, mark).find_first_not_of(kNameLetters) != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view digits = reference.substr(mark + kMark.size());
  if (digits.size() != kDigestDigits || digits.find_first_not_of(kHexDigits) != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(reference.substr(mark + 1));
}

}  // namespace cordon::sandbox
