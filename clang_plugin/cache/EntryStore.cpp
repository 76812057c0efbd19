// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/cache/EntryStore.h"

#include "clang_plugin/parse/FileRecord.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".entry";
/// Size of the hash that precedes the bytes, by which a damaged file is recognised.
constexpr std::size_t kHashSize = 32;

} // namespace

std::optional<std::string> EntryStore::load(const std::string &name) const {
  if (!isOpen())
    return std::nullopt;
  fs::path path = fs::path(folder_) / (name + std::string(kSuffix));
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return std::nullopt;
  std::ostringstream all;
  all << stream.rdbuf();
  std::string bytes = std::move(all).str();
  if (!stream || bytes.size() < kHashSize ||
      contentHash(llvm::StringRef(bytes).drop_front(kHashSize)) != bytes.substr(0, kHashSize))
    return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return bytes.substr(kHashSize);
}

void EntryStore::save(const std::string &name, const std::string &bytes) {
  if (!isOpen())
    return;
  std::error_code error;
  fs::create_directories(folder_, error);
  static std::atomic<unsigned> number = 0;
  fs::path path = fs::path(folder_) / (name + std::string(kSuffix));
  fs::path partial = fs::path(folder_) / (name + "." + std::to_string(::getpid()) + "." +
                                          std::to_string(++number) + ".tmp");
  std::ofstream stream(partial, std::ios::binary);
  stream << contentHash(bytes) << bytes;
  stream.close();
  if (stream)
    fs::rename(partial, path, error);
  if (!stream || error)
    fs::remove(partial, error);
  else
    saved_ = true;
}

void EntryStore::trim(std::uint64_t limit) const {
  if (!saved_)
    return;
  struct Found {
    fs::file_time_type used;
    std::uint64_t size;
    fs::path path;
  };
  std::vector<Found> entries;
  std::uint64_t total = 0;
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator entry(folder_, ignored), end; entry != end && !ignored;
       entry.increment(ignored)) {
    std::error_code gone; // another process may trim too
    fs::file_time_type used = entry->last_write_time(gone);
    std::uint64_t size = entry->file_size(gone);
    if (gone)
      continue;
    if (entry->path().extension() == kSuffix) {
      entries.push_back({used, size, entry->path()});
      total += size;
    } else if (entry->path().extension() == ".tmp" && now - used > std::chrono::hours(1)) {
      fs::remove(entry->path(), gone);
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Found &a, const Found &b) { return a.used < b.used; });
  for (const Found &entry : entries) {
    if (total <= limit)
      break;
    fs::remove(entry.path, ignored);
    total -= entry.size;
  }
}

} // namespace kopt::frontend
