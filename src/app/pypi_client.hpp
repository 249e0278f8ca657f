// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the user's uv or pip gets packages of PyPI from, and what is to be believed of the other side: from the files
// and variables that these read, save those of the current directory.

#include <map>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/registry_url.hpp"
#include "base/error.hpp"
#include "base/mask.hpp"
#include "egress/plan.hpp"
#include "formats/netrc.hpp"

namespace cordon::app {

struct PypiSettings {
  std::string index = {};                       // empty: PyPI
  std::vector<std::string> more = {};           // further indexes
  std::vector<std::string> file_hosts = {};     // where their files lie besides
  std::vector<std::string> trusted_hosts = {};  // asked without TLS, or with any certificate
  std::string proxy = {};
  std::string client_certificate = {};
  bool no_index = false;
  std::vector<formats::NetrcEntry> netrc = {};
};

struct PypiClient {
  std::string index = {};                         // as shown: without credentials
  std::vector<Url> hosts = {};                    // of indexes and files
  egress::Rules network = {};                     // these and nothing else, or the proxy
  std::vector<std::string> environment = {};      // NAME=value for pip; credentials are among the values
  std::vector<NamedSecret> secrets = {};          // to be masked
  std::map<std::string, std::string> files = {};  // name in the private home → content

  // Is this the address of a file at one of the hosts?
  bool serves(const std::string& url) const;
  // "HOST:PORT": one of the hosts, or the proxy?
  bool reaches(std::string_view place) const;
};

// policy_invalid for settings that this version cannot keep inside a sandbox.
Result<PypiClient> pypi_client(const Caller& caller);

// The pure half: what follows from settings.
Result<PypiClient> pypi_client_of(const PypiSettings& settings);

}  // namespace cordon::app
