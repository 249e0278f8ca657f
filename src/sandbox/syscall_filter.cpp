// SPDX-License-Identifier: Apache-2.0
#include "sandbox/syscall_filter.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/text.hpp"

namespace cordon::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kAuditArch = AUDIT_ARCH_X86_64;
constexpr std::string_view kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr std::uint32_t kAuditArch = AUDIT_ARCH_AARCH64;
constexpr std::string_view kArchitecture = "aarch64";
#else
constexpr std::uint32_t kAuditArch = 0;
constexpr std::string_view kArchitecture = "";
#endif

// x32 calls come with the x86-64 architecture and this bit in their number.
constexpr std::uint32_t kX32Bit = 0x40000000;

static_assert(std::endian::native == std::endian::little, "argument offsets below are those of little-endian machines");

constexpr std::uint32_t answer(Verdict verdict) {
  return verdict == 0          ? SECCOMP_RET_ALLOW
         : verdict == kAskInit ? SECCOMP_RET_USER_NOTIF
                               : SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(verdict);
}

// What one call number is judged by: a fixed verdict, or rules in order.
struct Judgement {
  Verdict verdict = ENOSYS;
  std::vector<CallRule> rules = {};
};

// From `first` up to the next range.
struct Range {
  std::uint32_t first = 0;
  Judgement judgement = {};
};

class Program {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void give(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  std::size_t jump_later() {
    add(BPF_JMP | BPF_JA, 0);
    return code_.size() - 1;
  }
  void land(std::size_t jump) { code_[jump].k = static_cast<std::uint32_t>(code_.size() - jump - 1); }
  // Skips `if_true` or `if_false` of the next instructions.
  void test(std::uint16_t operation, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | operation | BPF_K), if_true, if_false, value});
  }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  std::vector<sock_filter> take() { return std::move(code_); }

 private:
  void add(int code, std::uint32_t k) { code_.push_back({static_cast<std::uint16_t>(code), 0, 0, k}); }
  std::vector<sock_filter> code_;
};

void emit_rule(Program& program, const CallRule& rule) {
  // Per test three instructions (load, mask, compare); a compare that fails skips the rest and the answer.
  for (std::uint8_t i = 0; i < rule.tests; ++i) {
    const ArgumentTest& test = rule.test[i];
    program.load(static_cast<std::uint32_t>(offsetof(seccomp_data, args) + test.argument * sizeof(std::uint64_t)));
    program.mask(test.mask);
    const auto rest = static_cast<std::uint8_t>((rule.tests - i - 1) * 3 + 1);
    program.test(BPF_JEQ, test.value, 0, rest);
  }
  program.give(answer(rule.verdict));
}

void emit_judgement(Program& program, const Judgement& judgement) {
  for (const CallRule& rule : judgement.rules) {
    emit_rule(program, rule);
  }
  if (judgement.rules.empty() || judgement.rules.back().tests != 0) {
    program.give(answer(judgement.rules.empty() ? judgement.verdict : EPERM));
  }
}

// A binary search for the range of the number in the accumulator.
void emit_search(Program& program, std::span<const Range> ranges) {
  if (ranges.size() == 1) {
    emit_judgement(program, ranges.front().judgement);
    return;
  }
  const std::size_t middle = ranges.size() / 2;
  program.test(BPF_JGE, ranges[middle].first, 0, 1);
  const std::size_t to_upper = program.jump_later();
  emit_search(program, ranges.first(middle));
  program.land(to_upper);
  emit_search(program, ranges.subspan(middle));
}

// What is said there takes the place of what holds elsewhere.
void override_rules(std::map<int, Judgement>& all, std::span<const CallRule> overrides) {
  const auto number_of = [](const CallRule& rule) { return rule.number >= 0 ? rule.number : call_number(rule.name); };
  for (const CallRule& rule : overrides) {
    if (const int number = number_of(rule); number >= 0) {
      all[number].rules.clear();
    }
  }
  for (const CallRule& rule : overrides) {
    if (const int number = number_of(rule); number >= 0) {
      all[number].rules.push_back(rule);
    }
  }
}

