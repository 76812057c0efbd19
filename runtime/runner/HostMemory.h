// SPDX-License-Identifier: Apache-2.0
// Memory of the runner's own that outlives a request: inputs that were drawn, and the files that
// outputs are read back into. None of it is ever known to a device, so no kernel can reach it.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/runner/LaunchSpec.h"
#include "runtime/trace/Contents.h"

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kopt::runtime {

class HostMemory {
public:
  using Bytes = std::shared_ptr<const std::byte[]>;

  /// `capacity` in bytes, of drawn inputs.
  explicit HostMemory(std::uint64_t capacity = defaultCapacity()) : capacity_(capacity) {}
  ~HostMemory();
  HostMemory(const HostMemory &) = delete;
  HostMemory &operator=(const HostMemory &) = delete;

  /// An eighth of the machine's memory, at most 2 GiB.
  static std::uint64_t defaultCapacity();

  /// The whole contents of a buffer as drawContents() draws them, or as they were captured, kept
  /// until others need the room. Null where the buffer is larger than the capacity: then its parts
  /// are had as they are needed.
  Bytes contents(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream);

  /// The file with the contents of a buffer: what was captured for it, opened and compared with its
  /// name once, or a file of the user's. DeviceError naming the file where it is missing, damaged
  /// or shorter than the buffer needs.
  Status stored(const BufferSpec &spec, const trace::ContentsFile *&out);
  /// A request begins that may map these files, and no others: what is mapped of others is
  /// unmapped, so that code of the next candidate finds no results of the last one. `descriptors`
  /// are the files where the caller has opened them (one per name, in order; closed by
  /// endRequest()); none: map() opens them by their names.
  void beginRequest(const std::vector<std::string> &names, std::vector<int> descriptors);
  void endRequest();
  bool isAttached(const std::string &name) const { return attached_.contains(name); }

  /// Memory that is the file's content: `bytes` long, made so where it is not. It stays valid until
  /// the next call of this. DeviceError naming the file if it cannot be read.
  Status map(const std::string &path, std::uint64_t bytes, std::byte *&out);

  /// Space for one piece of a buffer, kPiece bytes; its contents last until the next use of the
  /// same `slot` (0 or 1).
  std::byte *scratch(int slot);
  static constexpr std::size_t kPiece = 16u << 20; ///< a multiple of every element size

  std::uint64_t drawn() const { return drawn_; } ///< buffers drawn so far
  std::uint64_t kept() const { return kept_; }   ///< bytes of them that are kept

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
  std::list<Input> inputs_; ///< the last used first
  std::map<std::string, Mapping> mappings_;
  std::map<std::string, std::unique_ptr<trace::ContentsFile>> captured_;
  std::set<std::string> checked_; ///< of those, compared with their names
  std::unique_ptr<std::byte[]> scratch_[2];
};

/// Bytes [offset, offset + size) of a captured buffer as its fill says (Fill.h), read by several
/// threads. `offset` is a multiple of 8. DeviceError naming the file.
Status readCaptured(const trace::ContentsFile &file, const BufferSpec &spec, std::uint64_t seed,
                    std::uint64_t stream, std::uint64_t offset, std::size_t size, std::byte *out);

/// drawContents() and drawPoison() by several threads; the same bytes for any number of them (0: as
/// many as are worth it).
void drawContentsParallel(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                          std::uint64_t offset, std::size_t size, std::byte *out,
                          unsigned threads = 0);
void drawPoisonParallel(std::uint64_t seed, std::uint64_t stream, bool inverted,
                        std::uint64_t offset, std::size_t size, std::byte *out,
                        unsigned threads = 0);

} // namespace kopt::runtime
