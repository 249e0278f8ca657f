// SPDX-License-Identifier: Apache-2.0
// Where init is asked before anything connects: the server's own sockets are reached, those of the outside are not.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "everywhere.hpp"
#include "planted.hpp"
#include "sandbox/plan.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

using test::everywhere;

UniqueFd listen_at(const std::string& path) {
  UniqueFd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  if (::bind(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0777) != 0 || ::listen(out.get(), 16) != 0) {
    out.reset();
  }
  return out;
}

std::string reaches_its_own_only(BackendChoice backend) {
  const test::TempFolder folder;
  const UniqueFd outside = listen_at(folder / "socket");
  if (!outside) {
    return "no socket outside";
  }
  sandbox::LaunchSpec spec = test::spec_for({CORDON_TEST_CONNECTS_PROBE, folder / "socket"}, backend);
  spec.mounts = {{.source = folder.path(), .target = folder.path(), .writable = true}};
  spec.nested_userns = true;
  const sandbox::Plan plan = test::plan_for(spec);
  if (plan.unix_sockets != sandbox::UnixSockets::supervised) {
    return {};  // this kernel does it by itself
  }
  const test::Outcome outcome = test::run(plan);
  std::string wrong = text::cat(outcome.status, outcome.err);
  bool complete = false;
  for (const std::string_view line : text::split(outcome.out, '\n')) {
    const std::vector<std::string_view> words = text::split(line, ' ');  // ID EXPECTED GOT
    if (words.size() == 3) {
      complete = complete || words[0] == "complete";
      wrong += words[1] == words[2] ? std::string() : text::cat(line, "\n");
    }
  }
  if (const UniqueFd peer(::accept4(outside.get(), nullptr, nullptr, SOCK_CLOEXEC)); peer) {
    wrong += "somebody came to the socket outside\n";
  }
  return complete ? wrong : text::cat(wrong, "not complete: ", outcome.out, outcome.exit_code);
}

}  // namespace

TEST_CASE("a supervised server connects to sockets of its own, and to no other") { everywhere(reaches_its_own_only); }

TEST_CASE("the probe holds with supervised sockets, and finds them reached without") {
  everywhere([](BackendChoice backend) {
    const test::Planted planted;
    sandbox::Plan plan = planted.plan(backend, [](sandbox::LaunchSpec& spec) { spec.nested_userns = true; });
    std::string wrong = test::wrong_in(test::look(plan, planted));
    if (plan.unix_sockets == sandbox::UnixSockets::supervised) {
      plan.unix_sockets = sandbox::UnixSockets::allowed;
      const std::string found = test::wrong_in(test::look(plan, planted));
      wrong += found.find("ipc.sockets_in_grants") == std::string::npos ? "nothing found without\n" : "";
    }
    return wrong;
  });
}
