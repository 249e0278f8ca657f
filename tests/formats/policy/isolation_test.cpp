// SPDX-License-Identifier: Apache-2.0
#include "formats/policy/support.hpp"

using namespace cordon::formats::test;
using cordon::policy::Backend;
using cordon::policy::Grant;
using cordon::policy::Isolation;
using cordon::policy::Position;
using cordon::policy::Proc;
using cordon::policy::Syscalls;
using Strings = std::vector<std::string>;

TEST_CASE("an isolation section reads into the isolation") {
  const Isolation isolation = accept(
                                  "isolation:\n"
                                  "  backend: bubblewrap\n"
                                  "  require: [filesystem, limits]\n"
                                  "  filesystem:\n"
                                  "    runtime: [node, python]\n"
                                  "    read: [/data, {path: ~/proj, at: /proj}]\n"
                                  "    write:\n"
                                  "      - path: /\n"
                                  "        at: /host\n"
                                  "        reason: \"looks at everything\"\n"
                                  "    deny: [/data/private, {path: ~/.ssh, reason: keys}]\n"
                                  "  network: none\n"
                                  "  unix_sockets: none\n"
                                  "  proc: minimal\n"
                                  "  nested_userns: false\n"
                                  "  user: mcp-fs\n"
                                  "  limits: {memory: 512MiB, processes: 32, open_files: 256, file_size: 1GB, "
                                  "cpu_seconds: 60}\n"
                                  "  syscalls: off\n")
                                  .isolation;
  CHECK(isolation.backend == Backend::bubblewrap);
  CHECK(isolation.require == Strings{"filesystem", "limits"});
  CHECK(isolation.runtime == Strings{"node", "python"});
  CHECK(isolation.read == std::vector<Grant>{{"/data", "", "", {9, 12}}, {"~/proj", "/proj", "", {9, 19}}});
  CHECK(isolation.write == std::vector<Grant>{{"/", "/host", "looks at everything", {11, 9}}});
  CHECK(isolation.deny == std::vector<Grant>{{"/data/private", "", "", {14, 12}}, {"~/.ssh", "", "keys", {14, 27}}});
  CHECK(isolation.proc == Proc::minimal);
  CHECK(isolation.user == "mcp-fs");
  CHECK(isolation.limits.memory_bytes == 512ULL * 1024 * 1024);
  CHECK(isolation.limits.processes == 32);
  CHECK(isolation.limits.open_files == 256);
  CHECK(isolation.limits.file_size_bytes == 1'000'000'000);
  CHECK(isolation.limits.cpu_seconds == 60);
  CHECK(isolation.syscalls == Syscalls::off);
  CHECK(isolation.position == Position{4, 1});
}

TEST_CASE("without an isolation section everything is closed") {
  const Isolation isolation = accept("").isolation;
  CHECK(isolation == Isolation{});
  CHECK(isolation.backend == Backend::automatic);
  CHECK(isolation.runtime == Strings{"system"});
  CHECK(isolation.require.size() == 8);
  CHECK(isolation.read.empty());
  CHECK_FALSE(isolation.user.has_value());
  CHECK_FALSE(accept("isolation: {user: null}\n").isolation.user.has_value());
  CHECK(accept("isolation: {require: []}\n").isolation.require.empty());
}

TEST_CASE("backend none needs a reason") {
  CHECK(faults("isolation: {backend: none}\n") ==
        "4:22: isolation.backend: none switches isolation off and needs a reason");
  CHECK(faults("isolation: {backend: none, reason: \"\"}\n") == "4:36: isolation.reason must not be empty");
  CHECK(accept("isolation: {backend: none, reason: a container already}\n").isolation.backend == Backend::none);
  // What is required without being written is nothing then; what is written counts.
  CHECK(accept("isolation: {backend: none, reason: x}\n").isolation.require.empty());
  CHECK(accept("isolation: {backend: none, reason: x, require: [network]}\n").isolation.require == Strings{"network"});
  CHECK(faults("isolation: {backend: bwrap}\n") ==
        "4:22: isolation.backend must be one of auto, native, bubblewrap, landlock, podman, docker, firejail, srt, "
        "seatbelt, command, none, not 'bwrap'");
}

TEST_CASE("backends that start images take no presets of this machine") {
  for (const std::string name : {"podman", "docker"}) {
    const auto policy = accept("isolation: {backend: " + name + "}\n");
    CHECK(policy.isolation.backend == (name == "podman" ? Backend::podman : Backend::docker));
    CHECK(faults("isolation: {backend: " + name + ", filesystem: {runtime: [node]}}\n")
              .find("isolation.filesystem.runtime shows programs of this machine; an image brings its own") !=
          std::string::npos);
  }
}

TEST_CASE("weaker backends are taken when they are named, and keep what is required") {
  const Isolation isolation = accept("isolation: {backend: landlock}\n").isolation;
  CHECK(isolation.backend == Backend::landlock);
  CHECK(isolation.require.size() == 8);
  CHECK(accept("isolation: {backend: firejail}\n").isolation.backend == Backend::firejail);
  CHECK(accept("isolation: {backend: seatbelt}\n").isolation.backend == Backend::seatbelt);
}

TEST_CASE("srt is named by the path of its program, and for that backend alone") {
  CHECK(accept("isolation: {backend: srt, srt: ~/node_modules/x/dist/cli.js}\n").isolation.srt ==
        "~/node_modules/x/dist/cli.js");
  CHECK(faults("isolation: {backend: srt}\n") == "4:22: isolation.backend: srt needs isolation.srt");
  CHECK(faults("isolation: {srt: /x/dist/cli.js}\n") == "4:13: isolation.srt is for isolation.backend: srt alone");
  CHECK(faults("isolation: {backend: srt, srt: srt}\n") ==
        "4:32: isolation.srt must be the path of the package's dist/cli.js, not 'srt'");
  CHECK(faults("isolation: {backend: srt, srt: /usr/bin/srt}\n") ==
        "4:32: isolation.srt must be the path of the package's dist/cli.js, not '/usr/bin/srt'");
}

TEST_CASE("a template names its program by path, and says once where the command goes") {
  const auto template_faults = [](std::string_view items) {
    return faults("isolation: {backend: command, template: " + std::string(items) + "}\n");
  };
  CHECK(accept("isolation: {backend: command, template: [/usr/bin/runsc, \"--cwd={cwd}\", \"{command}\"]}\n")
            .isolation.command_template == Strings{"/usr/bin/runsc", "--cwd={cwd}", "{command}"});
  // Text with braces is text.
  CHECK(template_faults("[/usr/bin/kubectl, '--overrides={\"a\": {\"b\": 1}}', '{command}']").empty());
  CHECK(faults("isolation: {backend: command}\n") == "4:22: isolation.backend: command needs isolation.template");
  CHECK(faults("isolation: {template: [/x, '{command}']}\n") ==
        "4:13: isolation.template is for isolation.backend: command alone");
  CHECK(template_faults("[runsc, '{command}']") ==
        "4:41: isolation.template begins with 'runsc', which is no absolute path");
  CHECK(template_faults("[/x]") == "4:41: isolation.template must have the item {command} once");
  CHECK(template_faults("[/x, '{command}', '{command}']") ==
        "4:41: isolation.template must have the item {command} once");
  CHECK(template_faults("[/x, '{command}', 'sh -c {command}']") ==
        "4:41: isolation.template has '{command}' in 'sh -c {command}'");
  CHECK(template_faults("[/x, '{command}', '{home}']") == "4:41: isolation.template has '{home}' in '{home}'");
  CHECK(template_faults("[]") == "4:41: isolation.template must not be an empty list");
}

TEST_CASE("required guarantees are known ones, each once") {
  CHECK(faults("isolation: {require: [filesystem, netwrk]}\n") ==
        "4:35: an item of isolation.require must be one of filesystem, network, processes, ipc, syscalls, environment, "
        "descriptors, devices, limits, not 'netwrk'");
  CHECK(faults("isolation: {require: [ipc, ipc]}\n") == "4:28: isolation.require names 'ipc' twice");
  CHECK(faults("isolation: {require: ipc}\n") == "4:22: isolation.require must be a list, not a string");
}

TEST_CASE("runtime presets are known ones, and none stands alone") {
  const auto runtime = [](std::string_view text) {
    return faults("isolation: {filesystem: {runtime: " + std::string(text) + "}}\n");
  };
  CHECK(runtime("[none]").empty());
  CHECK(runtime("[java]").empty());
  CHECK(runtime("[node, browser]").empty());
  CHECK(runtime("[none, node]") == "4:35: isolation.filesystem.runtime names none beside other presets");
  CHECK(runtime("[]") == "4:35: isolation.filesystem.runtime must not be an empty list");
  CHECK(runtime("node") == "4:35: isolation.filesystem.runtime must be a list, not a string");
  CHECK(runtime("[nodejs]") ==
        "4:36: an item of isolation.filesystem.runtime must be one of node, python, java, browser, system, none, not "
        "'nodejs'");
}

namespace {

std::string read_faults(std::string_view entry) {
  return faults("isolation:\n  filesystem:\n    read: [" + std::string(entry) + "]\n");
}

}  // namespace

TEST_CASE("grants are absolute or below home, without dots") {
  CHECK(read_faults("data").ends_with(
      "6:12: an item of isolation.filesystem.read must be an absolute path or begin with ~/, not 'data'"));
  CHECK(read_faults("/a/../b") == "6:12: an item of isolation.filesystem.read must not contain ..: '/a/../b'");
  CHECK(read_faults("~/..") == "6:12: an item of isolation.filesystem.read must not contain ..: '~/..'");
  CHECK(read_faults("/a..b/...").empty());
  CHECK(read_faults("~") == "6:12: an item of isolation.filesystem.read must be a string, not nothing");
  CHECK(read_faults("/" + std::string(4096, 'a')) ==
        "6:12: an item of isolation.filesystem.read is longer than a path can be (4095 bytes)");
  CHECK(read_faults("{at: /x}") == "6:12: an item of isolation.filesystem.read names no path");
  CHECK(read_faults("{path: /x, att: /y}") == "6:23: unknown key 'att'");
  CHECK(read_faults("{path: x}") ==
        "6:19: isolation.filesystem.read.path must be an absolute path or begin with ~/, not 'x'");
}

TEST_CASE("a grant appears at an absolute path that is not ours") {
  for (const std::string at : {"/", "/proc/x", "/dev", "/sys/fs", "~/x", "//"}) {
    CHECK(read_faults("{path: /a, at: " + at + "}") ==
          "6:27: isolation.filesystem.read.at must be an absolute path, not /, and not in /dev, /proc or /sys: '" + at +
              "'");
  }
  CHECK(read_faults("{path: /a, at: /device}").empty());
}

TEST_CASE("wide and private grants need a reason") {
  for (const std::string path : {"/",
                                 "//",
                                 "/.",
                                 "\"~\"",
                                 "~/",
                                 "/home",
                                 "/home/",
                                 "/home/alice",
                                 "/root",
                                 "~/.ssh",
                                 "~/.ssh/",
                                 "~/./.ssh",
                                 "~/.ssh/id_ed25519",
                                 "/root/.aws",
                                 "/home/alice/.gnupg",
                                 "~/.aws/credentials",
                                 "~/.mozilla",
                                 "~/.config",
                                 "~/.config/google-chrome/Default",
                                 "~/.config/chromium",
                                 "/home/bob/snap/firefox/common",
                                 "~/.kube/config",
                                 "~/.claude.json",
                                 "~/.bash_history",
                                 "/etc",
                                 "/run/docker.sock",
                                 "~/.var/app"}) {
    CAPTURE(path);
    const std::string found = read_faults(path);
    CHECK(found.starts_with("6:12: a grant of '"));
    CHECK(found.find(" gives away ") != std::string::npos);
    CHECK(read_faults("{path: " + path + ", reason: \"why not\"}").empty());
    CHECK(read_faults("{path: " + path + ", reason: \"\"}") !=
          read_faults("{path: " + path + ", reason: \"why not\"}"));
    // A denied path is no risk.
    CHECK(faults("isolation: {filesystem: {deny: [" + path + "]}}\n").empty());
  }
  CHECK(read_faults("/") == "6:12: a grant of '/' gives away the whole file system");
  CHECK(read_faults("/home/x") == "6:12: a grant of '/home/x' gives away a whole home folder");
  CHECK(read_faults("~/.ssh/id_rsa") == "6:12: a grant of '~/.ssh/id_rsa' gives away keys or tokens (~/.ssh)");
  CHECK(faults("isolation: {filesystem: {write: [~/.aws]}}\n") ==
        "4:34: a grant of '~/.aws' gives away keys or tokens (~/.aws)");
}

TEST_CASE("ordinary grants need none") {
  for (const std::string path : {"/data", "~/proj", "/home/alice/proj", "~/.sshx", "~/.config/app", "/srv/.ssh",
                                 "/rooted", "/homes/x", "/usr/share"}) {
    CAPTURE(path);
    CHECK(read_faults(path).empty());
  }
}

TEST_CASE("one place inside has one grant") {
  CHECK(read_faults("/data, /data/") == "6:19: two grants appear at '/data' (the first in line 6)");
  CHECK(read_faults("/data, {path: /x, at: /data}") == "6:19: two grants appear at '/data' (the first in line 6)");
  CHECK(read_faults("~/x, ~//x") == "6:17: two grants appear at '~/x' (the first in line 6)");
  CHECK(read_faults("/data, {path: /data, at: /other}").empty());
  CHECK(read_faults("/data, /data/sub").empty());
  CHECK(faults("isolation:\n  filesystem:\n    write: [{path: /b, at: /a}]\n    read: [/a]\n") ==
        "7:12: two grants appear at '/a' (the first in line 6)");
}

TEST_CASE("write implies read, so naming both is fine") {
  CHECK(faults("isolation:\n  filesystem:\n    write: [/a]\n    read: [/a]\n").empty());
  CHECK(faults("isolation:\n  filesystem:\n    write: [/a, /a]\n    read: [/a]\n") ==
        "6:17: two grants appear at '/a' (the first in line 6)");
}

TEST_CASE("a denied path is named as it is outside") {
  CHECK(faults("isolation: {filesystem: {deny: [{path: /a, at: /b}]}}\n") ==
        "4:44: isolation.filesystem.deny.at means nothing: a denied path shows nowhere");
  CHECK(faults("isolation: {filesystem: {deny: [a]}}\n") ==
        "4:33: an item of isolation.filesystem.deny must be an absolute path or begin with ~/, not 'a'");
}

TEST_CASE("sockets are listed by path, a sensitive one with a reason") {
  CHECK(accept("isolation: {unix_sockets: none}\n").isolation.unix_sockets.empty());
  CHECK(accept("isolation: {unix_sockets: []}\n").isolation.unix_sockets.empty());
  const auto sockets =
      accept("isolation: {unix_sockets: [/run/x.sock, ~/y.sock, {path: /run/docker.sock, reason: builds}]}\n")
          .isolation.unix_sockets;
  REQUIRE(sockets.size() == 3);
  CHECK(sockets[0].path == "/run/x.sock");
  CHECK(sockets[1].path == "~/y.sock");
  CHECK(sockets[2].reason == "builds");
  CHECK(faults("isolation: {unix_sockets: [/run/docker.sock]}\n") ==
        "4:28: a grant of '/run/docker.sock' gives away control over this machine or session (/run/docker.sock)");
  CHECK(faults("isolation: {unix_sockets: [{path: /run/x, at: /y}]}\n") ==
        "4:43: isolation.unix_sockets.at means nothing: a socket shows at its own path");
  CHECK(faults("isolation: {unix_sockets: [x]}\n") ==
        "4:28: an item of isolation.unix_sockets must be an absolute path or begin with ~/, not 'x'");
  CHECK(faults("isolation: {unix_sockets: [/x, /x]}\n") == "4:32: isolation.unix_sockets names '/x' twice");
  CHECK(faults("isolation: {unix_sockets: [/x/../y]}\n") ==
        "4:28: an item of isolation.unix_sockets must not contain ..: '/x/../y'");
}

TEST_CASE("the network is none or single hosts, which backend none cannot keep to") {
  const Isolation hosts = accept("isolation: {network: {allow: [\"a.example:443\"], sni: off}}\n").isolation;
  REQUIRE(hosts.network.allow.size() == 1);
  CHECK(hosts.network.allow[0].host == "a.example");
  CHECK(hosts.network.sni == cordon::policy::SniCheck::off);
  CHECK(faults("isolation: {backend: none, reason: r, network: {allow: [\"a.example:443\"]}}\n") ==
        "4:48: isolation.network allows single hosts, which isolation.backend: none cannot keep to");
  CHECK(faults("isolation: {network: {alow: []}}\n") == "4:23: unknown key 'alow'");
  CHECK(faults("isolation: {network: {}}\n") == "4:22: isolation.network allows nothing");
  CHECK(faults("isolation: {network: host}\n") == "4:22: isolation.network must be none or a mapping, not 'host'");
  CHECK(faults("isolation: {network: ~}\n") == "4:22: isolation.network must be none or a mapping, not nothing");
  CHECK(faults("isolation: {unix_sockets: all}\n") == "4:27: isolation.unix_sockets must be none, not 'all'");
}

TEST_CASE("the other isolation values are checked") {
  CHECK(faults("isolation: {proc: full}\n") == "4:19: isolation.proc must be one of masked, minimal, not 'full'");
  CHECK(faults("isolation: {syscalls: strict}\n").empty());
  CHECK(faults("isolation: {syscalls: on}\n") ==
        "4:23: isolation.syscalls must be one of default, strict, off, not 'on'");
  CHECK(faults("isolation: {nested_userns: true}\n").empty());
  CHECK(faults("isolation: {nested_userns: true, syscalls: strict}\n") ==
        "4:44: isolation.syscalls: strict leaves out what isolation.nested_userns needs");
  CHECK(faults("isolation: {syscalls: strict, filesystem: {runtime: [browser]}}\n") ==
        "4:23: isolation.syscalls: strict leaves out what the preset browser needs");
  CHECK(faults("isolation: {nested_userns: no}\n") == "4:28: isolation.nested_userns must be true or false, not 'no'");
  CHECK(faults("isolation: {user: root}\n") == "4:19: isolation.user must name an account other than root, not 'root'");
  CHECK(faults("isolation: {user: \"0\"}\n") == "4:19: isolation.user must name an account other than root, not '0'");
  CHECK(faults("isolation: {user: a/b}\n") == "4:19: isolation.user must name an account other than root, not 'a/b'");
  CHECK(faults("isolation: {user: 1000}\n") ==
        "4:19: isolation.user must be a string, but '1000' without quotes is a number");
  CHECK(faults("isolation: {filesytem: {}}\n") == "4:13: unknown key 'filesytem'");
  CHECK(faults("isolation: [native]\n") == "4:12: isolation must be a mapping of keys to values, not a list");
}

TEST_CASE("limits are whole numbers and sizes above zero") {
  const auto limits = [](std::string_view text) {
    return faults("isolation: {limits: {" + std::string(text) + "}}\n");
  };
  CHECK(limits("processes: 0") == "4:33: isolation.limits.processes must lie between 1 and 1000000000, not 0");
  CHECK(limits("processes: -1") == "4:33: isolation.limits.processes must be a whole number, not '-1'");
  CHECK(limits("processes: 1.5") == "4:33: isolation.limits.processes must be a whole number, not '1.5'");
  CHECK(limits("memory: 0") == "4:30: isolation.limits.memory must lie between 1 and 1125899906842624, not 0");
  CHECK(limits("memory: lots") == "4:30: isolation.limits.memory must be a size, not 'lots'");
  CHECK(limits("memory: null") == "4:30: isolation.limits.memory must be a size, not nothing");
  CHECK(limits("cpu_secs: 1") == "4:22: unknown key 'cpu_secs'");
}
