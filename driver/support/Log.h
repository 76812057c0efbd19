// SPDX-License-Identifier: Apache-2.0
// The log of what kopt did: each command line that it ran, each stage, with the time taken. For
// people who look for the reason of something; never read by kopt. The environment is not logged,
// so keys never appear in it.
#pragma once

#include "driver/support/Clock.h"
#include "driver/support/Result.h"
#include "driver/support/Terminal.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace kopt {

struct LogSettings {
  Terminal *terminal = nullptr; ///< each line goes there as well; null: it does not
  std::filesystem::path file;   ///< lines are appended, with the time in UTC; empty: there is none
};

/// While it lives, logLine() writes. One at a time; what it writes to must outlive it.
class Log {
public:
  /// Fails with Environment where the file cannot be opened.
  static Result<Log> open(const LogSettings &settings);
  Log(Log &&other) noexcept = default;
  Log &operator=(Log &&other) = delete;
  ~Log();

private:
  explicit Log(std::shared_ptr<spdlog::logger> logger);
  std::shared_ptr<spdlog::logger> logger_;
};

/// Whether a line would be written: to spare the work of making one.
bool isLogging();
/// From any thread. Written at once, so that a crash loses nothing.
void logLine(std::string_view text);

/// Logs the name of a stage, and the time from its construction to its destruction.
class LoggedStage {
public:
  explicit LoggedStage(std::string name)
      : name_(std::move(name)), begin_(std::chrono::steady_clock::now()) {}
  LoggedStage(const LoggedStage &) = delete;
  LoggedStage &operator=(const LoggedStage &) = delete;
  ~LoggedStage();

private:
  std::string name_;
  std::chrono::steady_clock::time_point begin_;
};

} // namespace kopt
