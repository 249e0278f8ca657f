// SPDX-License-Identifier: Apache-2.0
#pragma once
// An image that the test makes itself out of static programs: no registry is asked, and it is gone afterwards.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandboxed.hpp"

namespace cordon::test {

class Image {
 public:
  // `files`: path inside → file outside, copied with mode 0755. Nothing when podman cannot import it.
  static std::optional<Image> make(const std::vector<std::pair<std::string, std::string>>& files);
  ~Image();
  Image(Image&& other) noexcept : tag_(std::exchange(other.tag_, {})), reference_(std::move(other.reference_)) {}
  Image& operator=(Image&&) = delete;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  const std::string& reference() const { return reference_; }  // "name@sha256:…"

 private:
  Image() = default;
  std::string tag_ = {};
  std::string reference_ = {};
};

// A static busybox; empty when the machine has none.
std::string static_shell();

// What a command prints; nothing when it fails.
std::optional<std::string> output_of(const std::vector<std::string>& argv);

// Containers of ours that the engine knows, one name a line.
std::string containers_left();

// Where a launch makes its folder.
struct Place {
  TempFolder folder = {};
  std::string scratch = folder / "scratch";
  Place();
};

// What is left of launches there: a child of ours, a container, a folder. Empty within some seconds, since an engine
// tidies up by itself.
std::string all_gone(const Place& place);

}  // namespace cordon::test
