// SPDX-License-Identifier: Apache-2.0
// The bytes of one buffer in a trace: a file named after the hash of its contents. Its pieces are
// compressed separately, so that any part can be read alone. See README.md.
#pragma once

#include "runtime/device/MappedFile.h"
#include "runtime/trace/Format.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kopt::runtime::trace {

inline constexpr std::uint32_t kContentsVersion = 1;
inline constexpr std::uint64_t kPieceBytes = 4u << 20;
inline constexpr std::uint64_t kLargestContents = std::uint64_t(1) << 42;

/// Copies bytes [offset, offset + size) of the contents to `to`. Returning false, with a reason in
/// `why`, ends the writing.
using ContentsSource =
    std::function<bool(std::uint64_t offset, std::size_t size, std::byte *to, std::string &why)>;

/// Stores `bytes` bytes below `folder`, unless they are there already. New contents are read twice:
/// to name them and to compress them. `written`: the size of the new file in bytes; 0 if the
/// contents were there already. On failure returns false, gives the reason in `why` and leaves no
/// file.
bool storeContents(const std::string &folder, std::uint64_t bytes, const ContentsSource &source,
                   ContentHash &hash, std::uint64_t &written, std::string &why);

/// A stored buffer. The file is not trusted: reading gives the bytes, or an error that names the
/// file and the offset.
class ContentsFile {
public:
  /// Null, with the reason in `why`, if the file cannot be read. `descriptor`: the open file, if
  /// the caller has it open; it is closed here, and `path` then serves messages only.
  static std::unique_ptr<ContentsFile> open(const std::string &path, std::string &why,
                                            int descriptor = -1);
  /// Opens a file that holds nothing but the bytes themselves. It has no hash to verify.
  static std::unique_ptr<ContentsFile> openPlain(const std::string &path, std::string &why,
                                                 int descriptor = -1);

  std::uint64_t bytes() const { return bytes_; }
  const ContentHash &hash() const { return hash_; }
  bool read(std::uint64_t offset, std::size_t size, std::byte *to, std::string &why) const;
  /// Reads all of the file and compares the hash of the contents with its name.
  bool verify(std::string &why) const;

private:
  ContentsFile() = default;
  bool readPiece(std::size_t index, std::byte *to, std::string &why) const;

  std::string path_;
  MappedFile file_;
  std::uint64_t bytes_ = 0;
  ContentHash hash_{};
  std::vector<std::uint64_t> begins_; ///< offset of each piece in the file, and the end of the last
  std::vector<bool> plain_;
  bool isBare_ = false; ///< opened by openPlain()
};

/// The hash that names these contents.
ContentHash hashContents(const std::byte *bytes, std::uint64_t size);

} // namespace kopt::runtime::trace
