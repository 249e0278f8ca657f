// SPDX-License-Identifier: Apache-2.0
#include "app/image_engine.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "app/grants.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "sandbox/container_client.hpp"
#include "sandbox/container_command.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::app {
namespace {

constexpr int kLookMs = 60'000;
constexpr int kPullMs = 30 * 60'000;

// How registries are reached; nothing that could name another engine or another place for images.
constexpr auto kOfRegistries = std::to_array<std::string_view>(
    {"REGISTRY_AUTH_FILE", "CONTAINERS_REGISTRIES_CONF", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY",
     "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"});

sandbox::ToolOutput ask(const Caller& caller, const ImageEngine& engine, std::vector<std::string> words, bool errors,
                        int patience_ms) {
  sandbox::ToolRun run;
  run.argv = std::move(words);
  run.argv.insert(run.argv.begin(), engine.path);
  run.environment = sandbox::container_client_environment(caller.home);
  for (const std::string_view name : kOfRegistries) {
    if (const auto found = caller.environment.find(std::string(name)); found != caller.environment.end()) {
      run.environment.push_back(text::cat(name, '=', found->second));
    }
  }
  run.errors = errors;
  run.patience_ms = patience_ms;
  return sandbox::run_tool(run);
}

std::string last_line(std::string_view text) {
  std::string out;
  for (const std::string_view line : text::split(text, '\n')) {
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      out = text::printable(line.starts_with("Error: ") ? line.substr(7) : line, 600);
    }
  }
  return out;
}

std::string remedy_for(const ImageEngine& engine, const std::string& reference, std::string_view said) {
  const std::string lower = text::lower_ascii(said);
  const auto says = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (says("http response to https client")) {
    return engine.name == "podman"
               ? "the registry speaks plain HTTP; podman takes that for a [[registry]] of registries.conf with "
                 "insecure = true"
               : "the registry speaks plain HTTP; docker takes that for insecure-registries of its daemon";
  }
  if (says("manifest unknown") || says("not found") || says("name unknown")) {
    return "the registry has no such image any more, or never had; what is installed stays";
  }
  if (says("unauthorized") || says("authentication required") || says("denied")) {
    return text::cat("log in: ", engine.name, " login ", reference.substr(0, reference.find('/')));
  }
  if (says("cannot connect to the docker daemon") || says("docker daemon running")) {
    return "start the docker daemon, or set isolation.backend: podman";
  }
  return text::cat("see why: ", engine.name, " pull ", reference);
}

Result<std::string> pulled(const Caller& caller, const ImageEngine& engine, const std::string& reference) {
  // Not --quiet: docker then keeps the digest to itself.
  const sandbox::ToolOutput said = ask(caller, engine, {"pull", reference}, true, kPullMs);
  if (said.status == 0) {
    return said.text;
  }
  return fail(said.timed_out ? Errc::timed_out : Errc::launch_failed,
              text::cat(engine.name, " could not fetch the image: ",
                        said.timed_out ? std::string("it took more than half an hour") : last_line(said.text)),
              text::printable(reference, 400), remedy_for(engine, reference, said.text));
}

struct Inspected {
  std::string id = {};
  std::string digest = {};                           // podman: of what is for this platform
  std::vector<std::string> repository_digests = {};  // "name@sha256:…"
};

Result<Inspected> inspect(const Caller& caller, const ImageEngine& engine, const std::string& reference) {
  const std::string format =
      text::cat("{{.Id}}\n", engine.name == "podman" ? "{{.Digest}}" : "", "\n{{range .RepoDigests}}{{.}}\n{{end}}");
  const sandbox::ToolOutput said =
      ask(caller, engine, {"image", "inspect", "--format", format, reference}, false, kLookMs);
  const std::vector<std::string_view> lines = text::split(said.text, '\n');
  if (said.status != 0 || lines.size() < 2) {
    return fail(Errc::launch_failed, text::cat(engine.name, " does not have this image"),
                text::printable(reference, 400));
  }
  Inspected out{std::string(lines[0]), std::string(lines[1]), {}};
  for (std::size_t i = 2; i < lines.size(); ++i) {
    if (!lines[i].empty()) {
      out.repository_digests.emplace_back(lines[i]);
    }
  }
  return out;
}

// What docker says at the end of a pull: "Digest: sha256:…".
std::string said_digest(std::string_view text) {
  for (const std::string_view line : text::split(text, '\n')) {
    if (line.starts_with("Digest: sha256:")) {
      return std::string(line.substr(8));
    }
  }
  return {};
}

}  // namespace

Result<ImageEngine> image_engine(const LoadedPolicy& loaded) {
  const policy::Backend backend = loaded.policy.isolation.backend;
  const std::string where = place_in(loaded.policy, loaded.policy.launch.source->position);
  if (backend != policy::Backend::podman && backend != policy::Backend::docker) {
    return fail(Errc::policy_invalid, "launch.source is an image, which this backend cannot start", where,
                "set isolation.backend: podman or docker");
  }
  ImageEngine out{backend == policy::Backend::podman ? "podman" : "docker", {}};
  out.path = sandbox::find_system_tool(out.name);
  if (out.path.empty()) {
    return fail(Errc::unsupported_isolation, text::cat(out.name, " is not installed"), where,
                text::cat("install ", out.name));
  }
  return out;
}

std::string image_reference(std::string_view package, std::string_view digest) {
  return text::cat(policy::image_parts(package).repository, '@', digest);
}

bool has_image(const Caller& caller, const ImageEngine& engine, const std::string& reference) {
  return inspect(caller, engine, reference).has_value();
}

Status pull_image(const Caller& caller, const ImageEngine& engine, const std::string& reference) {
  const Result<std::string> said = pulled(caller, engine, reference);
  return said ? Status() : std::unexpected(said.error());
}

Result<ResolvedImage> resolve_image(const Caller& caller, const ImageEngine& engine, const std::string& package) {
  const policy::ImageParts parts = policy::image_parts(package);
  const std::string reference = text::cat(parts.repository, ':', parts.tag.empty() ? "latest" : parts.tag);
  const Result<std::string> said = pulled(caller, engine, reference);
  if (!said) {
    return std::unexpected(said.error());
  }
  const Result<Inspected> found = inspect(caller, engine, reference);
  if (!found) {
    return std::unexpected(found.error());
  }
  std::set<std::string> digests;
  std::string repository = parts.repository;
  for (const std::string& one : found->repository_digests) {
    const auto name = policy::read_image_name(one);
    if (name && policy::same_image(name->package, parts.repository)) {
      digests.insert(name->version);
      repository = engine.name == "podman" ? name->package : repository;
    }
  }
  // Of the index, where there is one: that is what the registry calls by this tag.
  std::string digest = engine.name == "podman" ? found->digest : said_digest(*said);
  if (!digests.contains(digest)) {
    digest = digests.empty() ? std::string() : *digests.begin();  // each of them names what was fetched
  }
  const Result<Inspected> again = digest.empty() ? found : inspect(caller, engine, text::cat(repository, '@', digest));
  if (digest.empty() || !again || again->id != found->id) {
    return fail(Errc::launch_failed, text::cat(engine.name, " does not say which digest it fetched"),
                text::printable(reference, 400), "name the image by its digest: IMAGE@sha256:...");
  }
  return ResolvedImage{parts.tag.empty() ? repository : text::cat(repository, ':', parts.tag), digest};
}

}  // namespace cordon::app
