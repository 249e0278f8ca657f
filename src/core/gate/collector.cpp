// SPDX-License-Identifier: Apache-2.0
#include "core/gate/collector.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "core/catalog/interface.hpp"
#include "core/gate/handshake.hpp"
#include "core/gate/list_walk.hpp"
#include "core/gate/own_text.hpp"
#include "core/gate/records.hpp"
#include "core/json/write.hpp"
#include "core/policy/evaluate.hpp"
#include "core/wire/line_reader.hpp"
#include "core/wire/message.hpp"
#include "core/wire/names.hpp"
#include "core/wire/synth.hpp"

namespace cordon::gate {
namespace {

using catalog::ListKind;
using json::Kind;
using json::Value;
using wire::MessageKind;
using wire::Revision;

// Everything that a client can declare, so that the pin is the superset of what any client is shown.
constexpr std::string_view kEveryCapability =
    R"({"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}})";
constexpr std::int64_t kSettleMs = 300;  // some servers add tools right after notifications/initialized
constexpr std::int64_t kKillAfterMs = 700;

}  // namespace

class Collector::Impl {
 public:
  explicit Impl(CollectorConfig config)
      : config_(std::move(config)),
        limits_{config_.policy.messages.max_bytes, config_.policy.messages.max_depth},
        lines_(limits_.max_bytes) {}

  Actions start(Instant now) {
    now_ = now;
    ask(config_.opening == Opening::initialize ? "initialize" : "server/discover", opening_params());
    return take();
  }

  Actions feed(std::string_view bytes, Instant now) {
    now_ = now;
    if (!stopped_) {
      for (wire::LineEvent& event : lines_.feed(bytes)) {
        on_line(std::move(event));
      }
    }
    return take();
  }

  Actions end(Instant now) {
    now_ = now;
    finish(fail(Errc::server_exited, "the server closed its output before its catalog was complete"));
    return take();
  }

  Actions exited(ExitReport report, Instant now) {
    now_ = now;
    actions_.emplace_back(Record{exit_record(report)});
    finish(fail(Errc::server_exited,
                text::cat("the server ", report.signalled ? "was ended by signal " : "exited with status ", report.code,
                          " before its catalog was complete")));
    stop();
    return take();
  }

  Actions tick(Instant now) {
    now_ = now;
    if (settle_until_ && now >= *settle_until_) {
      settle_until_.reset();
      walk();
    }
    if (deadline_ && now >= *deadline_) {
      finish(fail(Errc::timed_out, text::cat("the server did not answer ", method_, " within ",
                                             config_.answer_timeout_ms / 1000, " s")));
    }
    if (kill_at_ && now >= *kill_at_) {
      kill_at_.reset();
      actions_.emplace_back(SignalServer{SignalServer::Kind::kill});
    }
    return take();
  }

  std::optional<Instant> next_deadline() const {
    std::optional<Instant> next;
    for (const auto& deadline : {settle_until_, deadline_, kill_at_}) {
      if (deadline && (!next || *deadline < *next)) {
        next = deadline;
      }
    }
    return stopped_ ? std::nullopt : next;
  }

  Result<catalog::Catalog> take_result() {
    if (!result_) {  // the driver ended it, for example because of a signal
      return fail(Errc::timed_out, "ended before the catalog was complete");
    }
    return std::move(*result_);
  }

 private:
  Actions take() { return std::exchange(actions_, {}); }

  void stop() {
    if (!std::exchange(stopped_, true)) {
      actions_.emplace_back(Stop{result_->has_value() ? 0 : exit_status(result_->error().code)});
    }
  }

  // Keeps the first verdict and ends the server; Stop comes when it is gone.
  void finish(Result<catalog::Catalog> result) {
    if (result_) {
      return;
    }
    result_ = std::move(result);
    deadline_.reset();
    settle_until_.reset();
    kill_at_ = now_ + kKillAfterMs;
    actions_.emplace_back(CloseServerInput{});
    actions_.emplace_back(SignalServer{SignalServer::Kind::terminate});
  }

