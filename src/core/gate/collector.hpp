// SPDX-License-Identifier: Apache-2.0
#pragma once
// The client side of `capture` and `review`: opens a server, declares every client capability, walks all lists, and
// ends with the catalog. Pure, like Session; feed it the server's stdout only.

#include <memory>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/time.hpp"
#include "core/catalog/catalog.hpp"
#include "core/gate/action.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

enum class Opening : std::uint8_t { initialize, discover };

struct CollectorConfig {
  policy::Policy policy = {};
  Opening opening = Opening::initialize;
  std::string version = {};  // of mcp-cordon, for clientInfo
  std::int64_t answer_timeout_ms = 30'000;
};

class Collector {
 public:
  explicit Collector(CollectorConfig config);
  ~Collector();
  Collector(Collector&&) noexcept;

  Actions start(Instant now);
  Actions feed(std::string_view server_bytes, Instant now);  // Stop comes once, when done or failed
  Actions end(Instant now);
  Actions exited(ExitReport report, Instant now);
  Actions tick(Instant now);
  std::optional<Instant> next_deadline() const;

  // After Stop: the catalog, or why there is none. method_not_allowed when the server refused this opening, so that the
  // caller may try the other one in a new process.
  Result<catalog::Catalog> take_result();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cordon::gate
