// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a value or a fault stands in a JSON file, for a person with an editor.

#include <string>
#include <string_view>

#include "core/json/value.hpp"

namespace cordon::formats {

// "file:line:column", both from 1, columns in bytes. Without an offset that is known: the file alone.
std::string place_of_offset(std::string_view file, std::string_view text, std::size_t offset);
std::string place_of_value(std::string_view file, const json::Document& document, const json::Value& value);
// Of an Error of json::read, whose `where` is "byte N" or empty.
std::string place_of_read_error(std::string_view file, std::string_view text, std::string_view where);

}  // namespace cordon::formats
