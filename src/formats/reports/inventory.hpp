// SPDX-License-Identifier: Apache-2.0
#pragma once
// The servers that the configs of MCP clients name, for people and for programs.

#include <string>
#include <string_view>
#include <vector>

#include "clients/findings.hpp"

namespace cordon::formats {

struct InventoryServer {
  std::string name = {};
  std::string client = {};  // id
  std::string file = {};
  std::string place = {};                     // "12:5" in the file
  std::string transport = {};                 // stdio, remote, unknown
  std::vector<std::string> command = {};      // without the wrapper; secrets are masked
  std::string url = {};                       // likewise
  std::vector<std::string> environment = {};  // names
  bool wrapped = false;
  std::string policy = {};                // NAME, or FILE of --policy
  std::vector<std::string> also_in = {};  // files with a server of the same command
  std::vector<clients::Finding> findings = {};
};

struct InventoryFile {
  std::string client = {};
  std::string title = {};
  std::string scope = {};
  std::string path = {};
  std::string real = {};  // where a symlink leads, when it is one
  std::vector<clients::Finding> findings = {};
};

struct Inventory {
  std::vector<InventoryFile> files = {};
  std::vector<InventoryServer> servers = {};  // by file
};

// Is there anything that counts?
bool has_finding(const Inventory& inventory);

std::string inventory_text(const Inventory& inventory);
std::string inventory_json(const Inventory& inventory);
std::string inventory_sarif(const Inventory& inventory);

}  // namespace cordon::formats
