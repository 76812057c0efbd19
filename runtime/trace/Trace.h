// SPDX-License-Identifier: Apache-2.0
// What one process of a program did on its GPUs, as read from its log.
#pragma once

#include "runtime/trace/Format.h"

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kopt::runtime::trace {

struct ProcessInfo {
  std::uint64_t pid = 0, parent = 0;
  std::string program; ///< path of the executable
  /// XXH3-128 of the executable in hexadecimal; empty if it could not be read.
  std::string programHash;
  std::vector<std::string> arguments; ///< including argv[0]
  std::string directory;
  /// As their libraries report them, e.g. 13000; 0: unknown.
  std::uint32_t driverVersion = 0, cuptiVersion = 0;
};

struct Parameter {
  std::uint32_t offset = 0, bytes = 0;
};

struct Function {
  std::string symbol; ///< mangled
  bool layoutKnown = false;
  std::vector<Parameter> parameters; ///< in order; offsets in the packed arguments
  /// XXH3-128 of its machine code in hexadecimal, or several hashes separated by blanks; empty if
  /// not known.
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
  double seconds = -1;                  ///< run time on the device; below 0: not known
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

/// The contents of the memory that a launch can reach, before and after it.
struct Snapshot {
  std::uint64_t launch = 0; ///< its sequence number
  std::vector<SnapshotItem> before, after;
  std::uint32_t stackBytes = 0; ///< of each thread, from cudaLimitStackSize; 0: not known
};

struct ProcessTrace {
  ProcessInfo info;
  std::string file;       ///< of the log, for messages
  bool ended = false;     ///< false: the program was killed or is still running
  bool full = false;      ///< some records did not fit in the log
  bool truncated = false; ///< the file is shorter than its segments, or a record in it is cut
  std::uint64_t lostRecords = 0;
  /// All launches of the process, including those past the limit.
  std::uint64_t countedLaunches = 0;
  std::vector<Function> functions;
  std::vector<Context> contexts;
  std::vector<Allocation> allocations; ///< by sequence number
  std::vector<Launch> launches;        ///< by sequence number, nodes of launched graphs included
  std::map<std::uint64_t, Snapshot> snapshots;         ///< by the launch's sequence number
  std::map<std::uint64_t, std::string> notSnapshotted; ///< reason, by the launch's sequence number
  /// By function: the number of its launches, if more were made than recorded.
  std::map<std::uint32_t, std::uint64_t> totals;
  std::vector<std::string> notes;
  std::shared_ptr<const void> memory; ///< owns what the spans point into; may be null

  /// The allocation that held the address when the launch was made, or null.
  const Allocation *allocationAt(std::uint64_t address, std::uint64_t sequence) const;
};

/// The live allocations at each launch, for launches that are visited in order.
class LiveAllocations {
public:
  explicit LiveAllocations(const ProcessTrace &trace);
  /// Moves to a sequence number, which must not be below the last one.
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
