// SPDX-License-Identifier: Apache-2.0
#include "app/npm_errors.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

struct Meaning {
  std::string_view codes = {};  // separated by spaces
  std::string_view detail = {};
  std::string_view remedy = {};
};

constexpr auto kMeanings = std::to_array<Meaning>({
    {"EINTEGRITY", "a package does not have the contents that its digest says",
     "do not use it before it is known why: the registry, or something on the way, gave other bytes"},
    {"ETARGET ENOVERSIONS", "the registry has no such version",
     "look which versions there are: npm view PACKAGE versions"},
    {"E404", "the registry knows no such package, or does not show it to this user",
     "check the name, and the token in .npmrc"},
    {"E401 E403 ENEEDAUTH EOTP", "the registry refuses this user", "npm login, or check the token in .npmrc"},
    {"ENOGIT", "it needs a repository, which has no digest", "choose another package or version"},
    {"ENOTFOUND EAI_AGAIN ECONNREFUSED ECONNRESET ECONNABORTED ETIMEDOUT ESOCKETTIMEDOUT ENETUNREACH ENETDOWN "
     "EHOSTUNREACH EADDRNOTAVAIL ERR_SOCKET_TIMEOUT FETCH_ERROR EPIPE EPROTO",
     "the registry cannot be reached",
     "check the network, and what .npmrc names as registry; what is installed already goes on working"},
    {"E500 E502 E503 E504 E429", "the registry cannot answer now",
     "try again later; what is installed already goes on working"},
    {"ENOSPC EDQUOT EFBIG", "the disk is full", "make room where the packages lie, and try again"},
    {"EBADENGINE", "a package needs another version of node",
     "install that node, or choose another version of the package"},
    {"ERESOLVE", "the packages that it needs contradict each other", "choose another version"},
    {"EUNSUPPORTEDPROTOCOL", "it needs something that no registry has", "choose another package"},
    {"EBADPLATFORM", "it is not made for this machine", "choose another version or package"},
    {"EUSAGE", "the recorded lock file and the package do not belong together",
     "mcp-cordon update NAME makes a new one"},
    {"UNABLE_TO_GET_ISSUER_CERT_LOCALLY SELF_SIGNED_CERT_IN_CHAIN DEPTH_ZERO_SELF_SIGNED_CERT CERT_HAS_EXPIRED",
     "the registry's certificate is not believed", "name your organisation's certificates with cafile in .npmrc"},
});

bool has_word(std::string_view words, std::string_view word) {
  return std::ranges::any_of(text::split(words, ' '), [word](std::string_view one) { return one == word; });
}

// "npm error code E404", in older versions "npm ERR! code E404"
std::string_view code_of(std::string_view line) {
  for (const std::string_view start : {std::string_view("npm error code "), std::string_view("npm ERR! code ")}) {
    if (line.starts_with(start)) {
      return line.substr(start.size());
    }
  }
  return {};
}

bool is_talk(std::string_view line) {
  return line.starts_with("npm http ") || line.starts_with("npm warn ") || line.starts_with("npm WARN ");
}

// With the name of the package in it, so that it can be typed as it stands.
std::string remedy_for(std::string_view remedy, std::string_view package) {
  constexpr std::string_view kName = "PACKAGE";
  const std::size_t at = remedy.find(kName);
  const auto named = policy::read_npm_name(package);
  if (at == std::string_view::npos || !named) {
    return std::string(remedy);
  }
  return text::cat(remedy.substr(0, at), named->package, remedy.substr(at + kName.size()));
}

std::optional<Error> known_failure(std::string_view code, const std::string& where, std::string_view package) {
  for (const Meaning& meaning : kMeanings) {
    if (!code.empty() && has_word(meaning.codes, code)) {
      return Error{Errc::launch_failed, text::cat(meaning.detail, " (", code, ")"), where,
                   remedy_for(meaning.remedy, package)};
    }
  }
  return std::nullopt;
}

}  // namespace

Error npm_failure(std::string_view package, int status, std::span<const std::string> lines) {
  const std::string where = text::cat("npm, for ", text::printable(package, 300));
  std::vector<std::string> said;
  for (const std::string& line : lines) {
    if (!is_talk(line)) {
      said.push_back(line);
    }
  }
  std::string code;
  for (const std::string& line : said) {
    code = code_of(line).empty() ? code : std::string(code_of(line));
    if (line.find(kNoGit) != std::string::npos) {
      return *known_failure("ENOGIT", where, package);
    }
    // npm takes it for a fault of the network when it happens while something is fetched.
    for (const std::string_view full : {std::string_view("ENOSPC"), std::string_view("EDQUOT")}) {
      if (line.find(full) != std::string::npos) {
        return *known_failure(full, where, package);
      }
    }
  }
  if (said.size() > 8) {
    said.erase(said.begin(), said.end() - 8);
  }
  if (auto known = known_failure(code, where, package)) {
    return std::move(*known);
  }
  return {Errc::launch_failed, text::cat("it ended with status ", status, ": ", text::join(said, " | ")), where, ""};
}

}  // namespace cordon::app
