// SPDX-License-Identifier: Apache-2.0
#include "app/installation_key.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "base/text.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

void fill_random(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0) {
      CORDON_ASSERT(errno == EINTR);  // without random numbers nothing that we promise holds
      continue;
    }
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') {
    return digit - '0';
  }
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

// 64 hex digits and a line end.
Result<MacKey> parse_key(const run::TrustedFile& file) {
  MacKey key{};
  const std::string& text = file.content;
  bool valid = text.size() == 2 * key.size() + 1 && text.back() == '\n';
  for (std::size_t i = 0; valid && i < key.size(); ++i) {
    const int high = value_of(text[2 * i]);
    const int low = value_of(text[2 * i + 1]);
    valid = high >= 0 && low >= 0;
    key[i] = static_cast<std::uint8_t>(valid ? high * 16 + low : 0);
  }
  if (!valid) {
    return fail(Errc::audit_unavailable, "is no key of 64 hexadecimal digits", file.path,
                "remove it; a new one is made");
  }
  return key;
}

std::unexpected<Error> unavailable(Error error) {
  error.code = Errc::audit_unavailable;
  return std::unexpected(std::move(error));
}

}  // namespace

Result<MacKey> installation_key(const Caller& caller) {
  const Result<std::string> folder = run::ensure_private_folder(caller.state_folder());
  if (!folder) {
    return unavailable(folder.error());
  }
  const std::string path = *folder + "/argument.key";
  Result<std::optional<run::TrustedFile>> present = run::read_trusted_if_present(path);
  if (!present) {
    return unavailable(present.error());
  }
  if (!*present) {
    MacKey fresh{};
    fill_random(fresh);
    // Never replaced: of two first launches, one wins and the other takes its key.
    const Status written = run::write_atomic(path, hex(fresh) + '\n', {.replace = run::Replace::never, .mode = 0600});
    present = run::read_trusted_if_present(path);
    if (!present || !*present) {
      return unavailable(written ? Error{Errc::audit_unavailable, "vanished", path} : written.error());
    }
  }
  return parse_key(**present);
}

MacKey random_key() {
  MacKey key{};
  fill_random(key);
  return key;
}

std::string random_session_id() {
  std::array<std::uint8_t, 8> bytes{};
  fill_random(bytes);
  Digest padded{};
  std::ranges::copy(bytes, padded.begin());
  return hex(padded).substr(0, 2 * bytes.size());
}

}  // namespace cordon::app
