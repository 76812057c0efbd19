// SPDX-License-Identifier: Apache-2.0
// Host memory of the runner that outlives a request: drawn inputs, and the files that outputs are
// read back into. No device knows its addresses, so no kernel can reach it.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/runner/LaunchSpec.h"
#include "runtime/trace/Contents.h"

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kopt::runtime {

class HostMemory {
public:
  using Bytes = std::shared_ptr<const std::byte[]>;

  /// `capacity`: bytes of inputs to keep.
  explicit HostMemory(std::uint64_t capacity = defaultCapacity()) : capacity_(capacity) {}
  ~HostMemory();
  HostMemory(const HostMemory &) = delete;
  HostMemory &operator=(const HostMemory &) = delete;

  /// An eighth of the machine's memory, at most 2 GiB.
  static std::uint64_t defaultCapacity();

  /// The whole contents of a buffer, drawn by drawContents() or captured. They are kept until
  /// others need the space. Null if the buffer is larger than the capacity, or cannot be read: the
  /// caller then draws or reads it in parts.
  Bytes contents(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream);

  /// The file with the contents of a buffer: a captured buffer, which is opened once and verified
  /// against its name, or a file of the user's. DeviceError, naming the file, if it is missing,
  /// damaged or too short for the buffer.
  Status stored(const BufferSpec &spec, const trace::ContentsFile *&out);
  /// Begins a request that may map these files only. Mappings of all other files are removed, so
  /// that code of the next candidate finds no results of the last one. `descriptors` are the files,
  /// if the caller has opened them (one per name, in order; closed by endRequest()); if empty,
  /// map() opens the files by name.
  void beginRequest(const std::vector<std::string> &names, std::vector<int> descriptors);
  void endRequest();
  bool isAttached(const std::string &name) const { return attached_.contains(name); }

  /// Maps the file, after resizing it to `bytes` if needed. The memory stays valid until the next
  /// call of map(). DeviceError, naming the file, if it cannot be opened, resized or mapped.
  Status map(const std::string &path, std::uint64_t bytes, std::byte *&out);

  /// Space for one piece of a buffer (kContentsPiece bytes). Its contents last until the next use
  /// of the same `slot` (0 or 1).
  std::byte *scratch(int slot);

  std::uint64_t drawn() const { return drawn_; } ///< buffers drawn so far
  std::uint64_t kept() const { return kept_; }   ///< bytes of contents that are kept

private:
  struct Input {
    BufferSpec spec; ///< without name and role, which do not change the contents
    std::uint64_t seed = 0, stream = 0;
    Bytes bytes;
  };
  struct Mapping {
    std::byte *memory = nullptr;
    std::uint64_t bytes = 0, device = 0, inode = 0;
  };
  bool isCurrent(const std::string &name, const Mapping &mapping) const;
  void dropStale();

  std::map<std::string, int> attached_; ///< descriptors of this request, by name
  std::uint64_t capacity_, kept_ = 0, drawn_ = 0;
  std::list<Input> inputs_; ///< the most recently used first
  std::map<std::string, Mapping> mappings_;
  std::map<std::string, std::unique_ptr<trace::ContentsFile>> captured_;
  std::set<std::string> checked_; ///< files of captured_ that were verified against their names
  std::unique_ptr<std::byte[]> scratch_[2];
};

/// Reads bytes [offset, offset + size) of a captured buffer, changed as its fill says (Fill.h),
/// with several threads. `offset` is a multiple of 8. DeviceError, naming the file, if it cannot be
/// read.
Status readCaptured(const trace::ContentsFile &file, const BufferSpec &spec, std::uint64_t seed,
                    std::uint64_t stream, std::uint64_t offset, std::size_t size, std::byte *out);

/// drawContents() and drawPoison() with several threads. The bytes do not depend on the number of
/// threads; 0 chooses it by `size`.
void drawContentsParallel(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                          std::uint64_t offset, std::size_t size, std::byte *out,
                          unsigned threads = 0);
void drawPoisonParallel(std::uint64_t seed, std::uint64_t stream, bool inverted,
                        std::uint64_t offset, std::size_t size, std::byte *out,
                        unsigned threads = 0);

} // namespace kopt::runtime
