// SPDX-License-Identifier: Apache-2.0
#include "app/complaint.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cordon::app;

namespace {

struct Shape {
  const char* line;
  Ailment ailment;
  const char* subject;  // path, host or library
};

constexpr Shape kShapes[] = {
    // node
    {"Error: ENOENT: no such file or directory, open '/data/a b.json'", Ailment::missing, "/data/a b.json"},
    {"[Error: EACCES: permission denied, mkdir '/home/u/.cache'] {", Ailment::denied, "/home/u/.cache"},
    {"Error: EROFS: read-only file system, open '/data/out.txt'", Ailment::read_only, "/data/out.txt"},
    {"Error: EPERM: operation not permitted, chown '/data/x'", Ailment::denied, "/data/x"},
    {"Error: connect ECONNREFUSED 127.0.0.1:5432", Ailment::refused, "127.0.0.1:5432"},
    {"Error: connect ENETUNREACH 140.82.121.6:443 - Local (0.0.0.0:0)", Ailment::unreachable, "140.82.121.6:443"},
    {"Error: getaddrinfo ENOTFOUND api.github.com", Ailment::unresolved, "api.github.com"},
    {"npm error errno EAI_AGAIN registry.example.org", Ailment::unresolved, "registry.example.org"},
    {"Error: connect ECONNREFUSED /run/user/1000/bus", Ailment::refused, "/run/user/1000/bus"},
    {"Error: spawn /opt/tool/bin ENOENT", Ailment::missing, "/opt/tool/bin"},
    {"Error: EMFILE: too many open files, open '/data/x'", Ailment::open_files, "/data/x"},
    {"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", Ailment::memory, ""},
    {"  path: '/data/x', errno: -2, code: 'ENOENT'", Ailment::missing, "/data/x"},
    // python
    {"FileNotFoundError: [Errno 2] No such file or directory: '/etc/app.ini'", Ailment::missing, "/etc/app.ini"},
    {"PermissionError: [Errno 13] Permission denied: '/var/lib/app'", Ailment::denied, "/var/lib/app"},
    {"OSError: [Errno 30] Read-only file system: '/srv/x'", Ailment::read_only, "/srv/x"},
    {"socket.gaierror: [Errno -3] Temporary failure in name resolution", Ailment::unresolved, ""},
    {"ConnectionRefusedError: [Errno 111] Connection refused", Ailment::refused, ""},
    {"urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: "
     "/simple (Caused by NameResolutionError: Temporary failure in name resolution)",
     Ailment::unresolved, "pypi.org:443"},
    {"MemoryError", Ailment::memory, ""},
    {"BlockingIOError: [Errno 11] Resource temporarily unavailable", Ailment::processes, ""},
    // go
    {"open /etc/app/config.toml: no such file or directory", Ailment::missing, "/etc/app/config.toml"},
    {"2026/01/01 10:00:00 mkdir /var/cache/x: permission denied", Ailment::denied, "/var/cache/x"},
    {"Get \"https://api.example.org/v1\": dial tcp: lookup api.example.org on 127.0.0.1:53: read: connection refused",
     Ailment::refused, "api.example.org"},
    {"dial tcp 10.0.0.1:5432: connect: network is unreachable", Ailment::unreachable, "10.0.0.1:5432"},
    {"dial tcp: lookup db.internal: no such host", Ailment::unresolved, "db.internal"},
    {"fork/exec /usr/local/bin/x: permission denied", Ailment::denied, "/usr/local/bin/x"},
    // java
    {"java.nio.file.NoSuchFileException: /opt/x/app.properties", Ailment::missing, "/opt/x/app.properties"},
    {"java.io.FileNotFoundException: /opt/x (Permission denied)", Ailment::denied, "/opt/x"},
    {"java.io.FileNotFoundException: /opt/y (No such file or directory)", Ailment::missing, "/opt/y"},
    {"Caused by: java.net.UnknownHostException: repo.example.org", Ailment::unresolved, "repo.example.org"},
    // shells, the loader, curl, git
    {"sh: 1: cannot open /data/in: No such file", Ailment::missing, ""},
    {"cat: /srv/x: Permission denied", Ailment::denied, "/srv/x"},
    {"/opt/x/bin/tool: error while loading shared libraries: libpq.so.5: cannot open shared object file: No such file "
     "or directory",
     Ailment::library, "libpq.so.5"},
    {"ImportError: libGL.so.1: cannot open shared object file: No such file or directory", Ailment::library,
     "libGL.so.1"},
    {"curl: (6) Could not resolve host: example.org", Ailment::unresolved, "example.org"},
    {"fatal: unable to access 'https://github.com/x/y.git/': Could not resolve host: github.com", Ailment::unresolved,
     "github.com"},
    {"ENOSPC: no space left on device, write", Ailment::no_space, ""},
};

}  // namespace

TEST_CASE("the common shapes of a failure are read, with what they name") {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.line);
    const std::optional<Complaint> complaint = read_complaint(shape.line);
    if (std::string(shape.line).find("cannot open /data/in") != std::string::npos) {
      CHECK_FALSE(complaint.has_value());  // dash leaves half of the words out
      continue;
    }
    REQUIRE(complaint.has_value());
    CHECK(complaint->ailment == shape.ailment);
    CHECK(complaint->path + complaint->host + complaint->library == shape.subject);
  }
}

TEST_CASE("what is no failure that a sandbox causes is passed over") {
  for (const char* line :
       {"", "listening on stdio", "    at Object.openSync (node:fs:601:3)",
        "TypeError: Cannot read properties of undefined", "GET /etc/passwd 200", "warning: /tmp/x is deprecated"}) {
    CAPTURE(line);
    CHECK_FALSE(read_complaint(line).has_value());
  }
}

TEST_CASE("a path is normalised, so that it names what it leads to") {
  CHECK(read_complaint("ENOENT: open '/data/../etc/shadow'")->path == "/etc/shadow");
  CHECK(read_complaint("ENOENT: open 'file:///data/x'")->path == "/data/x");
  CHECK(read_complaint("ENOENT: open 'relative/x'")->path.empty());
  CHECK(read_complaint("ENOENT: open '/" + std::string(2000, 'x') + "'")->path.empty());
}

TEST_CASE("starting a program is told from opening a file") {
  CHECK(read_complaint("Error: spawn /tmp/x EACCES")->starts_program);
  CHECK(read_complaint("fork/exec /tmp/x: permission denied")->starts_program);
  CHECK_FALSE(read_complaint("open /tmp/x: permission denied")->starts_program);
}

TEST_CASE("any bytes are read without harm") {
  std::string line = "ENOENT ";
  for (int byte = 0; byte < 256; ++byte) {
    line += static_cast<char>(byte);
    line += "'/";
  }
  CHECK(read_complaint(line).has_value());
  CHECK(read_complaint("ECONNREFUSED ").has_value());
  CHECK(read_complaint(std::string(100'000, '/') + "ENOENT").has_value() == false);  // beyond what is looked at
  CHECK(read_complaint("EACCES '" + std::string(3000, '/')).has_value());
}
