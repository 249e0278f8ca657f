// SPDX-License-Identifier: Apache-2.0
#pragma once
// The style sheet of the HTML report. Its digest is the only thing that the page's policy lets in.

#include <string>
#include <string_view>

namespace cordon::formats {

std::string_view html_style();
// For a Content-Security-Policy: 'sha256-BASE64'.
std::string style_source(std::string_view style);

}  // namespace cordon::formats
