// SPDX-License-Identifier: Apache-2.0
// What is found below a write grant, and what the plan makes of it. Made without privileges.
#include "sandbox/steering.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/text.hpp"
#include "facts.hpp"
#include "sandbox/git_config.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using namespace cordon::sandbox;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  Fixture() {
    std::string pattern = fs::temp_directory_path() / "cordon-steering-XXXXXX";
    root = fs::canonical(::mkdtemp(pattern.data()));
    folder("w");
    spec = test::simple_spec();
    spec.mounts = {{.source = at("w"), .target = at("w"), .writable = true}};
  }
  ~Fixture() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  std::string at(const std::string& name) const { return root / name; }
  void folder(const std::string& name) const { fs::create_directories(root / name); }
  void file(const std::string& name, const std::string& content = "x") const {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << content;
  }
  void link(const std::string& name, const std::string& to) const { fs::create_symlink(to, root / name); }
  void repository(const std::string& git) const {
    folder(git + "/objects");
    folder(git + "/refs");
    folder(git + "/hooks");
    file(git + "/HEAD", "ref: refs/heads/main\n");
    file(git + "/config", "[core]\n");
  }
  HostFacts look() const {
    HostFacts facts = test::able_host();
    facts.home = at("home");
    find_steering(spec, facts);
    return facts;
  }
  // "present", "held", or nothing.
  std::string state(const std::string& name) const {
    const HostFacts facts = look();
    for (const SteeringPlace& place : facts.steering) {
      if (place.path == at(name)) {
        return place.absent ? "held" : "present";
      }
    }
    return {};
  }
  std::string gaps() const {
    std::string out;
    const HostFacts facts = look();
    for (const SteeringGap& gap : facts.steering_gaps) {
      out += text::cat(out.empty() ? "" : " ", gap.reason);
    }
    return out;
  }
  Plan plan(const HostFacts& facts) const {
    auto made = select(spec, facts);
    REQUIRE_MESSAGE(made, (made ? "" : made.error().to_string()));
    return *made;
  }

  fs::path root = {};
  LaunchSpec spec = {};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "in a granted folder, what is there is covered and what is absent is held") {
  file("w/.vscode/settings.json");
  file("w/AGENTS.md");
  file("w/.github/copilot-instructions.md");
  CHECK(state("w/.vscode") == "present");
  CHECK(state("w/AGENTS.md") == "present");
  CHECK(state("w/.github/copilot-instructions.md") == "present");
  for (const char* name :
       {"w/.cursor", "w/.mcp.json", "w/.envrc", "w/.git", "w/.claude", "w/.codex", "w/opencode.json", "w/.gemini",
        "w/.windsurf", "w/.zed", "w/.idea", "w/.continue", "w/.roo", "w/.cline", "w/.amazonq"}) {
    CHECK_MESSAGE(state(name) == "held", name);
  }
  // Instructions are covered where they are; their absence is no business of ours.
  CHECK(state("w/CLAUDE.md").empty());
  CHECK(state("w/sub/.vscode").empty());
  CHECK(gaps().empty());
}

TEST_CASE_FIXTURE(Fixture, "a read grant, a file and a folder of somebody else's hold nothing") {
  file("one");
  spec.mounts = {{.source = at("w"), .target = at("w")}, {.source = at("one"), .target = at("one"), .writable = true}};
  CHECK(look().steering.empty());
}

