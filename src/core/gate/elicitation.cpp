// SPDX-License-Identifier: Apache-2.0
#include "core/gate/elicitation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/hidden.hpp"
#include "base/text.hpp"
#include "core/gate/confirm_form.hpp"
#include "core/gate/own_name.hpp"
#include "core/policy/host_list.hpp"

namespace cordon::gate {
namespace {

using json::Kind;
using json::Member;
using json::Value;

template <typename Visit>
void each_code_point(std::string_view text, const Visit& visit) {
  for (std::size_t i = 0; i < text.size();) {
    const text::CodePoint point = text::decode_utf8(text, i);
    visit(point.value);
    i += std::max<std::size_t>(point.length, 1);
  }
}

using Test = std::function<bool(std::string_view)>;

bool any_text(const Value& value, const Test& test) {
  if (value.is(Kind::string)) {
    return test(value.string());
  }
  for (const Value element : value.elements()) {
    if (any_text(element, test)) {
      return true;
    }
  }
  for (const Member member : value.members()) {
    if (test(member.key.string()) || any_text(member.value, test)) {
      return true;
    }
  }
  return false;
}

// ---- secrets ----

constexpr std::array<std::string_view, 53> kPhrases = {"password",
                                                       "passwords",
                                                       "passwd",
                                                       "passphrase",
                                                       "pass phrase",
                                                       "passcode",
                                                       "pass code",
                                                       "pwd",
                                                       "pin code",
                                                       "api key",
                                                       "api keys",
                                                       "apikey",
                                                       "access key",
                                                       "secret key",
                                                       "private key",
                                                       "ssh key",
                                                       "signing key",
                                                       "bearer",
                                                       "credential",
                                                       "credentials",
                                                       "otp",
                                                       "totp",
                                                       "one time code",
                                                       "one time password",
                                                       "one time pin",
                                                       "verification code",
                                                       "security code",
                                                       "auth code",
                                                       "access code",
                                                       "login code",
                                                       "authentication code",
                                                       "authenticator code",
                                                       "confirmation code",
                                                       "recovery code",
                                                       "recovery codes",
                                                       "backup code",
                                                       "backup codes",
                                                       "2fa",
                                                       "mfa",
                                                       "two factor code",
                                                       "cvv",
                                                       "cvc",
                                                       "card number",
                                                       "credit card",
                                                       "debit card",
                                                       "iban",
                                                       "seed phrase",
                                                       "recovery phrase",
                                                       "ssn",
                                                       "social security number",
                                                       "session cookie",
                                                       "6 digit code",
                                                       "encryption key"};
// Words that text also uses to say what it does not want: "do not give us your phone number, pin, …".
constexpr std::array<std::string_view, 6> kWeakPhrases = {"pin", "secret", "secrets", "token", "mnemonic", "cookie"};
constexpr std::array<std::string_view, 4> kNegations = {"do not", "don t", "never", "please not"};
constexpr std::array<std::string_view, 7> kGiving = {"give", "enter", "include", "share", "provide", "send", "type"};
// Inside a longer name: "dbPassword2", "my_api_key".
constexpr std::array<std::string_view, 14> kParts = {
    "password",  "passwd",    "passphrase",  "passcode",     "apikey",     "secretkey",  "privatekey",
    "accesskey", "authtoken", "accesstoken", "clientsecret", "creditcard", "cardnumber", "onetimecode"};
constexpr std::array<std::string_view, 14> kForeign = {"passwort",   "kennwort", "contraseña", "mot de passe", "senha",
                                                       "wachtwoord", "lösenord", "hasło",      "пароль",       "密码",
                                                       "密碼",       "口令",     "パスワード", "비밀번호"};

bool alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }

// " api key of the user ": words in lower case, "apiKey" as two.
std::string words_of(std::string_view text) {
  std::string out = " ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!alphanumeric(c)) {
      if (out.back() != ' ') {
        out += ' ';
      }
      continue;
    }
    const bool begins = upper(c) && i > 0 && text[i - 1] >= 'a' && text[i - 1] <= 'z';  // not in "2FA"
    if (begins) {
      out += ' ';
    }
    out += upper(c) ? static_cast<char>(c | 0x20) : c;
  }
  if (out.back() != ' ') {
    out += ' ';
  }
  return out;
}

bool has_one_of(const std::string& words, std::span<const std::string_view> phrases) {
  return std::ranges::any_of(
      phrases, [&](std::string_view phrase) { return words.find(text::cat(' ', phrase, ' ')) != std::string::npos; });
}

