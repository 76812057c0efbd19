// SPDX-License-Identifier: Apache-2.0
// Runs the blocks one after another, the threads of each as fibers in one thread of the process,
// and decides which fiber may continue. Barriers, shuffles and votes complete exactly when the CUDA
// programming guide allows it.
//
// Where the guide leaves a choice: threads that have returned do not count for __syncthreads()
// (compute capability 7.0 and newer); a mask may name lanes that have returned; lanes take part in
// the same warp operation if its kind and mask are equal, wherever they call it; __syncthreads() at
// different lines is divergence even if it would not hang.
#pragma once

#include "runtime/emulated/execute/AsyncCopies.h"
#include "runtime/emulated/execute/Intervals.h"
#include "runtime/emulated/execute/Machine.h"
#include "runtime/emulated/execute/Schedule.h"
#include "runtime/emulated/execute/WarpExchange.h"
#include "runtime/emulated/model/WarpTrace.h"
#include "runtime/emulated/module/EmulatedModule.h"

#include <algorithm>
#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <functional>
#include <string>
#include <vector>

namespace kopt::runtime::emulated {

struct Lane {
  enum class Status : std::uint8_t { Ready, TraceFull, AtBarrier, AtWarpOperation, Returned };
  boost::context::detail::fcontext_t context = nullptr;
  Status status = Status::Returned;
  bool fenced = false, looked = false;
  std::array<std::uint32_t, 3> position{};
  std::uint64_t callKey = 0;
  // What the lane waits for.
  WarpOperation operation = WarpOperation::Barrier;
  std::uint32_t mask = 0, site = 0;
  int mode = 0, argument = 0, width = 32;
  std::uint64_t value = 0, result = 0;
  AsyncCopies copies;
  std::vector<TraceEntry> trace;
  std::size_t traced = 0;
};

/// How many instructions the threads of a launch have executed, of those that they may.
class InstructionCount {
public:
  void begin(std::uint64_t limit) { limit_ = limit, ended_ = 0; }
  /// Lets the next thread execute at most `wanted` and, if there is a limit, one more than are
  /// left.
  void give(std::int64_t wanted) {
    const std::uint64_t left = limit_ ? limit_ - ended_ + 1 : std::uint64_t(wanted);
    machine.slice = given_ = std::int64_t(std::min(std::uint64_t(wanted), left));
  }
  /// That thread has given way.
  void take() { ended_ = now(); }
  std::uint64_t now() const { return ended_ + std::uint64_t(given_ - machine.slice); }
  std::uint64_t limit() const { return limit_; }

private:
  std::uint64_t limit_ = 0; ///< 0: none
  std::uint64_t ended_ = 0; ///< by all threads, in slices that have ended
  std::int64_t given_ = 0;
};

struct RunOptions {
  bool checkRaces = true;
  bool checkAcrossBlocks = false;
  std::uint64_t instructionLimit = 0;
  std::uint64_t scheduleSeed = 0; ///< 0: in the order of their indices
  WarpTrace *trace = nullptr;     ///< receives what the blocks do; null: nothing is traced
};

class BlockRunner {
public:
  BlockRunner(Arena &arena, std::function<std::string(std::uint64_t, std::uint32_t)> describe);
  ~BlockRunner();

  /// Runs the whole grid. `arguments[i]` points to the i-th parameter.
  Status run(const EmulatedModule &module, const LaunchRequest &request, void **arguments,
             const RunOptions &options);

  // Called from within a kernel, by Hooks.cpp.
  int waitAtBarrier(int predicate, int mode, std::uint32_t site);
  std::uint64_t waitInWarp(WarpOperation operation, std::uint32_t mask, int mode,
                           std::uint64_t value, int argument, int width, std::uint32_t site);
  void sliceEnded();
  void beforeAtomic();
  void traceFull();
  void growTrace();
  [[noreturn]] void end(StatusCode code, const std::string &what);
  std::string describe(std::uint64_t address, std::uint32_t bytes) const {
    return describe_(address, bytes);
  }
  std::array<std::uint32_t, 3> positionOf(std::uint32_t thread) const {
    return lanes_[thread].position;
  }
  std::uint64_t clock() const { return instructions_.now(); }
  AsyncCopies &copies() { return lanes_[current_].copies; } ///< of the running thread

  static BlockRunner *running;

private:
  static void fiberMain(boost::context::detail::transfer_t from);
  void runBlock();
  void resume(std::uint32_t thread);
  void park(Lane::Status status);
  bool advanceWarp(std::uint32_t warp);
  bool completeWarpOperations(std::uint32_t first, std::uint32_t count);
  void finishWarpOperation(std::uint32_t first, std::uint32_t members);
  bool completeBarrier();
  void reportStuck();
  void mergeTraces(std::uint32_t warp);
  std::string waitingText(std::uint32_t thread) const;

  Arena &arena_;
  std::function<std::string(std::uint64_t, std::uint32_t)> describe_;
  std::byte *stacks_ = nullptr;
  std::vector<Lane> lanes_;
  std::uint32_t threads_ = 0;
  const EmulatedModule *module_ = nullptr;
  void **arguments_ = nullptr;
  RunOptions options_;
  Schedule schedule_;
  boost::context::detail::fcontext_t scheduler_ = nullptr;
  InstructionCount instructions_;
  std::uint32_t current_ = 0;
  Intervals intervals_;
  std::uint64_t previousShared_ = 0;
  Status finding_; ///< not Ok: the launch has ended
};

} // namespace kopt::runtime::emulated
