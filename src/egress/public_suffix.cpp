// SPDX-License-Identifier: Apache-2.0
#include <libpsl.h>

#include <string>

#include "egress/name.hpp"

namespace cordon::egress {

bool is_public_suffix(std::string_view canonical) {
  // The list that the library was built with; single labels that it does not know count as suffixes too.
  const psl_ctx_t* list = psl_builtin();
  return list == nullptr || psl_is_public_suffix(list, std::string(canonical).c_str()) != 0;
}

}  // namespace cordon::egress
