// SPDX-License-Identifier: Apache-2.0
// Runs a target on files and on the files of folders: the corpora and past findings as an ordinary
// test, without libFuzzer.
#include "tests/fuzz/Fuzz.h"

#include <algorithm>
#include <iterator>

int main(int argc, char **argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (fs::is_regular_file(argv[i]))
      files.emplace_back(argv[i]);
    else if (fs::is_directory(argv[i]))
      for (const auto &entry : fs::directory_iterator(argv[i]))
        files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "no inputs: give files or folders\n");
    return 1;
  }
  for (const fs::path &file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    std::fprintf(stderr, "%s\n", file.c_str()); // the last one named is the one that failed
    // Exactly as long as the input: a sanitizer sees a read beyond it.
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    bytes.shrink_to_fit();
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::fprintf(stderr, "%zu inputs\n", files.size());
  return 0;
}
