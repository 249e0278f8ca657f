// SPDX-License-Identifier: Apache-2.0
// Real launches: interpreters run, grants show what they should, and what cannot be done exactly is not done at all.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/text.hpp"
#include "everywhere.hpp"
#include "sandbox/launch.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;
namespace fs = std::filesystem;

namespace {

using test::everywhere;
using test::kBackends;

std::string shell(BackendChoice backend, const std::string& script, std::vector<sandbox::Mount> mounts = {}) {
  sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", script}, backend);
  spec.mounts = std::move(mounts);
  const test::Outcome outcome = test::run(test::plan_for(spec));
  return text::cat(outcome.status, outcome.out, outcome.err);
}

std::string expect(const std::string& wanted, const std::string& got) {
  return wanted == got ? std::string() : text::cat("wanted '", wanted, "' but got '", got, "'");
}

std::string expect_part(const std::string& wanted, const std::string& got) {
  return got.find(wanted) != std::string::npos ? std::string() : text::cat("wanted '", wanted, "' in '", got, "'");
}

// The error of making the plan, or the status line of running it.
std::string refusal(const sandbox::LaunchSpec& spec) {
  return test::as_we_are([&] {
    const test::Outcome outcome = test::run(test::plan_for(spec));
    return outcome.status.empty() ? text::cat("ran: ", outcome.out) : outcome.status;
  });
}

// Runs the body in a child with a mount namespace of its own.
std::string in_own_mounts(const std::function<std::string()>& body) {
  return test::in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return errno_text("unshare", errno);
    }
    return body();
  });
}

// Runs the body in a user namespace that allows no further ones. Changes the process: call it in a child.
std::string without_user_namespaces(const std::function<std::string()>& body) {
  const std::string uid = text::cat(::geteuid(), " ", ::geteuid(), " 1\n");
  const std::string gid = text::cat(::getegid(), " ", ::getegid(), " 1\n");
  const auto put = [](const char* path, const std::string& content) {
    const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
  };
  if (::unshare(CLONE_NEWUSER) != 0 || !put("/proc/self/setgroups", "deny") || !put("/proc/self/uid_map", uid) ||
      !put("/proc/self/gid_map", gid) || !put("/proc/sys/user/max_user_namespaces", "0")) {
    return errno_text("user namespace of the test", errno);
  }
  return body();
}

std::string run_interpreter(BackendChoice backend, std::vector<std::string> argv, const std::string& preset) {
  sandbox::LaunchSpec spec = test::spec_for(std::move(argv), backend);
  spec.runtime = {preset};
  const test::Outcome outcome = test::run(test::plan_for(spec), "input\n");
  return text::cat(outcome.status, outcome.out, outcome.err, outcome.exit_code);
}

}  // namespace

TEST_CASE("a shell runs, reads its stdin and gives its exit status") {
  everywhere([](BackendChoice backend) {
    return expect("got:input\n7", run_interpreter(backend, {"/bin/sh", "-c", "read x; echo got:$x; exit 7"}, "system"));
  });
}

TEST_CASE("java runs, and with a JDK a program in its source") {
  if (::access("/usr/bin/java", X_OK) != 0) {
    MESSAGE("skipped: no /usr/bin/java");
    return;
  }
  everywhere([](BackendChoice backend) {
    const std::string got =
        run_interpreter(backend, {"/usr/bin/java", "-XshowSettings:properties", "-version"}, "java");
    return text::cat(expect_part("user.home = /home/cordon", got), expect_part("java.vm.name", got));
  });
  if (::access("/usr/bin/javac", X_OK) != 0) {
    MESSAGE("skipped: no JDK");
    return;
  }
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    test::write_file(folder / "Echo.java",
                     "import java.nio.file.*; class Echo { public static void main(String[] a) throws Exception {"
                     "var line = new java.io.BufferedReader(new java.io.InputStreamReader(System.in)).readLine();"
                     "Files.writeString(Path.of(System.getProperty(\"user.home\"), \"f\"), line);"
                     "System.out.println(line + Thread.getAllStackTraces().isEmpty()); } }");
    return expect("inputfalse\n0", run_interpreter(backend, {"/usr/bin/java", folder / "Echo.java"}, "java"));
  });
}