TEST_CASE_FIXTURE(Fixture, "hooks, config and what leads to them are covered in every repository below") {
  repository("w/a/b/.git");
  repository("w/bare.git");
  repository("w/a/b/.git/modules/group/sub");
  file("w/a/b/sub/.git", "gitdir: ../.git/modules/group/sub\n");
  file("w/a/b/.git/worktrees/x/HEAD");
  file("w/a/b/.git/worktrees/x/commondir", "../..\n");
  for (const char* git : {"w/a/b/.git", "w/bare.git", "w/a/b/.git/modules/group/sub"}) {
    CHECK_MESSAGE(state(text::cat(git, "/hooks")) == "present", git);
    CHECK_MESSAGE(state(text::cat(git, "/config")) == "present", git);
    CHECK_MESSAGE(state(text::cat(git, "/commondir")) == "held", git);
  }
  CHECK(state("w/a/b/sub/.git") == "present");
  CHECK(state("w/a/b/.git/worktrees/x/commondir") == "present");
  CHECK(state("w/a/b/.vscode") == "held");
  CHECK(state("w/a/b/sub/.vscode") == "held");
  CHECK(state("w/a/b/.git").empty());
  CHECK(state("w/a/.vscode").empty());
  fs::remove_all(root / "w/a/b/.git/hooks");
  CHECK(state("w/a/b/.git/hooks") == "held");
  // A rebase under way; without one, a folder of that name would be taken for one.
  CHECK(state("w/a/b/.git/rebase-merge").empty());
  file("w/a/b/.git/rebase-merge/git-rebase-todo", "exec make\n");
  file("w/a/b/.git/modules/group/sub/rebase-apply/0001");
  file("w/a/b/.git/worktrees/x/sequencer/todo");
  CHECK(state("w/a/b/.git/rebase-merge") == "present");
  CHECK(state("w/a/b/.git/modules/group/sub/rebase-apply") == "present");
  CHECK(state("w/a/b/.git/worktrees/x/sequencer") == "present");
}

TEST_CASE_FIXTURE(Fixture, "a git folder elsewhere is covered when the server can write there") {
  repository("x/.git");
  file("w/.git", "gitdir: " + at("x/.git") + "\n");
  CHECK(state("x/.git/config").empty());
  spec.mounts.push_back({.source = at("x"), .target = at("x"), .writable = true});
  CHECK(state("x/.git/config") == "present");
  CHECK(state("w/.git") == "present");
}

TEST_CASE_FIXTURE(Fixture, "hooks and settings that config names are covered where they are") {
  repository("w/.git");
  folder("w/tools/hooks");
  file("w/shared.ini");
  file("w/.git/config", "[core]\n\thooksPath = tools/hooks ; ours\n[include]\n\tpath = \"../shared.ini\"\n");
  CHECK(state("w/tools/hooks") == "present");
  CHECK(state("w/shared.ini") == "present");
  CHECK(gaps().empty());
  fs::remove_all(root / "w/tools");
  CHECK(gaps() == "named_by_config");
}

TEST_CASE_FIXTURE(Fixture, "config.worktree is held where it would be read") {
  repository("w/.git");
  CHECK(state("w/.git/config.worktree").empty());
  file("w/.git/config", "[extensions]\n\tworktreeConfig = true\n");
  CHECK(state("w/.git/config.worktree") == "held");
}

TEST_CASE_FIXTURE(Fixture, "what a launch left behind counts as absent, what somebody made or filled does not") {
  folder("w/.cursor");
  CHECK(state("w/.cursor") == "present");
  const std::array<timespec, 2> mark = {{{kHeldMark, 0}, {kHeldMark, 0}}};
  REQUIRE(::utimensat(AT_FDCWD, at("w/.cursor").c_str(), mark.data(), 0) == 0);
  CHECK(state("w/.cursor") == "held");
  file("w/.cursor/mcp.json");
  CHECK(state("w/.cursor") == "present");
}

