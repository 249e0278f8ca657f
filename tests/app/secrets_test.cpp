// SPDX-License-Identifier: Apache-2.0
#include "app/secrets.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include "app/command_output.hpp"
#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

policy::Policy with(policy::Secret secret) {
  policy::Policy out;
  out.launch.secrets["API_TOKEN"] = std::move(secret);
  return out;
}

const ReadTrusted kNoFiles = [](const std::string& path) -> Result<std::string> {
  return fail(Errc::file_untrusted, "not ours", path);
};

using Source = policy::Secret::Source;

}  // namespace

TEST_CASE("a secret comes from a variable of the caller, unchanged") {
  const TempFolder temp;
  Caller caller = temp.caller();
  caller.environment["TOKEN"] = "s3cret\n";
  const auto out = read_secrets(with({Source::env, "TOKEN", {}}), caller, kNoFiles);
  REQUIRE(out.has_value());
  CHECK(out->at("API_TOKEN") == "s3cret\n");
}

TEST_CASE("a secret that is not there is an error that names the variable") {
  const TempFolder temp;
  const auto out = read_secrets(with({Source::env, "TOKEN", {}}), temp.caller(), kNoFiles);
  REQUIRE_FALSE(out.has_value());
  CHECK(out.error().code == Errc::launch_failed);
  CHECK(out.error().where == "secret API_TOKEN");
  CHECK(out.error().detail.find("TOKEN") != std::string::npos);
}

TEST_CASE("a secret from a file goes through the trusted reader and loses its line end") {
  const TempFolder temp;
  const ReadTrusted reader = [&](const std::string& path) -> Result<std::string> {
    CHECK(path == temp.at("home/token"));
    return "s3cret\n";
  };
  const auto out = read_secrets(with({Source::file, "~/token", {}}), temp.caller(), reader);
  REQUIRE(out.has_value());
  CHECK(out->at("API_TOKEN") == "s3cret");
  CHECK(read_secrets(with({Source::file, "~/token", {}}), temp.caller(), kNoFiles).error().code ==
        Errc::file_untrusted);
}

TEST_CASE("a secret from a command runs with a clean environment") {
  const TempFolder temp;
  Caller caller = temp.caller();
  caller.environment["LEAK"] = "leaked";
  const auto out =
      read_secrets(with({Source::command, "", {"sh", "-c", "echo \"${LEAK-clean}:$HOME\""}}), caller, kNoFiles);
  REQUIRE(out.has_value());
  CHECK(out->at("API_TOKEN") == "clean:" + caller.home);
}

TEST_CASE("a program that somebody else can change is not asked for a secret") {
  const TempFolder temp;
  const std::string tool = temp.file("bin/tool", "#!/bin/sh\ntouch " + temp.at("ran") + "\necho s3cret\n", 0755);
  std::vector<std::string> argv = {tool};
  const auto ask = [&] { return read_secrets(with({Source::command, "", argv}), temp.caller(), kNoFiles); };
  SUBCASE("the program") { ::chmod(tool.c_str(), 0777); }
  SUBCASE("its folder") { ::chmod(temp.at("bin").c_str(), 0777); }
  SUBCASE("a symlink to it in such a folder") {
    ::chmod(temp.folder("links").c_str(), 0777);
    argv = {temp.link("links/tool", tool)};
  }
  SUBCASE("its interpreter") {
    std::filesystem::copy_file("/bin/sh", temp.at("sh"));
    ::chmod(temp.at("sh").c_str(), 0777);
    temp.file("bin/tool", "#!" + temp.at("sh") + "\ntouch " + temp.at("ran") + "\necho s3cret\n", 0755);
  }
  SUBCASE("the script that it is given") {
    ::chmod(tool.c_str(), 0666);
    argv = {"sh", tool};
  }
  const auto out = ask();
  REQUIRE_FALSE(out.has_value());
  CHECK(out.error().code == Errc::file_untrusted);
  CHECK_FALSE(out.error().remedy.empty());
  CHECK_FALSE(std::filesystem::exists(temp.at("ran")));
}

TEST_CASE("a program for a secret keeps the name it was called by") {
  const TempFolder temp;
  const auto out = read_secrets(with({Source::command, "", {temp.link("name", "/bin/sh"), "-c", "echo $0"}}),
                                temp.caller(), kNoFiles);
  REQUIRE(out.has_value());
  CHECK(out->at("API_TOKEN") == temp.at("name"));
}

TEST_CASE("a failing secret command tells its status and not what it printed") {
  const TempFolder temp;
  const auto out =
      read_secrets(with({Source::command, "", {"sh", "-c", "echo s3cret; exit 3"}}), temp.caller(), kNoFiles);
  REQUIRE_FALSE(out.has_value());
  CHECK(out.error().to_string().find("status 3") != std::string::npos);
  CHECK(out.error().to_string().find("s3cret") == std::string::npos);
}

TEST_CASE("an empty secret is an error") {
  const TempFolder temp;
  CHECK_FALSE(read_secrets(with({Source::command, "", {"true"}}), temp.caller(), kNoFiles).has_value());
}

TEST_CASE("a program that does not end is killed when its time is up") {
  SUBCASE("while it holds its output") {
    const auto out = command_output({{"/bin/sh", "-c", "sleep 60"}, {}, 50});
    CHECK(out.error().code == Errc::timed_out);
  }
  SUBCASE("after it closed its output") {
    const auto out = command_output({{"/bin/sh", "-c", "exec >&-; exec sleep 60"}, {}, 50});
    CHECK(out.error().code == Errc::timed_out);
  }
}

TEST_CASE("a program that prints without end is stopped") {
  CHECK(command_output({{"/bin/sh", "-c", "exec yes"}, {"PATH=/usr/bin:/bin"}, 10'000, 1000}).error().code ==
        Errc::launch_failed);
}

TEST_CASE("a program gets no descriptor of ours") {
  const TempFolder temp;
  const int leaked = ::open(temp.file("f", "x").c_str(), O_RDONLY);  // deliberately without O_CLOEXEC
  const auto out = command_output({{"/bin/sh", "-c", "ls /proc/self/fd | wc -l"}, {"PATH=/usr/bin:/bin"}});
  ::close(leaked);
  REQUIRE(out.has_value());
  CHECK(*out == "4\n");  // the three standard ones and the folder that ls reads
}

TEST_CASE("helper programs come from system directories") {
  CHECK(system_program("sh").ends_with("/sh"));
  CHECK(system_program("/opt/x") == "/opt/x");
  CHECK(system_program("./x").empty());
  CHECK(system_program("no-such-program-here").empty());
}
