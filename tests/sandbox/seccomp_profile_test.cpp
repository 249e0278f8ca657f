// SPDX-License-Identifier: Apache-2.0
// The profile for container engines lets the same calls through as our own filter: both are asked about every number,
// with arguments around every value that a rule names.
#include "sandbox/seccomp_profile.hpp"

#include <doctest/doctest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <set>

#include "core/json/read.hpp"
#include "sandbox/syscall_filter.hpp"
#include "sandbox/syscalls.hpp"

using namespace cordon;
using namespace cordon::sandbox;

namespace {

using Arguments = std::array<std::uint64_t, 6>;

std::uint64_t number_of(const json::Value& value) {
  std::uint64_t out = 0;
  const std::string_view text = value.number_text();
  REQUIRE(std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc());
  return out;
}

// What an engine makes of a profile: an entry of that name whose conditions all hold, else the default. Where several
// hold they must agree, since the format has no order.
class Profile {
 public:
  explicit Profile(const std::string& text) : document_(json::read(text, {}).value()) {
    for (const json::Value entry : document_.root().find("syscalls").elements()) {
      for (const json::Value name : entry.find("names").elements()) {
        entries_[name.string()].push_back(entry);
      }
    }
  }

  // 0: let through, else the error.
  int answer(const std::string& name, const Arguments& arguments) const {
    bool decided = false;
    int verdict = static_cast<int>(number_of(document_.root().find("defaultErrnoRet")));
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      return verdict;
    }
    for (const json::Value& entry : found->second) {
      if (holds(entry, arguments)) {
        const int its = entry.find("action").string_equals("SCMP_ACT_ALLOW")
                            ? 0
                            : static_cast<int>(number_of(entry.find("errnoRet")));
        REQUIRE_MESSAGE((!decided || its == verdict), name);
        decided = true;
        verdict = its;
      }
    }
    return verdict;
  }

  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& [name, entries] : entries_) {
      out.insert(name);
    }
    return out;
  }
  const json::Value root() const { return document_.root(); }

 private:
  static bool holds(const json::Value& entry, const Arguments& arguments) {
    std::set<std::uint64_t> indices;
    for (const json::Value test : entry.find("args").elements()) {
      REQUIRE(test.find("op").string_equals("SCMP_CMP_MASKED_EQ"));
      const std::uint64_t index = number_of(test.find("index"));
      // Engines make alternatives of two conditions on one argument.
      CHECK(indices.insert(index).second);
      if ((arguments.at(index) & number_of(test.find("value"))) != number_of(test.find("valueTwo"))) {
        return false;
      }
    }
    return true;
  }

  json::Document document_;
  std::map<std::string, std::vector<json::Value>> entries_ = {};
};

// Classic BPF, as far as our filter uses it.
int own_answer(int number, const Arguments& arguments) {
  static const std::vector<sock_filter> code = build_filter().value();
  seccomp_data data = {};
  data.nr = number;
#if defined(__x86_64__)
  data.arch = AUDIT_ARCH_X86_64;
#else
  data.arch = AUDIT_ARCH_AARCH64;
#endif
  std::copy(arguments.begin(), arguments.end(), data.args);
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < code.size();) {
    const sock_filter& step = code[at++];
    if (step.code == (BPF_LD | BPF_W | BPF_ABS)) {
      std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + step.k, sizeof accumulator);
    } else if (step.code == (BPF_ALU | BPF_AND | BPF_K)) {
      accumulator &= step.k;
    } else if (step.code == (BPF_JMP | BPF_JA)) {
      at += step.k;
    } else if (step.code == (BPF_JMP | BPF_JEQ | BPF_K)) {
      at += accumulator == step.k ? step.jt : step.jf;
    } else if (step.code == (BPF_JMP | BPF_JGE | BPF_K)) {
      at += accumulator >= step.k ? step.jt : step.jf;
    } else {
      REQUIRE(step.code == (BPF_RET | BPF_K));
      return step.k == SECCOMP_RET_ALLOW ? 0 : static_cast<int>(step.k & SECCOMP_RET_DATA);
    }
  }
  FAIL("the filter runs past its end");
  return -1;
}

// Values around all that any rule names, with rubbish above 32 bits.
std::vector<std::uint64_t> interesting() {
  std::set<std::uint64_t> values = {0, 1, 2, 3, 0xffffffff, 0x80000000};
  for (const CallRule& rule : rules()) {
    for (std::uint8_t i = 0; i < rule.tests; ++i) {
      const ArgumentTest& test = rule.test[i];
      for (const std::uint32_t value :
           {test.value, test.mask, test.value ^ 1U, test.value + 1, test.value - 1,
            test.value | (test.mask & (0U - test.mask)), ~test.mask, test.value ^ 0x80000000}) {
        values.insert(value);
      }
    }
  }
  std::vector<std::uint64_t> out(values.begin(), values.end());
  for (const std::uint64_t value : values) {
    out.push_back(value | 0xdead'beef'0000'0000);
  }
  return out;
}

bool is_ruled(std::string_view name) {
  return std::ranges::any_of(rules(), [&](const CallRule& rule) { return rule.name == name; });
}

}  // namespace

