// SPDX-License-Identifier: Apache-2.0
// What one process of a program did on its GPUs, as it is read from its log.
#pragma once

#include "runtime/trace/Format.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kopt::runtime::trace {

struct ProcessInfo {
  std::uint64_t pid = 0, parent = 0;
  std::string program;     ///< path of the executable
  std::string programHash; ///< XXH3-128 of it in hexadecimal; empty where it could not be read
  std::vector<std::string> arguments; ///< with argv[0]
  std::string directory;
  std::uint32_t driverVersion = 0, cuptiVersion = 0; ///< as their libraries say: 13000; 0: unknown
};

struct Parameter {
  std::uint32_t offset = 0, bytes = 0;
};

struct Function {
  std::string symbol; ///< mangled
  bool layoutKnown = false;
  std::vector<Parameter> parameters; ///< in order; offsets in the packed arguments
  /// Of its machine code: XXH3-128 in hexadecimal, or several of them with blanks between; empty
  /// where it is not known.
  std::string code{};
};

struct Context {
  std::uint64_t handle = 0;
  std::int32_t device = 0;
  std::string name, uuid; ///< of the device
};

struct Allocation {
  std::uint64_t base = 0, bytes = 0;
  std::uint64_t from = 0;                  ///< sequence number of its allocation
  std::uint64_t until = ~std::uint64_t(0); ///< of its release
  AllocationKind kind = AllocationKind::Device;
  std::string name{}; ///< of a symbol
};

struct Launch {
  std::uint64_t sequence = 0;
  std::uint32_t function = 0; ///< index into ProcessTrace::functions
  std::uint32_t ordinal = 0;  ///< among the function's launches in this process
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t sharedBytes = 0;
  std::uint16_t flags = 0; ///< LaunchFlag
  std::uint64_t stream = 0, context = 0;
  std::span<const std::byte> arguments; ///< packed as Function::parameters says
  double seconds = -1;                  ///< on the device; below 0: not known
  bool fromGraph = false;
};

struct SnapshotItem {
  std::uint64_t base = 0, bytes = 0;
  AllocationKind kind = AllocationKind::Device;
  std::uint8_t depth = 0; ///< 0: an argument points to it; 1: a buffer of depth 0 does; …
  std::string name;       ///< of a symbol
  bool stored = false;
  ContentHash hash{};
  std::string reason; ///< why it is not stored
};

/// What the memory that a launch can reach held before and after it.
struct Snapshot {
  std::uint64_t launch = 0; ///< its sequence number
  std::vector<SnapshotItem> before, after;
  std::uint32_t stackBytes = 0; ///< of each thread, as cudaLimitStackSize had it; 0: not known
};

struct ProcessTrace {
  ProcessInfo info;
  std::string file;       ///< of the log, for messages
  bool ended = false;     ///< false: the program was killed, or still runs
  bool full = false;      ///< there was no room for everything
  bool truncated = false; ///< the file is shorter than its segments, or a record in it is cut
  std::uint64_t lostRecords = 0;
  std::uint64_t countedLaunches = 0; ///< all of the process, those past the cap too
  std::vector<Function> functions;
  std::vector<Context> contexts;
  std::vector<Allocation> allocations; ///< by sequence number
  std::vector<Launch> launches;        ///< by sequence number, nodes of launched graphs included
  std::map<std::uint64_t, Snapshot> snapshots;         ///< by the launch's sequence number
  std::map<std::uint64_t, std::string> notSnapshotted; ///< reason, by the launch's sequence number
  std::map<std::uint32_t, std::uint64_t>
      totals; ///< by function: all its launches, where more were made than recorded
  std::vector<std::string> notes;
  std::shared_ptr<const void> memory; ///< what the spans point into, where this owns it

  /// The allocation that held the address when the launch was made, or null.
  const Allocation *allocationAt(std::uint64_t address, std::uint64_t sequence) const;
  const Launch *launchAt(std::uint64_t sequence) const;
};

/// Which allocations are live, for launches that are looked at in order.
class LiveAllocations {
public:
  explicit LiveAllocations(const ProcessTrace &trace);
  /// To a sequence number that is not below the last one.
  void advance(std::uint64_t sequence);
  /// The live allocation that holds the address, or null.
  const Allocation *find(std::uint64_t address) const;

private:
  const ProcessTrace &trace_;
  std::size_t next_ = 0;
  std::vector<std::pair<std::uint64_t, std::size_t>> releases_; ///< sequence number, index
  std::size_t nextRelease_ = 0;
  std::map<std::uint64_t, std::size_t> live_; ///< by base
};

} // namespace kopt::runtime::trace
