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
  // file_unreadable when there is none.
  static Result<Terminal> open();
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

}  // namespace cordon::cli
