// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without a fuzzer: every file of the folders given, and for each a few mutations that are the same
// in every run. An input that breaks the target's oracle ends the process; the line before says which one it was, and
// with CORDON_REPLAY_KEEP=FILE the last mutation that was tried stands in that file.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);

namespace {

struct Input {
  std::string name = {};
  std::string bytes = {};
};

constexpr int kMutationsPerInput = 24;
constexpr std::size_t kMaxMutatedBytes =
    64 * 1024;  // larger inputs are replayed, but not mutated: cheap in every build
constexpr std::string_view kNastyBytes = "\"\\{}[]:,\n\r\t 0-1eE.\x7f\x80\xc0\xed\xf4\xff";

// A small fixed generator (xorshift): the standard engines may differ between libraries.
class Random {
 public:
  std::size_t below(std::size_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return bound == 0 ? 0 : static_cast<std::size_t>(state_ % bound);
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

bool read_into(const std::filesystem::path& path, std::vector<Input>& inputs) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  inputs.push_back({path.string(), std::string(std::istreambuf_iterator<char>(file), {})});
  return true;
}

bool collect(const std::filesystem::path& path, std::vector<Input>& inputs) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return read_into(path, inputs);
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_regular_file(error) && !read_into(entry.path(), inputs)) return false;
  }
  return !error;
}

std::string mutate(std::string bytes, const std::string& other, Random& random) {
  const std::size_t at = random.below(bytes.size() + 1);
  const std::size_t count = random.below(8) + 1;
  switch (random.below(6)) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      bytes.insert(at, 1, kNastyBytes[random.below(kNastyBytes.size())]);
      break;
    case 2:
      if (at < bytes.size())
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << random.below(8)));
      break;
    case 3:
      bytes.erase(at, count);
      break;
    case 4:
      bytes.insert(at, bytes.substr(at, count * 4));
      break;
    default:
      bytes = bytes.substr(0, at) + other.substr(random.below(other.size() + 1));
      break;
  }
  return bytes;
}

void keep(const char* path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void run(std::string_view bytes) {
  // A copy of exactly that size, so that the address sanitizer sees a read past the end.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Input> inputs;
  for (int i = 1; i < argc; ++i) {
    if (!collect(argv[i], inputs)) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
  }
  if (inputs.empty()) {
    std::fprintf(stderr, "no input: the corpus of this target is missing or empty\n");
    return 1;
  }
  std::sort(inputs.begin(), inputs.end(), [](const Input& a, const Input& b) { return a.name < b.name; });
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);

  const char* keep_path = std::getenv("CORDON_REPLAY_KEEP");
  Random random;
  int mutated = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    std::fprintf(stderr, "%s\n", input.name.c_str());
    run(input.bytes);
    if (input.bytes.size() > kMaxMutatedBytes) continue;
    const std::string& other = inputs[(i + 1) % inputs.size()].bytes;
    for (int round = 0; round < kMutationsPerInput; ++round, ++mutated) {
      const std::string bytes = mutate(input.bytes, other.size() > kMaxMutatedBytes ? std::string() : other, random);
      if (keep_path != nullptr) keep(keep_path, bytes);
      run(bytes);
    }
  }
  std::fprintf(stderr, "replayed %zu inputs and %d mutations\n", inputs.size(), mutated);
  return 0;
}
