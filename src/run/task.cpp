// SPDX-License-Identifier: Apache-2.0
#include "run/task.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "run/loop.hpp"
#include "run/signals.hpp"
#include "run/stream.hpp"

namespace cordon::run {
namespace {

constexpr std::size_t kReadBytes = 65'536;
constexpr std::size_t kMaxLine = 16'384;
constexpr std::int64_t kDrainMs = 500;  // for its last words
constexpr std::int64_t kOrphansMs = 400;

// Bytes to lines.
class Lines {
 public:
  explicit Lines(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

  void feed(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n') {
        end();
      } else if (line_.size() < kMaxLine) {
        line_ += c;
      }
    }
  }
  void end() {
    if (!line_.empty() && take_) {
      take_(line_);
    }
    line_.clear();
  }

 private:
  std::function<void(std::string_view)> take_;
  std::string line_ = {};
};

class Task {
 public:
  Task(TaskConfig& config, std::unique_ptr<Loop> loop)
      : config_(config),
        loop_(std::move(loop)),
        buffer_(kReadBytes),
        timer_(*loop_, [this] { timer(); }),
        signals_(*loop_, [this](int number) { caught(number); }),
        lines_(config.line) {}

  Status connect() {
    ServerProcess& process = config_.process;
    process.in.reset();  // it has nothing to read
    for (UniqueFd* fd : {&process.out, &process.err}) {
      auto own = Endpoint::own(std::move(*fd));
      if (!own) {
        return std::unexpected(own.error());
      }
      open_ += 1;
      sources_.push_back(std::make_unique<Source>(
          *loop_, std::move(*own), buffer_,
          Source::Events{[this](std::string_view bytes) { lines_.feed(bytes); }, [this] { ended(); }, [] {}}));
    }
    if (config_.egress) {
      egress_ = std::make_unique<EgressBroker>(*loop_, std::move(*config_.egress),
                                               EgressOutput{[](std::string_view) { return true; }, config_.notice});
    }
    child_ = std::make_unique<Child>(*loop_, process.pid, std::move(process.lifeline), [this](gate::ExitReport report) {
      report_ = report;
      drain_until_ = monotonic_now() + kDrainMs;
      settle();
    });
    return {};
  }

  Result<gate::ExitReport> run() {
    limit_ = monotonic_now() + config_.timeout_ms;
    if (const Status open = egress_ ? egress_->start() : Status(); !open) {
      end();
      return std::unexpected(open.error());
    }
    for (const auto& source : sources_) {
      source->resume();
    }
    child_->start();
    settle();
    if (!over_) {
      loop_->run();
    }
    lines_.end();
    end();
    if (failure_) {
      return std::unexpected(std::move(*failure_));
    }
    return *report_;
  }

  void end() {
    if (egress_) {
      egress_->close();
    }
    if (child_->running()) {
      child_->kill();
    }
    child_->end_orphans(kOrphansMs);
  }

 private:
  void ended() {
    open_ -= 1;
    settle();
  }

  void caught(int) {
    failure_ = Error{Errc::launch_failed, "it was interrupted", "", ""};
    settle();
  }

  void timer() {
    if (egress_ && egress_->next_deadline() && *egress_->next_deadline() <= monotonic_now()) {
      egress_->flush();
    }
    if (monotonic_now() >= limit_ && !report_) {
      failure_ = Error{Errc::timed_out, text::cat("it did not end within ", config_.timeout_ms / 1000, " s"), "", ""};
    }
    settle();
  }

  void settle() {
    const bool heard = report_ && (open_ == 0 || monotonic_now() >= *drain_until_);
    over_ = heard || failure_.has_value();
    if (over_) {
      loop_->stop();
      return;
    }
    Instant next = report_ ? *drain_until_ : limit_;
    if (egress_ && egress_->next_deadline()) {
      next = std::min(next, *egress_->next_deadline());
    }
    timer_.set(next);
  }

  TaskConfig& config_;
  QuietWrites quiet_ = {};
  std::unique_ptr<Loop> loop_;
  std::vector<char> buffer_;
  Timer timer_;
  EndSignals signals_;
  Lines lines_;
  std::vector<std::unique_ptr<Source>> sources_ = {};
  std::unique_ptr<Child> child_ = {};
  std::unique_ptr<EgressBroker> egress_ = {};
  int open_ = 0;  // streams that are not at their end
  bool over_ = false;
  Instant limit_ = {};
  std::optional<Instant> drain_until_ = {};
  std::optional<gate::ExitReport> report_ = {};
  std::optional<Error> failure_ = {};
};

}  // namespace

Result<gate::ExitReport> run_task(TaskConfig config) {
  auto loop = Loop::create();
  if (!loop) {
    return std::unexpected(loop.error());
  }
  Task task(config, std::move(*loop));
  if (Status connected = task.connect(); !connected) {
    return std::unexpected(connected.error());
  }
  if (config.before_first_byte) {
    if (Status ready = config.before_first_byte(); !ready) {
      task.end();
      return std::unexpected(ready.error());
    }
  }
  return task.run();
}

}  // namespace cordon::run
