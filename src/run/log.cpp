// SPDX-License-Identifier: Apache-2.0
#include "run/log.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace cordon::run {
namespace {

// Below PIPE_BUF, so that a pipe takes a line whole or not at all and lines of several writers do not mix.
constexpr std::size_t kMaxLineBytes = 4000;
constexpr std::size_t kMaxTextBytes = 3800;
constexpr std::string_view kOwnPrefix = "mcp-cordon: ";

bool needs_escape(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

Log::Log(LogConfig config)
    : config_(std::move(config)),
      out_(Endpoint::shared_writer(config_.fd)),
      own_(config_.burst, config_.per_second),
      server_(config_.burst, config_.per_second) {}

void Log::notice(std::string_view text, Instant now) {
  if (!own_.admit(text.size(), now)) {
    return;
  }
  const std::string masked = config_.masker.mask(text);
  // The text is printable by contract; escaping it again would double its backslashes.
  const std::string line = needs_escape(masked) ? text::printable(masked, kMaxTextBytes) : masked;
  if (put_line(kOwnPrefix, line) == Outcome::lost) {
    own_.count_lost(text.size(), now);
  }
}

void Log::overheard(std::string_view text) {
  if (!overheard_) {
    return;
  }
  const std::string masked = config_.masker.mask(text);
  for (const std::string_view line : text::split(masked, '\n')) {
    overheard_(line);
  }
}

void Log::server_bytes(std::string_view bytes, Instant now) {
  if (config_.server_lines == ServerLines::drop && !heard_) {
    return;
  }
  for (;;) {
    const std::size_t end = bytes.find('\n');
    collect(bytes.substr(0, end));
    if (end == std::string_view::npos) {
      return;
    }
    finish_line(now);
    bytes.remove_prefix(end + 1);
  }
}

void Log::server_end(Instant now) {
  if (!line_.empty() || cut_bytes_ != 0) {
    finish_line(now);
  }
}

void Log::server_line(std::string_view line, Instant now) {
  if (config_.server_lines == ServerLines::drop && !heard_) {
    return;
  }
  std::string unfinished = std::exchange(line_, {});
  const std::uint64_t cut = std::exchange(cut_bytes_, 0);
  collect(line);
  finish_line(now);
  line_ = std::move(unfinished);
  cut_bytes_ = cut;
}

// Keeps as much as can be shown, and what is needed beyond to recognise a secret that crosses the cut.
void Log::collect(std::string_view bytes) {
  const std::size_t most = kMaxTextBytes + config_.masker.longest();
  const std::size_t taken = std::min(bytes.size(), most - std::min(line_.size(), most));
  line_ += bytes.substr(0, taken);
  cut_bytes_ += bytes.size() - taken;
}

void Log::finish_line(Instant now) {
  const std::uint64_t bytes = line_.size() + cut_bytes_;
  if (line_.ends_with('\r') && cut_bytes_ == 0) {
    line_.pop_back();
  }
  const std::string masked = config_.masker.mask(std::exchange(line_, {}));
  const bool was_cut = std::exchange(cut_bytes_, 0) != 0;
  if (config_.server_lines != ServerLines::drop && server_.admit(bytes, now)) {
    const std::string shown = text::printable(masked, kMaxTextBytes);
    const bool cut = was_cut && !shown.ends_with("…");
    if (put_server_line(cut ? text::cat(shown, "…") : shown) == Outcome::lost) {
      server_.count_lost(bytes, now);
    }
  }
  if (heard_) {
    heard_(masked);
  }
}

Log::Outcome Log::put_line(std::string_view prefix, std::string_view printable) {
  std::string line = text::cat(prefix, printable);
  if (line.size() > kMaxLineBytes) {
    line.resize(kMaxLineBytes);
    while (!text::valid_utf8(line)) {
      line.pop_back();
    }
    line += "…";
  }
  line += '\n';
  return put(std::move(line));
}

Log::Outcome Log::put_server_line(std::string_view printable) {
  if (config_.server_lines != ServerLines::file) {
    return put_line(text::cat("[", config_.server, "] "), printable);
  }
  if (!config_.server_file || file_bytes_ + printable.size() + 1 > config_.max_file_bytes) {
    return Outcome::lost;
  }
  const std::string line = text::cat(printable, "\n");
  const auto written = ::write(config_.server_file.get(), line.data(), line.size());
  file_bytes_ += line.size();
  return written == static_cast<ssize_t>(line.size()) ? Outcome::written : Outcome::lost;
}

Log::Outcome Log::put(std::string bytes) {
  if (!rest_.empty()) {
    const Transfer sent = out_.write(rest_);
    rest_.erase(0, sent.bytes);
    if (!rest_.empty()) {
      return sent.kind == Transfer::Kind::broken ? Outcome::gone : Outcome::lost;
    }
  }
  const Transfer sent = out_.write(bytes);
  if (sent.kind == Transfer::Kind::done) {
    rest_ = bytes.substr(sent.bytes);
    return Outcome::written;
  }
  return sent.kind == Transfer::Kind::again ? Outcome::lost : Outcome::gone;
}

void Log::say_dropped(RateLimit& rate, std::string_view what, Instant now) {
  if (!rate.has_dropped()) {
    return;
  }
  const RateLimit::Dropped dropped = rate.take_dropped();
  const std::string text = text::cat(dropped.items, " ", what, " (", dropped.bytes, " bytes) were not shown");
  if (put_line(kOwnPrefix, text) == Outcome::lost) {
    rate.put_back(dropped, now);
  }
}

void Log::tick(Instant now) {
  if (server_.summary_due() && *server_.summary_due() <= now) {
    say_dropped(server_, text::cat("lines of ", config_.server), now);
  }
  if (own_.summary_due() && *own_.summary_due() <= now) {
    say_dropped(own_, "messages", now);
  }
}

void Log::flush(Instant now) {
  server_end(now);
  say_dropped(server_, text::cat("lines of ", config_.server), now);
  say_dropped(own_, "messages", now);
}

std::optional<Instant> Log::next_deadline() const {
  const auto server = server_.summary_due();
  const auto own = own_.summary_due();
  return server && own ? std::min(*server, *own) : server ? server : own;
}

}  // namespace cordon::run