TEST_CASE("the profile answers as our own filter does, for every number and around every argument") {
  const Profile profile(seccomp_profile(filter_architecture()));
  const std::vector<std::uint64_t> values = interesting();
  std::map<int, std::string> names;
  for (const std::string& name : profile.names()) {
    if (const int number = call_number(name); number >= 0) {
      names[number] = name;
    }
  }
  std::size_t asked = 0;
  for (int number = 0; number <= kTableEnd; ++number) {
    const auto named = names.find(number);
    const std::string name = named == names.end() ? "" : named->second;
    if (!is_ruled(name)) {
      CHECK_MESSAGE(profile.answer(name, {}) == own_answer(number, {}), number, " ", name);
      ++asked;
      continue;
    }
    for (const std::uint64_t first : values) {
      for (const std::uint64_t second :
           {first, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{6}}) {
        for (const std::uint64_t third : {first, std::uint64_t{0}, std::uint64_t{6}, std::uint64_t{17}}) {
          const std::array<Arguments, 2> orders = {
              {{first, second, third, first, first, first}, {second, first, third, third, first, first}}};
          for (const Arguments& arguments : orders) {
            const int ours = own_answer(number, arguments);
            const int theirs = profile.answer(name, arguments);
            // Which error it is can be said for whole calls only; inside, our own filter answers first.
            REQUIRE_MESSAGE((ours == 0) == (theirs == 0), name, " ", first, " ", second, " ", third);
            ++asked;
          }
        }
      }
    }
  }
  CHECK(asked > 10'000);
}

TEST_CASE("names that the engine's library may not know yet are in the profile, and nothing else above the table") {
  const Profile profile(seccomp_profile("x86_64"));
  for (const CallRule& rule : rules()) {
    if (rule.number > kTableEnd && rule.tests == 0) {
      CHECK(profile.answer(std::string(rule.name), {}) == 0);
    }
  }
  CHECK(profile.answer("clone3", {}) == ENOSYS);
  CHECK(profile.answer("openat2", {}) == ENOSYS);
  CHECK(profile.answer("open_tree_attr", {}) == EPERM);
  CHECK(profile.answer("ptrace", {}) == EPERM);
}

TEST_CASE("the head of the profile, and architectures") {
  const std::string text = seccomp_profile("x86_64");
  CHECK(text.starts_with(
      "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":1,"
      "\"architectures\":[\"SCMP_ARCH_X86_64\"],\n\"syscalls\":[\n{\"names\":[\"accept\",\"accept4\","));
  CHECK(text.find("{\"names\":[\"clone3\",\"openat2\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":38}") !=
        std::string::npos);
  CHECK(text.find(",\n{\"names\":[\"clone\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":2114060288,"
                  "\"valueTwo\":0,\"op\":\"SCMP_CMP_MASKED_EQ\"}]}") != std::string::npos);
  CHECK(text.ends_with("}]}\n"));
  CHECK(seccomp_profile("aarch64").find("SCMP_ARCH_AARCH64") != std::string::npos);
  CHECK(seccomp_profile("") == "");
  CHECK(seccomp_profile("riscv64") == "");
}

TEST_CASE("all but some values, in cubes that do not overlap") {
  for (const std::vector<std::uint32_t>& values :
       {std::vector<std::uint32_t>{0x5412, 0x541c}, {0}, {0xffffffff}, {0, 1}, {7, 7}}) {
    const std::vector<Cube> cubes = all_but(values);
    const auto holding = [&](std::uint32_t value) {
      return std::ranges::count_if(cubes, [&](const Cube& cube) { return (value & cube.mask) == cube.bits; });
    };
    std::uint64_t covered = 0;
    for (const Cube& cube : cubes) {
      covered += std::uint64_t{1} << (32 - std::popcount(cube.mask));
      CHECK((cube.bits & ~cube.mask) == 0);
    }
    CHECK(covered == (std::uint64_t{1} << 32) - std::set(values.begin(), values.end()).size());
    for (const std::uint32_t value : values) {
      CHECK(holding(value) == 0);
      CHECK(holding(value ^ 0x100) == 1);
    }
  }
  CHECK(all_but({}) == std::vector<Cube>{{}});
}
