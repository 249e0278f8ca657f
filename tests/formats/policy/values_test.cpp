// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include "formats/policy/fields.hpp"
#include "formats/policy/support.hpp"

using namespace cordon::formats::test;
using cordon::formats::Faults;
using cordon::yaml::Kind;
using cordon::yaml::Node;

namespace {

std::optional<std::uint64_t> size(std::string_view text, Kind kind = Kind::plain) {
  Faults faults("p");
  const auto value = cordon::formats::read_size(faults, {kind, std::string(text), {}, {}, {1, 1}}, "x",
                                                {0, std::numeric_limits<std::uint64_t>::max()});
  CHECK(value.has_value() == faults.none());
  return value;
}

std::optional<std::uint64_t> integer(std::string_view text, Kind kind = Kind::plain) {
  Faults faults("p");
  const auto value = cordon::formats::read_integer(faults, {kind, std::string(text), {}, {}, {1, 1}}, "x",
                                                   {0, std::numeric_limits<std::uint64_t>::max()});
  CHECK(value.has_value() == faults.none());
  return value;
}

bool is_text(std::string_view text, Kind kind = Kind::plain) {
  Faults faults("p");
  return cordon::formats::read_text(faults, {kind, std::string(text), {}, {}, {1, 1}}, "x").has_value();
}

}  // namespace

TEST_CASE("sizes are bytes or numbers with a unit") {
  CHECK(size("0") == 0);
  CHECK(size("1024") == 1024);
  CHECK(size("10MB") == 10'000'000);
  CHECK(size("10MiB") == 10'485'760);
  CHECK(size("1KB") == 1000);
  CHECK(size("1KiB") == 1024);
  CHECK(size("2GB") == 2'000'000'000);
  CHECK(size("2GiB") == 2'147'483'648);
  CHECK(size("1.5KB") == 1500);
  CHECK(size("0.5MiB") == 524'288);
  CHECK(size("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("what is no size, or no whole number of bytes, is refused") {
  for (const std::string_view text : {"",
                                      "MB",
                                      "10 MB",
                                      "10mb",
                                      "10M",
                                      "10B",
                                      "10TB",
                                      "-1",
                                      "+1",
                                      "1.5",
                                      "1.MB",
                                      ".5MB",
                                      "1.0001KB",
                                      "1.1KiB",
                                      "0x10",
                                      "1e3",
                                      "010",
                                      "1_000",
                                      "18446744073709551616",
                                      "18446744073709551615KB",
                                      "20000000000GiB",
                                      "1.0000001MB",
                                      "１MB"}) {
    CAPTURE(text);
    CHECK_FALSE(size(text).has_value());
  }
  CHECK_FALSE(size("10MB", Kind::quoted).has_value());
}

TEST_CASE("integers are decimal digits without quotes") {
  CHECK(integer("0") == 0);
  CHECK(integer("128") == 128);
  for (const std::string_view text :
       {"", "01", "-1", "+1", "1.0", "1e3", "0x1", "1_0", "ten", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(integer(text).has_value());
  }
  CHECK_FALSE(integer("5", Kind::quoted).has_value());
}

TEST_CASE("a plain scalar that some YAML reader takes for something else is no string") {
  for (const std::string_view text :
       {"true", "False", "YES",  "no",   "On",   "off",   "y",  "N",  "1",    "-1",    "+1",
        "1.5",  "1e3",   "1E-3", "0x1f", "0o17", "1_000", ".5", "5.", ".inf", "-.INF", ".NaN"}) {
    CAPTURE(text);
    CHECK_FALSE(is_text(text));
    CHECK(is_text(text, Kind::quoted));
  }
  for (const std::string_view text :
       {"node", "1.2.3", "-y", "-", "v1", "yes!", "2024-01-01", "e3", "1e", "x1", "a_1", "_1", ".", "0xg", "trueish"}) {
    CAPTURE(text);
    CHECK(is_text(text));
  }
}

TEST_CASE("YAML 1.1 booleans get a hint") {
  const auto remedy = [](std::string_view value) {
    const auto errors =
        cordon::formats::check_policy(policy_with("catalog: {accept_unattended: " + std::string(value) + "}\n"), "p");
    REQUIRE(errors.size() == 1);
    return errors.front().remedy;
  };
  CHECK(remedy("yes") == "write true, without quotes and in small letters");
  CHECK(remedy("Off") == "write false, without quotes and in small letters");
  CHECK(remedy("True") == "write true, without quotes and in small letters");
  CHECK(remedy("\"false\"") == "write false, without quotes and in small letters");
  CHECK(remedy("maybe") == "write true or false");
  CHECK(remedy("[]") == "write true or false");
}
