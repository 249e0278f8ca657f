// SPDX-License-Identifier: Apache-2.0
#pragma once
// The host of a URL that a model wrote, where all URL readers agree on it. What two of them could read differently is
// no URL for us: that is how allow lists are got around.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace cordon::policy {

// Lower case; an IPv6 address in its shortest form, without brackets. argument_denied with what is unclear about it.
Result<std::string> url_host(std::string_view url);

// Is `host` one of `hosts`, or below one written as *.SUFFIX? Both spelled as above.
bool host_listed(const std::vector<std::string>& hosts, std::string_view host);

}  // namespace cordon::policy
