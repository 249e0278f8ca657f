// SPDX-License-Identifier: Apache-2.0
#include "app/review.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "app/review_fixture.hpp"
#include "core/json/read.hpp"

using namespace review_test;

TEST_CASE("a first review asks about every tool and pins what is accepted") {
  Review review(std::nullopt, candidate_of({{"a", "reads"}, {"b", "writes"}}));
  REQUIRE(review.items().size() == 2);
  const std::size_t a = item_named(review, "a");
  CHECK(review.items()[a].effect == "read");
  review.set_effect(a, policy::Effect::read);
  review.accept(a);
  review.reject(item_named(review, "b"));
  const Snapshot out = review.result({"tester", kTime, false});
  REQUIRE(out.tools.size() == 1);
  CHECK(out.tools[0].name == "a");
  CHECK(out.tools[0].effect == "read");
  CHECK(out.tools[0].effect_source == EffectSource::reviewer);
  CHECK(out.tools[0].digest == catalog::tool_digest(out.tools[0].definition));
  CHECK(out.reviewed);
  CHECK_FALSE(out.unattended);
  CHECK(out.reviewer == "tester");
  CHECK(out.reviewed_at == kTime);
  CHECK(out.launch.executable == "sha256:1");
  CHECK(out.digest == catalog::snapshot_digest(out));
}

TEST_CASE("nothing is asked when nothing changed") {
  const Snapshot pinned = reviewed_of({{"a", "reads"}});
  CHECK(Review(pinned, candidate_of({{"a", "reads"}})).items().empty());
}

TEST_CASE("a rejected change leaves the old pin, an accepted one replaces it and keeps its class") {
  const Snapshot pinned = reviewed_of({{"a", "reads"}, {"b", "reads"}});
  Review review(pinned, candidate_of({{"a", "reads more"}, {"b", "reads more"}}));
  REQUIRE(review.items().size() == 2);
  review.accept(item_named(review, "a"));
  review.reject(item_named(review, "b"));
  const Snapshot out = review.result({"tester", kTime, false});
  CHECK(says(out.find("a")->definition, "reads more"));
  CHECK(out.find("a")->effect == "read");
  CHECK(out.find("b")->definition == pinned.find("b")->definition);
}

TEST_CASE("a removed tool leaves the snapshot only when that is accepted") {
  const Snapshot pinned = reviewed_of({{"a", "reads"}, {"b", "reads"}});
  Review review(pinned, candidate_of({{"a", "reads"}}));
  REQUIRE(review.items().size() == 1);
  CHECK(review.result({"t", kTime, false}).find("b") != nullptr);
  review.accept(0);
  CHECK(review.result({"t", kTime, false}).find("b") == nullptr);
}

TEST_CASE("another launch is an item of its own") {
  const Snapshot pinned = reviewed_of({{"a", "reads"}});
  Review review(pinned, candidate_of({{"a", "reads"}}, "sha256:2"));
  REQUIRE(review.items().size() == 1);
  CHECK(review.items()[0].change.item == "launch");
  CHECK(review.result({"t", kTime, false}).launch.executable == "sha256:1");
  review.accept(0);
  CHECK(review.result({"t", kTime, false}).launch.executable == "sha256:2");
}

TEST_CASE("accepting all without a person sets class unknown from nobody and says so") {
  const Snapshot pinned = reviewed_of({{"a", "reads"}, {"b", "reads"}});
  Review review(pinned, candidate_of({{"a", "reads"}, {"b", "reads more"}, {"c", "new"}}));
  review.accept_all_unattended();
  const Snapshot out = review.result({"robot", kTime, true});
  CHECK(out.unattended);
  CHECK(out.find("a")->effect == "read");  // untouched
  CHECK(out.find("b")->effect == "unknown");
  CHECK(out.find("b")->effect_source == EffectSource::proposed);
  CHECK(out.find("c")->effect == "unknown");
  CHECK(out.find("c")->effect_source == EffectSource::proposed);
}

