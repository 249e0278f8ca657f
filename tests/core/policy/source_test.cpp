// SPDX-License-Identifier: Apache-2.0
#include "core/policy/source.hpp"

#include <doctest/doctest.h>

#include "core/policy/pypi_name.hpp"

using namespace cordon::policy;

TEST_CASE("names of the registry are told from what is fetched from elsewhere") {
  CHECK(read_npm_name("pkg") == PackageName{"pkg", ""});
  CHECK(read_npm_name("pkg@1.2.3") == PackageName{"pkg", "1.2.3"});
  CHECK(read_npm_name("@scope/pkg@latest") == PackageName{"@scope/pkg", "latest"});
  CHECK(read_npm_name("@scope/pkg") == PackageName{"@scope/pkg", ""});
  CHECK(read_npm_name("pkg@^1.2 || >=2") == PackageName{"pkg", "^1.2 || >=2"});
  for (const char* other : {"",
                            "@",
                            "@scope",
                            "@scope/",
                            "/pkg",
                            "./pkg",
                            "../pkg",
                            "a/b",
                            "pkg@",
                            "pkg@file:x",
                            "pkg@npm:other@1",
                            "pkg@github:a/b",
                            "git+https://x/y",
                            "https://x/y.tgz",
                            "-g",
                            "--prefix=/",
                            "pkg@-g",
                            "a b",
                            "pkg@1\n",
                            ".a",
                            "node_modules"}) {
    CAPTURE(other);
    CHECK_FALSE(read_npm_name(other));
  }
  CHECK_FALSE(read_npm_name(std::string(215, 'a')));
}

TEST_CASE("an image is named by its digest") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  CHECK(read_image_name("ghcr.io/o/i:1@" + digest) == PackageName{"ghcr.io/o/i:1", digest});
  CHECK(read_image_name("img") == PackageName{"img", ""});
  for (const std::string& other :
       {std::string("@") + digest, std::string("--privileged@") + digest, "i@sha256:" + std::string(63, 'a'),
        "i@sha256:" + std::string(64, 'A'), "a b@" + digest}) {
    CAPTURE(other);
    CHECK_FALSE(read_image_name(other));
  }
}

TEST_CASE("one version is not a range and not a tag") {
  for (const char* exact : {"1.2.3", "0.0.1", "2026.8.31", "1.2.3-beta.1", "1.2.3+b.1", "1.2.3-a+b"}) {
    CAPTURE(exact);
    CHECK(is_exact_version(exact));
  }
  for (const char* other :
       {"", "1", "1.2", "v1.2.3", "^1.2.3", "1.2.x", "latest", "1.2.3 || 2.0.0", "01.2.3", "1.2.3-", "1.2.3+"}) {
    CAPTURE(other);
    CHECK_FALSE(is_exact_version(other));
  }
}

TEST_CASE("names of PyPI are told from what is fetched from elsewhere") {
  CHECK(read_pypi_name("pkg") == PackageName{"pkg", ""});
  CHECK(read_pypi_name("mcp-server-git==2025.4.7") == PackageName{"mcp-server-git", "2025.4.7"});
  CHECK(read_pypi_name("Pkg.x_y[cli,A-b]==1!2.0rc1+l") == PackageName{"Pkg.x_y[cli,A-b]", "1!2.0rc1+l"});
  CHECK(read_pypi_name("pkg>=1,<2") == PackageName{"pkg", ">=1,<2"});
  CHECK(read_pypi_name("pkg==1.*") == PackageName{"pkg", "==1.*"});
  CHECK(read_pypi_name("pkg===1.0") == PackageName{"pkg", "===1.0"});
  for (const char* other : {"",
                            "-e",
                            "--index-url=x",
                            "./pkg",
                            "../pkg",
                            "/pkg",
                            "a/b",
                            "git+https://x/y",
                            "pkg @ https://x/y.whl",
                            "pkg@1.0",
                            "pkg ==1",
                            "pkg==",
                            "pkg=1",
                            "pkg==1;python_version>'3'",
                            "pkg[",
                            "pkg[]",
                            "pkg[a",
                            "pkg[a]x",
                            "pkg[a]]",
                            "-pkg",
                            "pkg-",
                            "pkg==1\n",
                            "pkg==1 --hash=x",
                            "pkg>=1,",
                            "pkg#x"}) {
    CAPTURE(other);
    CHECK_FALSE(read_pypi_name(other));
  }
  CHECK_FALSE(read_pypi_name(std::string(215, 'a')));
  CHECK(distribution_name("MCP.Server__git[cli]") == "mcp-server-git");
  CHECK(is_same_pypi_package("a_b[x,Y]", "A-B[y,x,x]"));
  CHECK_FALSE(is_same_pypi_package("a-b[x]", "a-b"));
}

TEST_CASE("a source is spelled as its registry spells it") {
  CHECK(spelled(Source{.package = "@a/b", .version = "1.2.3"}) == "@a/b@1.2.3");
  CHECK(spelled(Source{.kind = Source::Kind::pypi, .package = "a[b]", .version = "1.2"}) == "a[b]==1.2");
  CHECK(spelled(Source{.kind = Source::Kind::pypi, .package = "a", .version = ">=1,<2"}) == "a>=1,<2");
  CHECK(spelled(Source{.kind = Source::Kind::pypi, .package = "a"}) == "a");
  CHECK(is_pinned(Source{.kind = Source::Kind::pypi, .package = "a", .version = "1"}));
  CHECK_FALSE(is_pinned(Source{.kind = Source::Kind::pypi, .package = "a", .version = "==1.*"}));
}

TEST_CASE("images: repository and tag, and when two names are of the same image") {
  CHECK(image_parts("localhost:5000/a/b:1.2") == ImageParts{"localhost:5000/a/b", "1.2"});
  CHECK(image_parts("localhost:5000/a/b") == ImageParts{"localhost:5000/a/b", ""});
  CHECK(image_parts("b") == ImageParts{"b", ""});
  CHECK(same_image("mcp/time", "docker.io/mcp/time:1"));
  CHECK(same_image("busybox:1", "docker.io/library/busybox"));
  CHECK(same_image("mcp/time", "quay.io/mcp/time"));  // where an engine found it
  CHECK_FALSE(same_image("ghcr.io/mcp/time", "quay.io/mcp/time"));
  CHECK_FALSE(same_image("mcp/time", "quay.io/evilmcp/time"));
  CHECK_FALSE(same_image("mcp/time", "mcp/times"));
  CHECK(is_tag(""));
  CHECK(is_tag("1.2-b_3"));
  CHECK_FALSE(is_tag("a/b"));
  CHECK_FALSE(is_tag("-a"));
  Source source{.kind = Source::Kind::oci, .package = "a.io/x:1"};
  CHECK(same_package(source, Source::Kind::oci, "a.io/x:1"));
  CHECK_FALSE(same_package(source, Source::Kind::oci, "a.io/x:2"));
  CHECK_FALSE(same_package(source, Source::Kind::npm, "a.io/x:1"));
  source.version = "sha256:0";  // the digest decides
  CHECK(same_package(source, Source::Kind::oci, "a.io/x:2"));
}
