// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/FileKeep.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/MappedFile.h"

#include <algorithm>

namespace kopt {

namespace fs = std::filesystem;

namespace {

constexpr const char *kEntry = ".sent";

/// A digest becomes part of a path.
bool isDigest(const std::string &text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

} // namespace

FileKeep::FileKeep(fs::path folder, std::uintmax_t limit) : folder_(std::move(folder)) {
  trimFolder(folder_, limit, kEntry);
}

fs::path FileKeep::fileOf(const std::string &digest) const { return folder_ / (digest + kEntry); }

std::vector<std::string> FileKeep::missing(const std::vector<std::string> &digests) const {
  std::vector<std::string> all;
  std::error_code ignored;
  for (const std::string &digest : digests)
    if (!isDigest(digest) || !fs::exists(fileOf(digest), ignored))
      all.push_back(digest);
  return all;
}

Status FileKeep::put(const std::string &digest, std::uint64_t at, std::uint64_t size,
                     std::string_view bytes) {
  if (at == 0)
    part_.clear();
  if (!isDigest(digest) || at != part_.size() || at + bytes.size() > size)
    return makeError(ErrorCode::Internal, "a part of a file does not follow the one before");
  part_ += bytes;
  if (part_.size() < size)
    return {};
  if (hashHex(part_) != digest)
    return makeError(ErrorCode::Internal, "a file arrived with another content");
  KOPT_CHECK(createDirectories(folder_));
  KOPT_CHECK(writeFileAtomically(fileOf(digest), part_));
  part_ = {};
  return {};
}

Result<std::string> FileKeep::adopt(const fs::path &file) {
  KOPT_TRY(const MappedFile content, MappedFile::open(file));
  const std::string digest = hashHex(content.bytes());
  if (missing({digest}).empty())
    return digest;
  KOPT_CHECK(createDirectories(folder_));
  std::error_code error;
  fs::create_hard_link(file, fileOf(digest), error);
  if (error) // another file system
    KOPT_CHECK(writeFileAtomically(fileOf(digest), content.bytes()));
  return digest;
}

Result<std::string> FileKeep::part(const std::string &digest, std::uint64_t at,
                                   std::uint64_t most) const {
  if (!isDigest(digest))
    return makeError(ErrorCode::Internal, "no digest: " + digest);
  KOPT_TRY(const MappedFile content, MappedFile::open(fileOf(digest)));
  return std::string(content.bytes().substr(std::min(at, content.bytes().size()), most));
}

Status FileKeep::place(const std::string &digest, const fs::path &path) const {
  KOPT_CHECK(createDirectories(path.parent_path()));
  const fs::path file = fileOf(digest);
  std::error_code error;
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);
  fs::create_hard_link(file, path, error);
  if (error && error != std::errc::file_exists)
    fs::copy_file(file, path, fs::copy_options::overwrite_existing, error);
  if (error && error != std::errc::file_exists)
    return makeError(ErrorCode::Environment,
                     "cannot make " + path.string() + ": " + error.message());
  return {};
}

} // namespace kopt
