// SPDX-License-Identifier: Apache-2.0
// The buffers of one launch on the device. Each lies between two guard zones.
#pragma once

#include "runtime/device/MemoryKernels.h"
#include "runtime/runner/ElementSet.h"
#include "runtime/runner/HostMemory.h"
#include "runtime/runner/LaunchSpec.h"
#include "runtime/runner/Stages.h"

#include <optional>
#include <vector>

namespace kopt::runtime {

/// The pattern written to outputs and guard zones. With `inverted`, every bit differs.
struct Poison {
  std::uint64_t seed = 1;
  bool inverted = false;
};

/// What check() looks at. A check is left out only to see which other check would notice a fault.
struct Checks {
  bool guards = true, inputs = true;
};

/// What all parts of one request share.
struct RunContext {
  Device &device;
  HostMemory &memory;
  Stages &stages;
};

class BufferSet {
public:
  /// `modules`: the modules whose launches run on this set; variables are set in each of them. A
  /// set with a variable that is not read-only serves one module only.
  BufferSet(RunContext context, std::vector<BufferSpec> specs, std::uint64_t inputSeed,
            std::vector<std::uint32_t> modules, Checks checks = {});
  ~BufferSet();
  BufferSet(const BufferSet &) = delete;
  BufferSet &operator=(const BufferSet &) = delete;

  const std::vector<BufferSpec> &specs() const { return specs_; }

  /// Allocates the buffers. With `pristine`, also keeps copies of the in-place buffers on the
  /// device, for restore(). `placement`, if not 0, shifts the addresses of the buffers: they begin
  /// further in their allocations. LaunchFailed if a module lacks a variable that the launch
  /// writes, or has it in another size; DeviceError if captured contents cannot be read.
  Status allocate(bool pristine, std::uint64_t placement = 0);
  /// From now on launches no kernels of the device's own: Nsight Compute takes the first kernel
  /// that a process launches for the one that it is to watch.
  void leaveToHost() { isLeftToHost_ = true; }
  /// Writes everything anew: inputs, in-place buffers, poisoned outputs and guard zones. Nothing
  /// comes from memory that a launch could have reached. With `like`, a set of the same buffers
  /// that was reset just before and on which nothing has been launched, copies within the device
  /// what the host has written there.
  Status reset(Poison poison, const BufferSet *like = nullptr);
  /// Restores the initial contents of the in-place buffers, by copies within the device, except of
  /// those that are left alone.
  Status restore();
  /// Sets unchanged[i] to false for each in-place buffer that no longer has its initial contents,
  /// and for those that cannot be restored. `unchanged` has an element for each buffer.
  Status findUnchanged(std::vector<bool> &unchanged);
  /// restore() no longer touches these buffers; one element for each buffer.
  void leaveAlone(std::vector<bool> buffers) { leftAlone_ = std::move(buffers); }
  /// Does what reset() does, for outputs and in-place buffers only.
  Status renew();

  /// GuardTouched or InputChanged, naming the buffer and the index, if a launch wrote where it may
  /// not.
  Status check();
  /// Reads the contents of buffer i into the file paths[i]. A buffer with an empty path, or none,
  /// is not read. If `poisoned` is not null, it receives, for each output, the elements that still
  /// hold the poison; for other buffers an empty set.
  Status collect(const std::vector<std::string> &paths, std::vector<ElementSet> *poisoned);
  /// The digests, with this key, of all buffers that launches may write, one after the other: equal
  /// ones mean equal contents. Empty if there is a buffer whose contents have to be read for that,
  /// or if all of them are small.
  Status digests(std::uint64_t key, std::vector<Digest> &out);

  /// The launch, with the addresses of this set in its arguments.
  LaunchRequest request(const LaunchSpec &launch) const;
  /// Bytes of device memory that a set of these buffers takes.
  static std::uint64_t footprint(const Device &device, const std::vector<BufferSpec> &specs,
                                 bool pristine);

private:
  struct Placed {
    Address base = 0;           ///< of the allocation; 0: the buffer has no bytes
    Address data = 0;           ///< of the buffer within it
    Address pristine = 0;       ///< of the copy, 0 where there is none
    HostMemory::Bytes contents; ///< as drawn; null: not drawn yet, or too large to keep
    const trace::ContentsFile *file = nullptr; ///< of captured contents
    /// Of the contents when fill() had written them, if the device digests its memory.
    std::optional<Digest> filled;
    /// If the buffer is a variable: its address in each module that has it. `data` is the first.
    std::vector<Address> variables;
  };
  /// A range of captured addresses, and where it lies on the device.
  struct Move {
    Address from = 0, to = 0;
    std::uint64_t bytes = 0;
  };
  enum class Source { Contents, Poison };

  /// The device's own kernels, if it has any and the buffer is worth a launch; else null.
  MemoryKernels *kernelsFor(std::size_t buffer) const;
  Status fillFrom(std::size_t buffer, Source source, std::uint64_t begin);
  Address guardOf(std::size_t buffer, bool after) const;
  std::uint64_t guardStream(std::size_t buffer, bool after) const;
  /// Bytes [offset, offset + size) of a buffer's initial contents or poison, valid until the next
  /// use of scratch(1). Null, with failure_ set, if captured contents cannot be read.
  const std::byte *initial(std::size_t buffer, Source source, std::uint64_t offset,
                           std::size_t size);
  Status fill(std::size_t buffer);
  Status fillLike(std::size_t buffer, const BufferSet &like);
  Status findVariable(std::size_t buffer);
  /// Replaces captured addresses in `bytes` by addresses on the device, or the other way round.
  void moveAddresses(std::byte *bytes, std::size_t size, bool toDevice) const;
  Status resetGuards(std::size_t buffer);
  Status checkGuard(std::size_t buffer, bool after);
  Status checkUnchanged(std::size_t buffer, Address address, const std::string &whose);
  Status findPoisoned(std::size_t buffer, ElementSet &out, bool &isFound);

  Device &device_;
  HostMemory &memory_;
  Stages &stages_;
  std::vector<BufferSpec> specs_;
  std::uint64_t inputSeed_;
  Checks checks_;
  std::size_t guardBytes_;
  std::vector<std::uint32_t> modules_;
  std::vector<Move> moves_;
  Status failure_;
  Poison poison_;
  std::vector<Placed> placed_;
  std::vector<bool> leftAlone_; ///< by restore(); empty: none
  bool isLeftToHost_ = false;
  std::uint64_t digestKey_; ///< of Placed::filled; no kernel can know it
};

} // namespace kopt::runtime