TEST_CASE_FIXTURE(Fixture, "what the covers leave open is said") {
  SUBCASE("a symlink") {
    file("w/AGENTS.md");
    link("w/CLAUDE.md", "AGENTS.md");
    CHECK(gaps() == "symlink");
    CHECK(state("w/AGENTS.md") == "present");
    CHECK(look().steering_gaps[0].link);
  }
  SUBCASE("a symlink that could be led elsewhere") {
    file("w/AGENTS.md");
    SUBCASE("through another one") {
      link("w/other", "AGENTS.md");
      link("w/CLAUDE.md", "other");
    }
    SUBCASE("in a folder that is one") {
      folder("w/real");
      link("w/real/copilot-instructions.md", "../AGENTS.md");
      link("w/.github", "real");
    }
    SUBCASE("to nothing") { link("w/CLAUDE.md", "nothing"); }
    SUBCASE("to the whole grant") { link("w/.vscode", "."); }
    const HostFacts facts = look();
    REQUIRE(!facts.steering_gaps.empty());
    for (const SteeringGap& gap : facts.steering_gaps) {
      CHECK_FALSE(gap.link);
    }
  }
  SUBCASE("a symlink to another writable place") {
    file("w/dot/settings.json");
    link("w/.vscode", "dot");
    CHECK(gaps() == "symlink");
    CHECK(state("w/dot") == "present");
  }
  SUBCASE("too deep") {
    std::string deep = "w";
    for (int i = 0; i < 33; ++i) {
      deep += "/d";
    }
    folder(deep);
    CHECK(gaps() == "too_deep");
  }
  SUBCASE("deep, but not too deep") {
    repository("w/1/2/3/4/5/6/7/8/.git");
    CHECK(gaps().empty());
    CHECK(state("w/1/2/3/4/5/6/7/8/.git/hooks") == "present");
  }
  SUBCASE("too many places") {
    for (int i = 0; i < 150; ++i) {
      repository(text::cat("w/r", i, "/.git"));
    }
    CHECK(gaps() == "too_many_places");
  }
  SUBCASE("what a package manager filled is not looked at") {
    folder("w/node_modules/1/2/3/4/5/6/7/8/9/10");
    CHECK(gaps().empty());
  }
  SUBCASE("the home folder") {
    file("w/.bashrc");
    HostFacts facts = test::able_host();
    facts.home = at("w");
    find_steering(spec, facts);
    REQUIRE(facts.steering_gaps.size() == 1);
    CHECK(facts.steering_gaps[0].reason == "home");
    // Covered where it is there; nothing is put into a home.
    CHECK(std::ranges::any_of(facts.steering, [&](const auto& place) { return place.path == at("w/.bashrc"); }));
    CHECK(std::ranges::none_of(facts.steering, &SteeringPlace::absent));
  }
}

TEST_CASE_FIXTURE(Fixture, "a plan makes what steers read-only, holds folders above it, and says so") {
  repository("w/a/.git");
  file("w/.vscode/settings.json");
  spec.mounts[0].target = "/data";
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    spec.backend = backend;
    const Plan made = plan(look());
    std::set<std::string> covered;
    std::set<std::string> pinned;
    for (const ViewEntry& entry : made.view) {
      if (entry.steering) {
        (entry.writable ? pinned : covered).insert(entry.target);
      }
    }
    CHECK(covered.contains("/data/.vscode"));
    CHECK(covered.contains("/data/.cursor"));
    CHECK(covered.contains("/data/a/.git/hooks"));
    CHECK(pinned == std::set<std::string>{"/data/a", "/data/a/.git"});
    CHECK(find_guarantee(made, "filesystem.steering")->strength == Strength::enforced);
    const auto& outer = made.steps.outer;
    const auto places = std::ranges::find(outer, Step::places);
    CHECK(places != outer.end());
    CHECK(std::find(outer.begin(), places, Step::sources) == places);
    // The plan as it is announced does not change with what lies in the grant.
    CHECK(to_json(made).find(".vscode") == std::string::npos);
    CHECK(covers_json(made).find("/data/.cursor\",\"made\":true") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture, "the digest does not hang on what lies in a granted folder") {
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    fs::remove_all(root / "w");
    folder("w");
    spec.backend = backend;
    const std::string before = digest(plan(look()));
    repository("w/a/.git");
    file("w/.vscode/settings.json");
    CHECK(digest(plan(look())) == before);
  }
}