std::map<int, Judgement> judgements(const CallTable& table) {
  std::map<int, Judgement> all;
  for (int number = 0; number <= kTableEnd; ++number) {
    all[number] = {.verdict = EPERM};
  }
  const auto in_table = [](int number) { return number >= 0 && number <= kTableEnd; };
  for (const std::string_view name : table.allowed) {
    if (const int number = call_number(name); in_table(number)) {
      all[number] = {.verdict = 0};
    }
  }
  for (const std::string_view name : table.absent) {
    if (const int number = call_number(name); in_table(number)) {
      all[number] = {.verdict = ENOSYS};
    }
  }
  const auto add = [&all](const CallRule& rule) {
    const int number = rule.number >= 0 ? rule.number : call_number(rule.name);
    if (number >= 0) {
      all[number].rules.push_back(rule);
    }
  };
  std::ranges::for_each(table.first, add);
  std::ranges::for_each(table.rules, add);
  override_rules(all, table.overrides);
  return all;
}

std::vector<Range> ranges(const CallTable& table) {
  std::vector<Range> list = {{.first = 0, .judgement = {.verdict = ENOSYS}}};
  std::uint32_t next = 0;  // first number not spoken of
  const auto extend = [&list](std::uint32_t first, const Judgement& judgement) {
    const Judgement& last = list.back().judgement;
    if (judgement.rules.empty() && last.rules.empty() && judgement.verdict == last.verdict) {
      return;
    }
    if (list.back().first == first) {
      list.back().judgement = judgement;
    } else {
      list.push_back({first, judgement});
    }
  };
  for (const auto& [number, judgement] : judgements(table)) {
    const auto first = static_cast<std::uint32_t>(number);
    if (first != next) {
      extend(next, {.verdict = ENOSYS});
    }
    extend(first, judgement);
    next = first + 1;
  }
  extend(next, {.verdict = ENOSYS});
  return list;
}

}  // namespace

std::string filter_architecture() { return std::string(kArchitecture); }

int call_number(std::string_view name) { return seccomp_syscall_resolve_name(std::string(name).c_str()); }

Result<std::vector<sock_filter>> build_filter(const CallTable& table) {
  if (kArchitecture.empty()) {
    return fail(Errc::unsupported_isolation, "no table of system calls for this architecture", "syscalls");
  }
  Program program;
  // int 0x80 reaches calls whose numbers mean something else: no answer is right for such a process.
  program.load(offsetof(seccomp_data, arch));
  program.test(BPF_JEQ, kAuditArch, 1, 0);
  program.give(SECCOMP_RET_KILL_PROCESS);
  program.load(offsetof(seccomp_data, nr));
  if (kAuditArch == AUDIT_ARCH_X86_64) {
    // -1 is no call at all and is answered as an unknown one.
    program.test(BPF_JEQ, 0xffffffff, 2, 0);
    program.test(BPF_JGE, kX32Bit, 0, 1);
    program.give(SECCOMP_RET_KILL_PROCESS);
  }
  const std::vector<Range> list = ranges(table);
  emit_search(program, list);
  std::vector<sock_filter> code = program.take();
  if (code.size() > BPF_MAXINSNS) {
    return fail(Errc::internal, "the filter has too many instructions", "syscalls");
  }
  return code;
}

Result<std::vector<sock_filter>> build_filter(FilterChoice choice, UnixSockets sockets, Surroundings surroundings) {
  std::vector<CallRule> first;
  std::vector<CallRule> overrides;
  const auto append = [](std::vector<CallRule>& list, std::span<const CallRule> more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  append(first, unix_socket_rules(sockets));
  if (choice.nested_userns) {
    append(first, nested_userns_rules());
  }
  if (choice.strict) {
    append(overrides, strict_rules());
  }
  if (surroundings == Surroundings::shared) {
    append(overrides, shared_rules());
  }
  std::vector<CallRule> kept(rules().begin(), rules().end());
  if (sockets != UnixSockets::allowed) {
    // What is left gives the answer for families that are not listed.
    std::erase_if(kept, is_unix_socket_rule);
  }
  return build_filter(
      {.allowed = allowed_calls(), .rules = kept, .absent = absent_calls(), .overrides = overrides, .first = first});
}

}  // namespace cordon::sandbox
