// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/FileRecord.h"

#include <algorithm>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/xxhash.h>
#include <vector>

namespace kopt::frontend {
namespace {

class RecordingFile : public llvm::vfs::File {
public:
  RecordingFile(std::unique_ptr<llvm::vfs::File> file, std::string path, FileRecord &record)
      : file_(std::move(file)), path_(std::move(path)), record_(record) {}

  llvm::ErrorOr<llvm::vfs::Status> status() override { return file_->status(); }
  llvm::ErrorOr<std::string> getName() override { return file_->getName(); }
  std::error_code close() override { return file_->close(); }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
  getBuffer(const llvm::Twine &name, std::int64_t size, bool terminated, bool isVolatile) override {
    auto buffer = file_->getBuffer(name, size, terminated, isVolatile);
    if (buffer)
      record_.noteRead(path_, (*buffer)->getBuffer());
    return buffer;
  }

private:
  std::unique_ptr<llvm::vfs::File> file_;
  std::string path_;
  FileRecord &record_;
};

class RecordingFileSystem : public llvm::vfs::ProxyFileSystem {
public:
  RecordingFileSystem(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> below, FileRecord &record)
      : ProxyFileSystem(std::move(below)), record_(record) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &path) override {
    auto result = ProxyFileSystem::status(path);
    if (result)
      record_.noteExists(absolute(path));
    else
      record_.noteAbsent(absolute(path));
    return result;
  }

  bool exists(const llvm::Twine &path) override { return static_cast<bool>(status(path)); }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &path) override {
    auto file = ProxyFileSystem::openFileForRead(path);
    if (!file) {
      status(path);
      return file;
    }
    return std::make_unique<RecordingFile>(std::move(*file), absolute(path), record_);
  }

  llvm::vfs::directory_iterator dir_begin(const llvm::Twine &folder,
                                          std::error_code &error) override {
    auto begin = ProxyFileSystem::dir_begin(folder, error);
    if (error)
      record_.noteAbsent(absolute(folder));
    else
      record_.noteListed(absolute(folder));
    return begin;
  }

private:
  std::string absolute(const llvm::Twine &path) const {
    llvm::SmallString<256> result;
    path.toVector(result);
    makeAbsolute(result);
    return std::string(result);
  }

  FileRecord &record_;
};

} // namespace

std::string contentHash(llvm::StringRef content) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(content));
  auto hex = [](std::uint64_t half) {
    std::string digits = llvm::utohexstr(half, /*LowerCase=*/true);
    return std::string(16 - digits.size(), '0') + digits;
  };
  return hex(hash.high64) + hex(hash.low64);
}

std::string listingHash(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(folder, error), end; entry != end && !error;
       entry.increment(error))
    names.push_back(entry->path());
  if (error)
    return "";
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string &name : names)
    all += name + '\0';
  return contentHash(all);
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
FileRecord::watch(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> below) {
  return llvm::makeIntrusiveRefCnt<RecordingFileSystem>(std::move(below), *this);
}

std::map<std::string, SeenFile> FileRecord::files() const {
  std::lock_guard lock(mutex_);
  return files_;
}

void FileRecord::noteAbsent(const std::string &path) {
  std::lock_guard lock(mutex_);
  files_.try_emplace(path);
}

void FileRecord::noteExists(const std::string &path) {
  std::lock_guard lock(mutex_);
  SeenFile &seen = files_[path];
  seen.kind = std::max(seen.kind, SeenFile::Exists);
}

void FileRecord::noteListed(const std::string &path) {
  std::string hash = listingHash(path);
  std::lock_guard lock(mutex_);
  SeenFile &seen = files_[path];
  if (seen.kind < SeenFile::Listed)
    seen = {SeenFile::Listed, 0, hash};
}

void FileRecord::noteRead(const std::string &path, llvm::StringRef content) {
  std::string hash = contentHash(content);
  std::lock_guard lock(mutex_);
  SeenFile &seen = files_[path];
  // The two passes read one after another: where they read different things, neither counts.
  bool same = seen.kind != SeenFile::Read || seen.hash == hash;
  seen = {SeenFile::Read, content.size(), same ? hash : ""};
}

} // namespace kopt::frontend
