// SPDX-License-Identifier: Apache-2.0
// The property of tests/guards/interleaving_test.cpp once more, through the real program and its pipes: no message is
// lost, reordered within an id, or answered twice. The fake server mixes (--mix), and the client here does.

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/fixture.hpp"
#include "fakes/mixer.hpp"

using e2e::Fixture;
using fake::Json;

namespace {

constexpr std::size_t kRequests = 70;
constexpr std::size_t kAtOnce = 24;
constexpr std::size_t kCancelled = 6;
constexpr unsigned kSeeds = 6;
constexpr const char* kModern =
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},)";

class Conversation {
 public:
  Conversation(const Fixture& fixture, unsigned seed)
      : random_(seed), stateless_(seed % 3 == 0), probes_(seed % 3 == 1) {
    peer_ = fixture.run("--mix=" + std::to_string(seed) + (probes_ ? " --exit-on-probe" : ""));
  }

  std::vector<std::string> run() {
    if (probes_) probe();
    if (!stateless_) open();
    while (asked_for_ < kRequests || !written_all() || !open_.empty()) {
      step();
      if (fake::now_ms() > deadline_) {
        problem("no answer to " + std::to_string(open_.size()) + " requests");
        return problems_;
      }
    }
    account();
    peer_->close_stdin();
    if (peer_->wait_exit(fake::Peer::kPatienceMs) != 0) problem("it did not end with status 0");
    while (const auto line = peer_->line(0)) hear(*line);
    return problems_;
  }

  // How often each kind of thing happened: what did not was not tested.
  const std::map<std::string, int>& seen() const { return seen_; }
  std::string stderr_text() const { return peer_->stderr_text(); }

 private:
  struct Request {
    std::string text = {};  // what `echo` has to give back
    bool asks = false;      // the tool asks before it answers
    bool refused = false;   // by the policy: never reaches the server
    bool cancelled = false;
    bool asked = false;
    int answers = 0;
    int progress = 0;
  };

  void problem(const std::string& what) {
    if (problems_.size() < 10) problems_.push_back(what);
  }
  std::size_t pick(std::size_t below) { return random_.pick(below); }
  bool chance(std::size_t percent) { return random_.chance(percent); }
  bool written_all() const { return to_write_.empty(); }
  static std::string id_of(std::size_t n) { return n % 2 == 0 ? std::to_string(n) : "\"" + std::to_string(n) + "\""; }
  void say(const std::string& line) { to_write_ += line + "\n"; }

  void step() {
    const std::size_t what = pick(10);
    if (what < 3 && asked_for_ < kRequests && open_.size() < kAtOnce) {
      ask();
    } else if (what < 6) {
      write(1 + pick(chance(50) ? 120 : 4000));
    } else if (what < 9) {
      // Waits for something only when there is nothing else to do.
      const bool idle = written_all() && (asked_for_ == kRequests || open_.size() == kAtOnce) && questions_.empty();
      if (const auto line = peer_->line(idle ? 200 : 0)) hear(*line);
    } else if (!questions_.empty()) {
      answer();
    } else if (cancelled_ < kCancelled && chance(8)) {
      cancel();
    }
  }

  void write(std::size_t most) {
    const std::size_t wrote = peer_->write_some(std::string_view(to_write_).substr(0, most));
    to_write_.erase(0, wrote);
  }

  void probe() {
    const Json answer =
        peer_->request("\"probe\"", "server/discover", std::string("{\"_meta\":{") + kModern + "\"x\":1}}");
    ++seen_["second start"];
    if (answer["error"]["code"].raw != "-32601") problem("the probe was answered with " + answer.raw);
  }

