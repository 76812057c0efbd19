// SPDX-License-Identifier: Apache-2.0
// The log: each command line that kopt ran, and each stage, with the time taken. It is for finding
// the cause of a problem; kopt never reads it. The environment is not logged, so keys never appear
// in it.
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
  Terminal *terminal = nullptr; ///< also receives each line; null: none
  std::filesystem::path file;   ///< receives each line with the time in UTC, appended; empty: none
};

/// logLine() writes while an object of this class exists. Only one may exist at a time, and the
/// terminal must outlive it.
class Log {
public:
  /// Fails with Environment if the file cannot be opened.
  static Result<Log> open(const LogSettings &settings);
  Log(Log &&other) noexcept = default;
  Log &operator=(Log &&other) = delete;
  ~Log();

private:
  explicit Log(std::shared_ptr<spdlog::logger> logger);
  std::shared_ptr<spdlog::logger> logger_;
};

/// True if a line would be written; used to avoid the work of making one.
bool isLogging();
/// Writes a line; may be called from any thread. The line is written immediately, so that a crash
/// loses nothing.
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
