// SPDX-License-Identifier: Apache-2.0
#include "app/pip_errors.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "base/text.hpp"

namespace cordon::app {
namespace {

struct Meaning {
  std::array<std::string_view, 8> marks = {};  // one of them is enough
  std::string_view detail = {};
  std::string_view remedy = {};
};

// In this order: what comes first explains what comes later. pip goes on without an index that it cannot reach, and
// then finds no version.
constexpr auto kMeanings = std::to_array<Meaning>({
    {{"No space left on device", "Disk quota exceeded", "[Errno 28]"},
     "the disk is full",
     "make room where the packages lie, and try again"},
    {{"DO NOT MATCH THE HASHES", "HashMismatch", "Expected sha256"},
     "a package does not have the contents that its digest says",
     "do not use it before it is known why: the registry, or something on the way, gave other bytes"},
    {{"has inconsistent", "Invalid wheel", "has an invalid wheel", "BadZipFile", "outside target directory",
      "UnsupportedWheel", "is not a valid wheel"},
     "a package is no proper wheel",
     "choose another version, and tell its author"},
    {{"CERTIFICATE_VERIFY_FAILED", "certificate verify failed"},
     "the registry's certificate is not believed",
     "name your organisation's certificates with `cert` in pip.conf"},
    {{"401 Error", "401 Client Error", "403 Error", "403 Client Error", "User for "},
     "the registry refuses this user",
     "check the credentials in pip.conf, uv.toml or .netrc"},
    {{"ConnectTimeoutError", "NewConnectionError", "ReadTimeoutError", "RemoteDisconnected", "NameResolutionError",
      "Connection broken", "Max retries exceeded", "Connection reset"},
     "the registry cannot be reached",
     "check the network, and which index pip.conf, uv.toml or the environment names; what is installed already goes on "
     "working"},
    {{"IncompleteRead", "502 Server Error", "503 Server Error", "504 Server Error", "Connection aborted"},
     "the registry cannot be reached",
     "check the network, and which index pip.conf, uv.toml or the environment names; what is installed already goes on "
     "working"},
    {{"ERROR: ResolutionImpossible", "conflicting dependencies"},
     "the packages that it needs contradict each other",
     "choose another version"},
    {{"no such option", "unrecognized arguments"}, "this pip is too old", "use pip 22.2 or newer"},
});

bool has(std::span<const std::string> lines, std::string_view mark) {
  return !mark.empty() &&
         std::ranges::any_of(lines, [mark](const std::string& line) { return line.find(mark) != std::string::npos; });
}

// "HTTPSConnectionPool(host='files.example', port=443): Max retries exceeded": a host that is not to be reached.
std::string foreign_host(std::span<const std::string> lines, const std::function<bool(std::string_view)>& is_ours) {
  constexpr std::string_view kStart = "ConnectionPool(host='";
  for (const std::string& line : lines) {
    const std::size_t at = line.find(kStart);
    if (at == std::string::npos) {
      continue;
    }
    const std::string rest = line.substr(at + kStart.size());
    const std::string host = rest.substr(0, rest.find('\''));
    constexpr std::string_view kPort = "', port=";
    const std::size_t port = rest.find(kPort);
    const std::string digits =
        port == std::string::npos ? "" : rest.substr(port + kPort.size(), rest.find(')') - port - kPort.size());
    if (const std::string place = text::cat(host, ':', digits); !is_ours(place)) {
      return place;
    }
  }
  return {};
}

// "ERROR: No matching distribution found for srv==1.0": the requirement, or nothing.
std::string missing_requirement(std::span<const std::string> lines) {
  static constexpr std::string_view kMissing = "No matching distribution found for ";
  const auto line = std::ranges::find_if(lines, [](const std::string& one) { return one.contains(kMissing); });
  return line == lines.end() ? std::string() : line->substr(line->find(kMissing) + kMissing.size());
}

// With the name of what is missing in it, so that it can be typed as it stands.
std::string remedy_for(std::string_view remedy, std::span<const std::string> lines) {
  constexpr std::string_view kName = "PACKAGE";
  const std::string requirement = missing_requirement(lines);
  const std::string name = requirement.substr(0, requirement.find_first_of("=<>!~[ ;(@"));
  const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
  const std::size_t at = remedy.find(kName);
  return at == std::string_view::npos || !plain
             ? std::string(remedy)
             : text::cat(remedy.substr(0, at), name, remedy.substr(at + kName.size()));
}

// And what pip passed over before it said so.
std::optional<Meaning> why_missing(std::span<const std::string> lines) {
  const std::string requirement = missing_requirement(lines);
  if (requirement.empty()) {
    return std::nullopt;
  }
  const std::size_t equals = requirement.find("==");
  const std::string version =
      equals == std::string::npos ? std::string() : requirement.substr(equals + 2, requirement.find(' ') - equals - 2);
  const bool none = has(lines, "(from versions: none)");
  const auto passed_over = [&](std::string_view mark, std::string_view before, std::string_view after) {
    return std::ranges::any_of(lines, [&](const std::string& one) {
      return one.contains(mark) && (none || (!version.empty() && one.contains(text::cat(before, version, after))));
    });
  };
  if (passed_over("No sources permitted", "-", ".")) {
    return Meaning{{},
                   "something that it needs is there as source only, and building that would run its code",
                   "choose another version or package: only wheels are installed"};
  }
  if (passed_over("require a different python version", " ", " Requires") ||
      passed_over("requires a different Python", "-", "-")) {
    return Meaning{{},
                   "it needs another version of Python",
                   "put that python3 first in PATH, or choose another version of the package"};
  }
  return Meaning{{},
                 "the registry has no such package or version, or no wheel of it for this Python and machine",
                 "look which there are: python3 -m pip index versions PACKAGE"};
}

}  // namespace

Error pip_failure(std::string_view package, int status, std::span<const std::string> lines,
                  const std::function<bool(std::string_view host)>& is_ours) {
  const std::string where = text::cat("pip, for ", text::printable(package, 300));
  const std::string host = foreign_host(lines, is_ours);
  if (!host.empty() && !has(lines, kMeanings[0].marks[0])) {
    return {Errc::launch_failed, text::cat("it was led to ", text::printable(host, 200), ", which is not the registry"),
            where,
            text::cat("if the registry's files lie there, say so in pip.conf: [mcp-cordon] file-hosts = ",
                      text::printable(host, 200))};
  }
  for (const Meaning& meaning : kMeanings) {
    if (std::ranges::any_of(meaning.marks, [lines](std::string_view mark) { return has(lines, mark); })) {
      return {Errc::launch_failed, std::string(meaning.detail), where, std::string(meaning.remedy)};
    }
  }
  if (const auto missing = why_missing(lines)) {
    return {Errc::launch_failed, std::string(missing->detail), where, remedy_for(missing->remedy, lines)};
  }
  std::vector<std::string> said;
  std::ranges::copy_if(lines, std::back_inserter(said),
                       [](const std::string& line) { return line.starts_with("ERROR"); });
  if (said.empty()) {
    said.assign(lines.begin(), lines.end());
  }
  if (said.size() > 8) {
    said.erase(said.begin(), said.end() - 8);
  }
  return {Errc::launch_failed, text::cat("it ended with status ", status, ": ", text::join(said, " | ")), where, ""};
}

}  // namespace cordon::app
