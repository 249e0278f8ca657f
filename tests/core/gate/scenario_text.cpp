// SPDX-License-Identifier: Apache-2.0
#include "core/gate/scenario_text.hpp"

#include <charconv>
#include <variant>

#include "base/text.hpp"

namespace cordon::test {

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string expand(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "${") {
      const std::size_t star = text.find('*', i);
      const std::size_t end = text.find('}', star);
      for (std::size_t n = number(text.substr(star + 1, end - star - 1)); n > 0; --n) {
        out += text.substr(i + 2, star - i - 2);
      }
      i = end + 1;
    } else if (text.substr(i, 2) == "\\x") {
      unsigned value = 0;
      std::from_chars(text.data() + i + 2, text.data() + i + 4, value, 16);
      out += static_cast<char>(value);
      i += 4;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string shown(const gate::Action& action) {
  const auto line = [](const std::string& text) { return text.substr(0, text.size() - 1); };
  if (const auto* to_server = std::get_if<gate::ToServer>(&action)) {
    return ">S " + line(to_server->line);
  }
  if (const auto* to_client = std::get_if<gate::ToClient>(&action)) {
    return ">C " + line(to_client->line);
  }
  if (const auto* stray = std::get_if<gate::Stray>(&action)) {
    return "stray " + stray->bytes;
  }
  if (std::holds_alternative<gate::CloseServerInput>(action)) {
    return ">close";
  }
  if (const auto* signal = std::get_if<gate::SignalServer>(&action)) {
    return signal->kind == gate::SignalServer::Kind::kill ? ">kill" : ">term";
  }
  if (std::holds_alternative<gate::Respawn>(action)) {
    return ">respawn";
  }
  if (std::holds_alternative<gate::DropSpare>(action)) {
    return ">drop";
  }
  if (const auto* stop = std::get_if<gate::Stop>(&action)) {
    return text::cat(">stop ", stop->exit_status);
  }
  return "";
}

}  // namespace cordon::test