TEST_CASE("what servers do by themselves works with strict system calls, and sockets do not") {
  const auto strictly = [](BackendChoice backend, std::vector<std::string> argv, const std::string& preset) {
    sandbox::LaunchSpec spec = test::spec_for(std::move(argv), backend);
    spec.runtime = {preset};
    spec.strict_syscalls = true;
    const test::Outcome outcome = test::run(test::plan_for(spec), "input\n");
    return text::cat(outcome.status, outcome.out, outcome.err);
  };
  if (::access("/usr/bin/python3", X_OK) == 0) {
    everywhere([&](BackendChoice backend) {
      const char* script =
          "import asyncio,concurrent.futures,errno,json,socket,sqlite3,ssl,subprocess,sys,tempfile,threading\n"
          "line=sys.stdin.readline().strip()\n"
          "with tempfile.NamedTemporaryFile() as f: f.write(b'x'); f.flush()\n"
          "sqlite3.connect(tempfile.gettempdir()+'/db').execute('create table t(x)')\n"
          "print(line, subprocess.run(['/bin/echo','child'],capture_output=True,text=True).stdout.strip())\n"
          "with concurrent.futures.ThreadPoolExecutor() as p: print(sum(p.map(abs,range(5))))\n"
          "async def main():\n"
          "  c=await asyncio.create_subprocess_exec('/bin/echo','async',stdout=asyncio.subprocess.PIPE)\n"
          "  print((await c.communicate())[0].decode().strip())\n"
          "asyncio.run(main())\n"
          "try: socket.socket()\n"
          "except OSError as e: print(errno.errorcode[e.errno])\n";
      return expect("input child\n10\nasync\nEAFNOSUPPORT\n",
                    strictly(backend, {"/usr/bin/python3", "-c", script}, "python"));
    });
  }
  if (::access("/usr/bin/node", X_OK) == 0) {
    everywhere([&](BackendChoice backend) {
      const char* script =
          "const {execFile,fork}=require('child_process'),{Worker}=require('worker_threads'),fs=require('fs');"
          "process.stdin.once('data',async d=>{console.log(String(d).trim());"
          "await fs.promises.writeFile('f','x');await fs.promises.copyFile('f','g');"
          "console.log((await new Promise(r=>execFile('/bin/echo',['child'],(e,o)=>r(o)))).trim());"
          "console.log(await new Promise(r=>new Worker(\"require('worker_threads').parentPort.postMessage('thread')\","
          "{eval:true}).once('message',r)));"
          "require('net').connect(9,'127.0.0.1').on('error',e=>console.log(e.code))})";
      return expect("input\nchild\nthread\nEAFNOSUPPORT\n", strictly(backend, {"/usr/bin/node", "-e", script}, "node"));
    });
  }
}

TEST_CASE("node runs") {
  if (::access("/usr/bin/node", X_OK) != 0) {
    MESSAGE("skipped: no /usr/bin/node");
    return;
  }
  everywhere([](BackendChoice backend) {
    const char* script =
        "const fs=require('fs');process.stdin.on('data',d=>{fs.writeFileSync('f','x');"
        "console.log(String(d).trim(),require('os').cpus().length>0,process.execPath)})";
    return expect("input true /usr/bin/node\n0", run_interpreter(backend, {"/usr/bin/node", "-e", script}, "node"));
  });
}

TEST_CASE("python runs") {
  if (::access("/usr/bin/python3", X_OK) != 0) {
    MESSAGE("skipped: no /usr/bin/python3");
    return;
  }
  everywhere([](BackendChoice backend) {
    const char* script =
        "import ssl,subprocess,sys,tempfile;tempfile.TemporaryFile();"
        "print(input(),subprocess.check_output(['echo','sub']))";
    return expect("input b'sub\\n'\n0", run_interpreter(backend, {"/usr/bin/python3", "-c", script}, "python"));
  });
}

