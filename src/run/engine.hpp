// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the proxy drives, seen from its side: gate::Session, gate::Collector, or a fake in a test; and where records go.

#include <optional>
#include <string_view>

#include "audit/writer.hpp"
#include "base/error.hpp"
#include "base/time.hpp"
#include "core/gate/action.hpp"

namespace cordon::run {

class Engine {
 public:
  virtual ~Engine() = default;
  virtual gate::Actions start(Instant now) = 0;
  virtual gate::Actions feed(gate::Side from, std::string_view bytes, Instant now) = 0;
  virtual gate::Actions end(gate::Side from, Instant now) = 0;
  virtual gate::Actions exited(gate::ExitReport report, Instant now) = 0;
  // The second server runs, or why it does not.
  virtual gate::Actions respawned(const Status&, Instant) { return {}; }
  virtual gate::Actions terminate(Instant now) = 0;
  virtual gate::Actions audit_failed(Instant now) = 0;
  // A decision of a person on another terminal.
  virtual gate::Actions approval(std::string_view, Instant) { return {}; }
  virtual gate::Actions tick(Instant now) = 0;
  virtual std::optional<Instant> next_deadline() const = 0;
};

// Fits both shapes of core/gate: Session, with two sides, and Collector, which knows only the server. A Collector has
// no terminate() and audit_failed(): it just stops.
template <typename Core>
class EngineOf final : public Engine {
 public:
  explicit EngineOf(Core& core) : core_(core) {}

  gate::Actions start(Instant now) override {
    if constexpr (requires { core_.start(now); }) {
      return core_.start(now);
    } else {
      return {};
    }
  }
  gate::Actions feed(gate::Side from, std::string_view bytes, Instant now) override {
    if constexpr (requires { core_.feed(from, bytes, now); }) {
      return core_.feed(from, bytes, now);
    } else {
      return from == gate::Side::server ? core_.feed(bytes, now) : gate::Actions();
    }
  }
  gate::Actions end(gate::Side from, Instant now) override {
    if constexpr (requires { core_.end(from, now); }) {
      return core_.end(from, now);
    } else {
      return from == gate::Side::server ? core_.end(now) : gate::Actions();
    }
  }
  gate::Actions exited(gate::ExitReport report, Instant now) override { return core_.exited(report, now); }
  gate::Actions respawned(const Status& how, Instant now) override {
    if constexpr (requires { core_.respawned(how, now); }) {
      return core_.respawned(how, now);
    } else {
      return {};
    }
  }
  gate::Actions terminate(Instant now) override {
    if constexpr (requires { core_.terminate(now); }) {
      return core_.terminate(now);
    } else {
      return stop(Errc::timed_out);
    }
  }
  gate::Actions audit_failed(Instant now) override {
    if constexpr (requires { core_.audit_failed(now); }) {
      return core_.audit_failed(now);
    } else {
      return stop(Errc::audit_unavailable);
    }
  }
  gate::Actions approval(std::string_view line, Instant now) override {
    if constexpr (requires { core_.approval(line, now); }) {
      return core_.approval(line, now);
    } else {
      return {};
    }
  }
  gate::Actions tick(Instant now) override { return core_.tick(now); }
  std::optional<Instant> next_deadline() const override { return core_.next_deadline(); }

 private:
  static gate::Actions stop(Errc code) {
    gate::Actions actions;
    actions.emplace_back(gate::Stop{exit_status(code)});
    return actions;
  }
  Core& core_;
};

// Where the bodies of Record go.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual Status append(std::string_view body) = 0;
  virtual Status flush() = 0;
  virtual std::optional<Instant> next_deadline() const = 0;
};

class AuditSink final : public RecordSink {
 public:
  explicit AuditSink(audit::Writer& writer) : writer_(writer) {}
  Status append(std::string_view body) override { return writer_.append(body); }
  Status flush() override { return writer_.flush(); }
  std::optional<Instant> next_deadline() const override { return writer_.next_deadline(); }

 private:
  audit::Writer& writer_;
};

}  // namespace cordon::run
