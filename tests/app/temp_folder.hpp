// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder of a test's own, removed at its end, and a Caller that lives in it.

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "app/caller.hpp"

namespace cordon::app {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = std::filesystem::temp_directory_path().string() + "/cordon-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      std::abort();
    }
    path_ = std::filesystem::canonical(pattern).string();
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string at(std::string_view name) const { return path_ + "/" + std::string(name); }
  std::string folder(std::string_view name) const {
    std::filesystem::create_directories(at(name));
    return at(name);
  }
  std::string file(std::string_view name, std::string_view content, mode_t mode = 0644) const {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    std::ofstream(at(name)) << content;
    ::chmod(at(name).c_str(), mode);
    return at(name);
  }
  std::string link(std::string_view name, std::string_view target) const {
    std::filesystem::create_symlink(target, at(name));
    return at(name);
  }

  // A caller whose home, configuration, state and installation all lie in this folder.
  Caller caller() const {
    Caller out;
    out.home = folder("home");
    out.config_home = out.home + "/.config";
    out.state_home = out.home + "/.local/state";
    out.prefix = at("prefix");
    out.executable = at("prefix/bin/mcp-cordon");
    out.system_config = at("etc/mcp-cordon");
    out.account = "tester";
    out.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", out.home}};
    out.uid = ::geteuid();
    return out;
  }

 private:
  std::string path_;
};

}  // namespace cordon::app
