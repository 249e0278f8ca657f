// SPDX-License-Identifier: Apache-2.0
#include "app/complaint.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "app/paths.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxLine = 4000;
constexpr std::size_t kMaxPath = 1024;
constexpr std::size_t kMaxHost = 260;

struct Sign {
  std::string_view words = {};
  Ailment ailment = Ailment::missing;
};

// The first that occurs in the line decides, so the more telling come first: java says "FileNotFoundException" of what
// it may not open, too, and a failed look-up is often followed by a refused connection.
constexpr auto kSigns = std::to_array<Sign>({
    {"error while loading shared libraries", Ailment::library},
    {"cannot open shared object file", Ailment::library},
    {"EROFS", Ailment::read_only},
    {"Read-only file system", Ailment::read_only},
    {"read-only file system", Ailment::read_only},
    {"ReadOnlyFileSystemException", Ailment::read_only},
    {"EACCES", Ailment::denied},
    {"EPERM", Ailment::denied},
    {"Permission denied", Ailment::denied},
    {"permission denied", Ailment::denied},
    {"PermissionError", Ailment::denied},
    {"AccessDeniedException", Ailment::denied},
    {"Operation not permitted", Ailment::denied},
    {"operation not permitted", Ailment::denied},
    {"ENOTFOUND", Ailment::unresolved},
    {"EAI_AGAIN", Ailment::unresolved},
    {"Temporary failure in name resolution", Ailment::unresolved},
    {"Name or service not known", Ailment::unresolved},
    {"No address associated with hostname", Ailment::unresolved},
    {"Could not resolve host", Ailment::unresolved},
    {"no such host", Ailment::unresolved},
    {"server misbehaving", Ailment::unresolved},
    {"UnknownHostException", Ailment::unresolved},
    {"failed to lookup address information", Ailment::unresolved},
    {"dns error", Ailment::unresolved},
    {"ENETUNREACH", Ailment::unreachable},
    {"EHOSTUNREACH", Ailment::unreachable},
    {"etwork is unreachable", Ailment::unreachable},
    {"No route to host", Ailment::unreachable},
    {"no route to host", Ailment::unreachable},
    {"ECONNREFUSED", Ailment::refused},
    {"onnection refused", Ailment::refused},
    {"ENOENT", Ailment::missing},
    {"o such file or directory", Ailment::missing},
    {"FileNotFoundError", Ailment::missing},
    {"FileNotFoundException", Ailment::missing},
    {"NoSuchFileException", Ailment::missing},
    {"ENOMEM", Ailment::memory},
    {"annot allocate memory", Ailment::memory},
    {"heap out of memory", Ailment::memory},
    {"OutOfMemoryError", Ailment::memory},
    {"std::bad_alloc", Ailment::memory},
    {"MemoryError", Ailment::memory},
    {"EMFILE", Ailment::open_files},
    {"oo many open files", Ailment::open_files},
    {"esource temporarily unavailable", Ailment::processes},
    {"ENOSPC", Ailment::no_space},
    {"o space left on device", Ailment::no_space},
});

// What stands before a host's name; the name ends at the first byte that none has.
constexpr auto kBeforeHost = std::to_array<std::string_view>({
    "ENOTFOUND ",
    "EAI_AGAIN ",
    "ECONNREFUSED ",
    "ENETUNREACH ",
    "EHOSTUNREACH ",
    "lookup ",
    "dial tcp ",
    "dial udp ",
    "host='",
    "hostname: '",
    "address: '",
    "resolve host: ",
    "UnknownHostException: ",
    "connect to ",
    "https://",
    "http://",
    "Failed to connect ",
});

bool is_host_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == ':' || c == '[' || c == ']' || c == '_';
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "dial tcp: lookup x" has a marker without a host; the next one is tried then.
std::string host_in(std::string_view line) {
  for (const std::string_view marker : kBeforeHost) {
    const std::size_t at = line.find(marker);
    if (at == std::string_view::npos) {
      continue;
    }
    const std::string_view rest = line.substr(at + marker.size());
    const std::size_t end = std::min<std::size_t>(
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_host_byte) - rest.begin()), rest.size());
    std::string_view host = rest.substr(0, end);
    while (host.ends_with(':') || host.ends_with('.')) {
      host.remove_suffix(1);
    }
    if (host.size() < 2 || host.size() > kMaxHost ||
        (host.find('.') == std::string_view::npos && host.find(':') == std::string_view::npos && host != "localhost" &&
         marker == "connect to ")) {
      continue;
    }
    const std::size_t port = line.find("port=", at);
    if (port != std::string_view::npos && host.find(':') == std::string_view::npos) {
      const std::string_view digits = line.substr(port + 5);
      const std::size_t length = std::min(digits.find_first_not_of("0123456789"), digits.size());
      if (is_port(digits.substr(0, length))) {
        return text::cat(host, ':', digits.substr(0, length));
      }
    }
    return std::string(host);
  }
  return {};
}

