// SPDX-License-Identifier: Apache-2.0
// The buffers of one launch on the device, each between two guard zones.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/runner/HostMemory.h"
#include "runtime/runner/LaunchSpec.h"
#include "runtime/runner/Stages.h"

#include <vector>

namespace kopt::runtime {

/// Pattern of outputs and guard zones; inverted, every bit of them differs.
struct Poison {
  std::uint64_t seed = 1;
  bool inverted = false;
};

/// What check() looks at; all of it but where one wants to see what else would notice.
struct Checks {
  bool guards = true, inputs = true;
};

/// What the parts of one request share.
struct RunContext {
  Device &device;
  HostMemory &memory;
  Stages &stages;
};

/// Elements of one buffer.
struct ElementSet {
  std::vector<std::uint64_t> words; ///< a bit for each element, the lowest first
  std::uint64_t count = 0;          ///< bits that are set
};

class BufferSet {
public:
  /// `modules`: those whose launches run on this set; variables are set in each of them. Sets with
  /// a variable that is not read-only are for one module.
  BufferSet(RunContext context, std::vector<BufferSpec> specs, std::uint64_t inputSeed,
            std::vector<std::uint32_t> modules, Checks checks = {});
  ~BufferSet();
  BufferSet(const BufferSet &) = delete;
  BufferSet &operator=(const BufferSet &) = delete;

  const std::vector<BufferSpec> &specs() const { return specs_; }

  /// `pristine`: also keeps copies of the in-place buffers on the device, for restore(). Buffers
  /// lie elsewhere for another `placement`, as far as the device lets that be chosen: room that it
  /// decides the size of comes first. LaunchFailed where a module lacks a variable that the launch
  /// writes, or has it in another size; DeviceError where captured contents cannot be read.
  Status allocate(bool pristine, std::uint64_t placement = 0);
  /// Writes everything anew: inputs, in-place buffers, poisoned outputs and guard zones. What is
  /// drawn comes from the host, never from what a launch could have reached.
  Status reset(Poison poison);
  /// Gives the in-place buffers their first contents again, by copies within the device.
  Status restore();
  /// Gives outputs and in-place buffers what reset() gives them and leaves the rest.
  Status renew();

  /// GuardTouched or InputChanged, with the buffer and the index, where a launch wrote what it may
  /// not.
  Status check();
  /// Reads the contents of buffer i into the file paths[i]; an empty path, or none: not wanted.
  /// Where `poisoned` is not null, it gets the elements of each output that still hold the poison;
  /// of other buffers none.
  Status collect(const std::vector<std::string> &paths, std::vector<ElementSet> *poisoned);

  /// The launch with the addresses of this set in its arguments.
  LaunchRequest request(const LaunchSpec &launch) const;
  /// Bytes of device memory that a set of these buffers takes.
  static std::uint64_t footprint(const Device &device, const std::vector<BufferSpec> &specs,
                                 bool pristine);

private:
  struct Placed {
    Address base = 0;           ///< of the allocation; 0: a buffer of no bytes
    Address data = 0;           ///< of the buffer within it
    Address pristine = 0;       ///< of the copy, 0 where there is none
    HostMemory::Bytes contents; ///< as drawn; null: not drawn yet, or too large to keep
    const trace::ContentsFile *file = nullptr; ///< of captured contents
    std::vector<Address>
        variables; ///< of a variable: where it is in the modules that have it; `data` is the first
  };
  /// Where the addresses of a captured buffer are on the device.
  struct Move {
    Address from = 0, to = 0;
    std::uint64_t bytes = 0;
  };
  enum class Source { Contents, Poison };

  std::uint64_t guardStream(std::size_t buffer, bool after) const;
  /// Bytes [offset, offset + size) of what a buffer begins with; they last until the next use of
  /// scratch(1). Null, with failure_, where captured contents cannot be read.
  const std::byte *initial(std::size_t buffer, Source source, std::uint64_t offset,
                           std::size_t size);
  Status fill(std::size_t buffer);
  Status findVariable(std::size_t buffer);
  /// Replaces addresses within captured buffers by those on the device, or the other way round.
  void moveAddresses(std::byte *bytes, std::size_t size, bool toDevice) const;
  Status resetGuards(std::size_t buffer);
  Status checkGuard(std::size_t buffer, bool after);
  Status checkUnchanged(std::size_t buffer, Address address, const std::string &whose);
  void markPoisoned(std::size_t buffer, std::uint64_t offset, const std::byte *bytes,
                    std::size_t size, ElementSet &out);

  Device &device_;
  HostMemory &memory_;
  Stages &stages_;
  std::vector<BufferSpec> specs_;
  std::uint64_t inputSeed_;
  Checks checks_;
  Address spacer_ = 0;
  std::size_t guardBytes_;
  std::vector<std::uint32_t> modules_;
  std::vector<Move> moves_;
  Status failure_;
  Poison poison_;
  std::vector<Placed> placed_;
};

} // namespace kopt::runtime
