// SPDX-License-Identifier: Apache-2.0
// A server that reaches out, or tries. Each argument is one attempt, "VERB:WHAT:PORT"; one line each says how it ended.
// In the common part of C and C++, so that another C library can be tried with it.
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in place_of(const char* address, int port) {
  struct sockaddr_in place;
  memset(&place, 0, sizeof place);
  place.sin_family = AF_INET;
  place.sin_port = htons((unsigned short)port);
  inet_pton(AF_INET, address, &place.sin_addr);
  return place;
}

static const char* outcome(int error) {
  switch (error) {
    case 0:
      return "ok";
    case ECONNREFUSED:
      return "ECONNREFUSED";
    case ENETUNREACH:
      return "ENETUNREACH";
    case EACCES:
      return "EACCES";
    case EPERM:
      return "EPERM";
    case ETIMEDOUT:
      return "ETIMEDOUT";
    default:
      return "another error";
  }
}

static int dial(const char* address, int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in place = place_of(address, port);
  if (connect(fd, (struct sockaddr*)&place, sizeof place) != 0) {
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

static void connect_to(const char* address, int port) {
  const int fd = dial(address, port);
  printf("connect %s:%d %s\n", address, port, outcome(fd < 0 ? errno : 0));
  if (fd >= 0) {
    close(fd);
  }
}

static void resolve(const char* name) {
  struct addrinfo hints;
  struct addrinfo* found = NULL;
  char text[INET_ADDRSTRLEN] = "";
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(name, NULL, &hints, &found);
  if (error != 0) {
    printf("resolve %s %s\n", name, error == EAI_NONAME ? "EAI_NONAME" : gai_strerror(error));
    return;
  }
  if (found->ai_family == AF_INET) {
    inet_ntop(AF_INET, &((struct sockaddr_in*)found->ai_addr)->sin_addr, text, sizeof text);
  }
  printf("resolve %s %s\n", name, text);
  freeaddrinfo(found);
}

// What whoever answers there says first, up to the end.
static void get(const char* name, int port) {
  struct addrinfo hints;
  struct addrinfo* found = NULL;
  char service[16];
  char text[512];
  size_t length = 0;
  ssize_t more = 0;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  snprintf(service, sizeof service, "%d", port);
  if (getaddrinfo(name, service, &hints, &found) != 0) {
    printf("get %s:%d no such name\n", name, port);
    return;
  }
  const int fd = socket(found->ai_family, SOCK_STREAM, 0);
  if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
    printf("get %s:%d %s\n", name, port, outcome(errno));
  } else {
    snprintf(text, sizeof text, "GET / HTTP/1.0\r\nHost: %s\r\n\r\n", name);
    if (write(fd, text, strlen(text)) < 0) {
      perror("write");
    }
    while (length + 1 < sizeof text && (more = read(fd, text + length, sizeof text - 1 - length)) > 0) {
      length += (size_t)more;
    }
    text[length] = '\0';
    const char* body = strstr(text, "\r\n\r\n");
    printf("get %s:%d %s\n", name, port, body != NULL ? body + 4 : "no answer");
  }
  close(fd);
  freeaddrinfo(found);
}

// A datagram, and what the kernel says of it. Nothing is expected to come back.
static void datagram(const char* address, int port) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in place = place_of(address, port);
  int error = 0;
  char byte = 'x';
  if (connect(fd, (struct sockaddr*)&place, sizeof place) != 0 || send(fd, &byte, 1, 0) != 1) {
    error = errno;
  } else {
    struct pollfd one = {fd, POLLIN, 0};
    // Refused at once on lo: the bound is for the case that it was not.
    poll(&one, 1, 2000);
    error = recv(fd, &byte, 1, MSG_DONTWAIT) < 0 ? errno : 0;
  }
  printf("udp %s:%d %s\n", address, port, outcome(error));
  close(fd);
}

static size_t question(unsigned char* out, const char* name) {
  static const unsigned char kHead[12] = {0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  static const unsigned char kTail[5] = {0, 0, 1, 0, 1};
  size_t at = sizeof kHead;
  memcpy(out, kHead, sizeof kHead);
  while (*name != '\0') {
    const size_t label = strcspn(name, ".");
    out[at++] = (unsigned char)label;
    memcpy(out + at, name, label);
    at += label;
    name += label + (name[label] == '.' ? 1 : 0);
  }
  memcpy(out + at, kTail, sizeof kTail);
  return at + sizeof kTail;
}

static void ask_by_stream(const char* name) {
  unsigned char message[512];
  const size_t length = question(message + 2, name);
  message[0] = 0;
  message[1] = (unsigned char)length;
  const int fd = dial("127.0.0.1", 53);
  if (fd < 0 || write(fd, message, length + 2) != (ssize_t)(length + 2)) {
    printf("dns-tcp %s %s\n", name, outcome(errno));
    return;
  }
  size_t got = 0;
  ssize_t more = 0;
  while ((got < 2 || got < 2U + message[1]) && (more = read(fd, message + got, sizeof message - got)) > 0) {
    got += (size_t)more;
  }
  close(fd);
  printf("dns-tcp %s rcode %d answers %d\n", name, got < 14 ? -1 : message[5] & 15, got < 14 ? -1 : message[9]);
}

// The nth open() of "addr:port" in a row.
static void many(const char* address, int port) {
  int made = 0;
  while (made < 1000 && dial(address, port) >= 0) {
    ++made;
  }
  printf("many %s:%d %d\n", address, port, made);
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 1; i < argc; ++i) {
    char* verb = strtok(argv[i], ":");
    const char* what = strtok(NULL, ":");
    const char* number = strtok(NULL, ":");
    const int port = number != NULL ? atoi(number) : 0;
    if (strcmp(verb, "resolve") == 0) {
      resolve(what);
    } else if (strcmp(verb, "connect") == 0) {
      connect_to(what, port);
    } else if (strcmp(verb, "get") == 0) {
      get(what, port);
    } else if (strcmp(verb, "udp") == 0) {
      datagram(what, port);
    } else if (strcmp(verb, "dns-tcp") == 0) {
      ask_by_stream(what);
    } else if (strcmp(verb, "many") == 0) {
      many(what, port);
    } else if (strcmp(verb, "wait") == 0) {  // until stdin is closed
      char byte;
      printf("waiting\n");
      while (read(STDIN_FILENO, &byte, 1) > 0) {
      }
    }
  }
  return 0;
}
