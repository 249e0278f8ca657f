// SPDX-License-Identifier: Apache-2.0
// Control groups as text and as a model: where a launch may make one, and what it does there. Version 2 has rules that
// a test machine need not have; the model below keeps them.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/text.hpp"
#include "sandbox/group_calls.hpp"
#include "sandbox/probe_parts.hpp"

using namespace cordon;
using namespace cordon::sandbox;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHybridMounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

// A folder that looks like a hierarchy of version 2, as far as reading and making folders goes.
struct FakeTree {
  fs::path root;
  FakeTree() {
    std::string pattern = fs::temp_directory_path() / "cordon-groups-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root = pattern;
  }
  ~FakeTree() { fs::remove_all(root); }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;
  std::string group(const std::string& name, const std::string& controllers, const std::string& passed_on,
                    const std::string& members) const {
    const fs::path folder = root / name;
    fs::create_directories(folder);
    for (const auto& [file, text] : {std::pair("cgroup.type", std::string("domain")),
                                     {"cgroup.controllers", controllers},
                                     {"cgroup.subtree_control", passed_on},
                                     {"cgroup.procs", members}}) {
      std::ofstream(folder / file) << text << '\n';
    }
    return folder;
  }
};

GroupFacts judge(const std::string& folder) {
  return judge_group_places({{.folder = folder, .unified = true}}, [](std::string_view pid) { return pid == "17"; });
}

// Version 2 in memory: a group with processes passes nothing on, and a controller's files are where its parent does.
struct Model {
  std::map<std::string, std::set<std::string>> members;  // of each group
  std::map<std::string, std::string> files;

  GroupCalls calls() {
    return {.make = [this](const std::string& folder) { return members.try_emplace(folder).second ? 0 : EEXIST; },
            .write = [this](const std::string& file, const std::string& value) { return write(file, value); },
            .read = [this](const std::string& file) { return read(file); }};
  }
  int write(const std::string& file, const std::string& value) {
    const fs::path path = file;
    const std::string group = path.parent_path();
    if (path.filename() == "cgroup.procs") {
      for (auto& [name, pids] : members) {
        pids.erase(value);
      }
      members.at(group).insert(value);
      return 0;
    }
    if (path.filename() == "cgroup.subtree_control") {
      if (!members.at(group).empty()) {
        return EBUSY;
      }
      files[file] += (files[file].empty() ? "" : " ") + value.substr(1);
      return 0;
    }
    const std::string controller = path.filename().string().substr(0, path.filename().string().find('.'));
    if (read(path.parent_path().parent_path() / "cgroup.subtree_control").find(controller) == std::string::npos) {
      return ENOENT;
    }
    files[file] = value;
    return 0;
  }
  std::string read(const std::string& file) {
    const fs::path path = file;
    std::string text;
    if (path.filename() == "cgroup.procs") {
      for (const std::string& pid : members.at(path.parent_path())) {
        text += pid + "\n";
      }
      return text;
    }
    return files[file] + "\n";
  }
};

ControlGroup unified_group(bool leaf) {
  return {.folder = "/own",
          .unified = true,
          .leaf = leaf,
          .files = {{"memory.max", "1000000", false}, {"memory.swap.max", "0", true}, {"pids.max", "67", false}}};
}

}  // namespace

TEST_CASE("the groups that we live in are found, each in its hierarchy") {
  const auto places = find_group_places("8:pids:/\n4:memory:/a/b\n1:cpu:/\n0::/user\n", kHybridMounts);
  REQUIRE(places.size() == 3);
  CHECK(places[0] == GroupPlace{.folder = "/sys/fs/cgroup/pids", .processes = true});
  CHECK(places[1] == GroupPlace{.folder = "/sys/fs/cgroup/memory/a/b", .memory = true});
  CHECK(places[2] == GroupPlace{.folder = "/sys/fs/cgroup/unified/user", .unified = true});
}

TEST_CASE("where only a part of a hierarchy is mounted, the path is taken from there") {
  const std::string_view mounts = "35 31 0:32 /docker/7 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  const auto below = find_group_places("0::/docker/7/sub\n", mounts);
  REQUIRE(below.size() == 1);
  CHECK(below[0].folder == "/sys/fs/cgroup/sub");
  CHECK(find_group_places("0::/docker/8\n", mounts).empty());
  CHECK(find_group_places("0::/docker/77\n", mounts).empty());
  CHECK(find_group_places("0::/../x\n", mounts).empty());
  CHECK(find_group_places("", mounts).empty());
  CHECK(find_group_places("0::\n0:\nnonsense\n", "nonsense\n - \n").empty());
}

