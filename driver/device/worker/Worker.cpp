// SPDX-License-Identifier: Apache-2.0
#include "driver/device/worker/Worker.h"

#include "driver/device/runner/RunnerPool.h"

#include <fmt/format.h>

namespace kopt {

Worker::~Worker() {
  thread_.runAndWait([this] { link_.reset(); });
}

Result<WorkerLink *> Worker::link() {
  if (WorkerLink *const link = running())
    return link;
  link_.reset();
  Error last;
  while (!isGone_) {
    if (starts_ > start_.restarts) {
      isGone_ = true;
      break;
    }
    auto argv = command_.argv([this] { return gaveUp_.load(); });
    if (!argv && gaveUp_)
      return tl::unexpected(argv.error());
    ++starts_;
    auto link = std::move(argv).and_then([this](std::vector<std::string> words) {
      return WorkerLink::start(start_.processes, std::move(words), name(), start_.tell,
                               start_.patience);
    });
    if (!link) {
      last = link.error();
      if (!first_) // it never came up: what is wrong is not mended by trying again
        isGone_ = true;
      continue;
    }
    const WorkerHello &hello = (*link)->hello();
    if (!first_)
      first_ = hello;
    if (const std::string other = differenceInKind(first_->device, hello.device); !other.empty()) {
      isGone_ = true;
      last.what = fmt::format("{} came back with another device: {}", name(), other);
      break;
    }
    link_ = std::move(*link);
    return link_.get();
  }
  return makeError(ErrorCode::Environment,
                   last.what.empty()
                       ? fmt::format("the worker on {} was lost {} times", name(), starts_.load())
                       : last.what,
                   last.hint);
}

} // namespace kopt
