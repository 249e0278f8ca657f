// SPDX-License-Identifier: Apache-2.0
#include "core/policy/sensitive.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "base/text.hpp"

using namespace cordon::policy;

TEST_CASE("every place of the table is sensitive: itself, what it holds, and what holds it") {
  constexpr std::string_view kHome = "/srv/people/bob";
  for (const SensitivePlaces& kind : sensitive_places()) {
    CHECK_FALSE(kind.what.empty());
    for (const std::string_view place : kind.paths) {
      for (const std::string_view base : {"~/", "/home/alice/", "/root/", "/srv/people/bob/"}) {
        const std::string path = place.starts_with('/') ? std::string(place) : cordon::text::cat(base, place);
        CAPTURE(path);
        CHECK(is_sensitive(path, kHome));
        CHECK(is_sensitive(path + "/", kHome));
        CHECK(is_sensitive(path + "/inside", kHome));
        CHECK(is_sensitive(path.substr(0, path.rfind('/')), kHome));
        CHECK_FALSE(is_sensitive(path + "x-not", kHome));
      }
    }
  }
}

TEST_CASE("whole homes and all that holds them are sensitive") {
  for (const char* path : {"/", "//", "/.", "~", "~/", "/home", "/home/", "/home/x", "/root", "/srv", "/srv/people",
                           "/srv/people/bob", "/srv/./people//bob/"}) {
    CHECK_MESSAGE(is_sensitive(path, "/srv/people/bob"), path);
  }
  CHECK(why_sensitive("/") == "the whole file system");
  CHECK(why_sensitive("~") == "a whole home folder");
  CHECK(why_sensitive("/srv/people", "/srv/people/bob") == "a whole home folder");
  CHECK(why_sensitive("~/.ssh/id_rsa") == "keys or tokens (~/.ssh)");
  CHECK(why_sensitive("/run/docker.sock") == "control over this machine or session (/run/docker.sock)");
}

TEST_CASE("ordinary places are not") {
  for (const char* path : {"/data", "~/proj", "/home/alice/proj", "~/.sshx", "~/.config/app", "/srv/.ssh", "/rooted",
                           "/homes/x", "/usr/share", "~/proj/.vscode", "/tmp/x", "/var/lib/app", "/srv/people/eve"}) {
    CHECK_MESSAGE(!is_sensitive(path, "/srv/people/bob"), path);
  }
}
