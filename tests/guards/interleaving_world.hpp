// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client and a server of both eras around one Session, with pipes between them, run in an order that a seed gives:
// requests of all kinds, tasks, forms, cancellations, list_changed, questions of the server, time-outs, pages, chunks
// of any size, answers in any order, twice or to nobody, a server that ends on the probe. Both sides keep account of
// what they said and heard; what is lost, reordered, or there twice is a problem. Start at run().

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/gate/session.hpp"
#include "core/wire/message.hpp"

namespace cordon::test {

// Progress of a task counts from here, that of a request from 1.
inline constexpr std::int64_t kTaskProgress = 1'000;
inline constexpr std::string_view kRelatedTask = "io.modelcontextprotocol/related-task";

inline std::string task_id(std::size_t index) { return "t" + std::to_string(index); }

class World {
 public:
  explicit World(std::uint64_t seed);

  void run();
  const std::vector<std::string>& problems() const { return problems_; }
  // How often each kind of thing happened, so that a test can tell whether it tested anything.
  const std::map<std::string, std::size_t>& seen() const { return seen_; }
  // The last lines of all four pipes, for a person.
  std::string trace() const;

 private:
  using Message = wire::Message;

  // What the client asked. `n` is its index, and stands in params._meta; `tag` stands in the arguments.
  struct Request {
    std::string id = {};  // as JSON
    std::string method = {};
    std::string tool = {};
    std::size_t n = 0;
    std::size_t tag = 0;
    std::string line = {};
    bool retry = false;
    bool allowed = false;            // a person's yes was sent for it
    bool cancelled = false;          // by the client, before it had an answer
    bool cancelled_in_time = false;  // and before a person's yes was sent
    std::size_t forwarded = 0;       // how often the server got it
    std::size_t may_be_forwarded = 1;
    std::size_t cancels_heard = 0;  // by the server
    std::size_t replies = 0;
    std::string mark = {};  // of the one answer that the server gave it
    bool twice = false;     // there was a second one
    bool wants_task = false;
    std::optional<std::size_t> job = {};           // tasks/*, listen: the task that it is about
    std::vector<std::size_t> had = {};             // tasks/list: the tasks that the client knew when it asked
    bool acknowledged = false;                     // listen
    std::vector<std::int64_t> progress_sent = {};  // by the server, before that answer
    std::vector<std::int64_t> progress_seen = {};
  };
  // What the server asked.
  struct Question {
    std::string id = {};
    std::string method = {};
    std::size_t tag = 0;
    std::string said = {};  // the mark of the client's first answer
    bool cancelled = false;
    bool withdrawn = false;  // the client had heard that before it answered
    std::size_t answers = 0;
  };
  // A call that became a task; at the server its id is "t" and its index.
  struct Job {
    std::size_t n = 0;  // of the call
    std::string status = "working";
    std::string mark = {};               // of its result
    bool known = false;                  // the client has heard of it
    bool given_up = false;               // the gate told the server that it is nobody's
    bool forgotten = false;              // the server said that it does not know it any more
    bool news_may_be_lost = false;       // the client gave up to listen
    std::size_t asked = 0;               // questions so far; the key of the latest is "k" and that number
    std::string question = {};           // its method; empty: none is open
    std::set<std::size_t> replied = {};  // by the client
    std::set<std::size_t> taken = {};    // by the server
    std::size_t news_sent = 0;
    std::vector<std::size_t> news_heard = {};
    std::size_t progress_sent = 0;
    std::vector<std::size_t> progress_heard = {};
    bool over() const { return status == "completed" || status == "failed" || status == "cancelled"; }
  };
  // At the client: a request of the gate that has no answer yet.
  struct Asked {
    std::string id = {};
    bool ours = false;    // a form of mcp-cordon
    std::size_t tag = 0;  // of the question, or of the call that wants a word
  };
  // At the server: a request that has no answer yet.
  struct Todo {
    std::string id = {};
    std::string method = {};
    std::string cursor = {};
    std::optional<std::size_t> job = {};
    std::vector<std::string> keys = {};  // tasks/update: what it answers
    std::size_t n = 0;
    bool own = false;  // of the gate itself
    bool stateless = false;
    bool cancelled = false;
  };

  // interleaving_world.cpp
  gate::SessionConfig config();
  std::size_t pick(std::size_t below) { return static_cast<std::size_t>(random_() % below); }
  bool chance(std::size_t percent) { return pick(100) < percent; }
  void problem(std::string text);
  void saw(const std::string& what) { ++seen_[what]; }
  void note(std::string_view pipe, std::string_view line);
  void open();
  void step();
  void deliver(gate::Side from, bool all);
  void take(const gate::Actions& actions);
  void advance(std::int64_t ms);
  void decide(bool all);
  void drain();
  void finish();
  void check();
  void check_request(const Request& request);
  Message parsed(const std::string& line);

