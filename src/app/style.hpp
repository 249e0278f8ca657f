// SPDX-License-Identifier: Apache-2.0
#pragma once
// Colour for people. Off unless the output is a terminal and NO_COLOR is unset; then every call gives its text alone.

#include <string>
#include <string_view>

namespace cordon::app {

struct Style {
  bool colour = false;

  std::string paint(std::string_view code, std::string_view text) const {
    if (!colour) {
      return std::string(text);
    }
    return std::string("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
  }
  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string red(std::string_view text) const { return paint("31", text); }
  std::string green(std::string_view text) const { return paint("32", text); }
  std::string yellow(std::string_view text) const { return paint("33", text); }
};

}  // namespace cordon::app
