// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Process.h"

#include "driver/support/Child.h"
#include "driver/support/CommandWords.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr Duration kTerminationGrace{2}; ///< between SIGTERM and SIGKILL
constexpr Duration kWriteDeadline{60};   ///< for one line into an interactive child
constexpr std::size_t kErrorTail = 64u << 10;
/// Limited, so that a child that never stops writing cannot delay a deadline.
constexpr std::size_t kDrainedAtOnce = 1u << 20;

/// Blocks SIGPIPE in this thread, so that a child that closes its input does not kill kopt. Other
/// threads are not affected, so `kopt | head` still ends as users expect.
class SigpipeGuard {
public:
  SigpipeGuard() {
    sigset_t pending;
    sigpending(&pending);
    wasPending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~SigpipeGuard() {
    timespec none{};
    if (!wasPending_)
      while (sigtimedwait(&pipe_, nullptr, &none) == -1 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }

private:
  sigset_t pipe_{}, old_{};
  bool wasPending_ = false;
};

/// Reads available data, up to kDrainedAtOnce, and calls `take` with each piece. Closes the
/// descriptor at end of file.
template <class Take> void drain(Fd &fd, Take take) {
  char buffer[1 << 16];
  std::size_t total = 0;
  while (fd.open() && total < kDrainedAtOnce) {
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n > 0) {
      take(std::string_view(buffer, std::size_t(n)));
      total += std::size_t(n);
    } else if (n < 0 && errno == EINTR)
      continue;
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    else
      fd.reset();
  }
}

/// Writes as much as possible and removes it from `text`. Closes the descriptor if the child has
/// closed its end.
void feed(Fd &fd, std::string_view &text) {
  while (fd.open() && !text.empty()) {
    ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n >= 0)
      text.remove_prefix(std::size_t(n));
    else if (errno == EINTR)
      continue;
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      return;
    else
      fd.reset();
  }
}

/// Waits until one of the open descriptors is ready, at most `limit`.
void waitForAny(const Fd *writeTo, std::initializer_list<const Fd *> readFrom, Duration limit) {
  std::array<pollfd, 3> fds{};
  nfds_t count = 0;
  if (writeTo && writeTo->open())
    fds[count++] = {writeTo->get(), POLLOUT, 0};
  for (const Fd *fd : readFrom)
    if (fd->open())
      fds[count++] = {fd->get(), POLLIN, 0};
  double milliseconds = std::clamp(limit.count() * 1e3, 0.0, 1e6);
  ::poll(fds.data(), count, int(milliseconds) + (milliseconds > int(milliseconds)));
}

void append(std::string &to, std::string_view piece, std::size_t limit, bool &truncated) {
  std::size_t room = limit - std::min(limit, to.size());
  truncated |= piece.size() > room;
  to.append(piece.substr(0, room));
}

ProcessResult runToEnd(Child &child, const ProcessSpec &spec) {
  ProcessResult result;
  SigpipeGuard guard;
  const auto start = SteadyClock::now();
  auto elapsed = [&] { return Duration(SteadyClock::now() - start); };
  std::string_view input = spec.input;
  bool ended = false;
  std::size_t written = 0;
  const auto take = [&](std::string &to, std::string_view piece) {
    written += piece.size();
    append(to, piece, spec.outputLimit, result.truncated);
  };
  std::optional<Duration> terminated, endedAt;
  bool killed = false;
  while (true) {
    feed(child.in, input);
    if (input.empty())
      child.in.reset();
    drain(child.out, [&](auto piece) { take(result.out, piece); });
    drain(child.err, [&](auto piece) { take(result.err, piece); });
    if (!ended && written > spec.floodLimit)
      child.signalGroup(SIGKILL);
    if (!ended && child.reap(false)) {
      ended = true;
      endedAt = elapsed();
      child.in.reset();
    }
    const Duration now = elapsed();
    // Once the child has ended, only a process that left its group can still hold the pipes. Wait
    // for it only briefly.
    if (ended && ((!child.out.open() && !child.err.open()) || now - *endedAt > Duration(0.5)))
      break;
    const bool isOver = (spec.timeout && now >= *spec.timeout) || (spec.stop && *spec.stop);
    if (!ended && isOver && !terminated) {
      result.timedOut = true;
      terminated = now;
      child.signalGroup(SIGTERM);
    }
    if (!ended && terminated && !killed && now - *terminated >= kTerminationGrace) {
      child.signalGroup(SIGKILL);
      killed = true;
    }
    // Pipes end the wait. The end of a child whose pipes are held by others or closed must be
    // polled.
    bool pipesOpen = child.out.open() || child.err.open();
    Duration nap = pipesOpen ? Duration(0.05) : Duration(0.002);
    if (spec.timeout && !terminated)
      nap = std::clamp(*spec.timeout - now, Duration(0), nap);
    waitForAny(&child.in, {&child.out, &child.err}, nap);
  }
  child.out.reset(); // do not wait for others that still hold it
  result.exitCode = child.exitCode();
  result.wall = elapsed();
  return result;
}

