// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/EmulatedDevice.h"

#include "runtime/device/Check.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace kopt::runtime::emulated {
namespace {

/// Address space reserved for device memory. Pages take host memory only when they are used.
constexpr std::uint64_t kArenaBytes = 256ull << 30;

void *pointerOf(Address address) { return reinterpret_cast<void *>(address); }

/// A 64-bit hash of memory, eight bytes at a time. It only serves to notice that a launch sees
/// other data than before.
std::uint64_t mix(std::uint64_t hash, const void *data, std::size_t bytes) {
  const auto *at = static_cast<const unsigned char *>(data);
  std::uint64_t lanes[4] = {hash, ~hash, hash * 3, hash + 0x9E3779B97F4A7C15ull};
  std::size_t done = 0;
  for (; done + 32 <= bytes; done += 32)
    for (unsigned i = 0; i < 4; ++i) {
      std::uint64_t word;
      std::memcpy(&word, at + done + 8 * i, 8);
      lanes[i] = (lanes[i] ^ word) * 0x9E3779B97F4A7C15ull;
      lanes[i] ^= lanes[i] >> 29;
    }
  for (; done < bytes; ++done)
    lanes[0] = (lanes[0] ^ at[done]) * 0x100000001B3ull;
  return (lanes[0] ^ (lanes[1] << 1)) * 0xD6E8FEB86659FD93ull + (lanes[2] ^ (lanes[3] << 1)) +
         bytes;
}

} // namespace

EmulatedDevice::EmulatedDevice(GpuSpec gpu, std::unique_ptr<Arena> arena)
    : gpu_(std::move(gpu)), arena_(std::move(arena)),
      runner_(*arena_, [this](std::uint64_t address,
                              std::uint32_t bytes) { return describe(address, bytes); }),
      l2_(std::uint64_t(gpu_.l2Bytes)) {
  properties_.kind = "emulated";
  properties_.name = gpu_.name;
  properties_.arch = gpu_.arch;
  properties_.driver = "kopt emulated device";
  properties_.uuid = "emulated-" + gpu_.name;
  properties_.modelled = true;
  properties_.l2Bytes = std::uint64_t(gpu_.l2Bytes);
  properties_.multiprocessors = std::uint32_t(gpu_.multiprocessors);
  properties_.dramBytesPerSecond = gpu_.dramBytesPerSecond;
  properties_.storeBytesPerSecond = 128e6 * gpu_.smClockMHz * gpu_.multiprocessors;
  properties_.maxSharedPerBlock =
      std::uint32_t(std::min<double>(gpu_.sharedBytesPerBlock, double(Arena::kSharedWindow)));
  // Limit the size to a quarter of the host's memory, because the state of each byte needs memory
  // too.
  const std::uint64_t host =
      std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGESIZE));
  properties_.memoryBytes = std::min(
      {std::uint64_t(gpu_.memoryBytes), arena_->size() - Arena::kFirstAllocation, host / 4});
}

Status EmulatedDevice::load(const std::string &path, const std::string &symbol,
                            ModuleProperties &out) {
  Status status;
  std::unique_ptr<EmulatedModule> module = EmulatedModule::load(path, symbol, *arena_, status);
  if (!module)
    return status;
  out = {};
  out.module = ++lastModule_;
  out.symbol = module->info().kernelSymbol;
  out.sharedBytes = module->info().staticSharedBytes;
  out.maxThreads =
      module->info().maxThreads ? module->info().maxThreads : properties_.maxThreadsPerBlock;
  modules_[out.module] = std::move(module);
  return {};
}

Status EmulatedDevice::unload(std::uint32_t module) {
  if (modules_.erase(module) == 0)
    return {StatusCode::LaunchFailed, "no module " + std::to_string(module) + " is loaded"};
  return {};
}

Status EmulatedDevice::allocate(std::size_t bytes, Address &out) {
  std::byte *memory = arena_->allocatedBytes() + bytes > properties_.memoryBytes
                          ? nullptr
                          : arena_->allocate(bytes);
  if (!memory)
    return {StatusCode::NoMemory, "out of device memory: " + std::to_string(bytes) +
                                      " bytes wanted, " + std::to_string(arena_->allocatedBytes()) +
                                      " of " + std::to_string(properties_.memoryBytes) + " in use"};
  out = reinterpret_cast<Address>(memory);
  return {};
}

