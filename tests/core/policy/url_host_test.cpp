// SPDX-License-Identifier: Apache-2.0
#include "core/policy/url_host.hpp"

#include <doctest/doctest.h>

using cordon::policy::host_listed;
using cordon::policy::url_host;

namespace {
std::string host(std::string_view url) { return url_host(url).value_or("?"); }
}  // namespace

TEST_CASE("the host of a plain URL is found") {
  CHECK(host("https://api.example.com/x?y#z") == "api.example.com");
  CHECK(host("HTTPS://API.Example.COM:8443") == "api.example.com");
  CHECK(host("https://api.example.com?x=http://y") == "api.example.com");
  CHECK(host("https://user:pass@api.example.com/") == "api.example.com");
  CHECK(host("https://user:p%3Aass%20@api.example.com/") == "api.example.com");
  CHECK(host("https://good.example@evil.example/") == "evil.example");
  CHECK(host("https://xn--mnchen-3ya.example/") == "xn--mnchen-3ya.example");
  CHECK(host("http://127.0.0.1:80/") == "127.0.0.1");
  CHECK(host("http://[2001:DB8:0:0:0:0:0:1]:80/") == "2001:db8::1");
  CHECK(host("http://[::1]/") == "::1");
  CHECK(host("http://[::]/") == "::");
  CHECK(host("http://[1:0:0:2:0:0:0:3]/") == "1:0:0:2::3");
  CHECK(host("postgres://db.internal:5432/x") == "db.internal");
  CHECK(host("postgres://db.internal/x?sslmode=require&application_name=host") == "db.internal");
  CHECK(host("mongodb://db.internal/x?serverSelectionTimeoutMS=5&replicaSet=a") == "db.internal");
  CHECK(host("https://api.example.com/x?host=y") == "api.example.com");
  CHECK(host("https://api.example.com/a,b/https://example.org?u=https://x") == "api.example.com");
}

TEST_CASE("what two URL readers could read differently has no host") {
  for (const char* url : {"",
                          "example.com",
                          "//example.com",
                          "https:/example.com",
                          "https:example.com",
                          "https:///example.com",
                          "https://",
                          "https:\\\\example.com",
                          "https://good.example\\@evil.example/",
                          "https://a@b@c/",
                          "https://evil.example%2F@good.example/",
                          "https://evil.example%5c@good.example/",
                          "https://evil.example:80%3f@good.example/",
                          "https://evil.example%23@good.example/",
                          "https://x%40evil.example%252f@good.example/",
                          "https://evil.example%252f@good.example/",
                          "javascript://good.example/%0Aalert(1)",
                          "JavaScript://good.example/",
                          "data://good.example/x",
                          "netdoc://good.example/etc/passwd",
                          "compress.zlib://good.example/x",
                          "unix://good.example/run/docker.sock",
                          "http+unix://good.example/run/docker.sock",
                          "sqlite3://good.example/data.db",
                          "postgres://good.example/x?host=evil.example",
                          "PostgreSQL://good.example/x?sslmode=require&%68ostAddr=6.6.6.6",
                          "mysql://good.example/x?socketPath=/run/mysqld.sock",
                          "mssql+pyodbc://good.example/x?odbc_connect=Server%3Devil",
                          "mongodb://good.example/?a=1;proxyHost=evil.example",
                          "ssh://-oProxyCommand=x@good.example/",
                          "https://good.example/,https://evil.example/",
                          "https://good.example/x;http://evil.example",
                          "https://good.example#@evil.example/",
                          "https://good.example?@evil.example/",
                          "https://ex\tample.com/",
                          " https://example.com/",
                          "https://example.com/\n",
                          "https://example.com./",
                          "https://.example.com/",
                          "https://exa..mple/",
                          "https://ex%61mple.com/",
                          "https://ex\xC3\xA4mple.com/",
                          "https://example.com:/",
                          "https://example.com:80x/",
                          "https://example.com:99999/",
                          "https://127.1/",
                          "https://2130706433/",
                          "https://0x7f000001/",
                          "https://0x7f.0.0.1/",
                          "https://0177.0.0.1/",
                          "https://127.0.0.01/",
                          "https://256.0.0.1/",
                          "https://1.2.3.4.5/",
                          "https://[::ffff:127.0.0.1]/",
                          "https://[::ffff:7f00:1]/",
                          "https://[::7f00:1]/",
                          "https://[fe80::1%25eth0]/",
                          "https://[::1/",
                          "https://[::1]x/",
                          "https://[1::2::3]/",
                          "https://[1:2:3:4:5:6:7:8:9]/",
                          "https://[]/",
                          "https://-a.example/",
                          "file:///etc/passwd",
                          "file://host/x",
                          "javascript:alert(1)",
                          "1http://x/",
                          "https://us er@x/",
                          "https://a,b.example/"}) {
    CHECK_MESSAGE(host(url) == "?", url);
  }
}

TEST_CASE("a host is listed by itself or below a wildcard") {
  const std::vector<std::string> hosts = {"api.example.com", "*.internal", "::1"};
  for (const char* listed : {"api.example.com", "a.internal", "b.a.internal", "::1"}) {
    CHECK_MESSAGE(host_listed(hosts, listed), listed);
  }
  for (const char* other :
       {"example.com", "x.api.example.com", "xapi.example.com", "internal", "xinternal", ".internal", "::2"}) {
    CHECK_MESSAGE(!host_listed(hosts, other), other);
  }
}