TEST_CASE_FIXTURE(Fixture, "a grant of the very thing is the way around a cover, a denial hides it") {
  file("w/.vscode/settings.json");
  file("w/.claude/data/x");
  spec.mounts.push_back({.source = at("w/.vscode"), .target = at("w/.vscode"), .writable = true});
  spec.mounts.push_back({.source = at("w/.claude/data"), .target = at("w/.claude/data"), .writable = true});
  spec.deny = {at("w/.cursor")};
  folder("w/.cursor");
  std::string order;
  for (const ViewEntry& entry : plan(look()).view) {
    for (const char* name : {"w/.vscode", "w/.claude", "w/.claude/data", "w/.cursor"}) {
      if (entry.target == at(name)) {
        order += text::cat(name + 2, entry.writable ? " rw " : " ro ");
      }
    }
  }
  CHECK(order == ".claude ro .claude/data rw .vscode rw .cursor ro ");
}

TEST_CASE_FIXTURE(Fixture, "a gap refuses the launch, unless its grant says why") {
  link("w/CLAUDE.md", "AGENTS.md");
  spec.backend = BackendChoice::native;
  const auto refused = select(spec, look());
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::unsupported_isolation);
  CHECK(refused.error().detail ==
        "requirement filesystem.steering is not enforced (asked for by isolation.require): reason symlink");
  CHECK(refused.error().remedy.find(at("w/CLAUDE.md")) != std::string::npos);
  spec.mounts[0].reasoned = true;
  const Plan made = plan(look());
  CHECK(find_guarantee(made, "filesystem.steering")->strength == Strength::enforced);
  CHECK(find_guarantee(made, "filesystem.steering")->reason.find("accepts: symlink") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a symlink stays under native, and refuses a backend that would follow it") {
  file("w/AGENTS.md");
  link("w/CLAUDE.md", "AGENTS.md");
  spec.backend = BackendChoice::native;
  const Plan made = plan(look());
  CHECK(find_guarantee(made, "filesystem.steering")->strength == Strength::enforced);
  const auto held = std::ranges::find(made.view, EntryKind::link, &ViewEntry::kind);
  REQUIRE(held != made.view.end());
  CHECK(held->target == at("w/CLAUDE.md"));
  CHECK(held->text == "AGENTS.md");
  spec.backend = BackendChoice::bubblewrap;
  const auto refused = select(spec, look());
  REQUIRE(!refused);
  CHECK(refused.error().detail.find("reason symlink") != std::string::npos);
}

TEST_CASE("names that steer are known wherever they stand") {
  for (const char* path : {"/p/.vscode", "/p/.vscode/settings.json", "/p/.git/hooks", "/p/.git/hooks/pre-commit",
                           "/p/.git/config", "/p/.mcp.json", "/p/AGENTS.md", "/home/u/.bashrc", "/p/.envrc"}) {
    CHECK_MESSAGE(is_steering(path), path);
  }
  for (const char* path : {"/p", "/p/.git", "/p/.git/objects", "/p/.vscodex", "/p/config", "/p/hooks", "/"}) {
    CHECK_MESSAGE(!is_steering(path), path);
  }
}

TEST_CASE("paths in git's config") {
  const auto paths = [](std::string_view config) {
    return text::join(paths_of_git_config(config, "/r/.git", "/r", "/home/u"), " ");
  };
  CHECK(paths("[core]\n\tHooksPath = hooks/\n") == "/r/hooks");
  CHECK(paths("[core] hooksPath=../x # why\n") == "/x");
  CHECK(paths("[core]\nhookspath = \"/a b;c\"\n") == "/a b;c");
  CHECK(paths("[includeIf \"gitdir:~/w/\"]\n path = ~/w.ini\n") == "/home/u/w.ini");
  CHECK(paths("[include]\n\tpath = sub/more\n") == "/r/.git/sub/more");
  CHECK(paths("[core]\n\tpathx = /x\n# path = /y\n[include]\n path =\n").empty());
  CHECK(paths("[include]\n path = ~other/x\n").empty());
  CHECK(paths("").empty());
}
