// SPDX-License-Identifier: Apache-2.0
#include "sandbox/confirmation.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kFormat = "mcp-cordon.confirmation";
constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";

std::unexpected<Error> invalid(std::string detail) {
  return fail(Errc::policy_invalid, std::move(detail), "confirmation", "run the probe again");
}

std::string text_of(const json::Value& value) { return value.is(json::Kind::string) ? value.string() : std::string(); }

bool is_detail(std::string_view name) { return std::ranges::find(details(), name, &Detail::name) != details().end(); }

}  // namespace

std::string confirmation_key(const Plan& plan) {
  Plan bare = plan;
  bare.guarantees.clear();
  return digest(bare);
}

std::string write_confirmation(const Confirmation& confirmation) {
  json::Writer out;
  out.begin_object().member("format", kFormat).member_int("version", 1);
  out.member("plan", confirmation.plan_key).member("program", confirmation.program);
  out.member("boot_id", confirmation.boot_id).key("details").begin_object();
  // By the one list, so that equal findings make equal files.
  for (const Detail& detail : details()) {
    const auto found = std::ranges::find(confirmation.details, detail.name, &ConfirmedDetail::name);
    if (found != confirmation.details.end()) {
      out.member(detail.name, found->held ? "held" : "breached");
    }
  }
  out.end_object().end_object();
  return out.take() + "\n";
}

Result<Confirmation> read_confirmation(const std::string& text) {
  const auto document = json::read(text, json::Limits{});
  if (!document) {
    return std::unexpected(document.error());
  }
  const json::Value root = document->root();
  if (text_of(root.find("format")) != kFormat || !root.find("version") || root.find("version").raw() != "1") {
    return invalid("not a confirmation of this version");
  }
  Confirmation out{.plan_key = text_of(root.find("plan")),
                   .program = text_of(root.find("program")),
                   .boot_id = text_of(root.find("boot_id"))};
  const json::Value details_object = root.find("details");
  if (out.plan_key.empty() || out.program.empty() || out.boot_id.empty() || !details_object.is(json::Kind::object)) {
    return invalid("names no plan, no program, no boot or no details");
  }
  for (const json::Member& member : details_object.members()) {
    const std::string key = member.key.string();
    const std::string verdict = text_of(member.value);
    if (!is_detail(key) || (verdict != "held" && verdict != "breached")) {
      return invalid(
          text::cat("'", text::printable(key, 100), "' is no detail, or its value neither held nor breached"));
    }
    out.details.push_back({key, verdict == "held"});
  }
  return out;
}

Result<std::string> current_boot_id() {
  const UniqueFd file(::open(kBootIdFile, O_RDONLY | O_CLOEXEC));
  std::array<char, 64> buffer = {};
  const ssize_t length = file ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
  if (length <= 0) {
    return fail(Errc::file_unreadable, errno_text("read", errno), kBootIdFile);
  }
  std::string_view id(buffer.data(), static_cast<std::size_t>(length));
  while (id.ends_with('\n')) {
    id.remove_suffix(1);
  }
  return std::string(id);
}

void apply_confirmation(Statements& statements, const Plan& plan, const Confirmation& confirmation,
                        std::string_view boot_id) {
  if (boot_id.empty() || confirmation.boot_id != boot_id || confirmation.plan_key != confirmation_key(plan)) {
    return;
  }
  for (const ConfirmedDetail& detail : confirmation.details) {
    if (detail.held) {
      statements.enforced(detail.name, "confirmed by the probe on this boot");
    } else {
      statements.lacks(detail.name, Strength::no, "breached",
                       "the probe crossed it: mend the template, and probe again");
    }
  }
}

}  // namespace cordon::sandbox
