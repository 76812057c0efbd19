// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/execute/BlockRunner.h"

#include "runtime/device/GpuLimits.h"
#include "runtime/emulated/execute/SpecialRegisters.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <random>
#include <sys/mman.h>

namespace kopt::runtime::emulated {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

constexpr std::size_t kStackBytes = 256 * 1024, kGuardBytes = 4096;
/// The number of instructions after which a thread gives way to others, for example if it waits for
/// another one in a loop.
constexpr std::int64_t kSlice = 1 << 20;
/// Entries of one lane's trace. The traces of 32 lanes fit in the second-level cache.
constexpr std::size_t kTraceEntries = 2048;

/// Bits that the seed decides, as shared memory may hold before any thread sets it.
void draw(std::uint64_t seed, std::byte *to, std::size_t bytes) {
  std::mt19937_64 random(seed);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random();
    std::memcpy(to + at, &bits, std::min(sizeof bits, bytes - at));
  }
}

sigjmp_buf faultJump; ///< where the handler jumps to; set before a fiber is entered
volatile int lastSignal = 0;
volatile std::uint64_t lastAddress = 0;
alignas(16) char handlerStack[64 * 1024];

void onSignal(int signal, siginfo_t *info, void *) {
  lastSignal = signal;
  lastAddress = reinterpret_cast<std::uint64_t>(info->si_addr);
  siglongjmp(faultJump, 1);
}

/// Describes the signal, for the finding.
std::string faultText() {
  if (lastSignal == SIGSEGV && lastAddress < machine.stackLow &&
      lastAddress + 65536 > machine.stackLow)
    return "stack overflow: more than 252 KiB of local memory in one thread";
  switch (lastSignal) {
  case SIGSEGV:
  case SIGBUS:
    return "access to an invalid address";
  case SIGFPE:
    return "arithmetic exception";
  default:
    return "illegal instruction";
  }
}

/// Turns a signal that a kernel raises (for example when its stack reaches the guard page) into a
/// finding: installs the handlers on a separate stack, and restores the old ones in its destructor.
class FaultGuard {
public:
  FaultGuard() {
    stack_t stack{};
    stack.ss_sp = handlerStack;
    stack.ss_size = sizeof handlerStack;
    sigaltstack(&stack, &previousStack_);
    struct sigaction action{};
    action.sa_sigaction = onSignal;
    // SA_NODEFER, because the handler never returns and the signal would stay masked.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 4; ++i)
      sigaction(kSignals[i], &action, &previous_[i]);
  }

  ~FaultGuard() {
    for (int i = 0; i < 4; ++i)
      sigaction(kSignals[i], &previous_[i], nullptr);
    sigaltstack(&previousStack_, nullptr);
  }
  FaultGuard(const FaultGuard &) = delete;
  FaultGuard &operator=(const FaultGuard &) = delete;

private:
  static constexpr int kSignals[4] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  struct sigaction previous_[4];
  stack_t previousStack_;
};

} // namespace

BlockRunner *BlockRunner::running = nullptr;

BlockRunner::BlockRunner(Arena &arena,
                         std::function<std::string(std::uint64_t, std::uint32_t)> describe)
    : arena_(arena), describe_(std::move(describe)) {}

BlockRunner::~BlockRunner() {
  if (stacks_)
    munmap(stacks_, gpu::kMostThreads * kStackBytes);
}

