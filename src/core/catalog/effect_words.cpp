// SPDX-License-Identifier: Apache-2.0
// Verbs of tool names and what they do.
#include <algorithm>
#include <array>

#include "core/catalog/effects.hpp"

namespace cordon::catalog {

namespace {

struct Entry {
  std::string_view word;
  std::string_view effect;
};

constexpr std::string_view kRead = "read";
constexpr std::string_view kWrite = "write";
constexpr std::string_view kDestroy = "destructive";
constexpr std::string_view kExecute = "execute";
constexpr std::string_view kSend = "send";

constexpr std::array kWords = {
    Entry{"accept", kWrite},      Entry{"activate", kWrite},    Entry{"add", kWrite},
    Entry{"allow", kWrite},       Entry{"analyse", kRead},      Entry{"analyze", kRead},
    Entry{"append", kWrite},      Entry{"apply", kWrite},       Entry{"approve", kWrite},
    Entry{"archive", kWrite},     Entry{"assign", kWrite},      Entry{"attach", kWrite},
    Entry{"blame", kRead},        Entry{"block", kWrite},       Entry{"book", kWrite},
    Entry{"broadcast", kSend},    Entry{"browse", kRead},       Entry{"build", kExecute},
    Entry{"buy", kSend},          Entry{"calculate", kRead},    Entry{"call", kExecute},
    Entry{"cancel", kWrite},      Entry{"capture", kRead},      Entry{"change", kWrite},
    Entry{"check", kRead},        Entry{"checkout", kWrite},    Entry{"clean", kDestroy},
    Entry{"cleanup", kDestroy},   Entry{"clear", kDestroy},     Entry{"click", kWrite},
    Entry{"clone", kSend},        Entry{"close", kWrite},       Entry{"commit", kWrite},
    Entry{"compare", kRead},      Entry{"compile", kExecute},   Entry{"complete", kWrite},
    Entry{"configure", kWrite},   Entry{"connect", kSend},      Entry{"convert", kRead},
    Entry{"copy", kWrite},        Entry{"count", kRead},        Entry{"crawl", kSend},
    Entry{"create", kWrite},      Entry{"deactivate", kWrite},  Entry{"delete", kDestroy},
    Entry{"deploy", kExecute},    Entry{"describe", kRead},     Entry{"destroy", kDestroy},
    Entry{"detect", kRead},       Entry{"diff", kRead},         Entry{"disable", kWrite},
    Entry{"disconnect", kWrite},  Entry{"dispatch", kSend},     Entry{"download", kWrite},
    Entry{"drag", kWrite},        Entry{"drain", kDestroy},     Entry{"drop", kDestroy},
    Entry{"edit", kWrite},        Entry{"email", kSend},        Entry{"emulate", kWrite},
    Entry{"enable", kWrite},      Entry{"enumerate", kRead},    Entry{"erase", kDestroy},
    Entry{"estimate", kRead},     Entry{"eval", kExecute},      Entry{"evaluate", kExecute},
    Entry{"exec", kExecute},      Entry{"execute", kExecute},   Entry{"expand", kWrite},
    Entry{"explain", kRead},      Entry{"export", kWrite},      Entry{"extract", kRead},
    Entry{"fetch", kRead},        Entry{"fill", kWrite},        Entry{"find", kRead},
    Entry{"follow", kWrite},      Entry{"force", kDestroy},     Entry{"fork", kWrite},
    Entry{"format", kWrite},      Entry{"forward", kSend},      Entry{"generate", kWrite},
    Entry{"geocode", kRead},      Entry{"get", kRead},          Entry{"grant", kWrite},
    Entry{"grep", kRead},         Entry{"handle", kWrite},      Entry{"hide", kWrite},
    Entry{"hover", kWrite},       Entry{"import", kWrite},      Entry{"init", kWrite},
    Entry{"initialize", kWrite},  Entry{"inject", kWrite},      Entry{"input", kWrite},
    Entry{"insert", kWrite},      Entry{"inspect", kRead},      Entry{"install", kExecute},
    Entry{"interact", kWrite},    Entry{"invite", kSend},       Entry{"invoke", kExecute},
    Entry{"kill", kDestroy},      Entry{"label", kWrite},       Entry{"launch", kExecute},
    Entry{"link", kWrite},        Entry{"list", kRead},         Entry{"load", kRead},
    Entry{"lock", kWrite},        Entry{"log", kRead},          Entry{"login", kSend},
    Entry{"lookup", kRead},       Entry{"manage", kWrite},      Entry{"mark", kWrite},
    Entry{"merge", kWrite},       Entry{"modify", kWrite},      Entry{"move", kWrite},
    Entry{"mute", kWrite},        Entry{"navigate", kSend},     Entry{"new", kWrite},
    Entry{"notify", kSend},       Entry{"obtain", kRead},       Entry{"open", kWrite},
    Entry{"overwrite", kDestroy}, Entry{"patch", kWrite},       Entry{"pause", kWrite},
    Entry{"pay", kSend},          Entry{"pick", kWrite},        Entry{"pin", kWrite},
    Entry{"ping", kSend},         Entry{"pop", kWrite},         Entry{"post", kSend},
    Entry{"press", kWrite},       Entry{"preview", kRead},      Entry{"provide", kRead},
    Entry{"prune", kDestroy},     Entry{"publish", kSend},      Entry{"pull", kSend},
    Entry{"purge", kDestroy},     Entry{"push", kSend},         Entry{"put", kWrite},
    Entry{"query", kRead},        Entry{"queue", kWrite},       Entry{"read", kRead},
    Entry{"rebase", kDestroy},    Entry{"reboot", kDestroy},    Entry{"record", kWrite},
    Entry{"register", kWrite},    Entry{"reject", kWrite},      Entry{"release", kWrite},
    Entry{"remove", kDestroy},    Entry{"rename", kWrite},      Entry{"reopen", kWrite},
    Entry{"replace", kWrite},     Entry{"reply", kSend},        Entry{"request", kSend},
    Entry{"reset", kDestroy},     Entry{"resize", kWrite},      Entry{"resolve", kRead},
    Entry{"restart", kWrite},     Entry{"restore", kDestroy},   Entry{"resume", kWrite},
    Entry{"retrieve", kRead},     Entry{"return", kRead},       Entry{"revert", kDestroy},
    Entry{"revoke", kDestroy},    Entry{"rollback", kDestroy},  Entry{"rotate", kWrite},
    Entry{"run", kExecute},       Entry{"save", kWrite},        Entry{"scale", kWrite},
    Entry{"scan", kRead},         Entry{"schedule", kWrite},    Entry{"scrape", kSend},
    Entry{"screenshot", kRead},   Entry{"scroll", kWrite},      Entry{"search", kRead},
    Entry{"select", kWrite},      Entry{"send", kSend},         Entry{"set", kWrite},
    Entry{"share", kSend},        Entry{"show", kRead},         Entry{"simulate", kWrite},
    Entry{"snapshot", kRead},     Entry{"spawn", kExecute},     Entry{"stage", kWrite},
    Entry{"star", kWrite},        Entry{"start", kWrite},       Entry{"stash", kWrite},
    Entry{"stop", kWrite},        Entry{"store", kWrite},       Entry{"submit", kSend},
    Entry{"subscribe", kWrite},   Entry{"summarize", kRead},    Entry{"swipe", kWrite},
    Entry{"switch", kWrite},      Entry{"sync", kSend},         Entry{"tail", kRead},
    Entry{"tap", kWrite},         Entry{"terminate", kDestroy}, Entry{"toggle", kWrite},
    Entry{"touch", kWrite},       Entry{"transfer", kSend},     Entry{"trash", kDestroy},
    Entry{"trigger", kExecute},   Entry{"truncate", kDestroy},  Entry{"tweet", kSend},
    Entry{"type", kWrite},        Entry{"undo", kDestroy},      Entry{"uninstall", kDestroy},
    Entry{"unlink", kDestroy},    Entry{"unlock", kWrite},      Entry{"unstage", kWrite},
    Entry{"update", kWrite},      Entry{"upgrade", kWrite},     Entry{"upload", kSend},
    Entry{"upsert", kWrite},      Entry{"validate", kRead},     Entry{"verify", kRead},
    Entry{"view", kRead},         Entry{"visit", kSend},        Entry{"wait", kRead},
    Entry{"watch", kRead},        Entry{"wipe", kDestroy},      Entry{"write", kWrite},
};
static_assert(std::ranges::is_sorted(kWords, {}, &Entry::word));

std::optional<std::string_view> exact(std::string_view word) {
  const auto* found = std::ranges::lower_bound(kWords, word, {}, &Entry::word);
  return found != kWords.end() && found->word == word ? std::optional(found->effect) : std::nullopt;
}

}  // namespace

std::optional<std::string_view> effect_of_word(std::string_view word) {
  if (const auto found = exact(word)) {
    return found;
  }
  if (word.ends_with("ies") && word.size() > 4) {
    return exact(std::string(word.substr(0, word.size() - 3)) + "y");
  }
  for (const std::string_view ending : {"s", "es"}) {
    if (word.ends_with(ending)) {
      if (const auto found = exact(word.substr(0, word.size() - ending.size()))) {
        return found;
      }
    }
  }
  if (word.ends_with("ing") && word.size() > 5) {
    const std::string stem(word.substr(0, word.size() - 3));
    const auto found = exact(stem);
    return found ? found : exact(stem + "e");
  }
  return std::nullopt;
}

std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  };
  bool lower_before = false;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool lower = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!upper && !lower) {
      flush();
    } else {
      if (upper && lower_before) {
        flush();
      }
      word += upper ? static_cast<char>(c + ('a' - 'A')) : c;
    }
    lower_before = lower;
  }
  flush();
  return words;
}

}  // namespace cordon::catalog