TEST_CASE("a delegated group where we live alone is used, by way of a leaf") {
  const FakeTree tree;
  const GroupFacts facts = judge(tree.group("scope", "cpu memory pids", "", "17"));
  CHECK(facts.trial.works);
  REQUIRE(facts.places.size() == 1);
  CHECK(facts.places[0] ==
        GroupPlace{.folder = tree.root / "scope", .unified = true, .memory = true, .processes = true, .leaf = true});
  CHECK(fs::exists(tree.root / "scope"));
  CHECK(std::distance(fs::directory_iterator(tree.root / "scope"), {}) == 4);  // nothing is left of the trial
}

TEST_CASE("a group where others live, too, is not: they would have to be moved") {
  const FakeTree tree;
  const GroupFacts facts = judge(tree.group("session", "memory pids", "", "17\n18"));
  CHECK(!facts.trial.works);
  CHECK(facts.trial.reason == "no_cgroup_delegation");
  CHECK(facts.trial.hint.find("systemd-run --user --scope -p Delegate=yes -- mcp-cordon") != std::string::npos);
  CHECK(facts.places.empty());
}

TEST_CASE("a group without the controller of memory is no use") {
  const FakeTree tree;
  CHECK(!judge(tree.group("scope", "cpu pids", "", "17")).trial.works);
  CHECK(!judge(tree.group("scope2", "", "", "17")).trial.works);
  CHECK(!judge(tree.root / "gone").trial.works);
}

TEST_CASE("moved to a leaf by an earlier launch, we make the next group beside it") {
  const FakeTree tree;
  tree.group("scope", "memory pids", "memory pids", "");
  const GroupFacts facts = judge(tree.group("scope/mcp-cordon-17-leaf", "memory pids", "", "17"));
  REQUIRE(facts.places.size() == 1);
  CHECK(facts.places[0].folder == (tree.root / "scope").string());
  CHECK(!facts.places[0].leaf);
}

TEST_CASE("a group in which nothing can be made says why") {
  const FakeTree tree;
  const std::string folder = tree.group("scope", "memory pids", "", "17");
  if (::geteuid() == 0) {
    return;  // may write everywhere
  }
  REQUIRE(::chmod(folder.c_str(), 0555) == 0);
  const GroupFacts facts = judge(folder);
  CHECK(facts.trial.error_number == EACCES);
  ::chmod(folder.c_str(), 0755);
}

TEST_CASE("version 2: what lives in the holder moves to a leaf before controllers are passed on") {
  Model model;
  model.members["/own"] = {"17", "18"};
  const GroupFault fault = make_group(unified_group(true), "mcp-cordon-1", model.calls());
  CHECK(fault.what == "");
  CHECK(model.members.at("/own").empty());
  CHECK(model.members.at("/own/mcp-cordon-1-leaf") == std::set<std::string>{"17", "18"});
  CHECK(model.files.at("/own/cgroup.subtree_control") == "memory pids");
  CHECK(model.files.at("/own/mcp-cordon-1/memory.max") == "1000000");
  CHECK(model.files.at("/own/mcp-cordon-1/pids.max") == "67");
}

TEST_CASE("version 2: without the leaf the kernel refuses, and so does the launch") {
  Model model;
  model.members["/own"] = {"17"};
  const GroupFault fault = make_group(unified_group(false), "mcp-cordon-1", model.calls());
  CHECK(fault.error_number == EBUSY);
  CHECK(fault.what == "write +memory to /own/cgroup.subtree_control");
}

TEST_CASE("a group is made exclusively") {
  Model model;
  model.members["/own"] = {};
  model.members["/own/mcp-cordon-1"] = {};
  CHECK(make_group(unified_group(false), "mcp-cordon-1", model.calls()).error_number == EEXIST);
}

TEST_CASE("a limit that the kernel does not keep as written is a fault") {
  Model model;
  model.members["/own"] = {};
  GroupCalls calls = model.calls();
  std::string says = "999424\n";  // a whole number of pages below
  calls.read = [&](const std::string& file) { return file.ends_with("memory.max") ? says : model.read(file); };
  CHECK(make_group(unified_group(false), "a", calls).what == "");
  for (const std::string other : {"max\n", "1000001\n", "800000\n", "\n"}) {
    says = other;
    CHECK(make_group(unified_group(false), "b" + other, calls).what.find("memory.max is ") != std::string::npos);
  }
}