Status BlockRunner::run(const EmulatedModule &module, const LaunchRequest &request,
                        void **arguments, const RunOptions &options) {
  if (!stacks_) {
    void *memory = mmap(nullptr, gpu::kMostThreads * kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
      return {StatusCode::DeviceError, "no address space for the stacks of the emulated threads"};
    stacks_ = static_cast<std::byte *>(memory);
    for (std::uint32_t i = 0; i < gpu::kMostThreads; ++i)
      mprotect(stacks_ + i * kStackBytes, kGuardBytes, PROT_NONE);
  }
  module_ = &module;
  arguments_ = arguments;
  options_ = options;
  schedule_ = Schedule(options.scheduleSeed);
  threads_ = request.block[0] * request.block[1] * request.block[2];
  instructions_.begin(options.instructionLimit);
  finding_ = {};
  lanes_.resize(std::max<std::size_t>(lanes_.size(), threads_));
  intervals_.resize(threads_);
  for (std::uint32_t t = 0; t < threads_; ++t)
    lanes_[t].position = {t % request.block[0], t / request.block[0] % request.block[1],
                          t / request.block[0] / request.block[1]};

  machine.base = reinterpret_cast<std::uint64_t>(arena_.base());
  machine.size = arena_.size();
  machine.state = arena_.state();
  machine.cells = arena_.cells();
  machine.sites = module.info().sites;
  machine.blocks = module.info().blocks;
  machine.checkRaces = options.checkRaces;
  machine.checkAcrossBlocks = options.checkRaces && options.checkAcrossBlocks;
  machine.order.beginLaunch();
  machine.tracing = options.trace != nullptr;
  machine.suspect.pending = false;
  if (machine.lastInterval > 0xc0000000u) {
    // Interval numbers are about to wrap around: forget all recorded accesses.
    madvise(machine.cells, arena_.size() / 4 * sizeof(WordCell), MADV_DONTNEED);
    intervals_.forget();
    machine.lastInterval = 0;
  }
  machine.launchInterval = machine.lastInterval + 1;
  setDimensions(request.block, request.grid);
  setUnset(schedule_.unset());

  const std::uint64_t shared = module.sharedBytes(request.sharedBytes);
  running = this;
  FaultGuard guard;
  const std::uint64_t width = request.grid[0], rows = request.grid[1],
                      blocks = width * rows * request.grid[2];
  for (std::uint64_t turn = 0; turn < blocks && finding_.ok(); ++turn) {
    const std::uint64_t block = schedule_.block(turn, blocks);
    setBlock({std::uint32_t(block % width), std::uint32_t(block / width % rows),
              std::uint32_t(block / width / rows)});
    intervals_.beginPhase();
    machine.blockInterval = machine.phase;
    machine.order.beginBlock(machine.blockInterval);
    // What the last block left must not count as initialised here.
    arena_.setState(arena_.base(), Arena::kSharedWindow < shared ? Arena::kSharedWindow : shared,
                    request.readsUnsetShared ? kInitialised : kAllocated);
    if (shared < previousShared_)
      arena_.setState(arena_.base() + shared, previousShared_ - shared, kUnallocated);
    previousShared_ = shared;
    if (request.readsUnsetShared)
      draw(request.scratchSeed + block, arena_.base(), shared);
    else
      std::memset(arena_.base(), 0xCB, shared);
    if (options_.trace)
      options_.trace->beginBlock();
    runBlock();
  }
  running = nullptr;
  return finding_;
}

void BlockRunner::fiberMain(transfer_t from) {
  BlockRunner &self = *running;
  self.scheduler_ = from.fctx;
  self.module_->info().call(self.module_->info().kernel, self.arguments_);
  self.park(Lane::Status::Returned);
  __builtin_unreachable();
}

void BlockRunner::runBlock() {
  for (std::uint32_t t = 0; t < threads_; ++t) {
    Lane &lane = lanes_[t];
    lane.context =
        make_fcontext(stacks_ + (t + 1) * kStackBytes, kStackBytes - kGuardBytes, &fiberMain);
    lane.status = Lane::Status::Ready;
    lane.fenced = lane.looked = false;
    lane.callKey = 0;
    lane.copies.clear();
    lane.traced = 0;
    if (machine.tracing && lane.trace.empty())
      lane.trace.resize(kTraceEntries);
  }
  const std::uint32_t warps = (threads_ + 31) / 32;
  for (;;) {
    bool live = false, ready = false;
    for (const std::uint32_t warp : schedule_.warps(warps)) {
      ready |= advanceWarp(warp);
      if (!finding_.ok())
        return;
    }
    for (std::uint32_t t = 0; t < threads_; ++t)
      live |= lanes_[t].status != Lane::Status::Returned;
    if (!live)
      return;
    if (ready)
      continue;
    if (!completeBarrier())
      return reportStuck();
  }
}

/// Runs the warp until none of its lanes can continue. True if some lanes only gave way.
bool BlockRunner::advanceWarp(std::uint32_t warp) {
  const std::uint32_t first = warp * 32, count = std::min(32u, threads_ - first);
  intervals_.enterWarp(warp);
  for (;;) {
    bool gaveWay = false;
    for (const std::uint32_t lane : schedule_.lanes()) {
      const std::uint32_t t = first + lane;
      if (lane >= count || lanes_[t].status != Lane::Status::Ready)
        continue;
      resume(t);
      if (!finding_.ok())
        return false;
      gaveWay |= lanes_[t].status == Lane::Status::Ready;
    }
    if (machine.tracing)
      mergeTraces(warp);
    bool progress = false;
    for (std::uint32_t t = first; t < first + count; ++t)
      if (lanes_[t].status == Lane::Status::TraceFull) {
        lanes_[t].status = Lane::Status::Ready;
        progress = true;
      }
    if (completeWarpOperations(first, count))
      progress = true;
    if (!progress || !finding_.ok())
      return gaveWay;
  }
}

void BlockRunner::resume(std::uint32_t thread) {
  Lane &lane = lanes_[thread];
  current_ = thread;
  machine.thread = thread;
  intervals_.enter(thread);
  machine.fenced = lane.fenced;
  machine.looked = lane.looked;
  machine.stackHigh = reinterpret_cast<std::uint64_t>(stacks_ + (thread + 1) * kStackBytes);
  machine.stackLow = machine.stackHigh - kStackBytes + kGuardBytes;
  setThread(lane.position, lane.callKey);
  if (machine.tracing) {
    machine.cursor = lane.trace.data() + lane.traced;
    machine.hardEnd = lane.trace.data() + lane.trace.size();
    machine.softEnd = machine.hardEnd - std::min<std::size_t>(256, lane.trace.size() / 2);
  }
  instructions_.give(schedule_.turn(kSlice));

  if (sigsetjmp(faultJump, 0) == 0) {
    transfer_t back = jump_fcontext(lane.context, nullptr);
    lane.context = back.fctx;
  } else {
    // The fiber raised a signal and is abandoned.
    finding_ = {StatusCode::Fault, faultText() + ", " + runningThreadText()};
    return;
  }
  if (!finding_.ok())
    return;
  lane.fenced = machine.fenced;
  lane.looked = machine.looked;
  lane.callKey = currentCallKey();
  if (machine.tracing)
    lane.traced = std::size_t(machine.cursor - lane.trace.data());
  instructions_.take();
}

void BlockRunner::park(Lane::Status status) {
  judgePendingStore();
  lanes_[current_].status = status;
  transfer_t back = jump_fcontext(scheduler_, nullptr);
  scheduler_ = back.fctx;
}

void BlockRunner::end(StatusCode code, const std::string &what) {
  finding_ = {code, what};
  jump_fcontext(scheduler_, nullptr);
  __builtin_unreachable();
}

void BlockRunner::sliceEnded() {
  const std::uint64_t limit = instructions_.limit();
  if (limit && instructions_.now() > limit)
    end(StatusCode::TimedOut, "more than " + std::to_string(limit) +
                                  " instructions; the last one by " + runningThreadText());
  park(Lane::Status::Ready);
}

void BlockRunner::beforeAtomic() {
  if (schedule_.givesWay())
    park(Lane::Status::Ready);
}

void BlockRunner::traceFull() { park(Lane::Status::TraceFull); }

void BlockRunner::growTrace() {
  Lane &lane = lanes_[current_];
  const std::size_t used = std::size_t(machine.cursor - lane.trace.data());
  lane.trace.resize(lane.trace.size() * 2);
  machine.cursor = lane.trace.data() + used;
  machine.hardEnd = lane.trace.data() + lane.trace.size();
  machine.softEnd = machine.hardEnd - lane.trace.size() / 2;
}

int BlockRunner::waitAtBarrier(int predicate, int mode, std::uint32_t site) {
  Lane &lane = lanes_[current_];
  lane.value = predicate != 0;
  lane.mode = mode;
  lane.site = site;
  park(Lane::Status::AtBarrier);
  return int(lane.result);
}

std::uint64_t BlockRunner::waitInWarp(WarpOperation operation, std::uint32_t mask, int mode,
                                      std::uint64_t value, int argument, int width,
                                      std::uint32_t site) {
  Lane &lane = lanes_[current_];
  if (operation != WarpOperation::ActiveMask && !(mask >> (current_ & 31) & 1u))
    end(StatusCode::Divergence, runningThreadText() + " calls a warp operation at " +
                                    siteText(site) +
                                    " with a mask that does not name its own lane");
  lane.operation = operation;
  lane.mask = mask;
  lane.mode = mode;
  lane.value = value;
  lane.argument = argument;
  lane.width = width;
  lane.site = site;
  park(Lane::Status::AtWarpOperation);
  return lane.result;
}

bool BlockRunner::completeWarpOperations(std::uint32_t first, std::uint32_t count) {
  bool any = false;
  for (std::uint32_t t = first; t < first + count; ++t) {
    const Lane &lane = lanes_[t];
    if (lane.status != Lane::Status::AtWarpOperation || lane.operation == WarpOperation::ActiveMask)
      continue;
    std::uint32_t members = 0;
    bool complete = true;
    for (std::uint32_t other = first; other < first + count; ++other) {
      if (!(lane.mask >> (other & 31) & 1u) || lanes_[other].status == Lane::Status::Returned)
        continue;
      const Lane &peer = lanes_[other];
      complete &= peer.status == Lane::Status::AtWarpOperation &&
                  peer.operation == lane.operation && peer.mask == lane.mask &&
                  peer.mode == lane.mode;
      members |= 1u << (other & 31);
    }
    if (!complete)
      continue;
    if (lane.operation == WarpOperation::Barrier)
      intervals_.passWarpBarrier(first, count, lane.mask);
    finishWarpOperation(first, members);
    any = true;
  }
  if (any)
    return true;
  // The active mask is the set of lanes that wait at the same place when no lane can continue.
  for (std::uint32_t t = first; t < first + count; ++t) {
    if (lanes_[t].status != Lane::Status::AtWarpOperation)
      continue;
    if (lanes_[t].operation != WarpOperation::ActiveMask)
      continue;
    std::uint32_t members = 0;
    for (std::uint32_t other = first; other < first + count; ++other)
      if (lanes_[other].status == Lane::Status::AtWarpOperation &&
          lanes_[other].operation == WarpOperation::ActiveMask &&
          lanes_[other].site == lanes_[t].site)
        members |= 1u << (other & 31);
    finishWarpOperation(first, members);
    any = true;
  }
  return any;
}

void BlockRunner::finishWarpOperation(std::uint32_t first, std::uint32_t members) {
  std::array<LaneRequest, 32> requests{};
  std::array<std::uint64_t, 32> results{};
  WarpOperation operation = WarpOperation::Barrier;
  int mode = 0;
  for (std::uint32_t i = 0; i < 32; ++i)
    if (members >> i & 1u) {
      const Lane &lane = lanes_[first + i];
      requests[i] = {lane.value, lane.argument, lane.width};
      operation = lane.operation;
      mode = lane.mode;
    }
  exchange(operation, mode, members, requests, results);
  for (std::uint32_t i = 0; i < 32; ++i)
    if (members >> i & 1u) {
      lanes_[first + i].result = results[i];
      lanes_[first + i].status = Lane::Status::Ready;
    }
}

/// Lets the threads pass __syncthreads() if all threads that have not returned wait at the same
/// one.
bool BlockRunner::completeBarrier() {
  const Lane *arrived = nullptr;
  std::uint64_t count = 0, waiting = 0;
  for (std::uint32_t t = 0; t < threads_; ++t) {
    const Lane &lane = lanes_[t];
    if (lane.status == Lane::Status::Returned)
      continue;
    if (lane.status != Lane::Status::AtBarrier)
      return false;
    if (arrived && (arrived->mode != lane.mode || siteText(arrived->site) != siteText(lane.site)))
      return false;
    arrived = &lane;
    count += lane.value;
    ++waiting;
  }
  for (std::uint32_t t = 0; t < threads_; ++t) {
    Lane &lane = lanes_[t];
    if (lane.status != Lane::Status::AtBarrier)
      continue;
    lane.result = lane.mode == 1   ? count
                  : lane.mode == 2 ? count == waiting
                  : lane.mode == 3 ? count != 0
                                   : 0;
    lane.status = Lane::Status::Ready;
    lane.fenced = lane.looked = false;
  }
  intervals_.beginPhase();
  return true;
}

std::string BlockRunner::waitingText(std::uint32_t thread) const {
  const Lane &lane = lanes_[thread];
  std::string what =
      lane.status == Lane::Status::AtBarrier ? "__syncthreads()" : "a warp operation";
  if (lane.status == Lane::Status::AtWarpOperation && lane.operation != WarpOperation::ActiveMask) {
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%08x", lane.mask);
    what += std::string(" with mask ") + mask;
  }
  return "thread " + positionText(lane.position) + " waits at " + what + " in " +
         siteText(lane.site);
}

void BlockRunner::reportStuck() {
  std::string text;
  std::vector<std::string> seen;
  for (std::uint32_t t = 0; t < threads_; ++t) {
    if (lanes_[t].status == Lane::Status::Returned)
      continue;
    const std::string place = siteText(lanes_[t].site) + std::to_string(int(lanes_[t].status)) +
                              std::to_string(lanes_[t].mask);
    if (std::find(seen.begin(), seen.end(), place) != seen.end())
      continue;
    seen.push_back(place);
    if (seen.size() > 3) {
      text += ", …";
      break;
    }
    text += (text.empty() ? "" : ", ") + waitingText(t);
  }
  finding_ = {StatusCode::Divergence, "threads of block " + positionText(currentBlock()) +
                                          " wait for each other forever: " + text};
}

void BlockRunner::mergeTraces(std::uint32_t warp) {
  std::array<std::pair<const TraceEntry *, const TraceEntry *>, 32> traces{};
  const std::uint32_t first = warp * 32, count = std::min(32u, threads_ - first);
  for (std::uint32_t i = 0; i < count; ++i) {
    Lane &lane = lanes_[first + i];
    traces[i] = {lane.trace.data(), lane.trace.data() + lane.traced};
    lane.traced = 0;
  }
  options_.trace->merge(warp, traces);
}

} // namespace kopt::runtime::emulated
