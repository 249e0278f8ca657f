// SPDX-License-Identifier: Apache-2.0
#pragma once
// Are the installed files those of the record? Looked at in a thread of its own, while the rest of a launch is
// prepared.

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "app/package_store.hpp"
#include "base/error.hpp"
#include "formats/package_record.hpp"

namespace cordon::app {

// `quick` looks at what the kernel says of them, and reads them all only when that changed (a copied store); `full`
// always reads.
enum class TreeCheck : std::uint8_t { quick, full };
// Which of the two it came to.
enum class Looked : std::uint8_t { at_facts, at_contents };

//   launch_failed    they are not there
//   launch_changed   they are not those of the record
//   file_untrusted   somebody else can write to the store
Result<Looked> look_at_store(const StorePlace& place, const formats::PackageRecord& record, TreeCheck check,
                             std::string_view install_command);

// The same where only the verdict counts.
Status check_store(const Caller& caller, const formats::PackageRecord& record, TreeCheck check,
                   std::string_view install_command);

// Remembers what the kernel says of files that were just found to be those of the digest: `table` was made before they
// were read. When they changed since, nothing is remembered, and the next check reads them.
Status remember_tree(const StorePlace& place, const std::string& tree_digest, const std::string& table);

// A quick check that goes on beside other work. Nothing of the package may be started, and no secret fetched for it,
// before wait() has said that all is well.
class StoreCheck {
 public:
  StoreCheck() = default;
  StoreCheck(const StoreCheck&) = delete;
  StoreCheck& operator=(const StoreCheck&) = delete;

  // `record` is borrowed until wait() is back.
  void begin(const Caller& caller, const formats::PackageRecord& record, std::string install_command);
  // At once where nothing was begun, and when it is asked again.
  const Result<Looked>& wait();

 private:
  Result<Looked> found_ = Looked::at_facts;
  std::jthread thread_ = {};  // last: it writes to the others until it has ended
};

}  // namespace cordon::app
