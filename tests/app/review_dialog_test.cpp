// SPDX-License-Identifier: Apache-2.0
#include "app/review_dialog.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "app/review_fixture.hpp"
#include "core/json/read.hpp"

using namespace review_test;

TEST_CASE("the dialog walks through the items and writes after a last word") {
  Review review(std::nullopt, candidate_of({{"a", "reads"}, {"b", "writes"}}));
  ReviewDialog dialog(review, Style{}, "tulip");
  CHECK(says(dialog.text(), "[1/2] tool 'a': added (medium)"));
  CHECK(says(dialog.text(), "proposed: read (the description begins with \"reads\")"));
  CHECK(says(dialog.text(), "effect class: read"));
  dialog.answer("c write");
  CHECK(says(dialog.text(), "effect class: write"));
  CHECK_FALSE(says(dialog.text(), "[1/2]"));  // what is on the screen is not repeated
  dialog.answer("w");
  CHECK(says(dialog.text(), "\"inputSchema\""));
  dialog.answer("y\n");
  CHECK(says(dialog.text(), "[2/2] tool 'b'"));
  dialog.answer("n");
  CHECK(says(dialog.text(), "1 accepted, 1 rejected."));
  for (const char* wrong : {"perhaps", "y", "yes", "tulips", "TULIP", ""}) {
    dialog.answer(wrong);
    CHECK(says(dialog.text(), "That is not the word."));
    CHECK_FALSE(dialog.over());
  }
  dialog.answer("tulip");
  CHECK(dialog.wants_write());
  CHECK(dialog.text().empty());
  CHECK(review.result({"t", kTime, false}).find("a")->effect == "write");
}

TEST_CASE("tools that changed in just the same way are one question, and can be split") {
  const std::map<std::string, std::string> before = {
      {"a", "Reads."}, {"b", "Reads."}, {"c", "Reads."}, {"d", "Reads."}};
  const std::map<std::string, std::string> after = {
      {"a", "Reads it."}, {"b", "Reads it."}, {"c", "Reads it."}, {"d", "Reads that."}};
  const Snapshot pinned = reviewed_of(before);
  Review whole(pinned, candidate_of(after));
  ReviewDialog dialog(whole, Style{}, "tulip");
  while (!says(dialog.text(), "and 2 more in just the same way: 'b' (read), 'c' (read)")) {
    REQUIRE(says(dialog.text(), "'d'"));
    dialog.answer("n");
  }
  dialog.answer("y");
  if (!says(dialog.text(), "To write the snapshot")) {
    dialog.answer("n");
  }
  CHECK(says(dialog.text(), "3 accepted, 1 rejected."));
  CHECK_FALSE(says(dialog.text(), "without being shown"));

  Review split(pinned, candidate_of(after));
  ReviewDialog one_by_one(split, Style{}, "tulip");
  if (says(one_by_one.text(), "tool 'd'")) {
    one_by_one.answer("n");
  }
  one_by_one.answer("s");
  CHECK(says(one_by_one.text(), "tool 'a'"));
  CHECK_FALSE(says(one_by_one.text(), "more in just the same way"));
  one_by_one.answer("y");
  CHECK(says(one_by_one.text(), "tool 'b'"));
  one_by_one.answer("s");  // there is nothing left to split
  CHECK(says(one_by_one.text(), "is no answer here"));
  one_by_one.answer("d");
  CHECK(says(one_by_one.text(), "1 accepted, 3 rejected."));
}

