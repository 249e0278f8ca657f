// SPDX-License-Identifier: Apache-2.0
#include "app/wrap_state.hpp"

#include <algorithm>
#include <optional>

#include "app/paths.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kShortDigest = 24;
constexpr std::size_t kMaxPath = 65'536;

std::string short_digest(std::string_view bytes) { return hex(sha256(bytes)).substr(0, kShortDigest); }

std::string folder_of(const Caller& caller) { return caller.state_folder() + "/configs"; }

std::string state_path(const Caller& caller, const std::string& real_path) {
  return text::cat(folder_of(caller), '/', short_digest(real_path), ".json");
}

std::optional<std::string> string_in(const json::Value& object, std::string_view key) {
  const json::Value value = object.find(key);
  return value.is(json::Kind::string) ? std::optional(value.string()) : std::nullopt;
}

std::optional<WrapRecord> read_record(const json::Value& value) {
  WrapRecord out;
  const json::Value path = value.find("entry");
  const auto old_program = string_in(value, "old_program");
  const auto new_program = string_in(value, "new_program");
  const auto inserted = string_in(value, "inserted");
  const json::Value created = value.find("new_arguments");
  if (!path.is(json::Kind::array) || !old_program || !new_program || !inserted || !created.is(json::Kind::boolean)) {
    return std::nullopt;
  }
  for (const json::Value key : path.elements()) {
    if (!key.is(json::Kind::string)) {
      return std::nullopt;
    }
    out.path.push_back(key.string());
  }
  out.wrapped = {*old_program, *new_program, *inserted, created.boolean()};
  return out;
}

}  // namespace

const clients::Wrapped* WrapState::find(const std::vector<std::string>& path) const {
  const auto found = std::ranges::find(records, path, &WrapRecord::path);
  return found == records.end() ? nullptr : &found->wrapped;
}

void WrapState::drop(const std::vector<std::string>& path) {
  std::erase_if(records, [&](const WrapRecord& record) { return record.path == path; });
}

void WrapState::set(const std::vector<std::string>& path, clients::Wrapped wrapped) {
  drop(path);
  records.push_back({path, std::move(wrapped)});
}

Result<WrapState> load_wrap_state(const Caller& caller, const std::string& real_path) {
  const std::string path = state_path(caller, real_path);
  const Result<std::optional<run::TrustedFile>> file = run::read_trusted_if_present(path);
  if (!file) {
    return std::unexpected(file.error());
  }
  WrapState out;
  if (!*file) {
    return out;
  }
  const auto not_ours = [&] {
    return fail(Errc::catalog_invalid, "is no record of wrapped servers", path,
                "remove it; unwrap then works from the config alone");
  };
  const Result<json::Document> document = json::read((*file)->content, {});
  if (!document || string_in(document->root(), "format") != "mcp-cordon.wrapped" ||
      string_in(document->root(), "path") != text::printable(real_path, kMaxPath)) {
    return not_ours();
  }
  for (const json::Value value : document->root().find("entries").elements()) {
    std::optional<WrapRecord> record = read_record(value);
    if (!record) {
      return not_ours();
    }
    out.records.push_back(std::move(*record));
  }
  return out;
}

Status store_wrap_state(const Caller& caller, const std::string& real_path, const WrapState& state) {
  if (const Result<std::string> folder = run::ensure_private_folder(folder_of(caller)); !folder) {
    return std::unexpected(folder.error());
  }
  json::Writer out;
  out.begin_object().member("format", "mcp-cordon.wrapped").member_int("version", 1);
  out.member("path", text::printable(real_path, kMaxPath));
  out.key("entries").begin_array();
  for (const WrapRecord& record : state.records) {
    out.begin_object().key("entry").begin_array();
    for (const std::string& key : record.path) {
      out.string(key);
    }
    out.end_array();
    out.member("old_program", record.wrapped.old_program).member("new_program", record.wrapped.new_program);
    out.member("inserted", record.wrapped.inserted).member_bool("new_arguments", record.wrapped.new_arguments);
    out.end_object();
  }
  out.end_array().end_object();
  return run::write_atomic(state_path(caller, real_path), out.take() + "\n");
}

Result<std::string> back_up(const Caller& caller, const ConfigFile& file) {
  const Result<std::string> folder = run::ensure_private_folder(folder_of(caller) + "/backups");
  if (!folder) {
    return std::unexpected(folder.error());
  }
  // Named by content: the same state is kept once, and nothing is ever replaced by something else.
  std::string path =
      text::cat(*folder, '/', short_digest(file.real), '-', short_digest(file.text), '-', file_name_of(file.real));
  if (const Status written = run::write_atomic(path, file.text); !written) {
    return std::unexpected(written.error());
  }
  return path;
}

}  // namespace cordon::app