std::string describeExit(int code) {
  if (code <= 128)
    return "exit code " + std::to_string(code);
  const char *name = ::strsignal(code - 128);
  return "exit code " + std::to_string(code) + " (" + (name ? name : "signal") + ")";
}

/// "nvcc -c a.cu, in /src"
std::string describe(const ProcessSpec &spec) {
  return joinCommand(spec.argv) + (spec.cwd.empty() ? "" : ", in " + spec.cwd.string());
}

Result<Child> startLogged(const ProcessSpec &spec, bool socketInput) {
  Result<Child> child = Child::start(spec, socketInput);
  if (!child && isLogging())
    logLine(fmt::format("not started: {}: {}", describe(spec), child.error().what));
  return child;
}

class PosixInteractiveProcess final : public InteractiveProcess {
public:
  PosixInteractiveProcess(Child child, const ProcessSpec &spec)
      : child_(std::move(child)), name_(fs::path(spec.argv[0]).filename().string()),
        limit_(spec.outputLimit), command_(isLogging() ? describe(spec) : ""),
        started_(SteadyClock::now()) {
    if (!command_.empty())
      logLine("started: " + command_);
  }
  ~PosixInteractiveProcess() override {
    if (command_.empty())
      return;
    const bool ended = child_.reap(false) || child_.endWithin(kTeardownLimit);
    logLine(fmt::format("ended: {} ({}, {})", command_,
                        formatDuration(Duration(SteadyClock::now() - started_).count()),
                        ended ? describeExit(child_.exitCode()) : "still running"));
  }

  Status writeLine(const std::string &line) override { return writeLineWith(line, {}); }

  Status writeLineWith(const std::string &line, const std::vector<int> &descriptors) override {
    SigpipeGuard guard;
    std::string text = line + "\n";
    std::string_view rest = text;
    if (!descriptors.empty()) {
      KOPT_CHECK(sendFirst(rest, descriptors));
    }
    const auto limit = SteadyClock::now() + kWriteDeadline;
    while (true) {
      feed(child_.in, rest);
      if (rest.empty())
        return {};
      if (!child_.in.open())
        return tl::unexpected<Error>(endOfFile());
      Duration left = limit - SteadyClock::now();
      if (left.count() <= 0)
        return tl::unexpected(doesNotRead());
      collect(); // a child that blocks while writing would never read its input
      waitForAny(&child_.in, {&child_.out, &child_.err}, left);
    }
  }

  Result<std::string> readLine(Duration deadline) override {
    const auto limit = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                std::min(deadline, Duration(1e7)));
    while (true) {
      collect();
      if (std::size_t newline = buffered_.find('\n', searched_); newline != std::string::npos) {
        std::string line = buffered_.substr(0, newline);
        buffered_.erase(0, newline + 1);
        searched_ = 0;
        return line;
      }
      searched_ = buffered_.size();
      if (buffered_.size() > limit_) {
        kill();
        return makeError(ErrorCode::Environment, name_ + " wrote more than " +
                                                     std::to_string(limit_) +
                                                     " bytes without ending a line");
      }
      if (!child_.out.open())
        return tl::unexpected<Error>(endOfFile());
      Duration left = limit - SteadyClock::now();
      if (left.count() <= 0)
        return makeError(ErrorCode::BudgetEnded, name_ + " did not answer in time");
      waitForAny(nullptr, {&child_.out, &child_.err}, left);
    }
  }

  bool hasUnread() override {
    collect();
    return !buffered_.empty();
  }

  bool hasEnded() override {
    collect();
    return child_.reap(false) || !child_.out.open();
  }

  std::string errorTail() override {
    collect();
    return errorTail_;
  }

  bool end(Duration limit) override {
    collect(); // its last output
    const bool ended = child_.endWithin(limit);
    collect();
    return ended;
  }

  void kill() override { child_.signalGroup(SIGKILL); }

  int wait() override {
    // Closing its input asks the child to end. Its output must be read until then, so that it does
    // not block.
    child_.in.reset();
    while (!child_.reap(false)) {
      collect();
      bool pipesOpen = child_.out.open() || child_.err.open();
      waitForAny(nullptr, {&child_.out, &child_.err}, Duration(pipesOpen ? 0.05 : 0.002));
    }
    collect();
    return child_.exitCode();
  }