  std::string meta() const {
    json::Writer w;
    w.begin_object().member(wire::kMetaVersion, wire::name(Revision::v2026_07_28));
    w.key(wire::kMetaClientInfo).begin_object().member("name", "mcp-cordon").member("version", config_.version);
    w.end_object().member_raw(wire::kMetaClientCapabilities, kEveryCapability).end_object();
    return w.take();
  }

  std::string opening_params() const {
    json::Writer w;
    w.begin_object();
    if (config_.opening == Opening::discover) {
      w.member_raw("_meta", meta()).end_object();
      return w.take();
    }
    w.member("protocolVersion", wire::name(Revision::v2025_11_25)).member_raw("capabilities", kEveryCapability);
    w.key("clientInfo").begin_object().member("name", "mcp-cordon").member("version", config_.version);
    w.end_object().end_object();
    return w.take();
  }

  void ask(std::string_view method, const std::string& params) {
    method_ = method;
    asked_ = wire::Id(text::cat(wire::kOwnIdPrefix, "capture/", ++count_));
    deadline_ = now_ + config_.answer_timeout_ms;
    actions_.emplace_back(ToServer{wire::request_line(*asked_, method, params)});
  }

  std::string own_meta() const { return config_.opening == Opening::discover ? meta() : std::string(); }

  bool lists() const { return catalog::list_kind_of_method(method_).has_value(); }

  void walk() { ask(catalog::names(kind()).method, list_.params(own_meta())); }

  ListKind kind() const { return catalog::kListKinds.at(at_); }

  void on_line(wire::LineEvent event) {
    if (result_) {
      return;
    }
    auto* line = std::get_if<wire::Line>(&event);
    if (line == nullptr) {
      finish(fail(Errc::message_too_large,
                  text::cat("the server wrote a line of more than ", limits_.max_bytes, " bytes")));
      return;
    }
    auto message = wire::parse(std::move(line->text), limits_);
    if (!message) {
      wire::Refused& refused = message.error();
      if (!refused.is_json_rpc) {
        actions_.emplace_back(Record{stray_record(refused.line)});
        actions_.emplace_back(Stray{std::move(refused.line)});
      } else if (refused.id == asked_ && !refused.has_method) {
        finish(std::unexpected(std::move(refused.error)));
      }
      return;
    }
    if (message->kind == MessageKind::request) {
      on_request(*message);
    } else if (message->id == asked_ && asked_) {
      on_answer(*message);
    } else if (lists() && message->method.ends_with("/list_changed")) {
      changed_ = true;  // of whichever list: a second look at this one does no harm
    }
  }

  void on_request(const wire::Message& message) {
    if (message.method == "ping") {
      actions_.emplace_back(ToServer{wire::result_line(*message.id, "{}")});
    } else if (message.method == "roots/list") {
      actions_.emplace_back(ToServer{wire::result_line(*message.id, R"({"roots":[]})")});
    } else if (message.method == "elicitation/create") {
      actions_.emplace_back(ToServer{wire::result_line(*message.id, R"({"action":"decline"})")});
    } else {
      actions_.emplace_back(ToServer{wire::error_line(*message.id, Errc::method_not_allowed, "not offered")});
    }
  }

  void on_answer(const wire::Message& message) {
    asked_.reset();
    deadline_.reset();
    if (message.kind == MessageKind::error) {
      const std::string code(message.error.find("code").raw());
      if (lists() && code == "-32601") {
        list_done();
        return;
      }
      if (method_ == "resources/read") {
        on_interface(Value());
        return;
      }
      if (lists() && kind() != ListKind::tools) {
        skip_list(message.error);
        return;
      }
      const Errc why = lists() ? Errc::catalog_invalid : Errc::method_not_allowed;
      finish(fail(why, text::cat("the server answered ", method_, " with error ", text::printable(code, 20), ": ",
                                 text::printable(message.error.find("message").string(), 200))));
      return;
    }
    if (lists()) {
      on_page(message.result);
    } else if (method_ == "resources/read") {
      on_interface(message.result);
    } else if (method_ == "initialize") {
      on_initialized(message.result);
    } else {
      on_discovered(message.result);
    }
  }

