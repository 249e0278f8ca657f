// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a registry is, as the settings of a package tool say it, and what its sandbox may therefore reach.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "egress/plan.hpp"

namespace cordon::app {

struct Url {
  std::string scheme = {};       // "https" or "http"
  std::string credentials = {};  // "user:password", as written
  std::string host = {};
  std::uint16_t port = 0;
  std::string path = {};  // from the first slash
};

std::optional<Url> read_url(std::string_view text);

// With the port, a slash at the end, and no credentials.
std::string to_text(const Url& url);

// Inside, localhost is the sandbox's own; the address is answered from outside.
void leave_localhost(Url& url);

// Private addresses are admitted: a mirror at home stands in for the public registry in many networks. It is named by
// the user, or proven by its certificate, and the package tool alone is inside.
void allow_host(const Url& url, egress::Rules& network);

// The proxy's URL for inside, and a network that holds nothing else; which hosts it lets through is for the proxy to
// say. Nothing when `written` is no URL.
std::optional<std::string> through_proxy(const std::string& written, egress::Rules& network);

// The file's content under `name`, for the private home of the tool; nothing for an empty path.
Status copy_certificates(const std::string& path, std::string_view name, std::map<std::string, std::string>& files);

// Empty when it is not set.
std::string variable(const Caller& caller, const std::string& name);

}  // namespace cordon::app
