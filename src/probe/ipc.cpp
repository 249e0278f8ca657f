// SPDX-License-Identifier: Apache-2.0
// Shared memory and sockets of others. A read-only mount stops neither connect() nor the opening of a FIFO.
#include <fcntl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "probe/check.hpp"
#include "probe/proof.hpp"
#include "probe/sockets.hpp"

namespace cordon::probe {
namespace {

bool missing(const Request& request, Result& result, const char* canary) {
  if (request.has(canary)) {
    return false;
  }
  result.not_applicable("nothing was planted");
  return true;
}

void own_namespace(const Request& request, Result& result) {
  if (!request.has("namespaces")) {
    result.not_applicable("this plan has no namespaces of its own");
  } else if (!missing(request, result, "outside_ipc")) {
    result.equal("ipc namespace", "another",
                 namespace_name("ipc") == request.one("outside_ipc") ? "the launcher's" : "another");
  }
}

void shared_memory(const Request& request, Result& result) {
  if (missing(request, result, "shm")) {
    return;
  }
  result.denied("shmat", [&] {
    void* memory = ::shmat(request.number("shm"), nullptr, SHM_RDONLY);
    if (memory == reinterpret_cast<void*>(-1)) {
      return errno;
    }
    ::shmdt(memory);
    return 0;
  });
}

void own_shared_memory(const Request& request, Result& result) {
  if (request.calls("strict")) {
    result.not_applicable("strict leaves it out");
    return;
  }
  result.allowed("shmget", [] {
    const int id = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    const int error_number = result_of(id);
    if (id >= 0) {
      ::shmctl(id, IPC_RMID, nullptr);
    }
    return error_number;
  });
}

void abstract_socket(const Request& request, Result& result) {
  if (!missing(request, result, "abstract")) {
    result.denied("connect", [&] { return connect_abstract(request.one("abstract")); });
  }
}

void path_socket(const Request& request, Result& result) {
  if (missing(request, result, "socket")) {
    return;
  }
  if (request.shown(request.one("socket"))) {
    result.not_applicable("the policy grants the folder that holds the canaries");
    return;
  }
  result.denied("connect", [&] { return connect_path(request.one("socket"), SOCK_STREAM); });
}

void sockets_in_grants(const Request& request, Result& result) {
  result.not_applicable("this plan has no such place of ours");
  for (const char* grant : {"read", "write"}) {
    if (request.has(grant)) {
      const std::string folder = request.one(grant);
      result.denied(std::string("connect in a grant to ") + grant,
                    [&] { return connect_path(folder + "/socket", SOCK_STREAM); });
      result.denied(std::string("connect a datagram socket in a grant to ") + grant,
                    [&] { return connect_path(folder + "/datagram", SOCK_DGRAM); });
    }
  }
}

void listed_socket(const Request& request, Result& result) {
  if (!request.has("listed")) {
    result.not_applicable("no socket of ours is listed");
    return;
  }
  result.allowed("connect", [&] { return connect_path(request.one("listed"), SOCK_STREAM); });
  result.denied("connect to another", [&] { return connect_path(request.one("unlisted"), SOCK_STREAM); });
  result.denied("take it away", [&] { return result_of(::unlink(request.one("listed").c_str())); });
}

int make_pair_of(int type) {
  std::array<int, 2> ends = {-1, -1};
  const int error_number = result_of(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()));
  if (error_number == 0) {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  return error_number;
}

// The filter cannot tell where a socket leads; where it has to, it refuses to make any.
void socket_calls(const Request& request, Result& result) {
  if (!request.has("unix_calls")) {
    result.not_applicable("this plan stops sockets by other means");
    return;
  }
  if (request.one("unix_calls") == "none") {
    result.refused("stream", "EAFNOSUPPORT", [] { return open_socket(AF_UNIX, SOCK_STREAM, 0); });
  } else {
    result.refused("connect", "ECONNREFUSED", [] { return connect_path("/etc/passwd", SOCK_STREAM); });
    result.allowed("connect to one of its own", [] { return connect_to_own("/tmp/mcp-cordon-own-socket"); });
  }
  result.refused("datagram", "EAFNOSUPPORT", [] { return open_socket(AF_UNIX, SOCK_DGRAM, 0); });
  // It could still send to any address.
  result.refused("datagram pair", "EAFNOSUPPORT", [] { return make_pair_of(SOCK_DGRAM); });
}

void socket_pair(const Request&, Result& result) {
  result.allowed("socketpair", [] { return make_pair_of(SOCK_STREAM); });
}

void fifo_in_grant(const Request& request, Result& result) {
  if (!missing(request, result, "read")) {
    result.denied("open for writing", [&] { return open_for_writing(request.one("read") + "/fifo"); });
  }
}

constexpr std::array kChecks = {
    Check{"ipc.own_namespace", "ipc.own", "ipc namespace", Place::anywhere, own_namespace},
    Check{"ipc.shared_memory", "ipc.own", "ipc namespace", Place::anywhere, shared_memory},
    Check{"ipc.own_shared_memory", "ipc.own", "ipc namespace", Place::inside, own_shared_memory},
    Check{"ipc.abstract_socket", "ipc.own", "network namespace, Landlock scope", Place::anywhere, abstract_socket},
    Check{"ipc.path_socket", "ipc.unix_sockets", "view", Place::anywhere, path_socket},
    Check{"ipc.sockets_in_grants", "ipc.unix_sockets", "Landlock or seccomp", Place::anywhere, sockets_in_grants},
    Check{"ipc.listed_socket", "ipc.unix_sockets", "view", Place::anywhere, listed_socket},
    Check{"ipc.socket_calls", "ipc.unix_sockets", "seccomp", Place::anywhere, socket_calls},
    Check{"ipc.socket_pair", "ipc.unix_sockets", "none", Place::anywhere, socket_pair},
    Check{"ipc.fifo_in_grant", "filesystem.fifos", "Landlock", Place::anywhere, fifo_in_grant},
};

}  // namespace

std::span<const Check> ipc_checks() { return kChecks; }

}  // namespace cordon::probe
