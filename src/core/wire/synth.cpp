// SPDX-License-Identifier: Apache-2.0
#include "core/wire/synth.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/text.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::wire {
namespace {

using json::Kind;
using json::Member;
using json::Value;
using json::Writer;

void begin(Writer& w, const Id& id) { w.begin_object().member("jsonrpc", "2.0").member_raw("id", id.json()); }

bool is_own(const Value& key) {
  const std::string_view raw = key.string_raw();
  return raw.find('\\') == std::string_view::npos ? raw.starts_with(kOwnMetaPrefix)
                                                  : key.string().starts_with(kOwnMetaPrefix);
}

// Data of a tool, in which a member called _meta means nothing to the protocol.
bool is_data(const Value& key) { return key.string_equals("arguments") || key.string_equals("structuredContent"); }

void copy_without_own(Writer& w, const Value& value, bool in_meta) {
  if (value.is(Kind::array)) {
    w.begin_array();
    for (const Value element : value.elements()) {
      copy_without_own(w, element, false);
    }
    w.end_array();
  } else if (value.is(Kind::object)) {
    w.begin_object();
    for (const Member member : value.members()) {
      if (in_meta && is_own(member.key)) {
        continue;
      }
      w.key(member.key.string());
      if (is_data(member.key)) {
        w.value(member.value);
      } else {
        copy_without_own(w, member.value, member.key.string_equals("_meta"));
      }
    }
    w.end_object();
  } else {
    w.value(value);
  }
}

bool find_own(const Value& value, bool in_meta) {
  for (const Value element : value.elements()) {
    if (find_own(element, false)) {
      return true;
    }
  }
  for (const Member member : value.members()) {
    if ((in_meta && is_own(member.key)) ||
        (!is_data(member.key) && find_own(member.value, member.key.string_equals("_meta")))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string error_line(const Id& id, Errc code, std::string_view detail) {
  return error_line(id, json_rpc_code(code), text::cat(name(code), ": ", detail), code);
}

std::string error_line(const Id& id, int code, std::string_view message, Errc type) {
  Writer w;
  begin(w, id);
  w.key("error").begin_object().member_int("code", code).member("message", message);
  w.key("data").begin_object().member("type", name(type)).end_object().end_object().end_object();
  return w.take() + '\n';
}

std::string result_line(const Id& id, std::string_view result_json) {
  Writer w;
  begin(w, id);
  w.member_raw("result", result_json).end_object();
  return w.take() + '\n';
}

std::string request_line(const Id& id, std::string_view method, std::string_view params_json) {
  Writer w;
  begin(w, id);
  w.member("method", method).member_raw("params", params_json).end_object();
  return w.take() + '\n';
}

std::string notification_line(std::string_view method, std::string_view params_json) {
  Writer w;
  w.begin_object().member("jsonrpc", "2.0").member("method", method);
  if (!params_json.empty()) {
    w.member_raw("params", params_json);
  }
  w.end_object();
  return w.take() + '\n';
}

std::string refusal_result(std::string_view text, std::string_view meta_json, Era era) {
  Writer w;
  w.begin_object().key("content").begin_array();
  w.begin_object().member("type", "text").member("text", text).end_object().end_array();
  w.member_bool("isError", true);
  if (era == Era::stateless) {
    w.member("resultType", "complete");
  }
  w.member_raw("_meta", meta_json).end_object();
  return w.take();
}

// Without a member `_meta` anywhere there is nothing to look into.
bool has_own_meta(const Value& value) {
  constexpr std::string_view kMeta = "_meta";
  constexpr std::size_t kLongest = kMeta.size() * 6;  // each letter as \uXXXX
  const json::detail::Tape& tape = *value.tape();
  const std::span nodes = std::span(tape.nodes).subspan(value.index());
  const bool may = std::ranges::any_of(nodes, [&](const json::detail::Node& node) {
    return node.kind == Kind::string && ((node.flags & json::detail::kEscaped) != 0
                                             ? node.length <= kLongest
                                             : std::string_view(tape.text).substr(node.begin, node.length) == kMeta);
  });
  return may && find_own(value, false);
}

std::string without_own_meta(const Value& value) {
  Writer w;
  copy_without_own(w, value, false);
  return w.take();
}

std::string edited(const Value& object, const MemberEdit& edit) {
  Writer w;
  w.begin_object();
  for (const Member member : object.members()) {
    const std::string key = member.key.string();
    const auto replacement = edit(key, member.value);
    if (!replacement) {
      w.key(key).value(member.value);
    } else if (!replacement->empty()) {
      w.key(key).raw(*replacement);
    }
  }
  w.end_object();
  return w.take();
}

std::string with_meta(const Value& object, std::string_view key, std::string_view value) {
  Writer w;
  w.begin_object();
  for (const Member member : object.members()) {
    if (!member.key.string_equals("_meta")) {
      w.key(member.key.string()).value(member.value);
    }
  }
  w.key("_meta").begin_object();
  for (const Member member : object.find("_meta").members()) {
    if (!member.key.string_equals(key)) {
      w.key(member.key.string()).value(member.value);
    }
  }
  w.member_raw(key, value).end_object().end_object();
  return w.take();
}

}  // namespace cordon::wire
