// SPDX-License-Identifier: Apache-2.0
// A tiny MCP server, both eras, that can misbehave in the ways of fake_options.hpp. Its tools do what their names say,
// so that a test can see what the server could reach.

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fakes/fake_catalog.hpp"
#include "fakes/fake_options.hpp"
#include "fakes/mixer.hpp"
#include "fakes/tiny_json.hpp"

namespace fake {
namespace {

constexpr unsigned kLongestLifeSeconds = 300;  // nothing that a failed test leaves behind lives longer
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";

void write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) std::_Exit(1);
    done += static_cast<std::size_t>(wrote);
  }
}

// A process that keeps what it has inherited and heeds no polite signal.
void start_grandchild() {
  if (::fork() != 0) return;
  ::setsid();
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  ::alarm(kLongestLifeSeconds);
  for (;;) ::pause();
}

struct Outcome {
  std::string text = {};
  bool is_error = false;
};

Outcome read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {"cannot read " + path + ": " + std::strerror(errno), true};
  return {std::string(std::istreambuf_iterator<char>(file), {})};
}

Outcome write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return {"cannot write " + path + ": " + std::strerror(errno), true};
  return {"wrote " + path};
}

Outcome environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? Outcome{name + " is not set", true} : Outcome{value};
}

class Server {
 public:
  explicit Server(Options options) : options_(std::move(options)), drift_(options_.drift), mixer_(options_.mix) {}

  // --mix: answers go out in any order, cut anywhere, some of them twice, with progress, log lines, questions under the
  // ids of their calls, and replies to nobody in between. What it heard is told by the tool `echo` when it is given
  // "account": the first word of every text, in order.
  void mix() {
    std::string pending;
    for (bool open = true; open || !mixer_.empty();) {
      pollfd input = {STDIN_FILENO, POLLIN, 0};
      // Sometimes it holds its answers back for as long as more may come, so that there is something to mix.
      const int patience_ms = mixer_.empty() ? -1 : mixer_.chance(60) ? 5 : 0;
      const bool readable = open && ::poll(&input, 1, patience_ms) > 0;
      if (readable && (mixer_.empty() || mixer_.chance(60))) {
        std::string bytes(mixer_.chance(20) ? 65536 : 1 + mixer_.pick(300), '\0');
        const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        open = got > 0 || (got < 0 && errno == EINTR);
        pending.append(bytes, 0, got > 0 ? static_cast<std::size_t>(got) : 0);
        take_lines(pending);
      } else if (!mixer_.empty()) {
        write_in_pieces(mixer_.take() + "\n");
      }
    }
  }

