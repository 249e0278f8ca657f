// SPDX-License-Identifier: Apache-2.0
// What is masked or only readable below a write grant stays so in the session after the one that tries to undo it.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/text.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;
namespace fs = std::filesystem;

namespace {

template <typename Body>
void everywhere(Body body) {
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    if (test::must_skip(backend)) {
      continue;
    }
    CAPTURE(backend);
    CHECK(test::as_we_are([&] { return body(backend); }) == "");
    CHECK(test::as_ordinary_user([&] { return body(backend); }) == "");
  }
}

// A project that is granted for writing, with a masked file, a masked folder and a read-only folder deep in it.
struct Project {
  test::TempFolder folder;
  Project() {
    fs::create_directories(folder / "p/a/b/private");
    fs::create_directories(folder / "p/x/y/fixed");
    test::write_file(folder / "p/a/b/secret", "SECRET");
    test::write_file(folder / "p/a/b/private/key", "SECRET");
    test::write_file(folder / "p/x/y/fixed/file", "FIXED");
  }
  test::Outcome session(BackendChoice backend, const std::string& script) const {
    sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", script}, backend);
    spec.mounts = {{.source = folder / "p", .target = "/p", .writable = true},
                   {.source = folder / "p/x/y/fixed", .target = "/p/x/y/fixed"}};
    spec.deny = {"/p/a/b/secret", "/p/a/b/private"};
    return test::run(test::plan_for(spec));
  }
};

}  // namespace

TEST_CASE("masks and read-only grants deep in a write grant survive a session that moves folders") {
  everywhere([](BackendChoice backend) {
    const Project project;
    const test::Outcome first =
        project.session(backend,
                        "for f in /p/a /p/a/b /p/x /p/x/y /p/x/y/fixed; do python3 -c 'import os,sys;"
                        "os.rename(sys.argv[1],sys.argv[1]+\"-aside\")' $f 2>/dev/null && echo moved $f; done;"
                        "mkdir -p /p/a/b/private /p/x/y/fixed; touch /p/a/b/secret 2>/dev/null; echo tried");
    const test::Outcome second = project.session(
        backend,
        "for f in $(find /p -type f 2>/dev/null); do cat $f 2>/dev/null; echo CHANGED 2>/dev/null >$f; done; echo +");
    std::string wrong = first.status + second.status;
    wrong += first.out == "tried\n" ? "" : text::cat("first: ", first.out);
    wrong += second.out.find("SECRET") == std::string::npos ? "" : text::cat("second: ", second.out);
    wrong += second.out.ends_with("+\n") ? "" : "the second session did not run";
    wrong += test::read_file(project.folder / "p/x/y/fixed/file") == "FIXED" ? "" : "the read-only file changed";
    wrong += test::read_file(project.folder / "p/a/b/secret") == "SECRET" ? "" : "the masked file changed";
    return wrong;
  });
}

TEST_CASE("between them the write grant can be written, and files beside can be moved") {
  everywhere([](BackendChoice backend) {
    const Project project;
    const test::Outcome outcome = project.session(
        backend,
        "echo new > /p/a/new && mkdir /p/a/b/sub && mv /p/a/new /p/a/moved && mv /p/a/b/sub /p/free && echo ok");
    return text::cat(outcome.status, outcome.out == "ok\n" ? "" : outcome.err,
                     test::read_file(project.folder / "p/a/moved") == "new\n" ? "" : "not written");
  });
}

TEST_CASE("a FIFO in a read grant cannot be written to, save below a writable place: a known gap") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    if (::mkfifo((folder / "fifo").c_str(), 0666) != 0 || ::chmod((folder / "fifo").c_str(), 0666) != 0) {
      return std::string("mkfifo");
    }
    const auto opens = [&](const std::string& place) {
      const std::string script = "import os,sys;os.close(os.open(sys.argv[1],os.O_RDWR|os.O_NONBLOCK));print('opened')";
      sandbox::LaunchSpec spec = test::spec_for({"/usr/bin/python3", "-c", script, text::cat(place, "/fifo")}, backend);
      spec.mounts = {{.source = folder.path(), .target = place}};
      const sandbox::Plan plan = test::plan_for(spec);
      return plan.landlock_abi == 0 ? std::string("no Landlock") : test::run(plan).out;
    };
    if (::access("/usr/bin/python3", X_OK) != 0 || opens("/granted") == "no Landlock") {
      return std::string();
    }
    return text::cat(opens("/granted"), opens("/tmp/granted") == "opened\n" ? "" : "no gap any more: correct the docs");
  });
}