  void on_initialized(const Value& result) {
    const Value version = result.find("protocolVersion");
    if (!version.is(Kind::string) || !wire::revision_from_name(version.string())) {
      finish(fail(Errc::method_not_allowed, "the server chose a protocol version that is not known"));
      return;
    }
    versions_ = {version.string()};
    identity_ = read_identity(result, result.find("serverInfo"));
    actions_.emplace_back(ToServer{wire::notification_line("notifications/initialized", "")});
    after_opening(result);
  }

  void on_discovered(const Value& result) {
    for (const Value version : result.find("supportedVersions").elements()) {
      if (version.is(Kind::string)) {
        versions_.push_back(version.string());
      }
    }
    if (std::ranges::find(versions_, std::string(wire::name(Revision::v2026_07_28))) == versions_.end()) {
      finish(fail(Errc::method_not_allowed, "the server speaks no protocol version that is known"));
      return;
    }
    identity_ = read_identity(result, result.find("_meta").find(wire::kMetaServerInfo));
    after_opening(result);
  }

  void after_opening(const Value& result) {
    const Value offered = result.find("capabilities");
    for (const ListKind kind : catalog::kListKinds) {
      const std::string_view capability = kind == ListKind::templates ? "resources" : catalog::names(kind).member;
      offers_.at(static_cast<std::size_t>(kind)) = static_cast<bool>(offered.find(capability));
    }
    if (std::ranges::none_of(offers_, [](bool offer) { return offer; })) {
      complete();
      return;
    }
    at_ = static_cast<std::size_t>(std::ranges::find(offers_, true) - offers_.begin());
    list_ = ListWalk(kind(), config_.policy.catalog);
    settle_until_ = now_ + kSettleMs;
  }

  // Some servers ask a service for their resources and have none without a network: nothing of such a list is pinned,
  // so nothing of it will be served.
  void skip_list(const Value& error) {
    actions_.emplace_back(Notice{
        text::cat("the server answered ", method_, " with error ", text::printable(error.find("code").raw(), 20), ": ",
                  text::printable(error.find("message").string(), 200), ": nothing of this list is in the catalog")});
    list_ = ListWalk(kind(), config_.policy.catalog);
    list_done();
  }

  // On to the next kind of list, and from the last one to the interfaces that tools name.
  void list_done() {
    live_.at(at_) = list_.take();
    walks_ = 0;
    changed_ = false;
    while (++at_ < offers_.size() && !offers_.at(at_)) {
    }
    if (at_ < offers_.size()) {
      list_ = ListWalk(kind(), config_.policy.catalog);
      walk();
      return;
    }
    next_interface();
  }

  void next_interface() {
    std::vector<LiveItem>& tools = live_.front().items;
    for (; reading_ < tools.size(); ++reading_) {
      if (const auto address = catalog::interface_of(parse_own(tools[reading_].definition).root())) {
        json::Writer w;
        w.begin_object();
        if (config_.opening == Opening::discover) {
          w.member_raw("_meta", meta());
        }
        w.member("uri", *address).end_object();
        ask("resources/read", w.take());
        return;
      }
    }
    complete();
  }

  // What cannot be read is not pinned, and then never shown.
  void on_interface(const Value& result) {
    LiveItem& tool = live_.front().items.at(reading_++);
    if (auto digest = catalog::contents_digest(result)) {
      tool.interface = std::move(*digest);
      tool.interface_facts = catalog::interface_facts(result);
    } else {
      actions_.emplace_back(
          Notice{text::cat("the interface of tool '", text::printable(tool.name, 100), "' cannot be read")});
    }
    next_interface();
  }

