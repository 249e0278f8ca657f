// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of launch.environment.secrets. They exist in memory and in the server's environment, nowhere else.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

// How a secret's file is opened: the trust checks of product §3 apply to it. Tests give their own.
using ReadTrusted = std::function<Result<std::string>(const std::string& path)>;

// As run::read_trusted does.
ReadTrusted trusted_secret_files();

// NAME → value. A source that gives nothing is an error: a server that runs without its token fails later and worse.
// Trailing line ends are cut from files and commands, as a shell does. No error text holds a value.
Result<std::map<std::string, std::string>> read_secrets(const policy::Policy& policy, const Caller& caller,
                                                        const ReadTrusted& read_trusted);

// For check: one source, as far as that can be known without running a program. A variable is not asked for: the
// client's configuration may set it. The file must hold something; of a command, the program and its files are judged.
Status look_at_secret(std::string_view name, const policy::Secret& secret, const Caller& caller,
                      const ReadTrusted& read_trusted);

}  // namespace cordon::app
