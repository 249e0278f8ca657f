// SPDX-License-Identifier: Apache-2.0
// A tiny MCP server for measuring: it does as little as possible, so that what is measured is what stands before it.
// Usage: bench-echo-server [--tools N], or --hello: one line at once, then the end.
// tools/call answers at once. Members of `arguments` steer it: "size": bytes of text in the result; "flood": number of
// log notifications of that size to write first; "stall": true stops reading for good. It trusts its driver, and finds
// what it needs in a line by plain search.

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace {

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      _exit(0);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The spelling of a scalar member, wherever in the line it stands; empty when it is not there.
std::string_view member(std::string_view line, std::string_view quoted_key) {
  const std::size_t key = line.find(quoted_key);
  if (key == std::string_view::npos) {
    return {};
  }
  std::string_view rest = line.substr(key + quoted_key.size() + 1);
  if (rest.starts_with('"')) {
    return rest.substr(0, rest.find('"', 1) + 1);
  }
  return rest.substr(0, rest.find_first_of(",}"));
}

std::size_t number(std::string_view spelled) {
  return spelled.empty() ? 0 : std::strtoull(std::string(spelled).c_str(), nullptr, 10);
}

// Prose with line ends, quotes and letters beyond ASCII, as results of real tools have.
const std::string& prose(std::size_t bytes) {
  static std::map<std::size_t, std::string> made;
  std::string& text = made[bytes];
  if (text.empty() && bytes > 0) {
    const std::string_view sentence =
        "The quick brown fox said \\\"good morning\\\" to the lazy dog, who did not reply.\\n"
        "A second line is plain and a little longer than the first one, with a caf\xc3\xa9 in it.\\n";
    while (text.size() + sentence.size() <= bytes) {
      text += sentence;
    }
    text.append(bytes - text.size(), '.');
  }
  return text;
}

std::string tool_list(std::size_t tools) {
  std::string list = "{\"tools\":[";
  for (std::size_t i = 0; i < tools; ++i) {
    const std::string number = std::to_string(i);
    list += i == 0 ? "" : ",";
    list += "{\"name\":\"tool_" + number + "\",\"description\":\"Looks up record number " + number +
            " and says what it holds, in plain words.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
            "\"query\":{\"type\":\"string\",\"description\":\"What to look for\"},\"limit\":{\"type\":\"integer\","
            "\"minimum\":1,\"maximum\":100}},\"required\":[\"query\"]}}";
  }
  return list + "]}";
}

std::string result_for(std::string_view method, std::size_t tools) {
  if (method == "\"initialize\"") {
    return R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},)"
           R"("serverInfo":{"name":"bench","version":"1"}})";
  }
  return method == "\"tools/list\"" ? tool_list(tools) : "{}";
}

void answer_call(std::string_view line, std::string_view id) {
  const std::size_t size = number(member(line, "\"size\""));
  const std::string& text = prose(size);
  const std::size_t flood = number(member(line, "\"flood\""));
  for (std::size_t i = 0; i < flood; ++i) {
    write_all("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"" +
              text + "\"}}\n");
  }
  std::string head = "{\"jsonrpc\":\"2.0\",\"id\":";
  head += id;
  head += ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"";
  if (flood == 0 && size > 65536) {
    write_all(head);
    write_all(text);
    write_all("\"}]}}\n");
    return;
  }
  write_all(head + (flood == 0 ? text : "done") + "\"}]}}\n");
}

void answer(std::string_view line, std::size_t tools) {
  const std::string_view id = member(line, "\"id\"");
  const std::string_view method = member(line, "\"method\"");
  if (id.empty() || method.empty()) {
    return;
  }
  if (method == "\"tools/call\"") {
    answer_call(line, id);
    if (member(line, "\"stall\"") == "true") {
      pause();
    }
    return;
  }
  write_all("{\"jsonrpc\":\"2.0\",\"id\":" + std::string(id) + ",\"result\":" + result_for(method, tools) + "}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--hello") == 0) {
    write_all("hello\n");
    return 0;
  }
  const std::size_t tools = argc == 3 && std::strcmp(argv[1], "--tools") == 0 ? number(argv[2]) : 1;
  std::string pending;
  std::string chunk(std::size_t{64} * 1024, '\0');
  while (true) {
    const ssize_t got = read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got <= 0) {
      return 0;
    }
    pending.append(chunk.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n', begin)) {
      answer(std::string_view(pending).substr(begin, end - begin), tools);
      begin = end + 1;
    }
    pending.erase(0, begin);
  }
}