TEST_CASE("? tells the keys that mean something for what is asked, and no others") {
  const Snapshot pinned = reviewed_of({{"a", "Reads."}, {"b", "Reads."}});
  Review several(pinned, candidate_of({{"a", "Reads it."}, {"b", "Reads it."}}));
  ReviewDialog group(several, Style{}, "tulip");
  group.answer("?");
  CHECK(says(group.text(), "  s        split"));
  CHECK(says(group.text(), "  c CLASS"));
  CHECK(says(group.text(), "  ?        show this"));
  CHECK_FALSE(says(group.text(), "  t all"));

  Snapshot other = candidate_of({{"a", "Reads."}, {"b", "Reads."}});
  other.instructions = "Be brief.";
  catalog::seal(other);
  Review plain(pinned, other);
  REQUIRE(plain.items().size() == 1);
  ReviewDialog dialog(plain, Style{}, "tulip");
  dialog.answer("?");
  for (const char* key : {"  s        ", "  c CLASS", "  t all"}) {
    CHECK_MESSAGE(!says(dialog.text(), key), key);
  }
  CHECK(says(dialog.text(), "  d        "));
  dialog.answer("t all");
  CHECK(says(dialog.text(), "No class is proposed for its arguments."));
}

TEST_CASE("a changed description is shown word by word, and hostile words stay escaped") {
  const Snapshot pinned = reviewed_of({{"a", "Reads the file at the path."}});
  Review review(pinned, candidate_of({{"a", "Reads the file at \x1b[31many path [-not-]."}}));
  const std::string shown = ReviewDialog(review, Style{}, "tulip").text();
  CHECK_MESSAGE(says(shown, "  ~ Reads the file at [-the-]{+"), shown);
  CHECK(shown.find('\x1b') == std::string::npos);
  // Colours tell ours from theirs.
  const std::string coloured = ReviewDialog(review, Style{.colour = true}, "tulip").text();
  CHECK(says(coloured, "\x1b["));
}

TEST_CASE("where nothing is accepted, the reviewed snapshot stays as it is") {
  const Snapshot pinned = reviewed_of({{"a", "Reads."}});
  Review review(pinned, candidate_of({{"a", "Reads more."}}));
  ReviewDialog dialog(review, Style{}, "tulip");
  dialog.answer("n");
  CHECK(dialog.over());
  CHECK_FALSE(dialog.wants_write());
}

TEST_CASE("accepting all that is left says what nobody has seen") {
  Review review(std::nullopt, candidate_of({{"a", "x"}, {"b", "y"}, {"c", "z"}}));
  ReviewDialog dialog(review, Style{}, "tulip");
  dialog.answer("n");
  dialog.answer("a");
  CHECK(says(dialog.text(), "2 accepted, 1 rejected."));
  CHECK(says(dialog.text(), "1 of them accepted without being shown: c"));
  dialog.answer("n");
  CHECK(dialog.over());
  CHECK_FALSE(dialog.wants_write());
}

TEST_CASE("a tool under a new name takes the place of the old one, or nothing changes") {
  const std::string text = "Runs a snippet of code in the page and returns what it evaluates to";
  const Snapshot pinned = reviewed_of({{"run", text}, {"z", "reads"}});
  Review review(pinned, candidate_of({{"run_unsafe", text}, {"z", "reads"}}));
  REQUIRE(review.items().size() == 1);
  CHECK(review.items()[0].change.kind == catalog::ChangeKind::renamed);
  CHECK(says(ReviewDialog(review, Style{}, "tulip").text(), "tool 'run_unsafe', so far 'run': renamed"));
  const Snapshot rejected = review.result({"t", kTime, false});
  CHECK(rejected.find("run") != nullptr);
  CHECK(rejected.find("run_unsafe") == nullptr);
  review.accept(0);
  const Snapshot accepted = review.result({"t", kTime, false});
  CHECK(accepted.find("run") == nullptr);
  REQUIRE(accepted.find("run_unsafe") != nullptr);
  CHECK(accepted.tools.size() == 2);
}

TEST_CASE("quitting, and losing the terminal, write nothing") {
  Review review(std::nullopt, candidate_of({{"a", "reads"}}));
  ReviewDialog quit(review, Style{}, "tulip");
  quit.answer("q");
  CHECK(quit.over());
  CHECK_FALSE(quit.wants_write());
  ReviewDialog gone(review, Style{}, "tulip");
  gone.answer("y");
  gone.end();
  CHECK(gone.over());
  CHECK_FALSE(gone.wants_write());
}

