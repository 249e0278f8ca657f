// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where installed packages lie: DATA/packages/KIND/KEY/tree, each made in a folder beside it and renamed once it is
// whole, and never changed afterwards. KEY follows from the lock file, so that two policies share what is the same.

#include <functional>
#include <string>
#include <string_view>

#include "app/caller.hpp"
#include "app/package_tree.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"
#include "formats/package_record.hpp"

namespace cordon::app {

struct StorePlace {
  std::string folder = {};    // DATA/packages/npm/KEY
  std::string tree = {};      // the package's files
  std::string witness = {};   // what was seen of them when they were last read as a whole
  std::string users = {};     // package_users.hpp
  std::string compiled = {};  // pypi: the digest of what Python compiled from them, which differs between machines
};

StorePlace place_at(const std::string& folder);
StorePlace store_place(const Caller& caller, const formats::PackageRecord& record);

// Digest of a tree's files as the record of its kind holds it.
Result<TreeDigest> record_digest(const formats::PackageRecord& record, const std::string& tree,
                                 std::uint64_t most = kAnyBytes);

// Itself, not what a link leads to.
bool is_folder(const std::string& path);

// One installation at a time. Held until it is destroyed; waits for another one, after `waiting` was called.
class StoreLock {
 public:
  static Result<StoreLock> take(const Caller& caller, const std::function<void()>& waiting);

 private:
  UniqueFd fd_ = {};
};

// A folder in the store that nothing leads to. Removed when it is destroyed, unless it was kept; so is whatever
// an installation that was cut off has left behind, when the next begins.
class Staging {
 public:
  static Result<Staging> make(const Caller& caller, std::string_view kind);
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&&) = delete;
  Staging(const Staging&) = delete;
  ~Staging();

  const std::string& folder() const { return folder_; }
  // Moves FOLDER/tree to its place, sealed before and digested: then it is in the store. A place that is taken by
  // something that is no longer whole is cleared first.
  Status publish(const Caller& caller, const formats::PackageRecord& record);

 private:
  explicit Staging(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_ = {};
};

}  // namespace cordon::app