TEST_CASE("what the server has is what is listed") {
  everywhere([](BackendChoice backend) {
    const std::string got = shell(backend, "ls /; ls /dev; ls /home; ls /tmp /run /var/tmp; cat /etc/hosts | wc -l");
    const bool fine = got.find("root") == std::string::npos && got.find("sys\n") == std::string::npos &&
                      got.find("tty") == std::string::npos && got.find("cordon\n") != std::string::npos;
    return fine ? std::string() : got;
  });
}

TEST_CASE("folders and single files are granted, at their place or another") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    fs::create_directory(folder / "data");
    test::write_file(folder / "data/a", "A");
    test::write_file(folder / "b", "B");
    const std::string script = text::cat("cat ", folder / "data/a", " /elsewhere/deep/b /data/a; echo +C >> /w");
    test::write_file(folder / "w", "");
    const std::string out = shell(backend, script,
                                  {{.source = folder / "data", .target = folder / "data"},
                                   {.source = folder / "data", .target = "/data"},
                                   {.source = folder / "b", .target = "/elsewhere/deep/b"},
                                   {.source = folder / "w", .target = "/w", .writable = true}});
    return expect("ABA", out) + expect("+C\n", test::read_file(folder / "w"));
  });
}

TEST_CASE("a folder that only its owner may enter can be granted, and what is written belongs to the owner") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    fs::create_directory(folder / "closed");
    test::write_file(folder / "closed/file", "mine", 0600);
    ::chmod((folder / "closed").c_str(), 0700);
    const std::string out = shell(
        backend, "cat /g/file; echo new > /g/new; mkdir /g/sub; stat -c %u /g/file | grep -qx $(id -u) && echo own",
        {{.source = folder / "closed", .target = "/g", .writable = true}});
    struct stat made = {};
    ::stat((folder / "closed/new").c_str(), &made);
    return expect("mineown\n", out) + (made.st_uid == ::geteuid() ? "" : "wrong owner");
  });
}

TEST_CASE("a kept home is a folder outside, a temporary one is empty each time") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    fs::create_directory(folder / "home");
    sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", "pwd; ls; echo x > ~/kept"}, backend);
    spec.home_source = folder / "home";
    const std::string first = test::run(test::plan_for(spec)).out;
    const std::string second = test::run(test::plan_for(spec)).out;
    spec.home_source.clear();
    const std::string temporary = test::run(test::plan_for(spec)).out;
    return expect("/home/cordon\n", first) + expect("/home/cordon\nkept\n", second) +
           expect("/home/cordon\n", temporary) + expect("x\n", test::read_file(folder / "home/kept"));
  });
}

TEST_CASE("a grant through a symlink is refused, at its end and on the way") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    fs::create_directory(folder / "secret");
    test::write_file(folder / "secret/key", "KEY");
    fs::create_directory_symlink(folder / "secret", folder / "link");
    sandbox::LaunchSpec spec = test::spec_for({"/bin/cat", "/data/key"}, backend);
    spec.mounts = {{.source = folder / "link", .target = "/data"}};
    std::string wrong = expect_part(text::cat("it leads to ", folder / "secret"), refusal(spec));
    // What is planted after the plan was made: the stage looks again.
    spec.mounts = {{.source = folder / "way/folder", .target = "/data"}};
    fs::create_directories(folder / "way/folder");
    const sandbox::Plan plan = test::plan_for(spec);
    fs::remove_all(folder / "way");
    fs::create_directory(folder / "real");
    fs::create_directory_symlink(folder / "secret", folder / "real/folder");
    fs::create_directory_symlink(folder / "real", folder / "way");
    const test::Outcome outcome = test::run(plan);
    wrong += expect_part(text::cat(folder / "way", " is a symlink to "), outcome.status);
    wrong += expect_part("sources: ", outcome.status) + expect("", outcome.out);
    return wrong;
  });
}

TEST_CASE("missing grants and missing masks are errors that name the path") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    fs::create_directory(folder / "data");
    sandbox::LaunchSpec spec = test::spec_for({"/bin/sh"}, backend);
    spec.mounts = {{.source = folder / "missing", .target = "/x"}};
    std::string wrong = expect_part(text::cat(folder / "missing", ": granted path does not exist"), refusal(spec));
    spec.mounts = {{.source = folder / "data", .target = "/x"}};
    spec.deny = {"/x/missing"};
    return wrong + expect_part(text::cat(folder / "data/missing"), refusal(spec));
  });
}

