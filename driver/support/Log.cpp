// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Log.h"

#include "driver/support/Text.h"

#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <vector>

namespace kopt {
namespace {

std::atomic<spdlog::logger *> current{nullptr};

/// Writes through the terminal, so that lines do not collide with the status line.
class TerminalSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit TerminalSink(Terminal &terminal) : terminal_(terminal) {}

private:
  void sink_it_(const spdlog::details::log_msg &message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    std::string_view line(text.data(), text.size());
    terminal_.line(line.substr(0, line.find_last_not_of('\n') + 1));
  }
  void flush_() override {}

  Terminal &terminal_;
};

void setPattern(spdlog::sinks::sink &sink, const char *pattern) {
  sink.set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
}

} // namespace

Result<Log> Log::open(const LogSettings &settings) {
  std::vector<spdlog::sink_ptr> sinks;
  if (settings.terminal) {
    sinks.push_back(std::make_shared<TerminalSink>(*settings.terminal));
    setPattern(*sinks.back(), "log: %v");
  }
  if (!settings.file.empty()) {
    try {
      sinks.push_back(
          std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings.file.string(), false));
    } catch (const spdlog::spdlog_ex &error) {
      return makeError(ErrorCode::Environment,
                       fmt::format("cannot write the log: {}", error.what()),
                       "name a file that can be written with --log-file", settings.file.string());
    }
    setPattern(*sinks.back(), "%Y-%m-%dT%H:%M:%S.%eZ %P %v");
  }
  auto logger = std::make_shared<spdlog::logger>("kopt", sinks.begin(), sinks.end());
  logger->flush_on(spdlog::level::info);
  return Log(sinks.empty() ? nullptr : std::move(logger));
}

Log::Log(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {
  if (logger_)
    current = logger_.get();
}

Log::~Log() {
  if (logger_)
    current = nullptr;
}

bool isLogging() { return current != nullptr; }

void logLine(std::string_view text) {
  if (spdlog::logger *logger = current)
    logger->info(spdlog::string_view_t(text.data(), text.size()));
}

LoggedStage::~LoggedStage() {
  if (!isLogging())
    return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  logLine(fmt::format("stage: {} ({})", name_, formatDuration(taken.count())));
}

} // namespace kopt