  void open() {
    say(R"({"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}})");
    // Half of the clients do not wait for the answer, which is then among all others.
    say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }

  void ask() {
    const std::size_t n = asked_for_++;
    Request request;
    request.text = "t" + std::to_string(n) + " " + std::string(chance(4) ? 80'000 : pick(60), 'x');
    std::string method = "tools/call";
    std::string params = R"("name":"echo","arguments":{"text":")" + request.text + "\"},";
    const std::size_t what = pick(20);
    if (what == 0) {
      request.refused = true;
      params = R"("name":"write_file","arguments":{"path":"/x","text":"y"},)";
    } else if (what == 1) {
      method = "tools/list";
      params.clear();
      request.text.clear();
    } else if (what < 5 && !stateless_) {
      request.asks = true;
      params = R"("name":"ask","arguments":{"method":"elicitation/create"},)";
    }
    say(R"({"jsonrpc":"2.0","id":)" + id_of(n) + R"(,"method":")" + method + R"(","params":{)" + params +
        R"("_meta":{)" + (stateless_ ? kModern : "") + R"("progressToken":)" + id_of(n) + "}}}");
    open_.insert(n);
    requests_[n] = request;
  }

  void cancel() {
    if (open_.empty()) return;
    const std::size_t n = *std::next(open_.begin(), static_cast<std::ptrdiff_t>(pick(open_.size())));
    requests_[n].cancelled = true;
    ++cancelled_;
    ++seen_["cancelled"];
    open_.erase(n);
    say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id_of(n) +
        (stateless_ ? std::string(R"(,"_meta":{)") + kModern + "\"x\":1}" : "") + "}}");
  }

  void answer() {
    const std::size_t at = pick(questions_.size());
    const auto [id, n] = questions_[at];
    questions_.erase(questions_.begin() + static_cast<std::ptrdiff_t>(at));
    ++seen_["question"];
    for (int times = chance(20) ? 2 : 1; times > 0; --times) {
      say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"action":"accept","content":{"n":"of )" + n + "\"}}}");
    }
  }

  void hear(const std::string& line) {
    const Json message = fake::parse(line);
    const std::string method = message["method"].text;
    if (!message.is(Json::Kind::object)) {
      problem("a line that is none: " + line.substr(0, 200));
    } else if (method == "elicitation/create") {
      hear_question(message);
    } else if (method == "notifications/message") {
      const int number = std::atoi(message["params"]["data"].raw.c_str());
      if (number <= logged_ || (number != logged_ + 1))
        problem("log line " + std::to_string(number) + " after " + std::to_string(logged_));
      logged_ = number;
      ++seen_["log"];
    } else if (method == "notifications/progress") {
      hear_progress(message["params"]);
    } else if (method == "notifications/cancelled") {
      // Its question was taken back with the call.
    } else if (!method.empty()) {
      problem("unasked: " + line.substr(0, 200));
    } else if (message["id"].text == "open") {
      if (!message["result"]) problem("not opened: " + line.substr(0, 500));
    } else {
      hear_reply(message);
    }
  }

  // The number stands in the text; under which id it comes is the gate's affair.
  void hear_question(const Json& message) {
    const std::string text = message["params"]["message"].text;
    const std::string number = text.substr(std::string("fake asks: Of ").size());
    const std::size_t n = std::strtoul(number.c_str(), nullptr, 10);
    if (text.rfind("fake asks: Of ", 0) != 0 || !requests_.count(n) || !requests_[n].asks || requests_[n].asked) {
      problem("a question that is none, or the second one: " + message.raw.substr(0, 200));
      return;
    }
    requests_[n].asked = true;
    questions_.emplace_back(message["id"].raw, std::to_string(n));
  }

  static bool line_is_long(const std::string& line) { return line.size() > 65'536; }

  std::size_t number_of(const Json& id) const {
    return std::strtoul(id.text.empty() ? id.raw.c_str() : id.text.c_str(), nullptr, 10);
  }

  void hear_progress(const Json& params) {
    const std::size_t n = number_of(params["progressToken"]);
    Request& request = requests_[n];
    const int step = std::atoi(params["progress"].raw.c_str());
    if (id_of(n) != params["progressToken"].raw || request.answers > 0 || step != request.progress + 1) {
      problem("progress of " + std::to_string(n) + " out of order: " + params.raw);
    }
    request.progress = step;
    ++seen_["progress"];
  }

  void hear_reply(const Json& message) {
    const std::size_t n = number_of(message["id"]);
    const auto found = requests_.find(n);
    if (found == requests_.end() || id_of(n) != message["id"].raw || ++found->second.answers > 1) {
      problem("an answer to nobody, or the second one: " + message.raw.substr(0, 200));
      return;
    }
    const Request& request = found->second;
    if (!open_.empty() && *open_.begin() != n) ++seen_["out of order"];
    if (line_is_long(message.raw)) ++seen_["long"];
    if (request.refused) ++seen_["refused"];
    if (request.text.empty()) ++seen_["list"];
    open_.erase(n);
    const std::string text = fake::text_of(message);
    const bool right = request.refused        ? e2e::refused(message)
                       : request.text.empty() ? bool(message["result"]["tools"])
                       : request.asks         ? text.find("of " + std::to_string(n) + "\"") != std::string::npos
                                              : text == request.text;
    if (!right) problem("not the answer to " + std::to_string(n) + ": " + message.raw.substr(0, 300));
  }

  // What the server says that it heard: each text once, all that were not given up, nothing else.
  void account() {
    say(R"({"jsonrpc":"2.0","id":"account","method":"tools/call","params":{"name":"echo","arguments":{"text":"account"},"_meta":{)" +
        std::string(stateless_ ? kModern : "") + "\"x\":1}}}");
    while (!written_all() && fake::now_ms() < deadline_) write(to_write_.size());
    std::string heard;
    while (const auto line = peer_->line()) {
      const Json message = fake::parse(*line);
      if (message["id"].text == "account") {
        heard = fake::text_of(message);
        break;
      }
      hear(*line);
    }
    std::map<std::string, int> times;
    std::istringstream words(heard);
    for (std::string word; words >> word;) ++times[word];
    for (const auto& [n, request] : requests_) {
      const std::string word = request.text.substr(0, request.text.find(' '));
      const bool echoed = !request.asks && !request.refused && !word.empty();
      const int least = echoed && !request.cancelled ? 1 : 0;
      const int most = echoed ? 1 : 0;
      const int seen = word.empty() ? 0 : times[word];
      if (seen < least || seen > most) {
        problem("request " + std::to_string(n) + " reached the server " + std::to_string(seen) + " times");
      }
    }
  }

  fake::Mixer random_;
  bool stateless_;
  bool probes_;
  std::unique_ptr<fake::Peer> peer_ = {};
  std::int64_t deadline_ = fake::now_ms() + 30'000;
  std::vector<std::string> problems_ = {};
  std::string to_write_ = {};
  std::size_t asked_for_ = 0;
  std::map<std::size_t, Request> requests_ = {};
  std::set<std::size_t> open_ = {};
  std::vector<std::pair<std::string, std::string>> questions_ = {};  // id, and the number of the call
  int logged_ = 0;
  std::size_t cancelled_ = 0;
  std::map<std::string, int> seen_ = {};
};

}  // namespace