private:
  /// Sends the line's first bytes with the descriptors.
  Status sendFirst(std::string_view &text, const std::vector<int> &descriptors) {
    if (descriptors.size() > kMostDescriptors)
      return makeError(ErrorCode::Internal,
                       std::to_string(descriptors.size()) + " descriptors for one line");
    iovec piece{const_cast<char *>(text.data()), text.size()};
    std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
    const auto limit = SteadyClock::now() + kWriteDeadline;
    while (child_.in.open()) {
      const ssize_t sent = ::sendmsg(child_.in.get(), &message, MSG_NOSIGNAL);
      if (sent >= 0) {
        text.remove_prefix(std::size_t(sent));
        return {};
      }
      const Duration left = limit - SteadyClock::now();
      if (errno == EAGAIN && left.count() > 0)
        waitForAny(&child_.in, {&child_.out, &child_.err}, std::min(left, Duration(0.05)));
      else if (errno != EINTR)
        return tl::unexpected(errno == EAGAIN ? doesNotRead() : endOfFile());
      collect();
    }
    return tl::unexpected<Error>(endOfFile());
  }

  void collect() {
    if (buffered_.size() <= limit_) // more than that stays in the pipe
      drain(child_.out, [&](std::string_view piece) { buffered_ += piece; });
    drain(child_.err, [&](std::string_view piece) {
      errorTail_ += piece;
      if (errorTail_.size() > kErrorTail)
        errorTail_.erase(0, errorTail_.size() - kErrorTail);
    });
  }

  Error doesNotRead() const {
    return {ErrorCode::Environment, name_ + " does not read its input", {}, {}, {}};
  }

  Error endOfFile() {
    // A child that closed its output but still runs gets the same time to end as after SIGTERM.
    const auto limit = SteadyClock::now() + kTerminationGrace;
    while (!child_.reap(false) && SteadyClock::now() < limit)
      waitForAny(nullptr, {&child_.err}, Duration(0.002));
    collect();
    child_.endWithin(kTeardownLimit);
    collect();
    const std::string how = describeExit(child_.exitCode());
    return {ErrorCode::Environment, name_ + " ended with " + how, {}, {}, {}};
  }

  Child child_;
  std::string name_;
  std::size_t limit_;   ///< for the bytes in buffered_
  std::string command_; ///< for the log; empty: not logged
  SteadyClock::time_point started_;
  std::string buffered_, errorTail_;
  std::size_t searched_ = 0; ///< leading bytes of buffered_ known to contain no newline
};

class PosixProcessRunner final : public ProcessRunner {
public:
  Result<ProcessResult> run(const ProcessSpec &spec) override {
    KOPT_TRY(Child child, startLogged(spec, false));
    ProcessResult result = runToEnd(child, spec);
    if (isLogging())
      logLine(fmt::format("ran: {} ({}, {}{})", describe(spec), formatDuration(result.wall.count()),
                          describeExit(result.exitCode),
                          result.timedOut ? ", killed after its time limit" : ""));
    return result;
  }

  Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &spec) override {
    KOPT_TRY(Child child, startLogged(spec, true));
    return std::make_unique<PosixInteractiveProcess>(std::move(child), spec);
  }
};

} // namespace

std::unique_ptr<ProcessRunner> makeProcessRunner() {
  return std::make_unique<PosixProcessRunner>();
}

std::optional<fs::path> findProgram(const std::string &name) {
  return findInPath(name, ::getenv("PATH"));
}

} // namespace kopt
