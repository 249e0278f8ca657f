// SPDX-License-Identifier: Apache-2.0
#include "run/server_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <deque>
#include <utility>

#include "base/text.hpp"

namespace cordon::run {
namespace {

using Answer = policy::PathJudge::Answer;

constexpr char kWithin = 'w';
constexpr char kExists = 'e';
constexpr std::size_t kMaxQuestion = 32'768;
constexpr int kQuestionsFd = STDERR_FILENO + 1;
constexpr int kRootFd = kQuestionsFd + 1;
constexpr std::size_t kMaxProcesses = 256;

std::unexpected<Error> broken(std::string_view what) {
  return fail(Errc::internal, errno_text(what, errno), "looking into the server's files");
}

char letter(Answer answer) { return answer == Answer::inside ? 'i' : answer == Answer::outside ? 'o' : 'u'; }

Answer answer_within(std::string_view path, std::string_view folder) {
  const std::optional<WalkedPath> target = walk(kRootFd, path);
  const std::optional<WalkedPath> around = walk(kRootFd, folder);
  if (!target || !around || !around->complete) {
    return Answer::unknown;
  }
  const auto found = std::ranges::find(target->chain, around->chain.back());
  return found == target->chain.end() ? Answer::outside : Answer::inside;
}

Answer answer_to(std::string_view question) {
  const std::size_t end = question.find('\0');
  if (question.empty() || end == std::string_view::npos) {
    return Answer::unknown;
  }
  const std::string_view path = question.substr(1, end - 1);
  if (question.front() == kWithin) {
    return answer_within(path, question.substr(end + 1));
  }
  const std::optional<WalkedPath> target = walk(kRootFd, path);
  return !target ? Answer::unknown : target->complete ? Answer::inside : Answer::outside;
}

[[noreturn]] void answer_questions() {
  std::array<char, kMaxQuestion> buffer = {};
  for (;;) {
    const ssize_t length = ::read(kQuestionsFd, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) {
      continue;
    }
    if (length <= 0) {
      ::_exit(0);  // nobody asks any more
    }
    const char answer = letter(answer_to({buffer.data(), static_cast<std::size_t>(length)}));
    if (::write(kQuestionsFd, &answer, 1) != 1) {
      ::_exit(1);
    }
  }
}

// Nothing but its own: not the server's pipes, whose end somebody waits for, nor the log. Without a root it gets one
// later.
bool keep_only(int questions, int root) {
  const UniqueFd high_questions(::fcntl(questions, F_DUPFD_CLOEXEC, 100));
  const UniqueFd high_root(root < 0 ? -1 : ::fcntl(root, F_DUPFD_CLOEXEC, 100));
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::dup2(nothing.get(), fd) < 0) {
      return false;
    }
  }
  if (!high_questions || ::dup2(high_questions.get(), kQuestionsFd) != kQuestionsFd) {
    return false;
  }
  if (root < 0) {
    return ::close_range(kQuestionsFd + 1, ~0U, 0) == 0;
  }
  return high_root && ::dup2(high_root.get(), kRootFd) == kRootFd && ::close_range(kRootFd + 1, ~0U, 0) == 0;
}

// Until the second server runs; the process ends when there is none.
Status find_root(const std::function<Result<UniqueFd>()>& find_again) {
  char word = 0;
  ssize_t length = 0;
  while ((length = ::read(kQuestionsFd, &word, 1)) < 0 && errno == EINTR) {
  }
  if (length != 1) {
    ::_exit(0);
  }
  Result<UniqueFd> root = find_again();
  if (!root) {
    return std::unexpected(root.error());
  }
  // It may have that number already, and stays open.
  if (::dup2(root->release(), kRootFd) != kRootFd || ::close_range(kRootFd + 1, ~0U, 0) != 0) {
    return broken("dup2");
  }
  return {};
}

// `root`: -1 for the one that waits.
[[noreturn]] void be_the_looker(int questions, int root, const ServerFiles::Config& config) {
  if (!keep_only(questions, root)) {
    ::_exit(1);
  }
  Status ready = root < 0 ? find_root(config.find_again) : Status();
  if (ready) {
    ready = sandbox::confine_looker(config.become);
  }
  // 'r' when it is ready, else why not.
  const std::string word = ready ? "r" : text::cat('f', ready.error().to_string());
  if (::write(kQuestionsFd, word.data(), word.size()) < 0 || word.front() != 'r') {
    ::_exit(1);
  }
  answer_questions();
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> out;
  const UniqueFd fd(::open(text::cat("/proc/", pid, "/task/", pid, "/children").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer = {};
  const ssize_t length = fd ? ::read(fd.get(), buffer.data(), buffer.size()) : 0;
  for (const std::string_view word :
       text::split({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))}, ' ')) {
    pid_t child = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), child).ec == std::errc() && child > 0) {
      out.push_back(child);
    }
  }
  return out;
}

