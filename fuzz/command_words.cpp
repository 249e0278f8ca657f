// SPDX-License-Identifier: Apache-2.0
// Any lines as the words of a command. Oracle: what is found is a part of the words, a pinned package names a version
// that holds no range, and looking twice gives the same.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "clients/package_spec.hpp"
#include "clients/secrets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cordon;
  const std::string text(data, data + size);
  std::vector<std::string> command;
  for (const std::string_view line : text::split(text, '\n')) {
    command.emplace_back(line);
  }
  const auto spec = clients::detect(command);
  CORDON_ASSERT(spec == clients::detect(command));
  if (spec) {
    CORDON_ASSERT(!spec->written.empty() && text.find(spec->name) != std::string::npos);
    CORDON_ASSERT(spec->arguments.size() < clients::innermost(command).size());
    if (spec->pinned) {
      CORDON_ASSERT(spec->registry && !spec->version.empty());
      CORDON_ASSERT(spec->version.find_first_of("^~*<> |,") == std::string::npos || spec->version.starts_with("=="));
      CORDON_ASSERT(spec->version != "latest");
    }
  }
  clients::dangers(command);
  clients::Entry entry;
  entry.command = command;
  for (const clients::Secret& secret : clients::secrets_in(entry)) {
    CORDON_ASSERT(!secret.value.empty() && !secret.where.empty());
  }
  return 0;
}
