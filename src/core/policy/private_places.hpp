// SPDX-License-Identifier: Apache-2.0
#pragma once
// Places whose grant hands over more than a server needs; a policy must give a reason for one.

#include <array>
#include <string_view>

namespace cordon::policy {

// Below a home folder: keys, and profiles of browsers and mail programs with their cookies and passwords.
inline constexpr std::array kPrivatePlaces = std::to_array<std::string_view>({".ssh",
                                                                              ".aws",
                                                                              ".gnupg",
                                                                              ".mozilla",
                                                                              ".librewolf",
                                                                              ".waterfox",
                                                                              ".thunderbird",
                                                                              ".config/google-chrome",
                                                                              ".config/google-chrome-beta",
                                                                              ".config/google-chrome-unstable",
                                                                              ".config/chromium",
                                                                              ".config/BraveSoftware",
                                                                              ".config/microsoft-edge",
                                                                              ".config/vivaldi",
                                                                              ".config/opera",
                                                                              ".config/mozilla",
                                                                              "snap/firefox",
                                                                              "snap/chromium",
                                                                              "snap/brave",
                                                                              ".var/app/org.mozilla.firefox",
                                                                              ".var/app/org.chromium.Chromium",
                                                                              ".var/app/com.google.Chrome",
                                                                              ".var/app/com.brave.Browser",
                                                                              ".var/app/com.microsoft.Edge"});

}  // namespace cordon::policy