TEST_CASE("a class that a candidate file claims is not taken over without a person") {
  Snapshot claimed = candidate_of({{"a", "reads"}});
  claimed.tools[0].effect = "read";
  claimed.tools[0].effect_source = EffectSource::reviewer;
  Review review(std::nullopt, claimed);
  review.accept_all_unattended();
  CHECK(review.result({"robot", kTime, true}).find("a")->effect == "unknown");
}

TEST_CASE("a snapshot that no person reviewed is no ground: everything is asked again") {
  Review first(std::nullopt, candidate_of({{"a", "reads"}}));
  first.accept_all_unattended();
  const Snapshot unattended = first.result({"robot", kTime, true});
  Review second(unattended, candidate_of({{"a", "reads"}}));
  REQUIRE(second.items().size() == 1);
  CHECK(second.items()[0].change.kind == catalog::ChangeKind::added);
  CHECK_FALSE(second.builds_on_review());
}

TEST_CASE("a pinned tool whose class nobody set is asked about, and only its class changes") {
  Snapshot pinned = reviewed_of({{"a", "reads"}, {"b", "reads"}});
  pinned.tools[0].effect = "unknown";
  pinned.tools[0].effect_source = EffectSource::proposed;
  Review review(pinned, candidate_of({{"a", "reads"}, {"b", "reads"}}));
  REQUIRE(review.items().size() == 1);
  CHECK(review.items()[0].change.item == "effect");
  review.set_effect(0, policy::Effect::write);
  review.accept(0);
  const Snapshot out = review.result({"t", kTime, false});
  CHECK(out.find("a")->effect == "write");
  CHECK(out.find("a")->effect_source == EffectSource::reviewer);
  CHECK(out.find("a")->definition == pinned.find("a")->definition);
  CHECK(Review(pinned, candidate_of({{"a", "reads"}, {"b", "reads"}}), ReviewScope::everything).items().size() == 2);
}

TEST_CASE("a changed tool keeps its class unless it looks worse than before") {
  const Snapshot pinned = reviewed_of({{"a", "reads"}, {"b", "reads"}});
  const Review review(pinned, candidate_of({{"a", "Reads a file."}, {"b", "Deletes a file."}}));
  CHECK(review.items()[item_named(review, "a")].effect == "read");
  CHECK(review.items()[item_named(review, "b")].effect == "destructive");
  CHECK_FALSE(review.items()[item_named(review, "b")].proposal.reasons.empty());
}

