// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a server has to say, in queues: within one the order stays, among them a seed gives it. For --mix.

#include <cstddef>
#include <deque>
#include <iterator>
#include <map>
#include <random>
#include <string>

namespace fake {

class Mixer {
 public:
  explicit Mixer(unsigned seed) : random_(seed) {}

  std::size_t pick(std::size_t below) { return static_cast<std::size_t>(random_() % below); }
  bool chance(std::size_t percent) { return pick(100) < percent; }

  void add(const std::string& queue, const std::string& line) { queues_[queue].push_back(line); }
  bool empty() const { return queues_.empty(); }
  // The first line of one of the queues. There must be one.
  std::string take() {
    const auto queue = std::next(queues_.begin(), static_cast<std::ptrdiff_t>(pick(queues_.size())));
    std::string line = queue->second.front();
    queue->second.pop_front();
    if (queue->second.empty()) queues_.erase(queue);
    return line;
  }

 private:
  std::mt19937_64 random_;
  std::map<std::string, std::deque<std::string>> queues_ = {};
};

}  // namespace fake
