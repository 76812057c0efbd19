// SPDX-License-Identifier: Apache-2.0
// What the targets share. A target is one LLVMFuzzerTestOneInput: a broken promise aborts, so that
// libFuzzer keeps the input and the replay in ctest fails on it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace kopt::fuzz {

/// Aborts, naming the promise, where it does not hold.
inline void require(bool holds, const char *promise) {
  if (holds)
    return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

inline std::string_view textOf(const std::uint8_t *data, std::size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

/// Takes the first byte off as a choice among `count`; 0 where the input is empty.
inline unsigned takeChoice(std::string_view &input, unsigned count) {
  if (input.empty())
    return 0;
  const auto byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return byte % count; // '0' is 48: corpora of up to four choices, or of six, use "0", "1", "2", …
}

/// The pieces between lines that are "====".
inline std::vector<std::string> sections(std::string_view input) {
  static constexpr std::string_view kMark = "\n====\n";
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = input.find(kMark);
    parts.emplace_back(input.substr(0, at));
    if (at == input.npos)
      return parts;
    input.remove_prefix(at + kMark.size());
  }
}

inline std::vector<std::string> linesOf(std::string_view input) {
  std::vector<std::string> lines;
  for (;;) {
    const std::size_t at = input.find('\n');
    lines.emplace_back(input.substr(0, at));
    if (at == input.npos)
      return lines;
    input.remove_prefix(at + 1);
  }
}

/// A folder of this process alone, for readers that take a path; it goes when the process does.
class Scratch {
public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() / ("kopt-fuzz-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path write(const std::string &name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(text.data(), std::streamsize(text.size()));
    return file;
  }

private:
  std::filesystem::path path_;
};

inline const Scratch &scratch() {
  static const Scratch folder;
  return folder;
}

} // namespace kopt::fuzz
