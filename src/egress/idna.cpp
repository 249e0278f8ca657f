// SPDX-License-Identifier: Apache-2.0
#include <idn2.h>

#include "egress/name_tables.hpp"

namespace cordon::egress {

std::optional<std::string> to_a_labels(const std::string& name) {
  std::uint8_t* mapped = nullptr;
  const auto* input = reinterpret_cast<const std::uint8_t*>(name.c_str());
  const int status = idn2_lookup_u8(input, &mapped, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  if (status != IDN2_OK || mapped == nullptr) {
    return std::nullopt;
  }
  std::string out(reinterpret_cast<const char*>(mapped));
  idn2_free(mapped);
  return out;
}

}  // namespace cordon::egress
