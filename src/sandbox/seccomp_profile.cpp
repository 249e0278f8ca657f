// SPDX-License-Identifier: Apache-2.0
#include "sandbox/seccomp_profile.hpp"

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sandbox/syscalls.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::uint32_t kWhole = 0xffffffff;
constexpr int kBits = 32;

std::string_view architecture_name(std::string_view architecture) {
  return architecture == "x86_64"    ? "SCMP_ARCH_X86_64"
         : architecture == "aarch64" ? "SCMP_ARCH_AARCH64"
                                     : std::string_view();
}

void split(std::span<const std::uint32_t> values, Cube cube, int depth, std::vector<Cube>& out) {
  const auto inside = [&](std::uint32_t value) { return (value & cube.mask) == cube.bits; };
  if (std::ranges::none_of(values, inside)) {
    out.push_back(cube);
  } else if (depth < kBits) {
    const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(kBits - 1 - depth);
    split(values, {cube.mask | bit, cube.bits}, depth + 1, out);
    split(values, {cube.mask | bit, cube.bits | bit}, depth + 1, out);
  }
}

// Names are those of system calls: nothing in them has to be escaped.
std::string names_text(std::span<const std::string_view> names) {
  std::string out = "\"names\":[";
  for (const std::string_view name : names) {
    out += text::cat(out.ends_with('[') ? "" : ",", "\"", name, "\"");
  }
  return out + "]";
}

std::string argument_text(const ArgumentTest& test) {
  return text::cat("{\"index\":", test.argument, ",\"value\":", test.mask, ",\"valueTwo\":", test.value,
                   ",\"op\":\"SCMP_CMP_MASKED_EQ\"}");
}

std::string allow(std::string_view name, std::span<const ArgumentTest> tests) {
  std::string arguments;
  for (const ArgumentTest& test : tests) {
    arguments += text::cat(arguments.empty() ? "" : ",", argument_text(test));
  }
  return text::cat(",\n{", names_text(std::span(&name, 1)), ",\"action\":\"SCMP_ACT_ALLOW\"",
                   arguments.empty() ? "" : text::cat(",\"args\":[", arguments, "]"), "}");
}

// The rules of one call, in order: the first whose tests hold decides. The format has no order, so what an earlier rule
// refuses is cut out of the later ones.
std::string rules_of(std::span<const CallRule> its_rules) {
  std::string out;
  std::vector<std::uint32_t> refused;
  std::uint8_t argument = 0;
  for (const CallRule& rule : its_rules) {
    const std::span tests(rule.test.data(), rule.tests);
    if (rule.verdict != 0) {
      if (rule.tests == 1 && tests[0].mask == kWhole && (refused.empty() || argument == tests[0].argument)) {
        argument = tests[0].argument;
        refused.push_back(tests[0].value);
        continue;
      }
      // Whatever comes after it is refused: nothing more to say.
      CORDON_ASSERT(rule.tests == 0);
      return out;
    }
    if (refused.empty()) {
      out += allow(rule.name, tests);
      continue;
    }
    CORDON_ASSERT(rule.tests == 0);
    for (const Cube& cube : all_but(refused)) {
      const ArgumentTest test{argument, cube.mask, cube.bits};
      out += allow(rule.name, std::span(&test, 1));
    }
  }
  return out;
}

}  // namespace

std::vector<Cube> all_but(std::span<const std::uint32_t> values) {
  std::vector<Cube> out;
  split(values, {}, 0, out);
  return out;
}

std::string seccomp_profile(std::string_view architecture) {
  const std::string_view its_name = architecture_name(architecture);
  if (its_name.empty()) {
    return {};
  }
  std::string out = text::cat("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":", EPERM,
                              ",\"architectures\":[\"", its_name, "\"],\n\"syscalls\":[\n{");
  out += text::cat(names_text(allowed_calls()), ",\"action\":\"SCMP_ACT_ALLOW\"},\n{");
  out += text::cat(names_text(absent_calls()), ",\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":", ENOSYS, "}");
  const std::span<const CallRule> all = rules();
  for (std::size_t first = 0; first < all.size();) {
    std::size_t next = first;
    while (next < all.size() && all[next].name == all[first].name) {
      ++next;
    }
    out += rules_of(all.subspan(first, next - first));
    first = next;
  }
  return out + "]}\n";
}

}  // namespace cordon::sandbox