Status hear_ready(const UniqueFd& questions, int timeout_ms) {
  pollfd ready{questions.get(), POLLIN, 0};
  std::array<char, 1024> word = {};
  const ssize_t length = ::poll(&ready, 1, timeout_ms) == 1 ? ::read(questions.get(), word.data(), word.size()) : 0;
  if (length <= 0 || word.front() != 'r') {
    return fail(Errc::internal,
                length <= 1 ? std::string("the process that looks could not be started")
                            : text::printable({word.data() + 1, static_cast<std::size_t>(length) - 1}),
                "looking into the server's files");
  }
  return {};
}

}  // namespace

Result<UniqueFd> open_server_root(pid_t child, const std::vector<FileKey>& own) {
  std::deque<pid_t> todo = {child};
  for (std::size_t seen = 0; !todo.empty() && seen < kMaxProcesses; ++seen) {
    const pid_t pid = todo.front();
    todo.pop_front();
    for (const pid_t next : children_of(pid)) {
      todo.push_back(next);
    }
    // What cannot be looked at is ours: it is closed to everybody.
    const std::optional<FileKey> program = key_of(text::cat("/proc/", pid, "/exe"));
    if (!program || std::ranges::find(own, *program) != own.end()) {
      continue;
    }
    UniqueFd root(::open(text::cat("/proc/", pid, "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root) {
      return root;
    }
  }
  return fail(Errc::unsupported_isolation, "the server's process cannot be found, so `within` could judge no path",
              "looking into the server's files", "use a backend that starts it below us: native, bubblewrap, landlock");
}

Result<ServerFiles> ServerFiles::start(Config config) {
  std::array<UniqueFd, 2> ours;
  std::array<UniqueFd, 2> theirs;
  const std::size_t count = config.find_again ? 2 : 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<int, 2> ends = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      return broken("socketpair");
    }
    ours[i] = UniqueFd(ends[0]);
    theirs[i] = UniqueFd(ends[1]);
  }
  const pid_t between = ::fork();
  if (between == 0) {
    // Nobody waits for them: they are children of one that is gone, and end when we do.
    if (::setsid() < 0) {
      ::_exit(0);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (::fork() == 0) {
        be_the_looker(theirs[i].get(), i == 0 ? config.root.get() : -1, config);
      }
    }
    ::_exit(0);
  }
  if (between < 0) {
    return broken("fork");
  }
  while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  theirs = {};
  constexpr int kStartMs = 10'000;
  if (const Status ready = hear_ready(ours[0], kStartMs); !ready) {
    return std::unexpected(ready.error());
  }
  return ServerFiles(std::move(ours[0]), std::move(ours[1]), config);
}

Status ServerFiles::look_again() {
  if (!moves_) {
    return {};
  }
  // The first root is that of a view which is gone, and would be answered from wrongly.
  questions_ = std::exchange(later_, UniqueFd());
  Status ready = !questions_ || ::write(questions_.get(), "g", 1) != 1 ? Status(broken("the process that looks again"))
                                                                       : hear_ready(questions_, timeout_ms_);
  if (!ready) {
    questions_.reset();
  }
  return ready;
}

Answer ServerFiles::ask(const std::string& question) {
  char answer = 'u';
  pollfd entry{questions_.get(), POLLIN, 0};
  if (!questions_ || question.size() > kMaxQuestion) {
    return Answer::unknown;
  }
  if (::write(questions_.get(), question.data(), question.size()) != static_cast<ssize_t>(question.size()) ||
      ::poll(&entry, 1, timeout_ms_) != 1 || ::read(questions_.get(), &answer, 1) != 1) {
    // A late answer would be taken for that to the next question.
    questions_.reset();
    return Answer::unknown;
  }
  return answer == 'i' ? Answer::inside : answer == 'o' ? Answer::outside : Answer::unknown;
}

Answer ServerFiles::within(const std::string& path, const std::string& folder) {
  return ask(text::cat(kWithin, path, '\0', folder));
}

Answer ServerFiles::exists(const std::string& path) { return ask(text::cat(kExists, path, '\0')); }

}  // namespace cordon::run
