// SPDX-License-Identifier: Apache-2.0
#pragma once
// Printing for people: the two streams, errors, and whether colour is wanted.

#include <cstddef>
#include <string>
#include <string_view>

#include "app/caller.hpp"
#include "app/style.hpp"
#include "base/error.hpp"
#include "cli/command.hpp"

namespace cordon::cli {

// Whole text, whatever its length; a broken pipe ends the program as it does for other tools.
void print_out(std::string_view text);
void print_err(std::string_view text);

// Colour only on a terminal, NO_COLOR honoured (set and not empty), TERM=dumb too.
app::Style style_for(int fd, const app::Caller& caller);

// Width of the terminal, 80 for anything else.
std::size_t columns_of(int fd);

// "mcp-cordon: TYPE: where: detail (remedy)" on stderr; the exit status of its type.
int report(const Error& error);
std::string error_line(const Error& error);

// "mcp-cordon: text" on stderr; kUsage.
int usage_error(std::string_view text);

}  // namespace cordon::cli