TEST_CASE("a place for a grant is never made outside") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    fs::create_directory(folder / "outer");
    fs::create_directory(folder / "inner");
    test::write_file(folder / "inner/file", "inner");
    sandbox::LaunchSpec spec = test::spec_for({"/bin/cat", "/outer/place/file"}, backend);
    spec.mounts = {{.source = folder / "outer", .target = "/outer", .writable = true},
                   {.source = folder / "inner", .target = "/outer/place"}};
    std::string wrong = expect_part("/outer/place: ", refusal(spec));
    if (!fs::is_empty(folder / "outer")) {
      wrong += "something was made outside";
    }
    fs::create_directory(folder / "outer/place");
    return wrong + expect("inner", test::run(test::plan_for(spec)).out);
  });
}

TEST_CASE("a program that was replaced after planning is not run") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    test::write_file(folder / "program", "#!/bin/sh\necho planned\n", 0755);
    const sandbox::LaunchSpec spec = test::spec_for({folder / "program"}, backend);
    const sandbox::Plan plan = test::plan_for(spec);
    std::string wrong = expect("planned\n", test::run(plan).out);
    test::write_file(folder / "other", "#!/bin/sh\necho other\n", 0755);
    fs::rename(folder / "other", folder / "program");
    const test::Outcome outcome = test::run(plan);
    return wrong + expect("", outcome.out) + expect_part("exec: ", outcome.status);
  });
}

TEST_CASE("a program that cannot be executed is told with the cause") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    test::write_file(folder / "program", "#!/no/such/interpreter\n", 0755);
    const test::Outcome outcome = test::run(test::plan_for(test::spec_for({folder / "program"}, backend)));
    return expect_part("exec: ", outcome.status) + expect_part("interpreter or loader", outcome.status) +
           expect("125", std::to_string(outcome.exit_code));
  });
}

TEST_CASE("a working directory that does not exist inside is an error") {
  everywhere([](BackendChoice backend) {
    sandbox::LaunchSpec spec = test::spec_for({"/bin/sh"}, backend);
    spec.cwd = "/no/such/folder";
    return expect_part("working_directory: /no/such/folder", refusal(spec));
  });
}

TEST_CASE("a minimal /proc shows processes only") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  sandbox::LaunchSpec spec =
      test::spec_for({"/bin/sh", "-c", "ls /proc | grep -v '^[0-9]*$' | sort | tr '\\n' ' '"}, BackendChoice::native);
  spec.proc_minimal = true;
  CHECK(test::run(test::plan_for(spec)).out == "self thread-self ");
}

TEST_CASE("a static program needs no preset") {
  everywhere([](BackendChoice backend) {
    sandbox::LaunchSpec spec = test::spec_for({CORDON_TEST_PROBE}, backend);
    spec.runtime = {"none"};
    const test::Outcome outcome = test::run(test::plan_for(spec));
    return expect("", outcome.status) + expect_part(R"("id":"probe.token")", outcome.out);
  });
}

TEST_CASE("root does not grant what it could not share with the server") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: needs root");
    return;
  }
  for (const BackendChoice backend : kBackends) {
    if (test::must_skip(backend)) {
      continue;
    }
    const std::string status = in_own_mounts([&] {
      const test::TempFolder folder;
      // A file system that cannot map owners, in a mount namespace of the test's own.
      if (::mount("ramfs", folder.path().c_str(), "ramfs", 0, nullptr) != 0) {
        return errno_text("mount", errno);
      }
      sandbox::LaunchSpec spec = test::spec_for({"/bin/sh"}, backend);
      spec.mounts = {{.source = folder.path(), .target = "/data"}};
      const std::string said = test::run(test::plan_for(spec)).status;
      ::umount2(folder.path().c_str(), MNT_DETACH);
      return said;
    });
    const Error error = sandbox::error_from_status(status, "backend");
    CHECK(error.code == Errc::unsupported_isolation);
    CHECK(expect_part("cannot map owners", error.detail) == "");
    CHECK(expect_part("reason running_as_root", error.detail) == "");
  }
}

