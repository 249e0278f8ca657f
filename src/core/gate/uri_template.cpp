// SPDX-License-Identifier: Apache-2.0
#include "core/gate/uri_template.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cordon::gate {
namespace {

// What an expression's value may consist of.
enum class Class : std::uint8_t { literal, segment, query, fragment, any };

struct Token {
  Class kind = Class::literal;
  char character = 0;    // of a literal
  bool repeats = false;  // one or more
  std::size_t skip = 0;  // so many tokens from here on may be left out together
};

bool takes(const Token& token, char c) {
  switch (token.kind) {
    case Class::literal:
      return c == token.character;
    case Class::segment:
      return c != '/' && c != '?' && c != '#';
    case Class::query:
      return c != '#' && c != '?';
    case Class::fragment:
    case Class::any:
      return true;
  }
  return false;
}

void add_expression(std::string_view expression, std::vector<Token>& tokens) {
  const char op = expression.front();
  switch (op) {
    case '+':
      tokens.push_back({Class::any, 0, true, 0});
      return;
    case '#':
      tokens.push_back({Class::literal, '#', false, 2});
      tokens.push_back({Class::fragment, 0, true, 0});
      return;
    case '?':
    case '&':
      tokens.push_back({Class::literal, op, false, 2});
      tokens.push_back({Class::query, 0, true, 0});
      return;
    case '/':
    case '.':
    case ';': {
      tokens.push_back({Class::literal, op, false, 2});
      // Several names or an exploded one give several segments.
      const bool several = expression.find_first_of(",*") != std::string_view::npos;
      tokens.push_back({several ? Class::query : Class::segment, 0, true, 0});
      return;
    }
    default:
      tokens.push_back({Class::segment, 0, true, 0});
  }
}

std::optional<std::vector<Token>> tokens_of(std::string_view uri_template) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < uri_template.size(); ++i) {
    const char c = uri_template[i];
    if (c == '}') {
      return std::nullopt;
    }
    if (c != '{') {
      tokens.push_back({Class::literal, c, false, 0});
      continue;
    }
    const std::size_t end = uri_template.find('}', i);
    const std::string_view expression =
        end == std::string_view::npos ? std::string_view() : uri_template.substr(i + 1, end - i - 1);
    if (expression.empty() || expression.find('{') != std::string_view::npos) {
      return std::nullopt;
    }
    add_expression(expression, tokens);
    i = end;
  }
  return tokens;
}

// The set of places in the template that can be reached; `place` and all that may be left out from there on.
void reach(const std::vector<Token>& tokens, std::vector<bool>& set, std::size_t place) {
  while (!set[place]) {
    set[place] = true;
    if (place == tokens.size() || tokens[place].skip == 0) {
      return;
    }
    place += tokens[place].skip;
  }
}

}  // namespace

bool template_matches(std::string_view uri_template, std::string_view uri) {
  const auto tokens = tokens_of(uri_template);
  if (!tokens) {
    return false;
  }
  std::vector<bool> now(tokens->size() + 1);
  reach(*tokens, now, 0);
  for (const char c : uri) {
    std::vector<bool> next(tokens->size() + 1);
    for (std::size_t i = 0; i < tokens->size(); ++i) {
      if (now[i] && takes((*tokens)[i], c)) {
        reach(*tokens, next, i + 1);
        if ((*tokens)[i].repeats) {
          next[i] = true;  // it has taken one; what may be left out was left out before
        }
      }
    }
    now = std::move(next);
  }
  return now[tokens->size()];
}

}  // namespace cordon::gate
