// SPDX-License-Identifier: Apache-2.0
#include "core/gate/list_walk.hpp"

#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {

using json::Kind;
using json::Value;

std::string ListWalk::params(std::string_view meta_json) const {
  json::Writer w;
  w.begin_object();
  if (!meta_json.empty()) {
    w.member_raw("_meta", meta_json);
  }
  if (cursor_) {
    w.member_raw("cursor", *cursor_);
  }
  w.end_object();
  return w.take();
}

void ListWalk::add(const Value& element) {
  const std::string_view key = catalog::names(kind_).key;
  if (kind_ == catalog::ListKind::tools) {
    if (auto tool = catalog::read_tool(element, catalog::Leniency::served)) {
      live_.items.push_back(std::move(*tool));
      return;
    }
  } else if (auto item = catalog::read_item(kind_, element)) {
    live_.items.push_back({std::move(item->key), std::move(item->definition), {}});
    return;
  }
  const std::size_t longest = kind_ == catalog::ListKind::tools ? 256 : 4'096;
  if (const Value name = element.find(key); name.is(Kind::string) && name.string_raw().size() <= longest) {
    live_.rejected.push_back(name.string());
  } else {
    ++live_.unnamed;
  }
}

Result<bool> ListWalk::add_page(const Value& result) {
  const catalog::ListNames& named = catalog::names(kind_);
  const Value page = result.find(named.member);
  if (!page.is(Kind::array)) {
    return fail(Errc::catalog_invalid, text::cat("the answer to ", named.method, " has no array `", named.member, "`"));
  }
  if (++pages_ > caps_->max_pages) {
    return fail(Errc::catalog_invalid,
                text::cat("the ", named.text, " list has more than ", caps_->max_pages, " pages"));
  }
  bytes_ += page.raw().size();
  if (bytes_ > caps_->max_bytes) {
    return fail(Errc::catalog_invalid,
                text::cat("the ", named.text, " list has more than ", caps_->max_bytes, " bytes"));
  }
  for (const Value element : page.elements()) {
    if (live_.items.size() + live_.rejected.size() + live_.unnamed >= caps_->max_tools) {
      return fail(Errc::catalog_invalid,
                  text::cat("the ", named.text, " list has more than ", caps_->max_tools, ' ', named.text, 's'));
    }
    add(element);
  }
  // An empty cursor is a cursor; the end is its absence (null is tolerated as that).
  const Value next = result.find("nextCursor");
  if (!next || next.is(Kind::null)) {
    return true;
  }
  if (!next.is(Kind::string) || next.string_raw().size() > 65'536) {
    return fail(Errc::catalog_invalid, "nextCursor is no string of a sensible length");
  }
  if (!seen_.insert(next.string()).second) {
    return fail(Errc::catalog_invalid,
                text::cat("the ", named.text, " list gives the same cursor twice and would never end"));
  }
  cursor_ = std::string(next.raw());
  return false;
}

}  // namespace cordon::gate