  void settle();

  // interleaving_client.cpp
  std::string fresh_id();
  std::string meta(std::size_t n, bool stateless);
  void client_asks();
  void client_opens();
  void client_sends(Request request, const std::string& params);
  void client_cancels();
  void client_answers();
  void client_answers(const Asked& asked);
  void client_hears(const Message& message);
  void client_hears_reply(const Message& message);
  void client_hears_question(const Message& message);
  void client_hears_progress(const Message& message);
  void client_retries(Request& request, const Message& message);
  void client_says(std::string line);
  bool right_answer(const Request& request, const Message& message);

  // interleaving_server.cpp
  void server_acts();
  void server_answers(std::size_t index);
  void server_answers_list(const Todo& todo);
  void server_reports();
  void server_asks();
  void server_hears(const Message& message, const std::string& line);
  void server_hears_call(const Message& message, const std::string& line);
  void server_hears_answer(const Message& message);
  void server_says(std::string line);
  std::string result_of(const Todo& todo, Request& request);

  // interleaving_tasks.cpp, interleaving_tasks_client.cpp
  bool may_become_task(const Todo& todo, const Request& request);
  std::string new_task(const Todo& todo, Request& request);
  std::string task(std::size_t index, bool whole) const;
  std::optional<std::size_t> job_of(const json::Value& holder) const;
  void job_acts();
  void job_tells(std::size_t index);
  void job_ends(std::size_t index);
  void server_hears_of_task(const Message& message, Todo& todo, const std::string& line);
  bool server_holds_back(const Todo& todo);
  void server_answers_of_task(const Todo& todo, Request* request);
  void server_takes(const Todo& todo);
  std::string listed(std::string_view mark) const;
  void client_asks_about_task();
  void client_hears_task(const Request& request, const Message& message);
  void client_hears_of_new_task(const Message& message);
  void client_hears_task_news(const Message& message);
  void client_looks_at_task(std::size_t index, const json::Value& task);
  void client_looks_at_list(const Request& request, const json::Value& tasks);
  void check_jobs();
  std::size_t running(std::string_view tool) const;

  // interleaving_respawn.cpp
  void probe();
  bool server_is_there() const { return server_ == Server::first || server_ == Server::second; }
  bool server_is_on_its_way() const { return server_ == Server::ending || server_ == Server::starting; }
  void server_ends_on_probe();
  void server_comes_and_goes();
  void client_opens_after(const Request& request);

  std::mt19937_64 random_;
  bool stateless_ = false;
  bool forms_ = true;
  std::optional<gate::Session> session_ = {};
  Instant now_ = {1'000};
  bool stopped_ = false;
  bool draining_ = false;
  bool left_ = false;  // the client has ended
  std::vector<std::string> problems_ = {};
  std::map<std::string, std::size_t> seen_ = {};
  std::deque<std::string> trace_ = {};
  bool tasks_ = false;         // of the stateless era: the client declares them
  bool limited_ = false;       // only so many calls of `get` at once
  bool probes_first_ = false;  // the client asks server/discover, and the server ends on it
  enum class Server : std::uint8_t { first, ending, starting, second, gone };
  Server server_ = Server::first;
  bool output_ended_ = false;                             // of the first
  bool may_stop_ = false;                                 // nothing is there any more that could answer
  std::size_t lost_from_ = static_cast<std::size_t>(-1);  // requests from here on were not read any more

  std::string from_client_ = {};  // bytes on their way to the gate
  std::string from_server_ = {};
  std::deque<std::string> to_client_ = {};  // lines on their way from it
  std::deque<std::string> to_server_ = {};

  std::deque<Request> requests_ = {};
  std::map<std::string, std::size_t> open_ = {};  // at the client, by id
  std::vector<std::string> free_ids_ = {};        // whose request was answered
  std::vector<Asked> asked_ = {};
  std::vector<std::string> published_ = {};
  std::size_t ids_ = 0;
  std::size_t tags_ = 0;

  std::vector<Todo> todo_ = {};
  std::deque<Job> jobs_ = {};
  std::deque<Question> questions_ = {};
  std::map<std::string, std::size_t> open_questions_ = {};  // at the server, by id
  std::size_t marks_ = 0;
  std::map<std::size_t, std::size_t> runs_ = {};  // by tag: how often the server got the call
  std::map<std::size_t, std::size_t> asks_ = {};  // by tag: how often it answered with a question
  bool changed_ = false;                          // the live list is not the reviewed one
  bool opened_ = false;                           // the gate has heard who the server is
  std::vector<std::size_t> said_ = {};            // log messages, in order
  std::vector<std::size_t> heard_ = {};           // the same, at the client
};

}  // namespace cordon::test