TEST_CASE("done rejects what is left") {
  Review review(std::nullopt, candidate_of({{"a", "x"}, {"b", "x"}, {"c", "x"}}));
  ReviewDialog dialog(review, Style{}, "tulip");
  dialog.answer("y");
  dialog.answer("d");
  CHECK(says(dialog.text(), "1 accepted, 2 rejected."));
  dialog.answer("tulip");
  CHECK(review.result({"t", kTime, false}).tools.size() == 1);
}

TEST_CASE("an answer that is none is told, and accepts nothing") {
  Review review(std::nullopt, candidate_of({{"a", "reads"}}));
  ReviewDialog dialog(review, Style{}, "tulip");
  for (const std::string_view wrong : {"", "yy", "s", "a all", "y y", "c", "c rad", "accept everything", "\x1b[A"}) {
    CAPTURE(std::string(wrong));
    dialog.answer(wrong);
    CHECK_FALSE(dialog.over());
    CHECK(review.items()[0].decision == Decision::open);
  }
  dialog.answer("c rad");
  CHECK(says(dialog.text(), "did you mean 'read'?"));
}

TEST_CASE("nothing that a server wrote reaches the terminal raw, and nothing is cut") {
  const std::string hostile = "\x1b[2J\x1b[H\xe2\x80\xae" + std::string(20'000, 'x') + "TAIL";
  Review review(std::nullopt, candidate_of({{"na\x1b[31mme\n[1/1] tool 'ok'", hostile}}));
  const std::string shown = ReviewDialog(review, Style{}, "tulip").text();
  CHECK(says(shown, "TAIL"));
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(shown.find("\xe2\x80\xae") == std::string::npos);
  CHECK_FALSE(says(shown, "\n[1/1] tool 'ok'"));
}

TEST_CASE("when a diff leaves places out, the whole new definition is shown") {
  const auto with_properties = [](std::string_view description) {
    std::string properties;
    for (int i = 0; i < 100; ++i) {
      properties += (i == 0 ? "\"p" : ",\"p") + std::to_string(100 + i) + "\":{\"description\":\"" +
                    std::string(description) + std::to_string(i) + "\"}";
    }
    catalog::Catalog live;
    live.tools.push_back(
        {"a", "{\"inputSchema\":{\"properties\":{" + properties + "},\"type\":\"object\"},\"name\":\"a\"}"});
    Snapshot out = *catalog::as_candidate("one", live, nullptr);
    out.reviewed = false;
    return out;
  };
  Review first(std::nullopt, with_properties("old"));
  first.accept(0);
  Review second(first.result({"t", kTime, false}), with_properties("new"));
  REQUIRE(second.items()[0].change.omitted_places > 0);
  const std::string shown = ReviewDialog(second, Style{}, "tulip").text();
  for (int i = 0; i < 100; ++i) {
    CHECK(says(shown, "\"new" + std::to_string(i) + "\""));
  }
}

TEST_CASE("a new tool is shown as a list of its parameters, and w shows it as JSON") {
  Snapshot candidate = candidate_of({{"a", "Reads."}});
  candidate.tools[0].definition = R"({"description":"Reads.","inputSchema":{"properties":{"path":{"type":"string"}},)"
                                  R"("required":["path"],"type":"object"},"name":"a"})";
  catalog::seal(candidate);
  Review review(std::nullopt, candidate);
  ReviewDialog dialog(review, Style{}, "tulip");
  while (!dialog.over() && !says(dialog.text(), "tool 'a'")) {
    dialog.answer("n");
  }
  CHECK(says(dialog.text(), "  + parameters: \n  +   path: string, required\n"));
  CHECK_FALSE(says(dialog.text(), "inputSchema"));
  dialog.answer("w");
  CHECK(says(dialog.text(), "\"inputSchema\": {"));
}
