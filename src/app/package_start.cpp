// SPDX-License-Identifier: Apache-2.0
#include "app/package_start.hpp"

#include "app/package_store.hpp"
#include "base/text.hpp"

namespace cordon::app {

Result<PackageProgram> PackageStart::begin(const Caller& caller, const formats::PackageRecord& record,
                                           const std::vector<std::string>& command,
                                           const std::string& install_command) {
  caller_ = &caller;
  record_ = record;
  command_ = command;
  tree_ = witness(store_place(caller, record).tree);
  check_.begin(caller, record_, install_command);
  Result<PackageProgram> program = package_program(caller, record, command);
  if (program) {
    program_ = *program;
  }
  return program;
}

Status PackageStart::wait() {
  const Result<Looked>& looked = check_.wait();
  if (!looked) {
    return std::unexpected(looked.error());
  }
  if (!begun()) {
    return {};
  }
  // What was read of a file before its time of change was seen to be the old one is what it held then. Where the
  // contents had to be read, it may have been put back since. And the folder itself, which a sandbox may have opened
  // before the look did, must be the one that it was all the time.
  const std::string tree = store_place(*caller_, record_).tree;
  bool same = witness(tree) == tree_;
  if (same && *looked == Looked::at_contents && !program_.argv.empty()) {
    const Result<PackageProgram> program = package_program(*caller_, record_, command_);
    same = program && *program == program_;
  }
  if (!same) {
    return fail(Errc::launch_changed, "the installed files changed while they were looked at", text::printable(tree),
                "try again");
  }
  return {};
}

}  // namespace cordon::app