  void on_page(const Value& result) {
    const auto last = list_.add_page(result);
    if (!last) {
      finish(std::unexpected(last.error()));
    } else if (!*last) {
      walk();
    } else if (std::exchange(changed_, false) && ++walks_ < 3) {
      list_ = ListWalk(kind(), config_.policy.catalog);
      walk();
    } else {
      list_done();
    }
  }

  // Definitions that cannot be read are left out, and so is what stands in a list twice, save tools: a catalog without
  // a tool that the model sees would be no review.
  void note_left_out(ListKind kind) {
    LiveList& live = live_.at(static_cast<std::size_t>(kind));
    if (kind != ListKind::tools) {
      std::set<std::string> seen;
      std::set<std::string> twice;
      for (const LiveItem& item : live.items) {
        if (!seen.insert(item.name).second) {
          twice.insert(item.name);
        }
      }
      std::erase_if(live.items, [&](const LiveItem& item) { return twice.contains(item.name); });
      live.rejected.insert(live.rejected.end(), twice.begin(), twice.end());
    }
    if (!live.rejected.empty() || live.unnamed > 0) {
      const std::string which =
          live.rejected.empty() ? "one without a name" : text::printable(live.rejected.front(), 100);
      actions_.emplace_back(Notice{text::cat(live.rejected.size() + live.unnamed, ' ', catalog::names(kind).text,
                                             " definitions cannot be read and are left out: ", which)});
    }
  }

  void complete() {
    catalog::Catalog found;
    for (const ListKind kind : catalog::kListKinds) {
      note_left_out(kind);
      for (LiveItem& item : live_.at(static_cast<std::size_t>(kind)).items) {
        if (kind == ListKind::tools) {
          found.tools.push_back(std::move(item));
        } else if (kind != ListKind::resources || !policy::is_dynamic(config_.policy.catalog, item.name)) {
          found.items(kind).push_back({std::move(item.name), std::move(item.definition)});
        }
      }
    }
    found.instructions = std::move(identity_.instructions);
    found.server_info = std::move(identity_.server_info);
    found.capabilities = std::move(identity_.capabilities);
    found.protocol_versions = versions_;
    finish(std::move(found));
  }

  CollectorConfig config_;
  json::Limits limits_;
  wire::LineReader lines_;
  Instant now_ = {};
  Actions actions_;
  std::optional<wire::Id> asked_;
  std::string method_;
  std::uint64_t count_ = 0;
  std::optional<Instant> deadline_;
  std::optional<Instant> settle_until_;
  std::optional<Instant> kill_at_;
  std::array<bool, catalog::kListKinds.size()> offers_ = {};
  std::size_t at_ = 0;  // the list that is walked
  ListWalk list_{ListKind::tools, config_.policy.catalog};
  std::array<LiveList, catalog::kListKinds.size()> live_;
  std::size_t reading_ = 0;  // the tool whose interface is read
  bool changed_ = false;
  int walks_ = 0;
  Identity identity_;
  std::vector<std::string> versions_;
  std::optional<Result<catalog::Catalog>> result_;
  bool stopped_ = false;
};

Collector::Collector(CollectorConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Collector::~Collector() = default;
Collector::Collector(Collector&&) noexcept = default;

Actions Collector::start(Instant now) { return impl_->start(now); }
Actions Collector::feed(std::string_view server_bytes, Instant now) { return impl_->feed(server_bytes, now); }
Actions Collector::end(Instant now) { return impl_->end(now); }
Actions Collector::exited(ExitReport report, Instant now) { return impl_->exited(report, now); }
Actions Collector::tick(Instant now) { return impl_->tick(now); }
std::optional<Instant> Collector::next_deadline() const { return impl_->next_deadline(); }
Result<catalog::Catalog> Collector::take_result() { return impl_->take_result(); }

}  // namespace cordon::gate
