// SPDX-License-Identifier: Apache-2.0
#include "egress/first_words.hpp"

#include <utility>

#include "base/text.hpp"

namespace cordon::egress {
namespace {

constexpr std::uint16_t kHttps = 443;

}  // namespace

FirstWords::FirstWords(std::string host, std::uint16_t port, SniCheck check)
    : host_(std::move(host)), port_(port), check_(check), tls_only_(!host_.empty() && port == kHttps) {
  if (host_.empty() || check_ == SniCheck::off) {
    state_ = WordsState::passed;
    tls_only_ = false;
  }
}

WordsState FirstWords::feed(std::span<const std::byte> bytes) {
  if (state_ != WordsState::waiting || bytes.empty()) {
    return state_;
  }
  begun_ = true;
  if (tls_ == Peek::more) {
    tls_ = hello_.feed(bytes);
  }
  if (http_ == Peek::more && !tls_only_) {
    http_ = http_host_.feed(bytes);
  }
  return state_ = judge();
}

WordsState FirstWords::end() {
  if (state_ == WordsState::waiting) {
    // Half a hello, half a request: nobody can say what a server would make of it.
    state_ = begun_ || tls_only_ ? fault("malformed") : WordsState::passed;
  }
  return state_;
}

WordsState FirstWords::judge() {
  if (tls_ == Peek::done) {
    return judge_hello();
  }
  if (tls_ == Peek::malformed || http_ == Peek::malformed) {
    return fault("malformed");
  }
  if (tls_only_) {
    return tls_ == Peek::other ? fault("not_tls") : WordsState::waiting;
  }
  if (http_ == Peek::done) {
    return judge_request();
  }
  return tls_ == Peek::other && http_ == Peek::other ? WordsState::passed : WordsState::waiting;
}

WordsState FirstWords::judge_hello() {
  const Meant& meant = hello_.meant();
  named_ = meant.host;
  if (meant.host.empty()) {
    return fault("sni_missing");
  }
  if (meant.host != host_) {
    return fault("sni_mismatch");
  }
  return meant.encrypted ? fault("ech") : WordsState::passed;
}

WordsState FirstWords::judge_request() {
  const HttpRequest& request = http_host_.request();
  named_ = request.host.host;
  if (text::lower_ascii(request.method) == "connect") {
    return fault("connect_method");
  }
  if (request.host.host != host_ || (request.host.port && *request.host.port != port_)) {
    return fault("host_mismatch");
  }
  return WordsState::passed;
}

WordsState FirstWords::fault(std::string_view why) {
  why_ = why;
  return check_ == SniCheck::flag ? WordsState::flagged : WordsState::refused;
}

}  // namespace cordon::egress
