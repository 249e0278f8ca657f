// SPDX-License-Identifier: Apache-2.0
#include "clients/secrets.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cordon::clients;

TEST_CASE("names of secrets are told from names that only sound like them") {
  for (const char* name : {"API_KEY", "GITHUB_TOKEN", "githubPat", "--client-secret", "DB_PASSWORD", "Authorization",
                           "OPENAI_APIKEY", "X-Api-Key", "DATABASE_CONNECTION_STRING", "SLACK_WEBHOOK", "BRAVE_KEY"}) {
    CAPTURE(name);
    CHECK(names_secret(name));
  }
  for (const char* name : {"KEYBOARD", "MAX_TOKENS", "TOKEN_FILE", "API_KEY_PATH", "PATH", "KEY", "NODE_ENV",
                           "PASSWORD_LENGTH", "TOKENIZER", "AUTHOR", "SECRET_NAME", ""}) {
    CAPTURE(name);
    CHECK_FALSE(names_secret(name));
  }
}

TEST_CASE("values of well-known forms are secrets") {
  CHECK(looks_secret("ghp_" + std::string(36, 'a')));
  CHECK(looks_secret("Bearer sk-" + std::string(30, 'a')));
  CHECK(looks_secret("postgres://u:p4ss@db.example/x"));
  CHECK_FALSE(looks_secret("postgres://u@db.example/x"));
  CHECK_FALSE(looks_secret("sk-short"));
  CHECK_FALSE(looks_secret("https://x.example/a:b@c"));
}

TEST_CASE("secrets of an entry are found where they stand") {
  Entry entry;
  entry.command = {"docker",           "run",    "-e", "API_TOKEN=V1",       "--api-key", "V2", "--token=V3",
                   "-eDB_PASSWORD=V4", "--flag", "x",  "postgres://u:V5@h/d"};
  entry.environment = {
      {"API_KEY", "V6"}, {"OTHER_KEY", "${input:k}"}, {"EMPTY_TOKEN", ""}, {"MODE", "x"}, {"SAMPLE_KEY", "<your key>"}};
  entry.headers = {{"Authorization", "Bearer V7"}};
  entry.url = "https://x.example/?api_key=V8";
  std::string values;
  for (const Secret& secret : secrets_in(entry)) {
    values += secret.value + ";";
    CHECK(secret.where.find(secret.value) == std::string::npos);
  }
  CHECK(values == "V6;Bearer V7;V1;V2;V3;V4;postgres://u:V5@h/d;V8;");
}
