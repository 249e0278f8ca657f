// SPDX-License-Identifier: Apache-2.0
// Any bytes as a line of a server's stderr. Oracle: what is found is bounded and of its kind, a path is normalised, the
// same bytes give the same, and nothing that is said about it is unfit for a terminal.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/complaint.hpp"
#include "app/diagnose.hpp"
#include "app/paths.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace {

using namespace cordon::app;
using cordon::sandbox::PathKind;

// Every path is there, and nothing is shown: the case in which a line is proposed.
void check_finding(const Complaint& complaint) {
  cordon::sandbox::Plan plan;
  plan.guarantees = {{"filesystem", cordon::sandbox::Strength::enforced, ""},
                     {"network", cordon::sandbox::Strength::enforced, ""}};
  const auto finding = diagnose(complaint, {plan, "/home/u", [](const std::string&) { return PathKind::file; },
                                            [](std::string_view path) { return path.starts_with("/keys"); }});
  if (finding) {
    for (const std::string& text : {finding->what, finding->proposal}) {
      for (const char c : text) {
        CORDON_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
      }
    }
    CORDON_ASSERT(finding->proposal.find("\"/keys") == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string line(reinterpret_cast<const char*>(data), size);
  const std::optional<Complaint> complaint = read_complaint(line);
  CORDON_ASSERT(read_complaint(line) == complaint);
  if (!complaint) {
    return 0;
  }
  CORDON_ASSERT(complaint->path.size() <= 1024 && complaint->host.size() <= 270 && complaint->library.size() <= 1024);
  CORDON_ASSERT(complaint->path.empty() || complaint->path == normalised(complaint->path));
  CORDON_ASSERT(complaint->host.find(' ') == std::string::npos);
  check_finding(*complaint);
  return 0;
}
