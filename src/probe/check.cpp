// SPDX-License-Identifier: Apache-2.0
#include "probe/check.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::probe {
namespace {

bool is_within(std::string_view path, std::string_view folder) {
  return folder == "/" || (path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/'));
}

bool any_holds(const std::vector<std::string>& folders, std::string_view path) {
  for (const std::string& folder : folders) {
    if (is_within(path, folder)) {
      return true;
    }
  }
  return false;
}

std::string name_of(int error_number) {
  const char* name = ::strerrorname_np(error_number);
  return name != nullptr ? name : std::to_string(error_number);
}

std::string_view name_of(Result::Kind kind) {
  switch (kind) {
    case Result::Kind::not_applicable:
      return "not_applicable";
    case Result::Kind::held:
      return "held";
    case Result::Kind::blocked:
      return "blocked";
    case Result::Kind::breached:
      return "breached";
  }
  return "breached";
}

}  // namespace

void Request::add(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals != std::string_view::npos) {
    values_[std::string(argument.substr(0, equals))].emplace_back(argument.substr(equals + 1));
  }
}

const std::vector<std::string>& Request::all(const std::string& name) const {
  static const std::vector<std::string> kNone;
  const auto found = values_.find(name);
  return found == values_.end() ? kNone : found->second;
}

const std::string& Request::one(const std::string& name) const {
  static const std::string kNone;
  const std::vector<std::string>& values = all(name);
  return values.empty() ? kNone : values.front();
}

int Request::number(const std::string& name) const {
  const std::string& digits = one(name);
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool Request::shown(std::string_view path) const {
  return any_holds(all("shown"), path) && !any_holds(all("deny"), path);
}

bool Request::leads_to_shown(std::string_view path) const {
  for (const char* kind : {"shown", "read", "write"}) {
    for (const std::string& place : all(kind)) {
      if (is_within(place, path)) {
        return true;
      }
    }
  }
  return false;
}

bool Request::writable(std::string_view path) const { return any_holds(all("writable"), path); }

void Result::note(Kind kind, std::string_view attempt, std::string_view expected, std::string got, int error_number) {
  ++attempts_;
  if (kind > kind_) {
    kind_ = kind;
    attempt_ = attempt;
    expected_ = expected;
    got_ = std::move(got);
    errno_ = error_number;
  }
}

void Result::denied(std::string_view attempt, const Attempt& body) {
  const int error_number = body();
  note(error_number == 0 ? Kind::breached : Kind::held, attempt, "denied", error_number == 0 ? "allowed" : "denied",
       error_number);
}

void Result::refused(std::string_view attempt, std::string_view error_name, const Attempt& body) {
  const int error_number = body();
  std::string got = error_number == 0 ? "allowed" : name_of(error_number);
  const Kind kind = got == error_name ? Kind::held : Kind::breached;
  note(kind, attempt, error_name, std::move(got), error_number);
}

void Result::allowed(std::string_view attempt, const Attempt& body) {
  const int error_number = body();
  note(error_number == 0 ? Kind::held : Kind::blocked, attempt, "allowed",
       error_number == 0 ? "allowed" : name_of(error_number), error_number);
}

void Result::equal(std::string_view fact, std::string_view expected, std::string_view got) {
  note(expected == got ? Kind::held : Kind::breached, fact, expected, std::string(got), 0);
}

void Result::not_applicable(std::string reason) {
  if (kind_ == Kind::not_applicable) {
    reason_ = std::move(reason);
  }
}

std::string Result::line(std::string_view id, std::string_view guarantee, std::string_view mechanism) const {
  json::Writer out;
  out.begin_object().member("id", id).member("guarantee", guarantee).member("result", name_of(kind_));
  out.member("expected", text::printable(expected_)).member("got", text::printable(got_));
  out.member_int("errno", errno_).member("mechanism", mechanism).member_int("attempts", attempts_);
  if (kind_ == Kind::not_applicable) {
    out.member("reason", text::printable(reason_.empty() ? "nothing to try here" : reason_));
  } else {
    out.member("attempt", text::printable(attempt_));
  }
  out.end_object();
  return out.take();
}

int result_of(long returned) { return returned < 0 ? errno : 0; }

int result_of_open(int fd) {
  const int error_number = result_of(fd);
  if (fd >= 0) {
    ::close(fd);
  }
  return error_number;
}

int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body());
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) {
    return -1;
  }
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

int read_one(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return errno;
  }
  char byte = 0;
  const ssize_t length = ::read(fd, &byte, 1);
  const int error_number = length < 0 ? errno : length == 0 ? ENODATA : 0;
  ::close(fd);
  return error_number;
}

int create(const std::string& path, unsigned mode) {
  const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0) {
    return errno;
  }
  ::close(fd);
  ::unlink(path.c_str());
  return 0;
}

int open_for_writing(const std::string& path) {
  return result_of_open(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
}

int count_entries(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) {
    return -1;
  }
  int count = 0;
  while (::readdir(folder) != nullptr) {
    ++count;
  }
  ::closedir(folder);
  return count - 2;
}

}  // namespace cordon::probe
