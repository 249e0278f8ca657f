// SPDX-License-Identifier: Apache-2.0
#include "formats/package_record.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/source.hpp"
#include "formats/json_place.hpp"
#include "formats/npm_lock.hpp"
#include "formats/pypi_lock.hpp"

namespace cordon::formats {
namespace {

using json::Kind;
using json::Value;

constexpr std::string_view kFormat = "mcp-cordon.package";
constexpr std::array<std::string_view, 10> kMembers = {"format",   "kind",    "lock",   "lock_digest", "package",
                                                       "platform", "scripts", "server", "tree_digest", "version"};
constexpr std::string_view kRemedy = "undo the edit, or run mcp-cordon install again";

bool is_digest(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  return text.size() == kPrefix.size() + 64 && text.starts_with(kPrefix) &&
         text.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

class Reader {
 public:
  Reader(const json::Document& document, std::string_view file) : document_(document), file_(file) {}

  Result<PackageRecord> run() {
    const Value root = document_.root();
    for (const json::Member member : root.members()) {
      if (std::ranges::find(kMembers, member.key.string()) == kMembers.end()) {
        fault(member.key, text::cat("unknown member '", text::printable(member.key.string(), 100), "'"));
      }
    }
    if (text(root, "format") != kFormat && !error_) {
      fault(root, text::cat("is no \"", kFormat, "\" of this version"));
    }
    out_.server = text(root, "server");
    out_.package = text(root, "package");
    out_.version = text(root, "version");
    out_.platform = text(root, "platform");
    out_.lock_digest = digest(root, "lock_digest");
    for (const Value script : root.find("scripts").elements()) {
      out_.scripts.push_back(script.is(Kind::string) ? script.string() : std::string());
    }
    read_kind(root);
    if (error_) {
      return std::unexpected(std::move(*error_));
    }
    return std::move(out_);
  }

 private:
  void fault(const Value& at, std::string detail) {
    if (!error_) {
      error_ =
          Error{Errc::launch_failed, std::move(detail), place_of_value(file_, document_, at), std::string(kRemedy)};
    }
  }

  std::string text(const Value& root, std::string_view name) {
    const Value value = root.find(name);
    if (!value.is(Kind::string) || value.has_nul() || value.has_lone_surrogate()) {
      fault(value ? value : root, text::cat("'", name, "' must be a string"));
      return {};
    }
    return value.string();
  }

  std::string digest(const Value& root, std::string_view name) {
    std::string out = text(root, name);
    if (!error_ && !is_digest(out)) {
      fault(root.find(name), text::cat("'", name, "' must be sha256: and 64 hexadecimal digits"));
    }
    return out;
  }

  void read_kind(const Value& root) {
    const std::string kind = text(root, "kind");
    if (kind == policy::name(policy::Source::Kind::oci)) {
      out_.kind = policy::Source::Kind::oci;
      return;
    }
    const bool python = kind == policy::name(policy::Source::Kind::pypi);
    if (!python && kind != policy::name(policy::Source::Kind::npm)) {
      fault(root.find("kind"), "'kind' must be npm, pypi or oci");
      return;
    }
    out_.kind = python ? policy::Source::Kind::pypi : policy::Source::Kind::npm;
    out_.tree_digest = digest(root, "tree_digest");
    const Value lock = root.find("lock");
    if (!lock.is(python ? Kind::string : Kind::object)) {
      fault(root, python ? "'lock' must be the text of a lock file" : "'lock' must be the lock file of npm");
      return;
    }
    out_.lock = python ? text(root, "lock") : json::canonical(lock);
    if (!error_ && sha256_text(out_.lock) != out_.lock_digest) {
      fault(root.find("lock_digest"), "'lock_digest' is not that of 'lock'");
    }
    if (python && !error_) {
      check_python(lock);
    }
  }

  void check_python(const Value& at) {
    const Result<PypiLock> lock = read_pypi_lock(out_.lock, "lock");
    if (!lock || lock->python != out_.platform || !out_.scripts.empty()) {
      fault(at, lock ? "'lock' is for another platform, or 'scripts' is not empty"
                     : text::cat("'lock' ", lock.error().detail));
    }
  }

  const json::Document& document_;
  std::string_view file_;
  PackageRecord out_ = {};
  std::optional<Error> error_ = {};
};

}  // namespace

std::string write_package_record(const PackageRecord& record) {
  json::Writer writer;
  writer.begin_object();
  writer.member("format", kFormat);
  writer.member("server", record.server);
  writer.member("kind", policy::name(record.kind));
  writer.member("package", record.package);
  writer.member("version", record.version);
  writer.key("scripts").begin_array();
  for (const std::string& package : record.scripts) {
    writer.string(package);
  }
  writer.end_array();
  writer.member("platform", record.platform);
  writer.member("lock_digest", record.lock_digest);
  if (record.kind != policy::Source::Kind::oci) {
    writer.member("tree_digest", record.tree_digest);
  }
  if (record.kind == policy::Source::Kind::npm) {
    writer.member_raw("lock", record.lock);
  } else if (record.kind == policy::Source::Kind::pypi) {
    writer.member("lock", record.lock);
  }
  writer.end_object();
  std::string compact = writer.take();
  const std::size_t size = compact.size();
  const Result<json::Document> document = json::read(std::move(compact), {.max_bytes = size, .max_depth = 64});
  CORDON_ASSERT(document.has_value());  // our own text, and a lock file that was read
  return json::pretty(document->root(), json::Escaping::reviewable) + "\n";
}

Result<PackageRecord> read_package_record(std::string_view text, std::string_view file) {
  const Result<json::Document> document =
      json::read(std::string(text), {.max_bytes = kMaxRecordBytes, .max_depth = kNpmLockLimits.max_depth + 2});
  if (!document || !document->root().is(Kind::object)) {
    return fail(Errc::launch_failed, document ? "is no JSON object" : document.error().detail,
                document ? std::string(file) : place_of_read_error(file, text, document.error().where),
                std::string(kRemedy));
  }
  return Reader(*document, file).run();
}

}  // namespace cordon::formats