// As a server may name one: absolute, one line, not absurdly long. Normalised, so that ".." leads nowhere unseen.
std::string as_path(std::string_view text) {
  if (text.starts_with("file://")) {
    text.remove_prefix(7);
  }
  if (!text.starts_with('/') || text.size() < 2 || text.size() > kMaxPath || text.starts_with("//")) {
    return {};
  }
  return normalised(text);
}

std::string quoted_path(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char quote = line[at];
    if (quote != '\'' && quote != '"' && quote != '`') {
      continue;
    }
    const std::size_t end = line.find(quote, at + 1);
    if (end == std::string_view::npos) {
      continue;
    }
    if (std::string path = as_path(line.substr(at + 1, end - at - 1)); !path.empty()) {
      return path;
    }
  }
  return {};
}

// The first bare word that is a path: up to a blank or what follows a path in messages.
std::string bare_path(std::string_view line) {
  for (std::size_t at = line.find('/'); at != std::string_view::npos; at = line.find('/', at + 1)) {
    const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '(' || line[at - 1] == '=';
    if (!begins) {
      at = std::min(line.find(' ', at), line.size() - 1);
      continue;
    }
    std::string_view word = line.substr(at, line.find_first_of(" ()'\"", at) - at);
    while (word.ends_with(':') || word.ends_with(',') || word.ends_with(';') || word.ends_with('.')) {
      word.remove_suffix(1);
    }
    if (std::string path = as_path(word); !path.empty()) {
      return path;
    }
  }
  return {};
}

std::string library_in(std::string_view line) {
  constexpr std::string_view kAfter = "libraries: ";
  const std::size_t end = line.find(": cannot open shared object file");
  if (end == std::string_view::npos) {
    return {};
  }
  std::string_view before = line.substr(0, end);
  const std::size_t at = before.rfind(kAfter);
  before =
      at != std::string_view::npos ? before.substr(at + kAfter.size()) : before.substr(before.find_last_of(" :") + 1);
  return before.size() <= kMaxPath ? std::string(before) : std::string();
}

constexpr auto kStarting = std::to_array<std::string_view>(
    {"spawn ", "execve", "execvp", "fork/exec", "exec: ", "Cannot run program", "posix_spawn", "subprocess"});
constexpr auto kWriting =
    std::to_array<std::string_view>({"mkdir", "unlink", "rename", "write", "creat", "copyfile", "symlink", "touch",
                                     "chmod", "chown", "rmdir", "mkstemp", "truncate", "utime"});
// Calls that no list of ours lets a server make.
constexpr auto kForbiddenCalls =
    std::to_array<std::string_view>({"unshare", "namespace", "ptrace", "mount", "bpf", "io_uring", "keyctl",
                                     "perf_event_open", "setns", "chroot", "userfaultfd", "personality"});

bool holds_one_of(std::string_view line, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [line](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

bool of_the_network(Ailment ailment) {
  return ailment == Ailment::refused || ailment == Ailment::unreachable || ailment == Ailment::unresolved;
}

}  // namespace

std::optional<Complaint> read_complaint(std::string_view line) {
  line = line.substr(0, kMaxLine);
  const auto sign =
      std::ranges::find_if(kSigns, [line](const Sign& one) { return line.find(one.words) != std::string_view::npos; });
  if (sign == kSigns.end()) {
    return std::nullopt;
  }
  Complaint out;
  out.ailment = sign->ailment;
  // java: "FileNotFoundException: /x (Permission denied)" is found by the words in brackets, which is right.
  if (out.ailment == Ailment::library) {
    out.library = library_in(line);
    return out.library.empty() ? std::nullopt : std::optional(std::move(out));
  }
  if (of_the_network(out.ailment)) {
    out.host = host_in(line);
    // A refused Unix socket has a path.
    if (out.host.empty() && out.ailment == Ailment::refused) {
      out.path = quoted_path(line).empty() ? bare_path(line) : quoted_path(line);
    }
    return out;
  }
  out.path = quoted_path(line);
  if (out.path.empty()) {
    out.path = bare_path(line);
  }
  out.starts_program = holds_one_of(line, kStarting);
  out.writes = holds_one_of(line, kWriting) || out.ailment == Ailment::read_only;
  if (out.ailment == Ailment::denied && out.path.empty()) {
    const auto call = std::ranges::find_if(
        kForbiddenCalls, [line](std::string_view word) { return line.find(word) != std::string_view::npos; });
    out.call = call == kForbiddenCalls.end() ? std::string() : std::string(*call);
  }
  return out;
}

}  // namespace cordon::app