// CORDON_MIX_SEED=N runs that one alone.
TEST_CASE("random interleavings through the pipes") {
  const char* given = std::getenv("CORDON_MIX_SEED");
  const unsigned only = given == nullptr ? 0 : static_cast<unsigned>(std::atoi(given));
  Fixture fixture;
  REQUIRE(fixture.review("--mix=1") == "");
  std::map<std::string, int> seen;
  for (unsigned seed = only != 0 ? only : 1; seed <= (only != 0 ? only : kSeeds); ++seed) {
    Conversation conversation(fixture, seed);
    for (const std::string& problem : conversation.run()) {
      FAIL_CHECK("CORDON_MIX_SEED=" << seed << ": " << problem);
    }
    for (const auto& [what, times] : conversation.seen()) seen[what] += times;
    if (only != 0) MESSAGE(conversation.stderr_text());
  }
  if (only != 0) return;
  for (const std::string what :
       {"cancelled", "question", "progress", "log", "out of order", "long", "refused", "list", "second start"}) {
    CAPTURE(what);
    CHECK(seen[what] > 0);
  }
  // What nobody asked for was dropped, and written down.
  const auto audit = fixture.start({"audit", "show", "fake"});
  audit->close_stdin();
  std::string shown;
  while (const auto line = audit->line()) shown += *line + "\n";
  CHECK(shown.find("reply_unexpected") != std::string::npos);
}