Status EmulatedDevice::release(Address address) {
  if (!arena_->release(pointerOf(address)))
    return {StatusCode::LaunchFailed, "release of an address that is not an allocation"};
  return {};
}

Status EmulatedDevice::checkRange(Address address, std::size_t bytes, const char *what) const {
  if (arena_->holds(pointerOf(address), bytes))
    return {};
  return {StatusCode::LaunchFailed,
          std::string(what) + " of " + std::to_string(bytes) + " bytes " +
              describe(address, std::uint32_t(std::min<std::size_t>(bytes, 1u << 30)))};
}

Status EmulatedDevice::write(Address to, const void *from, std::size_t bytes) {
  KOPT_CHECK(checkRange(to, bytes, "write"));
  std::memcpy(pointerOf(to), from, bytes);
  arena_->setState(pointerOf(to), bytes, kInitialised);
  return {};
}

Status EmulatedDevice::read(void *to, Address from, std::size_t bytes) {
  KOPT_CHECK(checkRange(from, bytes, "read"));
  std::memcpy(to, pointerOf(from), bytes);
  return {};
}

Status EmulatedDevice::poison(Address to, const void *from, std::size_t bytes) {
  KOPT_CHECK(checkRange(to, bytes, "write"));
  std::memcpy(pointerOf(to), from, bytes);
  arena_->setState(pointerOf(to), bytes, kAllocated);
  return {};
}

Status EmulatedDevice::variable(std::uint32_t module, const std::string &name, Address &out,
                                std::size_t &bytes) {
  const auto found = modules_.find(module);
  const std::byte *memory =
      found == modules_.end() ? nullptr : found->second->variable(name, bytes);
  if (!memory)
    return {StatusCode::LaunchFailed, "the module has no variable " + name};
  out = reinterpret_cast<Address>(memory);
  return {};
}

Status EmulatedDevice::protect(Address address, std::size_t bytes) {
  KOPT_CHECK(checkRange(address, bytes, "protection"));
  arena_->setState(pointerOf(address), bytes, kProtected);
  return {};
}

Status EmulatedDevice::copy(Address to, Address from, std::size_t bytes) {
  for (Address address : {to, from})
    KOPT_CHECK(checkRange(address, bytes, "copy"));
  std::memmove(pointerOf(to), pointerOf(from), bytes);
  const Address base = reinterpret_cast<Address>(arena_->base());
  std::uint8_t *states = arena_->state() + (to - base);
  std::memmove(states, arena_->state() + (from - base), bytes);
  std::replace(states, states + bytes, std::uint8_t(kProtected), std::uint8_t(kInitialised));
  return {};
}

