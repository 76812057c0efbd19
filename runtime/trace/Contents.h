// SPDX-License-Identifier: Apache-2.0
// The bytes of one buffer in a trace: a file that is named after what it holds, in pieces that are
// compressed each by itself, so that any part can be read alone. See README.md.
#pragma once

#include "runtime/trace/Format.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kopt::runtime::trace {

inline constexpr std::uint32_t kContentsVersion = 1;
inline constexpr std::uint64_t kPieceBytes = 4u << 20;
inline constexpr std::uint64_t kLargestContents = std::uint64_t(1) << 42;

/// Gives bytes [offset, offset + size) of what is to be stored. False with `why` ends the writing.
using ContentsSource =
    std::function<bool(std::uint64_t offset, std::size_t size, std::byte *to, std::string &why)>;

/// Stores `bytes` bytes below `folder`, unless they are there already. They are read twice where
/// they are new: to name them and to compress them. `written`: bytes the file takes, 0 where it was
/// there. False with `why`, and no file.
bool storeContents(const std::string &folder, std::uint64_t bytes, const ContentsSource &source,
                   ContentHash &hash, std::uint64_t &written, std::string &why);

/// A stored buffer. Whatever the file holds, reading it gives bytes or an error that names file and
/// offset.
class ContentsFile {
public:
  /// Null with `why`. `descriptor`: the file, where the caller has it open, which is closed here;
  /// `path` only names it then.
  static std::unique_ptr<ContentsFile> open(const std::string &path, std::string &why,
                                            int descriptor = -1);
  /// A file that holds nothing but the bytes themselves: it has no hash, and nothing to verify.
  static std::unique_ptr<ContentsFile> openPlain(const std::string &path, std::string &why,
                                                 int descriptor = -1);
  ~ContentsFile();
  ContentsFile(const ContentsFile &) = delete;
  ContentsFile &operator=(const ContentsFile &) = delete;

  std::uint64_t bytes() const { return bytes_; }
  const ContentHash &hash() const { return hash_; }
  bool read(std::uint64_t offset, std::size_t size, std::byte *to, std::string &why) const;
  /// Reads all of it and compares with its name.
  bool verify(std::string &why) const;

private:
  ContentsFile() = default;
  bool map(const std::string &path, std::string &why, int descriptor);
  bool readPiece(std::size_t index, std::byte *to, std::string &why) const;

  std::string path_;
  const std::byte *memory_ = nullptr;
  std::size_t mapped_ = 0;
  std::uint64_t bytes_ = 0;
  ContentHash hash_{};
  std::vector<std::uint64_t> begins_; ///< of each piece in the file, and the end of the last
  std::vector<bool> plain_;
  bool isBare_ = false; ///< openPlain()
};

/// The name that contents have.
ContentHash hashContents(const std::byte *bytes, std::uint64_t size);

} // namespace kopt::runtime::trace
