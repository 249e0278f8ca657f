// SPDX-License-Identifier: Apache-2.0
#pragma once
// The controlling terminal, whatever stdin and stdout are: a program that pipes into us cannot answer for a person.

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/fd.hpp"

namespace cordon::cli {

class Terminal {
 public:
  // file_unreadable with that remedy when there is none.
  static Result<Terminal> open(std::string remedy);
  int fd() const { return fd_.get(); }
  void show(std::string_view text) const;
  // What was typed before anything was shown is no answer to it.
  void drop_typed_ahead() const;
  // One line without its end; nothing at end of input.
  std::optional<std::string> line();

 private:
  explicit Terminal(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  std::string pending_ = {};
};

// A word for this time only, six letters that are easy to type. Shown on the terminal alone: a program that types
// blindly does not know it. Empty when the kernel gives no random numbers.
std::string new_word();

}  // namespace cordon::cli
