// SPDX-License-Identifier: Apache-2.0
#pragma once
// Member after member of a JSON file of ours, each with the fault that a wrong one has: the first is kept with its
// place, and what follows it does not count.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/json/read.hpp"
#include "core/json/value.hpp"

namespace cordon::formats {

class MemberReader {
 public:
  // `document` and `file` are borrowed. `code`: of every fault.
  MemberReader(const json::Document& document, std::string_view file, Errc code)
      : document_(document), file_(file), code_(code) {}

 protected:
  const json::Document& document() const { return document_; }
  bool faulty() const { return error_.has_value(); }
  std::optional<Error> take_fault() { return std::move(error_); }

  void fault(const json::Value& at, std::string detail, std::string_view remedy = {});
  // Every member must be there and no other, save those that may be.
  bool has_exactly(const json::Value& object, std::span<const std::string_view> names, std::string_view what,
                   std::span<const std::string_view> optional = {});
  std::string text_of(const json::Value& value, std::string_view what);
  // "sha256:" and 64 digits
  std::string digest_of(const json::Value& value, std::string_view what);
  bool flag_of(const json::Value& value, std::string_view what);
  std::vector<std::string> texts_of(const json::Value& value, std::string_view what);
  // In canonical form.
  std::string object_of(const json::Value& value, std::string_view what);
  std::size_t count_of(const json::Value& value, std::string_view what);

 private:
  const json::Document& document_;
  std::string_view file_;
  Errc code_;
  std::optional<Error> error_ = {};
};

}  // namespace cordon::formats
