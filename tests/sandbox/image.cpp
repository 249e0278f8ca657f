// SPDX-License-Identifier: Apache-2.0
#include "image.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/text.hpp"
#include "sandbox/container_client.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::test {

namespace fs = std::filesystem;

std::optional<std::string> output_of(const std::vector<std::string>& argv) {
  const char* home = std::getenv("HOME");
  const sandbox::ToolOutput said =
      sandbox::run_tool({.argv = argv,
                         .environment = sandbox::container_client_environment(home == nullptr ? "/root" : home),
                         .errors = false,
                         .patience_ms = 60000});
  if (said.status != 0) {
    return std::nullopt;
  }
  std::string text = said.text;
  while (text.ends_with('\n')) {
    text.pop_back();
  }
  return text;
}

std::string static_shell() {
  for (const char* path : {"/bin/busybox", "/usr/bin/busybox"}) {
    const auto about =
        output_of({"/usr/bin/env", "LC_ALL=C", "/bin/sh", "-c", text::cat("ldd ", path, " 2>&1 || true")});
    if (::access(path, X_OK) == 0 && about && about->find("not a dynamic executable") != std::string::npos) {
      return path;
    }
  }
  return {};
}

std::optional<Image> Image::make(const std::vector<std::pair<std::string, std::string>>& files) {
  const TempFolder folder;
  const std::string root = folder / "root";
  for (const char* place : {"", "/bin", "/etc", "/tmp", "/home", "/srv"}) {
    fs::create_directories(root + place);
  }
  fs::permissions(root + "/tmp", fs::perms(01777));  // runtimes give a private /tmp the mode of the image's
  for (const auto& [inside, outside] : files) {
    fs::create_directories(fs::path(root + inside).parent_path());
    fs::copy_file(outside, root + inside);
    fs::permissions(root + inside, fs::perms(0755));
  }
  if (!static_shell().empty()) {
    fs::copy_file(static_shell(), root + "/bin/busybox");
    for (const char* name : {"sh", "cat", "ls", "id", "sleep", "env", "mount", "ps", "touch", "echo"}) {
      fs::create_symlink("busybox", root + "/bin/" + name);
    }
  }
  const std::string tar = folder / "root.tar";
  Image image;
  image.tag_ = text::cat("localhost/mcp-cordon-test-", ::getpid(), ":", files.size());
  if (!output_of({"/bin/tar", "--numeric-owner", "--owner=0", "--group=0", "-C", root, "-cf", tar, "."}) ||
      !output_of({"/usr/bin/podman", "import", "-q", "--change", "WORKDIR /srv", "--change", "ENV COLOUR=blue", tar,
                  image.tag_})) {
    image.tag_.clear();
    return std::nullopt;
  }
  const auto digest = output_of({"/usr/bin/podman", "image", "inspect", "--format", "{{.Digest}}", image.tag_});
  if (!digest) {
    return std::nullopt;
  }
  image.reference_ = text::cat(image.tag_.substr(0, image.tag_.rfind(':')), "@", *digest);
  return image;
}

Image::~Image() {
  if (!tag_.empty()) {
    (void)output_of({"/usr/bin/podman", "rmi", "-f", tag_});
  }
}

std::string containers_left() {
  return output_of({"/usr/bin/podman", "ps", "-a", "--filter", "label=dev.mcp-cordon=launch", "--format", "{{.Names}}"})
      .value_or("podman cannot be asked");
}

Place::Place() { fs::create_directory(scratch); }

std::string all_gone(const Place& place) {
  constexpr int kLooks = 300;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 50'000'000};
  std::string left;
  for (int i = 0; i < kLooks; ++i) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    left = ::waitpid(-1, nullptr, WNOHANG) == 0 ? "a process; " : "";
    left += containers_left();
    left += fs::is_empty(place.scratch) ? "" : "; a folder";
    if (left.empty()) {
      return {};
    }
    ::nanosleep(&kPause, nullptr);
  }
  return left;
}

}  // namespace cordon::test
