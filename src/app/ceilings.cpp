// SPDX-License-Identifier: Apache-2.0
#include "app/ceilings.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "app/expand.hpp"
#include "app/paths.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "formats/ceiling_yaml.hpp"
#include "formats/yaml.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxCeilingBytes = 1'000'000;
constexpr const char* kCeilingVariable = "MCP_CORDON_CEILING";
constexpr std::size_t kMaxShown = 20;

struct OpenedCeiling {
  run::TrustedFile file = {};
  std::string spelled = {};
};

Result<OpenedCeiling> open_named(const std::string& path) {
  Result<run::TrustedFile> file = run::read_trusted(path, {.max_bytes = kMaxCeilingBytes});
  if (!file) {
    Error error = std::move(file.error());
    error.detail = text::cat("a ceiling that was named cannot be used: ", error.detail);
    return std::unexpected(std::move(error));
  }
  std::error_code ignored;  // without a working directory the resolved path has to do
  const std::string spelled = std::filesystem::absolute(path, ignored).string();
  return OpenedCeiling{std::move(*file), spelled};
}

// The files in force with what they hold.
Result<std::vector<OpenedCeiling>> open_all(const Caller& caller, const std::vector<std::string>& named) {
  std::vector<std::string> paths = named;
  if (const auto variable = caller.environment.find(kCeilingVariable);
      variable != caller.environment.end() && !variable->second.empty()) {
    paths.push_back(variable->second);
  }
  std::vector<OpenedCeiling> out;
  for (const std::string& path : paths) {
    Result<OpenedCeiling> opened = open_named(path);
    if (!opened) {
      return std::unexpected(std::move(opened.error()));
    }
    out.push_back(std::move(*opened));
  }
  const std::string of_system = caller.system_config + "/ceiling.yaml";
  Result<std::optional<run::TrustedFile>> system =
      run::read_trusted_if_present(of_system, {.max_bytes = kMaxCeilingBytes});
  if (!system) {
    return std::unexpected(std::move(system.error()));
  }
  if (*system) {
    out.push_back({std::move(**system), of_system});
  }
  return out;
}

// The folders before the first wildcard as they are on this machine; what a wildcard stands for is compared as it is.
Result<std::string> resolved_glob(const std::string& glob, const Caller& caller) {
  Result<std::string> expanded = expand_home(glob, caller.home);
  if (!expanded) {
    return expanded;
  }
  const std::size_t wildcard = expanded->find_first_of("*?");
  const std::size_t cut = wildcard == std::string::npos ? wildcard : expanded->rfind('/', wildcard);
  const std::string folder = cut == 0 ? "/" : expanded->substr(0, cut);
  std::string out = resolved(folder);
  if (cut != std::string::npos) {
    out = normalised(text::cat(out, '/', expanded->substr(cut)));
  }
  // A folder whose own name holds such a character would turn into a glob that accepts more.
  const auto is_wildcard = [](char c) { return c == '*' || c == '?'; };
  if (std::ranges::count_if(out, is_wildcard) != std::ranges::count_if(glob, is_wildcard)) {
    return fail(Errc::policy_invalid,
                text::cat("the path leads to '", text::printable(out), "', whose name holds a * or ?"), {},
                "name a folder without them");
  }
  return out;
}

Result<LoadedCeiling> resolve(const OpenedCeiling& opened, policy::Ceiling ceiling, const Caller& caller) {
  for (const policy::CeilingKey& key : policy::ceiling_keys()) {
    const auto limit = ceiling.limits.find(key.path());
    if (key.kind != policy::LimitKind::paths || limit == ceiling.limits.end()) {
      continue;
    }
    for (policy::Limit::Item& item : limit->second.items) {
      Result<std::string> path = resolved_glob(item.text, caller);
      if (!path) {
        path.error().where = yaml::where(ceiling.file, item.position);
        return std::unexpected(std::move(path.error()));
      }
      item.text = std::move(*path);
    }
  }
  return LoadedCeiling{std::move(ceiling), sha256_text(opened.file.content), opened.spelled};
}

// As they will be opened. A path that leads elsewhere is refused at the launch; here it counts with where it leads.
policy::Policy with_resolved_paths(policy::Policy policy, const Caller& caller) {
  const auto resolve_path = [&caller](std::string& path) {
    if (const Result<std::string> expanded = expand_home(path, caller.home)) {
      path = resolved(*expanded);
    }
  };
  for (auto* grants : {&policy.isolation.read, &policy.isolation.write, &policy.isolation.unix_sockets}) {
    for (policy::Grant& grant : *grants) {
      resolve_path(grant.path);
    }
  }
  for (auto& [name, secret] : policy.launch.secrets) {
    if (secret.source == policy::Secret::Source::file) {
      resolve_path(secret.from);
    }
  }
  return policy;
}

}  // namespace

Result<std::vector<LoadedCeiling>> load_ceilings(const Caller& caller, const std::vector<std::string>& named) {
  const Result<std::vector<OpenedCeiling>> files = open_all(caller, named);
  if (!files) {
    return std::unexpected(files.error());
  }
  std::vector<LoadedCeiling> out;
  for (const OpenedCeiling& opened : *files) {
    Result<policy::Ceiling> ceiling = formats::read_ceiling(opened.file.content, opened.file.path);
    if (!ceiling) {
      return std::unexpected(std::move(ceiling.error()));
    }
    Result<LoadedCeiling> loaded = resolve(opened, std::move(*ceiling), caller);
    if (!loaded) {
      return std::unexpected(std::move(loaded.error()));
    }
    out.push_back(std::move(*loaded));
  }
  return out;
}

std::vector<Error> check_ceilings(const Caller& caller, const std::vector<std::string>& named) {
  const Result<std::vector<OpenedCeiling>> files = open_all(caller, named);
  if (!files) {
    return {files.error()};
  }
  std::vector<Error> out;
  for (const OpenedCeiling& opened : *files) {
    std::ranges::move(formats::check_ceiling(opened.file.content, opened.file.path), std::back_inserter(out));
  }
  return out;
}

std::vector<Error> excesses(const Caller& caller, const policy::Policy& policy, std::string_view text,
                            const std::vector<LoadedCeiling>& ceilings) {
  std::vector<Error> out;
  if (ceilings.empty()) {
    return out;
  }
  const policy::Policy compared = with_resolved_paths(policy, caller);
  const policy::Places places = formats::policy_places(text, policy.file);
  for (const LoadedCeiling& loaded : ceilings) {
    for (const policy::Excess& excess : policy::compare(compared, places, loaded.ceiling)) {
      out.push_back({Errc::isolation_conflict,
                     text::cat(excess.key, ": ", excess.asked, "; the ceiling ",
                               yaml::where(loaded.ceiling.file, excess.most_at), " ", excess.most),
                     yaml::where(policy.file, excess.asked_at),
                     "ask for less, or let whoever keeps the ceiling accept more"});
    }
  }
  return out;
}

Error joined(const std::vector<Error>& excesses) {
  CORDON_ASSERT(!excesses.empty());
  // Both places stand in the detail: that is what a client is told.
  Error out{excesses.front().code, {}, {}, excesses.front().remedy};
  for (std::size_t i = 0; i < std::min(excesses.size(), kMaxShown); ++i) {
    out.detail += text::cat(i == 0 ? "" : " | ", excesses[i].where, ": ", excesses[i].detail);
  }
  if (excesses.size() > kMaxShown) {
    out.detail += text::cat(" | and ", excesses.size() - kMaxShown, " more; mcp-cordon check shows them");
  }
  return out;
}

}  // namespace cordon::app