  // Takes the whole lines out of `pending`.
  void take_lines(std::string& pending) {
    for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      const std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      take(line);
    }
  }

  void take(const std::string& line) {
    const Json message = parse(line);
    const std::string method = message["method"].text;
    const std::string id = message["id"].raw;
    if (!message) {
      std::fprintf(stderr, "fake-server: not JSON: %.100s\n", line.c_str());
    } else if (method.empty()) {
      take_answer(id, message);
    } else if (id.empty()) {
      std::fprintf(stderr, "fake-server: notified of %s\n", method.c_str());
    } else {
      take_request(id, method, message["params"]);
    }
  }

 private:
  void write_in_pieces(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t length = mixer_.chance(70) ? bytes.size() : 1 + mixer_.pick(200);
      write_all(STDOUT_FILENO, bytes.substr(at, length));
      at += std::min(length, bytes.size() - at);
    }
  }

  // Lines of one queue keep their order.
  void send(const std::string& line, const std::string& queue = "log") {
    if (options_.mix != 0) {
      mixer_.add(queue, line);
    } else {
      write_all(STDOUT_FILENO, line + "\n");
    }
  }

  // What may stand between a call and its answer.
  void send_more(const std::string& id, const Json& params) {
    const std::string token = params["_meta"]["progressToken"].raw;
    const std::size_t steps = token.empty() ? 0 : mixer_.pick(4);
    for (std::size_t step = 1; step <= steps; ++step) {
      send(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + token +
               R"(,"progress":)" + std::to_string(step) + "}}",
           id);
    }
    if (mixer_.chance(30)) {
      send(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":)" +
           std::to_string(++logged_) + "}}");
    }
    if (mixer_.chance(5)) {
      send(R"({"jsonrpc":"2.0","id":"nobody","result":{"content":[{"type":"text","text":"to nobody"}]}})");
    }
  }

  void take_request(const std::string& id, const std::string& method, const Json& params) {
    std::fprintf(stderr, "fake-server: asked for %s\n", method.c_str());
    if (method == options_.crash) std::abort();
    if (method == options_.silent || options_.silent == "all") return;
    modern_ = params["_meta"][kVersionKey].is(Json::Kind::string);
    if (options_.exit_on_probe && !open_legacy_ && method != "initialize") std::_Exit(1);
    if (options_.one_era && (method == "initialize" ? open_modern_ : modern_ && open_legacy_)) {
      return error(id, -32600, "the other era was opened");
    }
    (modern_ ? open_modern_ : open_legacy_) = true;

    if (method == "initialize") return initialize(id, params);
    if (method == "server/discover" && modern_) return discover(id);
    if (method == "ping") return reply(id, method, "{}");
    if (method == "tools/list") return list(id, params);
    if (method == "tools/call") return call(id, params);
    if (method == "subscriptions/listen" && modern_) return listen(id);
    if (options_.more_kinds && method == "prompts/list") return reply(id, method, R"({"prompts":[{"name":"p"}]})");
    if (options_.more_kinds && method == "resources/list") return reply(id, method, R"({"resources":[]})");
    error(id, -32601, "Method not found");
  }

  void initialize(const std::string& id, const Json& params) {
    static const std::set<std::string> known = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
    const std::string asked = params["protocolVersion"].text;
    reply(id, "initialize",
          R"({"protocolVersion":)" + quoted(known.count(asked) != 0 ? asked : "2025-11-25") + R"(,"capabilities":)" +
              capabilities(options_) + R"(,"serverInfo":)" + server_info(drift_) + R"(,"instructions":)" +
              quoted(instructions(drift_)) + "}");
    flood();
  }

  void discover(const std::string& id) {
    reply(id, "server/discover",
          R"({"supportedVersions":["2026-07-28"],"capabilities":)" + capabilities(options_) + R"(,"instructions":)" +
              quoted(instructions(drift_)) + R"(,"ttlMs":1000,"cacheScope":"private"})");
    flood();
  }

  void flood() {
    for (int i = 0; i < options_.flood; ++i) {
      send(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":)" +
           quoted("flood " + std::to_string(i)) + "}}");
    }
  }

  // Cursors are "at:N", or "" for the second page with --cursor=empty.
  void list(const std::string& id, const Json& params) {
    const std::vector<std::string> tools = tool_definitions(options_, drift_);
    const std::size_t size = options_.page_size > 0 ? static_cast<std::size_t>(options_.page_size) : tools.size();
    const Json& cursor = params["cursor"];
    std::size_t begin = 0;
    if (cursor && cursor.text.empty()) begin = size;
    if (cursor.text.rfind("at:", 0) == 0) begin = static_cast<std::size_t>(std::atoi(cursor.text.c_str() + 3));
    if (begin > tools.size()) return error(id, -32602, "Invalid cursor");

    std::string result = R"({"tools":[)";
    const std::size_t end = std::min(begin + size, tools.size());
    for (std::size_t i = begin; i < end; ++i) result += (i > begin ? "," : "") + tools[i];
    result += "]";
    if (options_.cursor == "loop") {
      result += R"(,"nextCursor":"at:0")";
    } else if (end < tools.size()) {
      const bool empty = options_.cursor == "empty" && begin == 0;
      result += R"(,"nextCursor":)" + quoted(empty ? std::string() : "at:" + std::to_string(end));
    }
    if (modern_) result += R"(,"ttlMs":1000,"cacheScope":"private")";
    reply(id, "tools/list", result + "}");
  }

  void call(const std::string& id, const Json& params) {
    const std::string name = params["name"].text;
    const Json& arguments = params["arguments"];
    if (options_.mix != 0) send_more(id, params);
    if (name == "ask") {
      ask(id, arguments["method"].text);
    } else if (name == "echo") {
      const std::string text = arguments["text"].text;
      finish(id, {options_.mix != 0 && text == "account" ? heard_ : text});
      heard_ += text.substr(0, text.find(' ')) + " ";
    } else if (name == "read_file") {
      finish(id, read_file(arguments["path"].text));
    } else if (name == "write_file") {
      finish(id, write_file(arguments["path"].text, arguments["text"].text));
    } else if (name == "big") {
      finish(id, {std::string(static_cast<std::size_t>(std::atol(arguments["bytes"].raw.c_str())), 'x')});
    } else if (name == "env") {
      finish(id, environment(arguments["name"].text));
    } else if (name == "spawn") {
      start_grandchild();
      finish(id, {"started"});
    } else if (name.rfind("extra_", 0) == 0 || (name == "delete_all" && drift_ == "added")) {
      finish(id, {"did " + name});
    } else {
      error(id, -32602, "Unknown tool: " + name);
    }
    if (++calls_ == options_.drift_after) change_catalog();
  }

  void change_catalog() {
    drift_ = options_.later_drift;
    if (!options_.drift_is_announced) return;
    const std::string head = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed")";
    if (open_legacy_) send(head + "}");
    for (const std::string& stream : streams_) {
      send(head + R"(,"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" + stream + "}}}");
    }
  }

  void listen(const std::string& id) {
    streams_.push_back(id);
    send(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":)"
         R"({"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
         id + "}}}");
  }

  void ask(const std::string& call_id, const std::string& method) {
    static const std::map<std::string, std::string> params = {
        {"roots/list", "{}"},
        {"sampling/createMessage",
         R"({"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":9})"},
        {"elicitation/create",
         R"({"message":"Your password?","requestedSchema":{"type":"object","properties":{"p":{"type":"string"}}}})"},
    };
    const auto found = params.find(method);
    const std::string ask_id = options_.mix != 0 ? call_id : "\"ask-" + std::to_string(++asked_) + "\"";
    asking_[ask_id] = call_id;
    if (options_.mix != 0) {
      return send(R"({"jsonrpc":"2.0","id":)" + ask_id + R"(,"method":"elicitation/create","params":{"message":"Of )" +
                      number_in(call_id) +
                      R"(?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}})",
                  call_id);
    }
    send(R"({"jsonrpc":"2.0","id":)" + ask_id + R"(,"method":)" + quoted(method) + R"(,"params":)" +
         (found == params.end() ? "{}" : found->second) + "}");
  }

  void take_answer(const std::string& id, const Json& message) {
    const auto found = asking_.find(id);
    if (found == asking_.end()) {
      std::fprintf(stderr, "fake-server: nobody asked for the reply %.60s\n", id.c_str());
      return;
    }
    finish(found->second, {message["result"] ? message["result"].raw : message["error"].raw});
    asking_.erase(found);
  }

  void finish(const std::string& call_id, const Outcome& outcome) {
    reply(call_id, "tools/call",
          R"({"content":[{"type":"text","text":)" + quoted(outcome.text) + "}]" +
              (outcome.is_error ? R"(,"isError":true)" : "") + "}");
  }

  // `result` is a JSON object.
  void reply(const std::string& id, const std::string& method, std::string result) {
    if (modern_) {
      result.insert(result.size() - 1, std::string(result.size() > 2 ? "," : "") +
                                           R"("resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":)" +
                                           server_info(drift_) + "}");
    }
    if (options_.chatter) send("a stray line, not JSON");
    const auto wrong = options_.replies.find(method);
    if (wrong != options_.replies.end()) return write_all(STDOUT_FILENO, spoil(wrong->second, id, result));
    send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}", id);
    if (options_.mix != 0 && method == "tools/call" && mixer_.chance(10)) {
      send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"content":[{"type":"text","text":"twice"}]}})", id);
    }
  }

  void error(const std::string& id, int code, const std::string& text) {
    send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + std::to_string(code) + R"(,"message":)" +
             quoted(text) + "}}",
         id);
  }

  static std::string number_in(const std::string& id) {
    std::string digits;
    for (const char c : id) {
      if (c >= '0' && c <= '9') digits += c;
    }
    return digits;
  }

  Options options_;
  std::string drift_;
  Mixer mixer_;
  std::string heard_ = {};  // --mix: first words of texts
  int logged_ = 0;
  bool modern_ = false;  // of the request at hand
  bool open_legacy_ = false;
  bool open_modern_ = false;
  int calls_ = 0;
  int asked_ = 0;
  std::map<std::string, std::string> asking_ = {};  // our request's id → the call that waits for it
  std::vector<std::string> streams_ = {};           // ids of open subscriptions/listen
};

void serve(Server& server) {
  std::string pending;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    pending.append(buffer, static_cast<std::size_t>(got));
    server.take_lines(pending);
  }
}

}  // namespace
}  // namespace fake

int main(int argc, char** argv) {
  const fake::Options options = fake::parse_options(argc, argv);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (options.exit_now) return *options.exit_now;
  if (options.ignore_sigterm) std::signal(SIGTERM, SIG_IGN);
  if (options.grandchild) fake::start_grandchild();
  if (options.banner) fake::write_all(STDOUT_FILENO, "Fake server starting…\n\n[info] ready {\"tools\": 7}\n");
  for (int i = 0; i < options.stderr_lines; ++i) std::fprintf(stderr, "line %d \x1b[31mred\x1b[0m\n", i);
  fake::Server server(options);
  if (options.mix != 0) {
    server.mix();
  } else {
    fake::serve(server);
  }
  if (!options.ignore_eof) return 0;
  ::alarm(fake::kLongestLifeSeconds);
  for (;;) ::pause();
}
