// SPDX-License-Identifier: Apache-2.0
#include "audit/record.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "audit/flat_body.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::audit {
namespace {

// A record may hold the whole arguments of a call, several times escaped.
constexpr std::string_view kEllipsis = "…";
constexpr json::Limits kBodyLimits = {.max_bytes = 64'000'000, .max_depth = 256};

std::unexpected<Error> bad_body(std::string detail) { return fail(Errc::internal, std::move(detail), "audit record"); }

// True when some string or number of `value` holds a secret, however it is escaped.
bool holds_secret(const json::Value& value, const Masker& masker) {
  switch (value.kind()) {
    case json::Kind::string:
      return masker.hits(value.string());
    case json::Kind::number:
      return masker.hits(value.number_text());
    case json::Kind::array:
      for (const json::Value element : value.elements()) {
        if (holds_secret(element, masker)) {
          return true;
        }
      }
      return false;
    case json::Kind::object:
      for (const json::Member member : value.members()) {
        if (holds_secret(member.key, masker) || holds_secret(member.value, masker)) {
          return true;
        }
      }
      return false;
    case json::Kind::null:
    case json::Kind::boolean:
      return false;
  }
  return false;
}

std::string quote(std::string_view decoded) { return json::quoted(decoded, json::Escaping::reviewable); }

// The value again, secrets masked, and nothing in it that could act on a terminal.
void append_safe(std::string& out, const json::Value& value, const Masker& masker) {
  std::string_view separator;
  switch (value.kind()) {
    case json::Kind::string:
      out += quote(masker.mask(value.string()));
      return;
    case json::Kind::number:
      out +=
          masker.hits(value.number_text()) ? quote(masker.mask(value.number_text())) : std::string(value.number_text());
      return;
    case json::Kind::array:
      out += '[';
      for (const json::Value element : value.elements()) {
        out += std::exchange(separator, ",");
        append_safe(out, element, masker);
      }
      out += ']';
      return;
    case json::Kind::object:
      out += '{';
      for (const json::Member member : value.members()) {
        out += std::exchange(separator, ",");
        out += quote(masker.mask(member.key.string()));
        out += ':';
        append_safe(out, member.value, masker);
      }
      out += '}';
      return;
    case json::Kind::null:
    case json::Kind::boolean:
      out += value.raw();
      return;
  }
}

bool server_text_too_long(const json::Value& root) {
  const json::Value text = root.find(kServerTextMember);
  return text.is(json::Kind::string) && text.string_raw().size() > kMaxServerTextBytes;
}

std::string cut(std::string_view decoded) {
  if (decoded.size() <= kMaxServerTextBytes) {
    return std::string(decoded);
  }
  std::size_t end = kMaxServerTextBytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(decoded[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return text::cat(decoded.substr(0, end), kEllipsis);
}

// The same object with secrets masked, server text cut and everything but plain text escaped.
std::string rewrite(const json::Value& root, const Masker& masker) {
  std::string out = "{";
  std::string_view separator;
  for (const json::Member member : root.members()) {
    const std::string key = masker.mask(member.key.string());
    out += std::exchange(separator, ",");
    out += quote(key);
    out += ':';
    if (key == kServerTextMember && member.value.is(json::Kind::string)) {
      out += quote(cut(masker.mask(member.value.string())));
    } else {
      append_safe(out, member.value, masker);
    }
  }
  out += '}';
  return out;
}

bool plain_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

Status check_shape(const json::Value& root) {
  if (!root.is(json::Kind::object)) {
    return bad_body("the body is not an object");
  }
  if (!root.find("event").is(json::Kind::string)) {
    return bad_body("the body has no string member 'event'");
  }
  for (const json::Member member : root.members()) {
    if (const std::string key = member.key.string(); is_reserved_member(key)) {
      return bad_body(text::cat("the body has a member '", key, "' of its own"));
    }
  }
  return {};
}

}  // namespace

std::string server_text(std::string_view bytes) {
  return text::printable(bytes, kMaxServerTextBytes - kEllipsis.size());
}

Result<AdmittedBody> admit_body(std::string_view body, const Masker& masker) {
  if (const auto flat = admit_flat_body(body, masker)) {
    return AdmittedBody{std::string(flat->members), std::string(flat->event), flat->from_server};
  }
  // White space between tokens may hold line feeds, which would split the record.
  if (std::ranges::any_of(body, [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    return bad_body("the body holds a control character");
  }
  auto read = json::read(std::string(body), kBodyLimits);
  if (!read) {
    return bad_body(text::cat("the body is not JSON: ", read.error().to_string()));
  }
  if (Status shape = check_shape(read->root()); !shape) {
    return std::unexpected(shape.error());
  }
  const std::string event = read->root().find("event").string();
  const json::Value from = read->root().find("from");
  const bool from_server = from.is(json::Kind::string) && from.string_equals("server");
  const bool masks = !masker.empty() && holds_secret(read->root(), masker);
  std::string text;
  if (masks || server_text_too_long(read->root()) || !plain_ascii(body)) {
    text = rewrite(read->root(), masker);
    // Masking may make two keys equal or spell a reserved one; such a body is not worth more than its event.
    const auto again = json::read(text, kBodyLimits);
    if (!again || !check_shape(again->root())) {
      text = text::cat("{\"event\":", quote(masker.mask(event)), ",\"masked\":true}");
    }
  } else {
    text = std::move(*read).take_text();
  }
  const std::size_t begin = text.find('{') + 1;
  const std::size_t end = text.rfind('}');
  return AdmittedBody{text.substr(begin, end - begin), event, from_server};
}

namespace {

void append_padded(std::string& out, std::int64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  if (text.size() < digits) {
    out.append(digits - text.size(), '0');
  }
  out += text;
}

struct Civil {
  std::int64_t year, month, day, hour, minute, second, micro;
};

Civil civil(std::int64_t unix_us) {
  using namespace std::chrono;
  const sys_time<microseconds> point{microseconds(unix_us)};
  const auto day = floor<days>(point);
  const year_month_day date{day};
  const hh_mm_ss<microseconds> time{point - day};
  return {static_cast<int>(date.year()),
          static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()),
          time.hours().count(),
          time.minutes().count(),
          time.seconds().count(),
          time.subseconds().count()};
}

std::string join_time(const Civil& at, std::string_view date_separator, std::string_view time_separator) {
  std::string out;
  append_padded(out, at.year, 4);
  out += date_separator;
  append_padded(out, at.month, 2);
  out += date_separator;
  append_padded(out, at.day, 2);
  out += 'T';
  append_padded(out, at.hour, 2);
  out += time_separator;
  append_padded(out, at.minute, 2);
  out += time_separator;
  append_padded(out, at.second, 2);
  out += '.';
  return out;
}

}  // namespace

std::string time_text(std::int64_t unix_us) {
  const Civil at = civil(unix_us);
  std::string out = join_time(at, "-", ":");
  append_padded(out, at.micro / 1000, 3);
  out += 'Z';
  return out;
}

std::string file_time_text(std::int64_t unix_us) {
  const Civil at = civil(unix_us);
  std::string out = join_time(at, "", "");
  append_padded(out, at.micro, 6);
  out += 'Z';
  return out;
}

Result<std::int64_t> parse_file_time(std::string_view name) {
  using namespace std::chrono;
  const auto bad = [&] { return fail(Errc::audit_unavailable, "not the name of an audit file", std::string(name)); };
  constexpr std::string_view kShape =
      "dddddddd"
      "T"
      "dddddd"
      "."
      "dddddd"
      "Z";
  if (name.size() < kShape.size()) {
    return bad();
  }
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool fits = kShape[i] == 'd' ? name[i] >= '0' && name[i] <= '9' : name[i] == kShape[i];
    if (!fits) {
      return bad();
    }
  }
  const auto number = [&](std::size_t begin, std::size_t digits) {
    unsigned value = 0;
    std::from_chars(name.data() + begin, name.data() + begin + digits, value);
    return value;
  };
  const year_month_day date{year(static_cast<int>(number(0, 4))), month(number(4, 2)), day(number(6, 2))};
  const unsigned hour = number(9, 2);
  const unsigned minute = number(11, 2);
  const unsigned second = number(13, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) {
    return bad();
  }
  const auto point = sys_days(date) + hours(hour) + minutes(minute) + seconds(second) + microseconds(number(16, 6));
  return duration_cast<microseconds>(point.time_since_epoch()).count();
}

}  // namespace cordon::audit