Status EmulatedDevice::prepare(const LaunchRequest &request, Prepared &out) {
  auto fail = [](const std::string &what) { return Status{StatusCode::LaunchFailed, what}; };
  auto found = modules_.find(request.module);
  if (found == modules_.end())
    return fail("no module " + std::to_string(request.module) + " is loaded");
  out.module = found->second.get();
  const ModuleInfo &info = out.module->info();

  std::uint64_t threads = 1, blocks = 1;
  for (int i = 0; i < 3; ++i) {
    threads *= request.block[i];
    blocks *= request.grid[i];
  }
  const std::uint32_t most = info.maxThreads
                                 ? std::min(info.maxThreads, properties_.maxThreadsPerBlock)
                                 : properties_.maxThreadsPerBlock;
  if (threads == 0 || threads > most || request.block[2] > gpu::kMostThreadsInZ)
    return fail("a block of " + std::to_string(request.block[0]) + "x" +
                std::to_string(request.block[1]) + "x" + std::to_string(request.block[2]) +
                " threads; the kernel takes 1 to " + std::to_string(most) + ", at most 64 in z");
  if (blocks == 0 || request.grid[0] > gpu::kMostGrid[0] || request.grid[1] > gpu::kMostGrid[1] ||
      request.grid[2] > gpu::kMostGrid[2])
    return fail("a grid of " + std::to_string(request.grid[0]) + "x" +
                std::to_string(request.grid[1]) + "x" + std::to_string(request.grid[2]) +
                " blocks; none may be 0, and y and z at most 65535");
  const std::uint64_t shared = out.module->sharedBytes(request.sharedBytes);
  if (shared > properties_.maxSharedPerBlock)
    return fail(std::to_string(shared) + " bytes of shared memory a block; " + gpu_.name + " has " +
                std::to_string(properties_.maxSharedPerBlock));
  if (request.arguments.size() != info.parameterCount)
    return fail("the kernel has " + std::to_string(info.parameterCount) +
                " parameters, the launch " + std::to_string(request.arguments.size()) +
                " arguments");
  for (std::uint32_t i = 0; i < info.parameterCount; ++i) {
    const ParameterInfo &parameter = info.parameters[i];
    if (request.arguments[i].size() != parameter.bytes)
      return fail("parameter " + std::to_string(i) + " has " + std::to_string(parameter.bytes) +
                  " bytes, its argument " + std::to_string(request.arguments[i].size()));
    out.storage.emplace_back(parameter.bytes + parameter.alignment);
    auto at = reinterpret_cast<std::uint64_t>(out.storage.back().data());
    at = (at + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    std::memcpy(pointerOf(at), request.arguments[i].data(), parameter.bytes);
    out.arguments.push_back(pointerOf(at));
  }
  out.shape = {double(blocks), double(threads), double(shared)};
  return {};
}

Status EmulatedDevice::launch(const LaunchRequest &request) {
  Prepared prepared;
  KOPT_CHECK(prepare(request, prepared));
  RunOptions options;
  options.checkRaces = request.checkRaces;
  options.checkAcrossBlocks = request.checkAcrossBlocks;
  options.instructionLimit = request.instructionLimit;
  options.scheduleSeed = request.scheduleSeed;
  launching_ = &request;
  Status status = runner_.run(*prepared.module, request, prepared.arguments.data(), options);
  launching_ = nullptr;
  return status;
}

/// Prepares and executes one launch and counts everything, unless the same launch on the same data
/// was counted before. Does not look for races; launch() does.
Status EmulatedDevice::count(const LaunchRequest &request, Prepared &prepared,
                             const Counted *&out) {
  KOPT_CHECK(prepare(request, prepared));
  const std::uint64_t key = fingerprint(request);
  if (const auto known = counted_.find(key); known != counted_.end()) {
    out = &known->second;
    return {};
  }
  l2_.clear();
  const double resident = residentBlocks(gpu_, prepared.shape);
  const double l1 =
      std::max(8.0 * 1024,
               (gpu_.l1Bytes - resident * (prepared.shape.sharedPerBlock + gpu::kSharedOfSystem)) /
                   resident);
  WarpTrace trace(prepared.module->info(), reinterpret_cast<std::uint64_t>(arena_->base()),
                  arena_->size(), l2_, std::uint64_t(l1));
  RunOptions options;
  options.checkRaces = false;
  options.instructionLimit = request.instructionLimit;
  options.trace = &trace;
  launching_ = &request;
  Status status = runner_.run(*prepared.module, request, prepared.arguments.data(), options);
  launching_ = nullptr;
  if (!status.ok())
    return status;
  Counted &counted = counted_[key];
  counted = {trace.counts(), l2_.dirtySectors(), trace.lineCosts()};
  out = &counted;
  return {};
}

std::uint64_t EmulatedDevice::fingerprint(const LaunchRequest &request) const {
  std::uint64_t hash = mix(request.module, request.grid.data(), sizeof request.grid);
  hash = mix(hash, request.block.data(), sizeof request.block);
  hash = mix(hash, &request.sharedBytes, sizeof request.sharedBytes);
  hash = mix(hash, &request.instructionLimit, sizeof request.instructionLimit);
  for (const std::vector<std::byte> &argument : request.arguments)
    hash = mix(hash, argument.data(), argument.size());
  for (const auto &[offset, allocation] : arena_->allocations()) {
    hash = mix(hash, &offset, sizeof offset);
    hash = mix(hash, arena_->base() + offset, allocation.bytes);
  }
  return hash;
}

Status EmulatedDevice::time(const LaunchRequest &request, bool cold, double &seconds) {
  Prepared prepared;
  const Counted *counted = nullptr;
  KOPT_CHECK(count(request, prepared, counted));
  // In launches that are repeated back to back, data that fits in L2 stays there; data that does
  // not fit has been evicted by the next launch.
  LaunchCounts counts = counted->counts;
  const double touched = double(counts.dramReadSectors) * 32 + double(counted->dirtySectors) * 32;
  if (!cold && touched < 0.8 * gpu_.l2Bytes) {
    counts.l2Hits += counts.dramReadSectors;
    counts.dramReadSectors = counts.loadsBeyondL2 = counts.longestWarp.beyondL2 = 0;
  }
  seconds = rooflineTime(gpu_, prepared.shape, counts).seconds;
  return {};
}

Status EmulatedDevice::profile(const LaunchRequest &request, Counters &out,
                               std::vector<LineCost> *lines) {
  out.clear();
  Prepared prepared;
  const Counted *counted = nullptr;
  KOPT_CHECK(count(request, prepared, counted));
  out = makeCounters(gpu_, prepared.shape, counted->counts,
                     rooflineTime(gpu_, prepared.shape, counted->counts));
  if (lines)
    *lines = counted->lines;
  return {};
}

std::string EmulatedDevice::describe(std::uint64_t address, std::uint32_t bytes) const {
  const std::uint64_t base = reinterpret_cast<std::uint64_t>(arena_->base()),
                      offset = address - base;
  if (offset < Arena::kSharedWindow)
    return "at byte " + std::to_string(offset) + " of shared memory";
  bool inside = false;
  const Arena::Allocation *allocation = arena_->find(pointerOf(address), inside);
  if (!allocation && arena_->allocations().empty())
    return "at an address where nothing is allocated";
  if (!allocation)
    allocation = &arena_->allocations().begin()->second;
  // A negative index lands behind the previous allocation, so take the nearer of the two.
  auto next = arena_->allocations().upper_bound(offset);
  if (!inside && allocation->offset <= offset && next != arena_->allocations().end() &&
      next->first - offset < offset - (allocation->offset + allocation->bytes))
    allocation = &next->second;
  std::string name = "allocation " + std::to_string(allocation->number);
  if (launching_) {
    auto module = modules_.find(launching_->module);
    if (const char *variable =
            module == modules_.end() ? nullptr : module->second->variableAt(allocation->offset))
      name = std::string("device variable ") + variable;
    for (std::size_t i = 0; i < launching_->arguments.size(); ++i) {
      std::uint64_t value = 0;
      bool within = false;
      if (launching_->arguments[i].size() != sizeof value)
        continue;
      std::memcpy(&value, launching_->arguments[i].data(), sizeof value);
      if (arena_->find(pointerOf(value), within) == allocation && within) {
        name = "the buffer of parameter " + std::to_string(i);
        break;
      }
    }
  }
  const std::int64_t at = std::int64_t(offset - allocation->offset);
  std::string text = "at byte " + std::to_string(at) + " of " + name + " (" +
                     std::to_string(allocation->bytes) + " bytes";
  if (bytes > 1 && bytes <= 16 && at % std::int64_t(bytes) == 0)
    text += ", element " + std::to_string(at / std::int64_t(bytes)) + " of " +
            std::to_string(bytes) + " bytes each";
  return text + ")";
}

} // namespace kopt::runtime::emulated

namespace kopt::runtime {

std::unique_ptr<Device> openEmulatedDevice(const std::string &gpuSpecFile, std::string &why) {
  emulated::GpuSpec gpu;
  if (!emulated::GpuSpec::read(gpuSpecFile, gpu, why))
    return nullptr;
  std::unique_ptr<emulated::Arena> arena = emulated::Arena::create(emulated::kArenaBytes, why);
  if (!arena)
    return nullptr;
  return std::make_unique<emulated::EmulatedDevice>(std::move(gpu), std::move(arena));
}

} // namespace kopt::runtime