TEST_CASE("times are written as RFC 3339 in UTC") {
  CHECK(rfc3339(0) == "1970-01-01T00:00:00Z");
  CHECK(rfc3339(1'769'860'800) == "2026-01-31T12:00:00Z");
}

TEST_CASE("prompts, resources and interfaces are accepted and rejected one by one") {
  catalog::Catalog live;
  live.prompts = {{"p", R"({"name":"p"})"}, {"q", R"({"name":"q"})"}};
  live.resources = {{"a://b", R"({"name":"n","uri":"a://b"})"}};
  const Snapshot first = *catalog::as_candidate("one", live, nullptr);
  Review review(std::nullopt, first);
  REQUIRE(review.items().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK_FALSE(review.items()[i].has_effect());
  }
  review.accept(item_named(review, "p"));
  review.accept(item_named(review, "a://b"));
  review.reject(item_named(review, "q"));
  const Snapshot base = review.result({"tester", kTime, false});
  REQUIRE(base.prompts.size() == 1);
  CHECK(base.prompts[0].key == "p");
  CHECK(base.resources.size() == 1);

  live.prompts = {{"p", R"({"description":"new","name":"p"})"}};
  live.resources.clear();
  Review second(base, *catalog::as_candidate("one", live, nullptr));
  REQUIRE(second.items().size() == 2);
  second.accept(item_named(second, "p"));
  second.reject(item_named(second, "a://b"));
  const Snapshot after = second.result({"tester", kTime, false});
  CHECK(after.prompts[0].definition == R"({"description":"new","name":"p"})");
  CHECK(after.resources.size() == 1);
}

TEST_CASE("other content of an interface is an item, and its tool keeps its class") {
  Snapshot base = reviewed_of({{"t", "x"}});
  Snapshot candidate = candidate_of({{"t", "x"}});
  candidate.tools[0].interface = "sha256:2";
  Review review(base, candidate);
  REQUIRE(review.items().size() == 1);
  CHECK(review.items()[0].change.item == "interface");
  CHECK(review.result({"tester", kTime, false}).tools[0].interface.empty());
  review.accept(0);
  const Snapshot out = review.result({"tester", kTime, false});
  CHECK(out.tools[0].interface == "sha256:2");
  CHECK(out.tools[0].effect == "read");
}

TEST_CASE("a changed tool that is accepted does not bring along the interface that is rejected") {
  Snapshot base = reviewed_of({{"t", "x"}});
  base.tools[0].interface = "sha256:1";
  Snapshot candidate = candidate_of({{"t", "y"}});
  candidate.tools[0].interface = "sha256:2";
  Review review(base, candidate);
  REQUIRE(review.items().size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    review.items()[i].change.item == "tool" ? review.accept(i) : review.reject(i);
  }
  const Snapshot out = review.result({"tester", kTime, false});
  CHECK(out.tools[0].definition.find("\"y\"") != std::string::npos);
  CHECK(out.tools[0].interface == "sha256:1");
  review.accept(0);
  review.accept(1);
  CHECK(review.result({"tester", kTime, false}).tools[0].interface == "sha256:2");
}

TEST_CASE("the interface of a new tool is an item, and only accepting it lets clients show it") {
  Snapshot candidate = candidate_of({{"a", "reads"}});
  candidate.tools[0].interface = "sha256:1";
  candidate.tools[0].interface_facts = R"({"bytes":12,"cues":[],"hosts":["https://cdn.example"],"scripts":1})";
  catalog::seal(candidate);
  Review review(std::nullopt, candidate);
  std::size_t of_interface = review.items().size();
  for (std::size_t i = 0; i < review.items().size(); ++i) {
    if (review.items()[i].change.item == "interface") {
      of_interface = i;
    } else {
      review.accept(i);
    }
  }
  REQUIRE(of_interface < review.items().size());
  CHECK(review.whole(of_interface).find("https://cdn.example") != std::string::npos);
  CHECK(review.result({"tester", kTime, false}).tools.at(0).interface.empty());
  CHECK(review.result({"tester", kTime, false}).tools.at(0).interface_facts.empty());
  review.accept(of_interface);
  CHECK(review.result({"tester", kTime, false}).tools.at(0).interface == "sha256:1");
  CHECK(review.result({"tester", kTime, false}).tools.at(0).interface_facts == candidate.tools[0].interface_facts);
}

TEST_CASE("a mild class keeps what is proposed to be worse for some arguments") {
  catalog::Catalog live;
  live.tools.push_back(
      {"shot",
       R"({"description":"Get a screenshot","inputSchema":{"properties":{"filename":{"description":"Where to save it"},"mode":{"enum":["list","delete"],"type":"string"}},"type":"object"},"name":"shot"})"});
  Result<Snapshot> candidate = catalog::as_candidate("one", live, nullptr);
  REQUIRE(candidate.has_value());
  candidate->reviewed = false;
  const auto when = [&](ReviewItem::Conditions conditions) {
    Review review(std::nullopt, *candidate);
    const std::size_t item = item_named(review, "shot");
    REQUIRE_FALSE(review.items()[item].proposal.when.empty());
    CHECK(review.items()[item].when().empty());  // its own class is the worst of all
    review.set_effect(item, policy::Effect::read);
    review.set_conditions(item, conditions);
    review.accept(item);
    return review.result({"tester", kTime, false}).tools.at(0).when;
  };
  const auto worse = when(ReviewItem::Conditions::worse);
  REQUIRE_FALSE(worse.empty());
  CHECK(std::ranges::none_of(worse, [](const auto& one) { return one.effect == "read"; }));
  CHECK(when(ReviewItem::Conditions::all).size() >= worse.size());
  CHECK(when(ReviewItem::Conditions::none).empty());
}
