// SPDX-License-Identifier: Apache-2.0
#include "run/proxy.hpp"

#include <utility>

#include "run/conversation.hpp"

namespace cordon::run {
namespace {

constexpr std::size_t kReadBytes = 131'072;

}  // namespace

Conversation::Conversation(const ProxyConfig& config, std::unique_ptr<Loop> loop, Engine& engine, RecordSink& records,
                           Log& log)
    : config_(config),
      engine_(engine),
      records_(records),
      log_(log),
      loop_(std::move(loop)),
      buffer_(kReadBytes),
      timer_(*loop_, [this] { timer(); }),
      signals_(*loop_, [this](int number) { caught(number); }) {}

Status Conversation::connect(ProxyConfig& config) {
  if (config.client_in >= 0) {
    client_in_ = std::make_unique<Source>(*loop_, Endpoint::shared_reader(config.client_in), buffer_,
                                          Source::Events{[this](std::string_view bytes) { client_bytes(bytes); },
                                                         [this] { client_end(); }, [this] { client_hangup(); }});
  }
  if (config.client_out >= 0) {
    client_out_ = std::make_unique<Sink>(*loop_, Endpoint::shared_writer(config.client_out), [this] { settle(); });
  }
  if (config.server.pid < 0) {
    return {};
  }
  if (Status connected = connect_server(config.server); !connected) {
    return connected;
  }
  if (config.egress) {
    egress_ = std::make_unique<EgressBroker>(*loop_, std::move(*config.egress), egress_output());
  }
  child_ = std::make_unique<Child>(*loop_, config.server.pid, std::move(config.server.lifeline),
                                   [this](gate::ExitReport report) { server_exit(report); });
  if (config.spare) {
    spare_ = std::exchange(config.spare, std::nullopt);
    child_->expect(spare_->process.pid);
    spare_until_ = now() + config_.spare_ms;
  }
  return {};
}

EgressOutput Conversation::egress_output() {
  return {[this](std::string_view body) { return egress_record(body); },
          [this](std::string_view line) { log_.notice(line, now()); }};
}

Status Conversation::connect_server(ServerProcess& server) {
  auto in = Endpoint::own(std::move(server.in));
  auto out = Endpoint::own(std::move(server.out));
  auto err = Endpoint::own(std::move(server.err));
  if (!in || !out || !err) {
    return std::unexpected(!in ? in.error() : !out ? out.error() : err.error());
  }
  server_in_ = std::make_unique<Sink>(*loop_, std::move(*in), [this] { settle(); });
  server_out_ = std::make_unique<Source>(
      *loop_, std::move(*out), buffer_,
      Source::Events{[this](std::string_view bytes) { server_bytes(bytes); }, [this] { server_end(); }, [] {}});
  server_err_ = std::make_unique<Source>(*loop_, std::move(*err), buffer_,
                                         Source::Events{[this](std::string_view bytes) {
                                                          log_.server_bytes(bytes, now());
                                                          settle();
                                                        },
                                                        [this] {
                                                          log_.server_end(now());
                                                          settle();
                                                        },
                                                        [] {}});
  notes_ = std::move(server.notes);
  return {};
}

Result<int> run_proxy(ProxyConfig config, Engine& engine, RecordSink& records, Log& log) {
  auto loop = Loop::create();
  if (!loop) {
    return std::unexpected(loop.error());
  }
  Conversation conversation(config, std::move(*loop), engine, records, log);
  if (Status connected = conversation.connect(config); !connected) {
    return std::unexpected(connected.error());
  }
  if (config.before_first_byte) {
    if (Status ready = config.before_first_byte(); !ready) {
      conversation.abandon();
      return std::unexpected(ready.error());
    }
  }
  return conversation.run();
}

}  // namespace cordon::run
