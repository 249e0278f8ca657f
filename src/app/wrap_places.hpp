// SPDX-License-Identifier: Apache-2.0
#pragma once
// wrap: places that a client's config hands to a server by a variable, and that its new policy does not show.

#include <string>
#include <vector>

#include "app/init.hpp"
#include "clients/entry.hpp"

namespace cordon::app {

// Printable sentences, one for each variable with the absolute path of something whose folder is there. Variables that
// look like secrets are passed over, and so are images, whose paths mean nothing here.
std::vector<std::string> places_not_shown(const clients::Entry& entry, const NewPolicy& policy);

}  // namespace cordon::app