TEST_CASE("where user namespaces are switched off, nothing is started") {
  for (const BackendChoice backend : {BackendChoice::automatic, BackendChoice::native, BackendChoice::bubblewrap}) {
    if (test::must_skip(backend)) {
      continue;
    }
    const std::string got = test::as_ordinary_user([&] {
      return without_user_namespaces([&] { return refusal(test::spec_for({"/bin/echo", "started"}, backend)); });
    });
    // In such a namespace root's files have no owner that we could trust: bwrap is not even looked at.
    CHECK(expect_part(backend == BackendChoice::bubblewrap ? "reason backend_missing" : "reason userns_denied", got) ==
          "");
    CHECK(got.find("started") == std::string::npos);
  }
}

TEST_CASE("nothing of the plan can be read in a process list") {
  everywhere([](BackendChoice backend) {
    const std::string got = shell(backend, "tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/environ 2>/dev/null | wc -c");
    return got.find("/usr") == std::string::npos && got.find("HOME") == std::string::npos ? std::string() : got;
  });
}

TEST_CASE("none runs with a clean start and nothing else") {
  ::setenv("CORDON_TEST_LEAK", "x", 1);
  sandbox::LaunchSpec spec =
      test::spec_for({"/bin/sh", "-c", "id -u; env | sort | cut -d= -f1 | tr '\\n' ' '; exit 4"}, BackendChoice::none);
  const test::Outcome outcome = test::run(test::plan_for(spec));
  ::unsetenv("CORDON_TEST_LEAK");
  const std::string uid = std::to_string(::geteuid() == 0 ? 65534 : ::geteuid());
  CHECK(outcome.out == uid + "\nHOME LANG PATH PWD ");
  CHECK(outcome.exit_code == 4);
}

TEST_CASE("a helper that others could change is not run") {
  const test::TempFolder folder;
  const sandbox::Plan plan = test::plan_for(test::spec_for({"/bin/true"}, BackendChoice::none));
  const auto attempt = [&](const std::string& path) {
    const auto launched = sandbox::launch(plan, {.stage_path = path});
    return launched ? std::string("launched") : std::string(name(launched.error().code));
  };
  fs::copy_file(CORDON_TEST_STAGE, folder / "stage");
  ::chmod((folder / "stage").c_str(), 0775);
  CHECK(attempt(folder / "stage") == "file_untrusted");
  ::chmod((folder / "stage").c_str(), 0755);
  ::chmod(folder.path().c_str(), 0777);
  CHECK(attempt(folder / "stage") == "file_untrusted");
  ::chmod(folder.path().c_str(), 0755);
  fs::create_symlink(CORDON_TEST_STAGE, folder / "link");
  CHECK(attempt(folder / "link") == "file_untrusted");
  CHECK(attempt(folder / "missing") == "launch_failed");
  fs::create_directory(folder / "folder");
  CHECK(attempt(folder / "folder") == "file_untrusted");
}

TEST_CASE("status lines become errors") {
  const Error plain = sandbox::error_from_status("sources: /x: No such file\n", "native");
  CHECK(plain.code == Errc::launch_failed);
  CHECK(plain.where == "native");
  CHECK(plain.detail == "sources: /x: No such file");
  const Error typed = sandbox::error_from_status("namespaces: unshare: x [reason=userns_denied errno=1]\n", "native");
  CHECK(typed.code == Errc::unsupported_isolation);
  CHECK(typed.detail == "namespaces: unshare: x: reason userns_denied");
}

TEST_CASE("the helper does nothing without a plan") {
  const std::string command = text::cat(CORDON_TEST_STAGE, " 3>&1 4</dev/null 5</dev/null");
  FILE* pipe = ::popen(command.c_str(), "re");
  const std::string out = test::read_to_end(::fileno(pipe));
  const int status = ::pclose(pipe);
  CHECK(out == "plan: started without a plan; this program is run by mcp-cordon only\n");
  CHECK(WEXITSTATUS(status) == 125);
}
