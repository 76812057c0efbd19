// SPDX-License-Identifier: Apache-2.0
// Answers from a table instead of starting programs. The first row whose words all occur in the
// command line answers; a command without a row fails as a program that is not installed does.
#pragma once

#include "driver/support/Process.h"

#include <deque>
#include <functional>
#include <mutex>

namespace kopt::fakes {

/// Answers each line with the lines the handler returns; ends after an empty optional.
class FakeInteractiveProcess final : public InteractiveProcess {
public:
  using Handler = std::function<std::optional<std::vector<std::string>>(const std::string &line)>;
  explicit FakeInteractiveProcess(Handler handler) : handler_(std::move(handler)) {}

  Status writeLine(const std::string &line) override {
    if (ended_)
      return makeError(ErrorCode::Environment, "fake ended with exit code 1");
    if (auto answers = handler_(line))
      lines_.insert(lines_.end(), answers->begin(), answers->end());
    else
      ended_ = true;
    return {};
  }
  Result<std::string> readLine(Duration) override {
    if (!lines_.empty()) {
      std::string line = lines_.front();
      lines_.pop_front();
      return line;
    }
    if (ended_)
      return makeError(ErrorCode::Environment, "fake ended with exit code 1");
    return makeError(ErrorCode::BudgetEnded, "fake did not answer in time");
  }
  std::string errorTail() override { return ""; }
  bool hasUnread() override { return !lines_.empty(); }
  bool hasEnded() override { return ended_; }
  void kill() override { ended_ = true; }
  int wait() override { return ended_ ? 1 : 0; }

private:
  Handler handler_;
  std::deque<std::string> lines_;
  bool ended_ = false;
};

class FakeProcessRunner final : public ProcessRunner {
public:
  using Handler = std::function<Result<ProcessResult>(const ProcessSpec &)>;

  void on(std::vector<std::string> words, Handler handler) {
    rows_.push_back({std::move(words), std::move(handler)});
  }
  void on(std::vector<std::string> words, int exitCode, std::string out, std::string err = "") {
    ProcessResult result;
    result.exitCode = exitCode;
    result.out = std::move(out);
    result.err = std::move(err);
    on(std::move(words), [result](const ProcessSpec &) { return result; });
  }
  void onStart(FakeInteractiveProcess::Handler handler) {
    onStartOf([handler = std::move(handler)](const ProcessSpec &) { return handler; });
  }
  /// Called for each start, maybe from several threads at a time.
  void onStartOf(std::function<FakeInteractiveProcess::Handler(const ProcessSpec &)> make) {
    interactive_ = std::move(make);
  }

  Result<ProcessResult> run(const ProcessSpec &spec) override {
    calls.push_back(spec);
    for (const Row &row : rows_)
      if (matches(row, spec))
        return row.handler(spec);
    return makeError(ErrorCode::Environment, "program not found in PATH: " + spec.argv.at(0));
  }
  Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &spec) override {
    {
      const std::lock_guard lock(mutex_);
      calls.push_back(spec);
    }
    if (!interactive_)
      return makeError(ErrorCode::Environment, "program not found in PATH: " + spec.argv.at(0));
    return std::make_unique<FakeInteractiveProcess>(interactive_(spec));
  }

  std::vector<ProcessSpec> calls; ///< in order, also those that failed

private:
  struct Row {
    std::vector<std::string> words;
    Handler handler;
  };
  static bool matches(const Row &row, const ProcessSpec &spec) {
    std::string line;
    for (const std::string &argument : spec.argv)
      line += argument + " ";
    for (const std::string &word : row.words)
      if (line.find(word) == std::string::npos)
        return false;
    return true;
  }
  std::vector<Row> rows_;
  std::function<FakeInteractiveProcess::Handler(const ProcessSpec &)> interactive_;
  std::mutex mutex_;
};

} // namespace kopt::fakes
