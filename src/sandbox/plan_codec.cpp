// SPDX-License-Identifier: Apache-2.0
#include "sandbox/plan_codec.hpp"

#include <concepts>
#include <cstring>
#include <type_traits>

namespace cordon::sandbox {
namespace {

constexpr std::uint64_t kMagic = 0x6364'7270'6c61'6e03;  // changes with the layout

// One visitor writes and the other reads, so that the two cannot disagree about the order.
class Encoder {
 public:
  void operator()(const std::string& value) {
    number(value.size());
    out_ += value;
  }
  template <typename T>
    requires(std::integral<T> || std::is_enum_v<T>)
  void operator()(const T& value) {
    number(static_cast<std::uint64_t>(value));
  }
  void operator()(const std::optional<std::uint64_t>& value) {
    number(value ? 1 : 0);
    number(value.value_or(0));
  }
  template <typename T>
  std::size_t size(const std::vector<T>& items) {
    number(items.size());
    return items.size();
  }
  std::string take() { return std::move(out_); }

 private:
  void number(std::uint64_t value) {
    std::array<char, sizeof value> bytes = {};
    std::memcpy(bytes.data(), &value, sizeof value);
    out_.append(bytes.data(), bytes.size());
  }
  std::string out_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}
  void operator()(std::string& value) {
    const std::uint64_t length = number();
    if (length > rest_.size()) {
      ok_ = false;
      return;
    }
    value.assign(rest_.substr(0, length));
    rest_.remove_prefix(length);
  }
  template <typename T>
    requires(std::integral<T> || std::is_enum_v<T>)
  void operator()(T& value) {
    value = static_cast<T>(number());
  }
  void operator()(std::optional<std::uint64_t>& value) {
    const bool present = number() != 0;
    const std::uint64_t read = number();
    value = present ? std::optional(read) : std::nullopt;
  }
  template <typename T>
  std::size_t size(std::vector<T>& items) {
    const std::uint64_t count = number();
    if (count > rest_.size()) {  // an element has at least one byte
      ok_ = false;
      return 0;
    }
    items.resize(count);
    return items.size();
  }
  bool complete() const { return ok_ && rest_.empty(); }

 private:
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) {
      ok_ = false;
      rest_ = {};
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view rest_;
  bool ok_ = true;
};

template <typename Visitor, typename Items, typename Each>
void visit_list(Visitor& visit, Items& items, Each&& each) {
  const std::size_t count = visit.size(items);
  for (std::size_t i = 0; i < count; ++i) {
    each(items[i]);
  }
}

template <typename Visitor, typename PlanType>
void visit_limits(Visitor& visit, PlanType& plan) {
  visit(plan.limits.memory_bytes);
  visit(plan.limits.processes);
  visit(plan.limits.open_files);
  visit(plan.limits.file_size_bytes);
  visit(plan.limits.cpu_seconds);
  visit_list(visit, plan.groups, [&](auto& group) {
    visit(group.folder);
    visit(group.unified);
    visit(group.leaf);
    visit_list(visit, group.files, [&](auto& file) {
      visit(file.name);
      visit(file.value);
      visit(file.optional);
    });
  });
}

template <typename Visitor, typename Container>
void visit_container(Visitor& visit, Container& container) {
  visit(container.image);
  visit(container.client_home);
  visit(container.scratch);
  visit(container.map_owners);
}

template <typename Visitor, typename PlanType>
void visit_tool(Visitor& visit, PlanType& plan) {
  visit(plan.tool);
  visit_list(visit, plan.tool_arguments, [&](auto& item) {
    visit(item.kind);
    visit(item.text);
    visit(item.entry);
  });
  visit_list(visit, plan.tool_environment, visit);
  visit(plan.tool_namespaces);
}

template <typename Visitor, typename Network>
void visit_network(Visitor& visit, Network& network) {
  visit_list(visit, network.rules.allow, [&](auto& rule) {
    visit(rule.kind);
    visit(rule.host);
    visit_list(visit, rule.ports, visit);
    visit(rule.private_addresses);
    visit(rule.reason);
    visit(rule.line);
  });
  visit(network.rules.sni);
  visit(network.rules.mode);
  visit_list(visit, network.doors.names, [&](auto& item) {
    visit(item.name);
    visit(item.address.value);
  });
  visit_list(visit, network.doors.listen, [&](auto& item) {
    visit(item.address.value);
    visit(item.port);
  });
  visit_list(visit, network.doors.routes, [&](auto& item) { visit(item.value); });
  visit(network.doors.agent);
}

template <typename Visitor, typename WitnessType>
void visit_witness(Visitor& visit, WitnessType& witness) {
  for (auto& inode : witness.namespaces) {
    visit(inode);
  }
  visit_list(visit, witness.sources, [&](auto& item) {
    visit(item.device);
    visit(item.inode);
  });
  visit(witness.umask);
}

template <typename Visitor, typename PlanType, typename WitnessType>
void visit_all(Visitor& visit, PlanType& plan, WitnessType& witness) {
  visit(plan.backend);
  visit_list(visit, plan.guarantees, [&](auto& item) {
    visit(item.name);
    visit(item.strength);
    visit(item.reason);
    visit(item.error_number);
    visit(item.hint);
  });
  visit_list(visit, plan.steps.outer, visit);
  visit_list(visit, plan.steps.init, visit);
  visit_list(visit, plan.steps.server, visit);
  visit_list(visit, plan.view, [&](auto& item) {
    visit(item.kind);
    visit(item.target);
    visit(item.source);
    visit(item.text);
    visit(item.writable);
    visit(item.executable);
    visit(item.optional);
    visit(item.grant);
    visit(item.socket);
    visit(item.steering);
    visit(item.held);
    visit(item.owners);
    visit(item.mode);
    visit(item.size_bytes);
  });
  visit(plan.executable);
  visit(plan.executable_identity.device);
  visit(plan.executable_identity.inode);
  visit_list(visit, plan.argv, visit);
  visit_list(visit, plan.environment, visit);
  visit(plan.working_directory);
  visit(plan.hostname);
  visit(plan.switch_user);
  visit(plan.uid);
  visit(plan.gid);
  visit(plan.landlock_abi);
  visit(plan.own_namespaces);
  visit(plan.shared_host);
  visit(plan.syscall_filter);
  visit(plan.filter.strict);
  visit(plan.filter.nested_userns);
  visit(plan.unix_sockets);
  visit_limits(visit, plan);
  visit_network(visit, plan.network);
  visit_tool(visit, plan);
  visit_container(visit, plan.container);
  visit(plan.none_reason);
  visit(plan.trace);
  visit_witness(visit, witness);
}

}  // namespace

std::string encode(const Plan& plan, const Witness& witness) {
  Encoder encoder;
  encoder(kMagic);
  visit_all(encoder, plan, witness);
  return encoder.take();
}

Result<Decoded> decode(std::string_view bytes) {
  Decoder decoder(bytes);
  std::uint64_t magic = 0;
  decoder(magic);
  Decoded decoded;
  if (magic == kMagic) {
    visit_all(decoder, decoded.plan, decoded.witness);
  }
  if (magic != kMagic || !decoder.complete()) {
    return fail(Errc::internal, "not a launch plan of this version", "plan");
  }
  return decoded;
}

}  // namespace cordon::sandbox
