// SPDX-License-Identifier: Apache-2.0
// Writes what the driver adapter reports as records of the log. It does not use CUDA: a kernel is a
// handle with a name and the sizes of its parameters. All functions may be called from any thread.
// A launch takes no lock and allocates nothing once its kernel is known.
#pragma once

#include "runtime/capture/AllocationMap.h"
#include "runtime/capture/Config.h"
#include "runtime/trace/LogWriter.h"
#include "runtime/trace/Trace.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace kopt::runtime::capture {

/// A kernel as the program launches it. Lives as long as the recorder.
struct KernelEntry {
  std::uint32_t id = 0;
  std::string symbol;
  bool layoutKnown = false;
  std::vector<trace::Parameter> parameters;
  std::uint32_t argumentBytes = 0;
  const SnapshotRule *rule = nullptr; ///< null: never snapshotted
  std::atomic<std::uint32_t> launches{0};
  std::mutex choosing; ///< guards chosenByClass
  std::map<std::array<std::uint32_t, 6>, std::uint64_t> chosenByClass;
};

struct LaunchFacts {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t sharedBytes = 0;
  std::uint32_t correlation = 0;
  std::uint64_t stream = 0, context = 0;
  std::uint16_t flags = 0; ///< trace::LaunchFlag
  /// The arguments: `parameters` has a pointer to each, `packed` holds all of them; both null:
  /// unknown.
  void *const *parameters = nullptr;
  const void *packed = nullptr;
  std::size_t packedBytes = 0;
};

/// The name and the parameters of a kernel, as the driver reports them.
struct KernelDescription {
  std::string symbol;
  bool layoutKnown = false;
  std::vector<trace::Parameter> parameters;
  std::string code{}; ///< as trace::Function::code
};

/// A kernel that a thread launched recently.
struct CachedKernel {
  const void *handle = nullptr;
  std::uint64_t generation = 0;
  KernelEntry *kernel = nullptr;
};

class Recorder {
public:
  Recorder(trace::LogFile &log, const Config &config)
      : log_(log), config_(config), generation_(nextGeneration()) {}
  Recorder(const Recorder &) = delete;
  Recorder &operator=(const Recorder &) = delete;

  AllocationMap &allocations() { return allocations_; }
  trace::LogFile &log() { return log_; }
  const Config &config() const { return config_; }

  void process(const trace::ProcessInfo &info);
  void context(std::uint64_t handle, int device, const std::string &name, const std::string &uuid);
  void allocated(const LiveAllocation &allocation);
  void freed(std::uint64_t base);
  void note(const std::string &text);

  /// The kernel of a handle. Calls `describe` for a handle that is not known.
  template <class Describe> KernelEntry &kernel(const void *handle, const Describe &describe) {
    CachedKernel &slot = cached_[(reinterpret_cast<std::uintptr_t>(handle) >> 4) % kCached];
    const std::uint64_t generation = generation_.load(std::memory_order_acquire);
    if (slot.handle != handle || slot.generation != generation)
      slot = {handle, generation, &lookUp(handle, describe)};
    return *slot.kernel;
  }
  /// From now on, the driver may reuse known handles for other kernels.
  void forgetHandles();
  /// The id of the kernel of that name; UINT32_MAX if it was not launched yet.
  std::uint32_t idOf(const std::string &symbol);

  /// The launch's number among those of its kernel, for wants() and launch().
  std::uint32_t count(KernelEntry &kernel) {
    return kernel.launches.fetch_add(1, std::memory_order_relaxed);
  }
  /// True if the rules ask for a snapshot of this launch, which then counts as taken.
  bool wants(KernelEntry &kernel, std::uint32_t ordinal, const LaunchFacts &facts) const;
  /// Writes the arguments to `to`, each at its offset, at most kMostArgumentBytes in total. Returns
  /// their size.
  static constexpr std::size_t kMostArgumentBytes = 32764; ///< CUDA's limit
  static std::size_t pack(const KernelEntry &kernel, const LaunchFacts &facts, std::byte *to);
  void launch(KernelEntry &kernel, std::uint32_t ordinal, const LaunchFacts &facts,
              std::uint64_t sequence, const std::byte *arguments, std::size_t bytes);
  void graphNode(std::uint64_t graph, std::uint64_t node, const KernelEntry &kernel,
                 const LaunchFacts &facts, const std::byte *arguments, std::size_t bytes);
  void graphLaunch(std::uint64_t graph, std::size_t kernels, const LaunchFacts &facts);
  void duration(std::uint32_t correlation, std::uint32_t kernel, std::uint64_t node,
                std::uint64_t begin, std::uint64_t end);
  /// `stackBytes`: see trace::Snapshot; for the snapshot before the launch only.
  void snapshot(std::uint64_t launch, bool after, const std::vector<trace::SnapshotItem> &items,
                std::uint32_t stackBytes = 0);
  void notSnapshotted(std::uint64_t launch, const std::string &reason);

  std::uint64_t nextSequence() { return log_.nextSequence(); }
  /// Writes the last records: the launches past the limit, and that the program ended normally.
  void finish();

private:
  static constexpr std::size_t kCached = 32;
  static inline thread_local CachedKernel cached_[kCached];
  static std::uint64_t nextGeneration();
  KernelEntry &lookUp(const void *handle, const std::function<KernelDescription()> &describe);
  /// `sequence` 0: the next one.
  void append(trace::RecordKind kind, const trace::RecordPayload &payload, std::uint16_t flags = 0,
              std::uint64_t sequence = 0);
  static trace::RecordPayload &payload();
  template <class... Fields> void write(trace::RecordKind kind, const Fields &...fields) {
    trace::RecordPayload &to = payload();
    to.put(fields...);
    append(kind, to);
  }
  std::uint64_t countLaunches(std::uint64_t more);

  trace::LogFile &log_;
  const Config &config_;
  AllocationMap allocations_;
  std::mutex kernelsMutex_;
  std::unordered_map<const void *, KernelEntry *> byHandle_;
  std::unordered_map<std::string, std::unique_ptr<KernelEntry>> bySymbol_;
  std::atomic<std::uint64_t> generation_; ///< of the handles; none is ever used twice
};

} // namespace kopt::runtime::capture
