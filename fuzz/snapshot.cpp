// SPDX-License-Identifier: Apache-2.0
// A snapshot file. One that is accepted is written as text that reads back the same, with the same digest, holds
// nothing that could harm a terminal, and does not differ from itself.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "core/catalog/diff.hpp"
#include "formats/reports/report.hpp"
#include "formats/snapshot.hpp"

using namespace cordon;

namespace {

constexpr char32_t kCut = 0x2026;  // where a long word of an error was cut

void check_reviewable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const text::CodePoint point = text::decode_utf8(text, i);
    CORDON_ASSERT(point.length != 0);
    CORDON_ASSERT(point.value == '\n' || (point.value >= 0x20 && point.value < 0x7F) || point.value == kCut ||
                  text::is_visible_letter(point.value));
    i += point.length;
  }
}

void check_snapshot(const catalog::Snapshot& snapshot) {
  const std::string text = formats::write_snapshot(snapshot);
  check_reviewable(text);
  const Result<catalog::Snapshot> again = formats::read_snapshot(text, "again");
  CORDON_ASSERT(again.has_value());
  CORDON_ASSERT(again->digest == snapshot.digest);
  CORDON_ASSERT(again->launch == snapshot.launch);
  CORDON_ASSERT(again->instructions == snapshot.instructions);
  CORDON_ASSERT(formats::write_snapshot(*again) == text);
  CORDON_ASSERT(catalog::diff(snapshot, *again).changes.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Result<catalog::Snapshot> snapshot = formats::read_any_catalog(input, "fuzz");
  if (!snapshot) {
    check_reviewable(snapshot.error().to_string());
    return 0;
  }
  if (!snapshot->tools_only) {
    check_snapshot(*snapshot);
  }
  catalog::Snapshot other = {.server = "other", .reviewed = false, .tools_only = snapshot->tools_only};
  const catalog::Diff diff = catalog::diff(other, *snapshot);
  for (const formats::Report* report : formats::reports()) {
    CORDON_ASSERT(!report->render(diff, {}).empty());
  }
  return 0;
}
