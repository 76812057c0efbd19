// SPDX-License-Identifier: Apache-2.0
// The buffers of one launch on the device, each between two guard zones.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/runner/LaunchSpec.h"

#include <optional>
#include <vector>

namespace kopt::runtime {

/// Pattern of outputs and guard zones; inverted, every bit of them differs.
struct Poison {
  std::uint64_t seed = 1;
  bool inverted = false;
};

class BufferSet {
public:
  BufferSet(Device &device, std::vector<BufferSpec> specs, std::uint64_t inputSeed);
  ~BufferSet();
  BufferSet(const BufferSet &) = delete;
  BufferSet &operator=(const BufferSet &) = delete;

  const std::vector<BufferSpec> &specs() const { return specs_; }

  /// `pristine`: also keeps copies of the in-place buffers on the device, for restore().
  Status allocate(bool pristine);
  /// Draws everything anew: inputs, in-place buffers, poisoned outputs and guard zones.
  Status reset(Poison poison);
  /// Gives the in-place buffers their first contents again, by copies within the device.
  Status restore();
  /// Poisons the outputs as reset() does and leaves the rest.
  Status poisonOutputs();

  /// GuardTouched or InputChanged, with the buffer and the index, where a launch wrote what it may not.
  Status check();
  /// Per buffer one flag an element: still the poison. Empty for buffers that are not outputs.
  Status findPoison(std::vector<std::vector<bool>> &out);
  /// Writes each buffer to DIRECTORY/PREFIX<index>.bin. DeviceError naming the file where the disk refuses.
  Status dump(const std::string &directory, const std::string &prefix,
              std::vector<std::string> &files);

  /// The launch with the addresses of this set in its arguments.
  LaunchRequest request(const LaunchSpec &launch) const;
  /// Bytes of device memory that a set of these buffers takes.
  static std::uint64_t footprint(const Device &device, const std::vector<BufferSpec> &specs,
                                 bool pristine);

private:
  struct Placed {
    Address base = 0;     ///< of the allocation; 0: a buffer of no bytes
    Address data = 0;     ///< of the buffer within it
    Address pristine = 0; ///< of the copy, 0 where there is none
  };

  std::uint64_t guardStream(std::size_t buffer, bool after) const;
  Status resetGuards(std::size_t buffer);
  Status checkGuard(std::size_t buffer, bool after);
  Status checkInput(std::size_t buffer);

  Device &device_;
  std::vector<BufferSpec> specs_;
  std::uint64_t inputSeed_;
  std::size_t guardBytes_;
  Poison poison_;
  std::vector<Placed> placed_;
};

} // namespace kopt::runtime