bool is_negated(const std::string& words) {
  for (const std::string_view no : kNegations) {
    for (const std::string_view give : kGiving) {
      if (words.find(text::cat(' ', no, ' ', give, ' ')) != std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

// A weak word counts unless its clause says that it is not wanted.
bool names_weak_secret(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(".;:()!?\n");
    const std::string words = words_of(text.substr(0, end));
    if (has_one_of(words, kWeakPhrases) && !is_negated(words)) {
      return true;
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return false;
}

// Letters of other scripts that the words above can be written with; to be read as 0 leaves a character as it is.
char letter_of_word(char32_t c) {
  struct Lookalike {
    char32_t first = 0;
    char32_t last = 0;
    char letter = 0;
  };
  constexpr std::array kWordLookalikes = std::to_array<Lookalike>({
      {0x391, 0x391, 'a'}, {0x3B1, 0x3B1, 'a'}, {0x410, 0x410, 'a'}, {0x430, 0x430, 'a'}, {0x395, 0x395, 'e'},
      {0x415, 0x415, 'e'}, {0x435, 0x435, 'e'}, {0x131, 0x131, 'i'}, {0x399, 0x399, 'i'}, {0x406, 0x406, 'i'},
      {0x456, 0x456, 'i'}, {0x39A, 0x39A, 'k'}, {0x3BA, 0x3BA, 'k'}, {0x41A, 0x41A, 'k'}, {0x43A, 0x43A, 'k'},
      {0x405, 0x405, 's'}, {0x455, 0x455, 's'}, {0x3A4, 0x3A4, 't'}, {0x422, 0x422, 't'}, {0x442, 0x442, 't'},
      {0x51C, 0x51D, 'w'}, {0x3A5, 0x3A5, 'y'}, {0x423, 0x423, 'y'}, {0x443, 0x443, 'y'},
  });
  for (const Lookalike& one : kWordLookalikes) {
    if (c >= one.first && c <= one.last) {
      return one.letter;
    }
  }
  return read_as(c);
}

std::string read_as_latin(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const text::CodePoint point = text::decode_utf8(text, i);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    const char letter = point.value < 0x80 ? '\0' : letter_of_word(point.value);
    out += letter == 0 ? std::string(text.substr(i, length)) : std::string(1, letter);
    i += length;
  }
  return out;
}

bool names_secret_plainly(std::string_view text) {
  if (has_one_of(words_of(text), kPhrases) || names_weak_secret(text)) {
    return true;
  }
  const std::string lower = text::lower_ascii(text);
  const auto stands_in = [](std::string_view in) {
    return [in](std::string_view part) { return in.find(part) != std::string_view::npos; };
  };
  if (std::ranges::any_of(kForeign, stands_in(lower))) {
    return true;
  }
  std::string squeezed;
  std::ranges::copy_if(lower, std::back_inserter(squeezed), alphanumeric);
  return std::ranges::any_of(kParts, stands_in(squeezed));
}

bool names_secret(std::string_view text) {
  return names_secret_plainly(text) || names_secret_plainly(read_as_latin(text));
}

// Values to choose from, of which each is fixed: a branch of another kind (`string | null`) is typed.
bool is_choice(const Value& field) {
  const auto fixed = [](const Value& branch) { return branch.find("const") || branch.find("enum").size() > 0; };
  if (fixed(field)) {
    return true;
  }
  return std::ranges::any_of(std::to_array({"oneOf", "anyOf"}), [&](std::string_view keyword) {
    const Value branches = field.find(keyword);
    bool all = branches.size() > 0;
    for (const Value branch : branches.elements()) {
      all = all && fixed(branch);
    }
    return all;
  });
}

// A field that takes what a person types.
bool takes_input(const Value& field) {
  const Value type = field.find("type");
  if (type.is(Kind::string) && type.string_equals("boolean")) {
    return false;
  }
  const Value items = field.find("items");
  return !is_choice(items ? items : field);
}

// What fields the form has is said elsewhere than in its `properties`.
bool hides_fields(const Value& requested_schema) {
  constexpr auto kPlain = std::to_array<std::string_view>(
      {"type", "properties", "required", "title", "description", "$schema", "$id", "$comment", "$defs", "definitions"});
  const Value type = requested_schema.find("type");
  const Value properties = requested_schema.find("properties");
  bool hides = !type.is(Kind::string) || !type.string_equals("object") || (properties && !properties.is(Kind::object));
  for (const Member member : requested_schema.members()) {
    const std::string key = member.key.string();
    const bool shut = (key == "additionalProperties" || key == "unevaluatedProperties") &&
                      member.value.is(Kind::boolean) && !member.value.boolean();
    hides = hides || (!shut && std::ranges::find(kPlain, key) == kPlain.end());
  }
  return hides;
}

}  // namespace

bool names_us(const Value& value) {
  return any_text(value, [](std::string_view text) { return names_us(text); });
}

bool poses_as_form(const Value& value) {
  return any_text(value, [](std::string_view text) {
    const std::string words = words_of(read_as_latin(text));
    return words.find(words_of(kFormQuestion)) != std::string::npos ||
           std::ranges::any_of(kFormChoices, [&](std::string_view choice) { return words == words_of(choice); });
  });
}

bool misleads_the_eye(std::string_view text) {
  using text::Hidden;
  bool found = false;
  each_code_point(text, [&](char32_t c) {
    const Hidden what = text::hidden_class(c);
    const bool control = what == Hidden::control && c != U'\n' && c != U'\t' && c != U'\r';
    found = found || control || what == Hidden::bidirectional || what == Hidden::separator || what == Hidden::tag;
  });
  return found;
}

bool misleads_the_eye(const Value& value) {
  return any_text(value, [](std::string_view text) { return misleads_the_eye(text); });
}

bool asks_for_secret(std::string_view message, const Value& requested_schema) {
  bool takes = hides_fields(requested_schema);
  for (const Member field : requested_schema.find("properties").members()) {
    if (!takes_input(field.value)) {
      continue;
    }
    takes = true;
    const Value format = field.value.find("format");
    const Value write_only = field.value.find("writeOnly");
    if ((format.is(Kind::string) && format.string_equals("password")) ||
        (write_only.is(Kind::boolean) && write_only.boolean()) || names_secret(field.key.string()) ||
        any_text(field.value, names_secret)) {
      return true;
    }
  }
  if (!takes) {
    return false;
  }
  // The rest of the schema is shown as well.
  for (const Member member : requested_schema.members()) {
    if (!member.key.string_equals("properties") && any_text(member.value, names_secret)) {
      return true;
    }
  }
  return names_secret(message);
}

Result<std::string> host_of_address(std::string_view url, std::span<const std::string> hosts) {
  constexpr std::string_view kScheme = "https://";
  const auto wrong = [](std::string_view what) { return fail(Errc::client_request_blocked, std::string(what)); };
  constexpr std::size_t kMaxBytes = 4096;
  if (url.size() > kMaxBytes) {
    return wrong("the address is too long to be read");
  }
  if (!url.starts_with(kScheme)) {
    return wrong("the address is not https");
  }
  // Printable ASCII, and nothing that browsers repair in different ways.
  if (!std::ranges::all_of(url, [](char c) {
        return c > ' ' && c <= '~' && std::string_view("\\\"<>^`{|}").find(c) == std::string_view::npos;
      })) {
    return wrong("the address holds characters that readers differ about");
  }
  const std::string_view rest = url.substr(kScheme.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t colon = authority.find(':');
  const std::string_view host = authority.substr(0, colon);
  const std::string_view port = colon == std::string_view::npos ? "443" : authority.substr(colon + 1);
  if (authority.find('@') != std::string_view::npos) {
    return wrong("the address names a user");
  }
  const auto digits = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!digits(port) || port.size() > 5) {
    return wrong("the address has no plain host and port");
  }
  const std::string lower = text::lower_ascii(host);
  const std::vector<std::string_view> labels = text::split(lower, '.');
  const auto plain = [](std::string_view label) {
    return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
           std::ranges::all_of(label, [](char c) { return alphanumeric(c) || c == '-'; });
  };
  if (!std::ranges::all_of(labels, plain) || lower.size() > 253) {
    return wrong("the address has no plain host name");
  }
  if (hosts.empty()) {
    // Numbers, and names without a dot, lead to the person's own machine or network.
    const std::string_view last = labels.back();
    constexpr std::array<std::string_view, 9> kLocal = {"localhost", "local", "localdomain", "internal", "intranet",
                                                        "lan",       "home",  "corp",        "arpa"};
    if (labels.size() < 2 || (last.front() >= '0' && last.front() <= '9') ||
        std::ranges::find(kLocal, last) != kLocal.end()) {
      return wrong("the address is on this machine or network");
    }
    return lower;
  }
  std::vector<policy::HostGrant> grants;
  for (const std::string& one : hosts) {
    grants.push_back({.host = one});
  }
  if (!policy::host_admitted(grants, {.host = lower})) {
    return wrong("the host is not in client_requests.elicitation_hosts");
  }
  return lower;
}

}  // namespace cordon::gate
