// SPDX-License-Identifier: Apache-2.0
// The threads of one run, shared by everything in it: files, the two passes of a file, proofs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

// This header uses <utility> without including it.
#include <llvm/Support/thread.h>

namespace kopt::frontend {

class WorkPool {
public:
  /// At most `jobs` threads work at once, including the callers' threads; others are started when
  /// needed.
  explicit WorkPool(unsigned jobs) : jobs_(jobs) {}
  ~WorkPool();
  WorkPool(const WorkPool &) = delete;
  WorkPool &operator=(const WorkPool &) = delete;

  /// Calls work(0) to work(count - 1), started in this order, and returns when all are done. May be
  /// called from within `work`: nested work goes first, so that files finish one after another.
  /// Rethrows the first exception once all are done.
  void forEach(std::size_t count, const std::function<void(std::size_t)> &work);

private:
  struct Batch {
    const std::function<void(std::size_t)> &work;
    std::size_t count, next = 0, running = 0;
    std::exception_ptr problem;
  };

  void loop();
  void runNext(Batch &batch, std::unique_lock<std::mutex> &lock);

  const unsigned jobs_;
  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  std::vector<Batch *> open_; ///< batches with work that has not begun
  std::vector<llvm::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

} // namespace kopt::frontend
