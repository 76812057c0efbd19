// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/Recorder.h"

#include <algorithm>
#include <cstring>

namespace kopt::runtime::capture {

namespace {

using trace::RecordKind;
using trace::RecordPayload;

/// Appenders that no thread uses now. A thread that ends returns its appender, and another thread
/// continues to fill that segment.
struct Pool {
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, trace::Appender *>> idle; ///< by the log's id
};
Pool &pool() {
  static Pool *const shared = new Pool; // outlives every thread
  return *shared;
}

// Plain pointers, because handlers of exit() may use them after the thread's destructors ran.
thread_local trace::Appender *ownAppender = nullptr;
thread_local std::uint64_t ownLog = 0;
thread_local RecordPayload *ownPayload = nullptr;

struct GiveBack {
  ~GiveBack() {
    delete ownPayload;
    ownPayload = nullptr;
    if (!ownAppender)
      return;
    const std::lock_guard lock(pool().mutex);
    pool().idle.emplace_back(ownLog, ownAppender);
    ownAppender = nullptr;
  }
  bool armed = false;
};
thread_local GiveBack giveBack;

trace::Appender &appenderOf(trace::LogFile &log) {
  if (ownAppender && ownLog == log.id())
    return *ownAppender;
  const std::lock_guard lock(pool().mutex);
  if (ownAppender)
    pool().idle.emplace_back(ownLog, ownAppender);
  else
    giveBack.armed = true;
  ownLog = log.id();
  ownAppender = nullptr;
  auto &idle = pool().idle;
  for (auto free = idle.begin(); free != idle.end(); ++free)
    if (free->first == log.id()) {
      ownAppender = free->second;
      idle.erase(free);
      break;
    }
  if (!ownAppender)
    ownAppender = new trace::Appender(log);
  return *ownAppender;
}

template <class Payload>
void putLaunch(Payload &to, const KernelEntry &kernel, std::uint32_t ordinal,
               const LaunchFacts &facts, const std::byte *arguments, std::size_t bytes) {
  to.put(kernel.id, ordinal, facts.grid, facts.block, facts.sharedBytes, facts.correlation,
         facts.stream, facts.context, std::uint32_t(bytes));
  to.putBytes(arguments, bytes);
}

std::uint16_t flagsOf(const KernelEntry &kernel, const LaunchFacts &facts) {
  const bool unknown = !kernel.layoutKnown && !facts.packed;
  return std::uint16_t(facts.flags | (unknown ? trace::kLayoutUnknown : 0));
}

} // namespace

RecordPayload &Recorder::payload() {
  if (!ownPayload) {
    ownPayload = new RecordPayload;
    // Its destructor frees the payload; code that runs later (handlers of exit()) gets another one.
    giveBack.armed = true;
  }
  ownPayload->clear();
  return *ownPayload;
}

void Recorder::append(RecordKind kind, const RecordPayload &payload, std::uint16_t flags,
                      std::uint64_t sequence) {
  appenderOf(log_).append(kind, flags, sequence ? sequence : nextSequence(), payload);
}

void Recorder::process(const trace::ProcessInfo &info) {
  RecordPayload &to = payload();
  to.put(info.pid, info.parent, info.driverVersion, info.cuptiVersion, info.program,
         info.programHash, info.directory);
  // A long command line is cut; its first words identify the program.
  std::size_t count = 0, bytes = 0;
  for (; count < info.arguments.size(); ++count) {
    bytes += std::min(info.arguments[count].size(), trace::kMaxTextBytes) + 4;
    if (bytes > trace::kMaxRecordBytes / 2)
      break;
  }
  to.put(std::uint32_t(count));
  for (std::size_t i = 0; i < count; ++i)
    to.put(info.arguments[i]);
  append(RecordKind::Process, to);
}

void Recorder::context(std::uint64_t handle, int device, const std::string &name,
                       const std::string &uuid) {
  write(RecordKind::Context, handle, std::int32_t(device), name, uuid);
}

void Recorder::allocated(const LiveAllocation &allocation) {
  allocations_.add(allocation);
  write(RecordKind::Allocation, allocation.base, allocation.bytes, std::uint32_t(allocation.kind),
        allocation.name);
}

void Recorder::freed(std::uint64_t base) {
  allocations_.remove(base);
  write(RecordKind::Free, base);
}

void Recorder::note(const std::string &text) { write(RecordKind::Note, text); }

std::uint64_t Recorder::nextGeneration() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

KernelEntry &Recorder::lookUp(const void *handle,
                              const std::function<KernelDescription()> &describe) {
  {
    const std::lock_guard lock(kernelsMutex_);
    if (const auto known = byHandle_.find(handle); known != byHandle_.end())
      return *known->second;
  }
  // Ask the driver without holding the lock: the driver may wait for a CUPTI thread that needs the
  // lock.
  KernelDescription description = describe();
  const std::lock_guard lock(kernelsMutex_);
  std::unique_ptr<KernelEntry> &entry = bySymbol_[description.symbol];
  if (!entry) {
    entry = std::make_unique<KernelEntry>();
    entry->id = std::uint32_t(bySymbol_.size() - 1);
    entry->symbol = description.symbol;
    if (const auto sizes = config_.parameterSizes.find(description.symbol);
        description.parameters.empty() && sizes != config_.parameterSizes.end()) {
      // Place each parameter at the next multiple of its alignment, which is taken from its size:
      // the largest power of two up to 16 that divides it.
      std::uint32_t offset = 0;
      for (const std::uint32_t size : sizes->second) {
        const std::uint32_t align = size % 16 == 0  ? 16
                                    : size % 8 == 0 ? 8
                                    : size % 4 == 0 ? 4
                                    : size % 2 == 0 ? 2
                                                    : 1;
        offset = (offset + align - 1) / align * align;
        description.parameters.push_back({offset, size});
        offset += size;
      }
      description.layoutKnown = true;
    }
    entry->layoutKnown = description.layoutKnown;
    entry->parameters = std::move(description.parameters);
    for (const trace::Parameter &parameter : entry->parameters)
      entry->argumentBytes = std::max(entry->argumentBytes, parameter.offset + parameter.bytes);
    if (entry->argumentBytes > kMostArgumentBytes) {
      entry->layoutKnown = false;
      entry->parameters.clear();
      entry->argumentBytes = 0;
    }
    for (const SnapshotRule &rule : config_.rules)
      if (!entry->rule &&
          (rule.bySymbol ? rule.name == entry->symbol : namesKernel(rule.name, entry->symbol)))
        entry->rule = &rule;
    RecordPayload &to = payload();
    to.put(entry->id, std::uint32_t(entry->layoutKnown), entry->symbol,
           std::uint32_t(entry->parameters.size()));
    for (const trace::Parameter &parameter : entry->parameters)
      to.put(parameter.offset, parameter.bytes);
    to.put(description.code);
    append(RecordKind::Function, to);
  }
  byHandle_[handle] = entry.get();
  return *entry;
}

void Recorder::forgetHandles() {
  const std::lock_guard lock(kernelsMutex_);
  byHandle_.clear();
  generation_.store(nextGeneration(), std::memory_order_release);
}

std::uint32_t Recorder::idOf(const std::string &symbol) {
  const std::lock_guard lock(kernelsMutex_);
  const auto found = bySymbol_.find(symbol);
  return found == bySymbol_.end() ? UINT32_MAX : found->second->id;
}

bool Recorder::wants(KernelEntry &kernel, std::uint32_t ordinal, const LaunchFacts &facts) const {
  if (!kernel.rule)
    return false;
  const SnapshotRule &rule = *kernel.rule;
  switch (rule.how) {
  case SnapshotRule::How::First:
    return ordinal < rule.count;
  case SnapshotRule::How::Every:
    return ordinal % rule.count == 0;
  case SnapshotRule::How::Listed:
    return std::binary_search(rule.ordinals.begin(), rule.ordinals.end(), ordinal);
  case SnapshotRule::How::PerClass: {
    const std::lock_guard lock(kernel.choosing);
    std::uint64_t &chosen = kernel.chosenByClass[{facts.grid[0], facts.grid[1], facts.grid[2],
                                                  facts.block[0], facts.block[1], facts.block[2]}];
    return chosen < rule.count ? (++chosen, true) : false;
  }
  }
  return false;
}

std::size_t Recorder::pack(const KernelEntry &kernel, const LaunchFacts &facts, std::byte *to) {
  if (facts.packed) {
    const std::size_t bytes = std::min(facts.packedBytes, kMostArgumentBytes);
    std::memcpy(to, facts.packed, bytes);
    return bytes;
  }
  if (!facts.parameters || !kernel.layoutKnown)
    return 0;
  std::memset(to, 0, kernel.argumentBytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    if (facts.parameters[i])
      std::memcpy(to + kernel.parameters[i].offset, facts.parameters[i],
                  kernel.parameters[i].bytes);
  return kernel.argumentBytes;
}

/// Counts in the log's header, so that the number survives if the program is killed.
std::uint64_t Recorder::countLaunches(std::uint64_t more) {
  return std::atomic_ref(log_.header().countedLaunches).fetch_add(more, std::memory_order_relaxed);
}

void Recorder::launch(KernelEntry &kernel, std::uint32_t ordinal, const LaunchFacts &facts,
                      std::uint64_t sequence, const std::byte *arguments, std::size_t bytes) {
  if (countLaunches(1) >= config_.maxLaunches)
    return;
  RecordPayload &to = payload();
  putLaunch(to, kernel, ordinal, facts, arguments, bytes);
  append(RecordKind::Launch, to, flagsOf(kernel, facts), sequence);
}

void Recorder::graphNode(std::uint64_t graph, std::uint64_t node, const KernelEntry &kernel,
                         const LaunchFacts &facts, const std::byte *arguments, std::size_t bytes) {
  RecordPayload &to = payload();
  to.put(graph, node);
  putLaunch(to, kernel, 0, facts, arguments, bytes);
  append(RecordKind::GraphNode, to, flagsOf(kernel, facts));
}

void Recorder::graphLaunch(std::uint64_t graph, std::size_t kernels, const LaunchFacts &facts) {
  if (countLaunches(kernels) < config_.maxLaunches)
    write(RecordKind::GraphLaunch, graph, facts.stream, facts.context, facts.correlation);
}

void Recorder::duration(std::uint32_t correlation, std::uint32_t kernel, std::uint64_t node,
                        std::uint64_t begin, std::uint64_t end) {
  write(RecordKind::Duration, correlation, kernel, node, begin, std::max(begin, end));
}

void Recorder::snapshot(std::uint64_t launch, bool after,
                        const std::vector<trace::SnapshotItem> &items, std::uint32_t stackBytes) {
  // Items in a record; it fits, because names and reasons are short.
  constexpr std::size_t kEach = 256;
  for (std::size_t first = 0; first == 0 || first < items.size(); first += kEach) {
    const std::size_t count = std::min(kEach, items.size() - first);
    RecordPayload &to = payload();
    to.put(launch, std::uint32_t(after), std::uint32_t(count));
    for (std::size_t i = first; i < first + count; ++i) {
      const trace::SnapshotItem &item = items[i];
      to.put(item.base, item.bytes, std::uint8_t(item.kind), item.depth, std::uint8_t(item.stored),
             item.hash, std::string_view(item.name).substr(0, 400),
             std::string_view(item.reason).substr(0, 400));
    }
    if (!after)
      to.put(stackBytes);
    append(RecordKind::Snapshot, to);
  }
}

void Recorder::notSnapshotted(std::uint64_t launch, const std::string &reason) {
  write(RecordKind::NotSnapshotted, launch, reason);
}

void Recorder::finish() {
  if (countLaunches(0) > config_.maxLaunches) {
    const std::lock_guard lock(kernelsMutex_);
    for (const auto &[symbol, kernel] : bySymbol_)
      write(RecordKind::Counted, kernel->id, std::uint64_t(kernel->launches.load()));
  }
  log_.header().ended = 1;
}

} // namespace kopt::runtime::capture
