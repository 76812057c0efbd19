// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/Variants.h"
#include "driver/device/build/CompilerLimits.h"
#include "driver/device/build/ModuleFile.h"
#include "driver/device/build/Toolchains.h"
#include "driver/model/Json.h"
#include "driver/support/FileSystem.h"
#include "driver/support/RelativeDeadline.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

namespace kopt {

namespace {

namespace fs = std::filesystem;

/// "19" for "kopt-extract 0.1.0 (Clang 19)", "19.1.7" for "clang version 19.1.7"; empty if there is
/// no version.
std::string clangVersionIn(const std::string &text) {
  const auto name = text.find("lang ");
  const auto begin = name == text.npos ? name : text.find_first_of("0123456789", name);
  if (begin == text.npos)
    return {};
  const std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
  return text.substr(begin, end - begin);
}

class EmulatedToolchain final : public Toolchain {
public:
  EmulatedToolchain(ProcessRunner &processes, fs::path frontend, std::string version,
                    CompilerSandbox sandbox)
      : processes_(processes), frontend_(std::move(frontend)), version_(std::move(version)),
        sandbox_(std::move(sandbox)) {}
  ToolchainKind kind() const override { return ToolchainKind::Emulated; }
  std::string name() const override { return "emulated (clang " + version_ + ")"; }
  Result<BuildOutcome> build(const BuildRequest &request) override;
  std::vector<fs::path> programs() const override;

private:
  struct Answered {
    ProcessResult result;
    nlohmann::json reply;
  };
  /// Asks the front end, twice if it gives no JSON, as the machine may be at fault.
  Result<Answered> ask(const ProcessSpec &spec);

  ProcessRunner &processes_;
  fs::path frontend_;
  std::string version_;
  CompilerSandbox sandbox_;
  std::atomic<bool> hasAnswered_{false};
  RelativeDeadline deadline_{Duration(20), Duration(300), kTimesAsLong};
};

tl::unexpected<Error> badReply(const ProcessResult &result, const std::string &what) {
  return makeError(ErrorCode::Internal,
                   fmt::format("kopt-frontend emulate {} (exit code {})", what, result.exitCode),
                   result.err.empty() ? "" : "it said: " + result.err.substr(0, 2000));
}

/// The error that the front end reports.
tl::unexpected<Error> refused(const nlohmann::json &error) {
  const std::string what = textIn(error, "what");
  return makeError(ErrorCode::Internal,
                   "the emulation compiler refused the request: " +
                       (what.empty() ? "no reason given" : what),
                   textIn(error, "hint"), textIn(error, "where"));
}

Result<EmulatedToolchain::Answered> EmulatedToolchain::ask(const ProcessSpec &spec) {
  Answered answered;
  for (int attempt = 0; attempt < 2; ++attempt) {
    KOPT_TRY(answered.result, processes_.run(spec));
    answered.reply = nlohmann::json::parse(answered.result.out, nullptr, false);
    if (answered.result.timedOut || answered.reply.is_object())
      break;
  }
  if (const auto refusal = Sandbox::refusal(answered.result.exitCode, answered.result.err))
    return tl::unexpected(*refusal);
  return answered;
}

Result<BuildOutcome> EmulatedToolchain::build(const BuildRequest &request) {
  fs::path module = request.output;
  module += ".so";
  KOPT_CHECK(createDirectories(request.output.parent_path()));
  std::error_code ignored;
  fs::remove(module, ignored);

  const EmulateRequest question{request.sliceText,
                                request.expression,
                                request.flags,
                                request.directory,
                                fs::absolute(module).string(),
                                request.unoptimized};
  ProcessSpec spec;
  spec.argv = {frontend_.string(), "emulate"};
  spec.input = dumpJson(toJson(question));
  spec.timeout = deadline_.now();
  spec.floodLimit = kFloodLimit;
  const fs::path scratch = fs::absolute(request.output).parent_path();
  spec = sandbox_.contain(std::move(spec), {request.flags, request.directory, {}, {scratch}});
  KOPT_TRY(const Answered answered, ask(spec));
  const auto &[result, reply] = answered;
  BuildOutcome outcome;
  if (result.timedOut) {
    outcome.fault = BuildFault::Compiler;
    outcome.log = fmt::format("error: the compilation did not end within {}\n",
                              formatDuration(spec.timeout->count()));
    return outcome;
  }
  if (!reply.is_object() && hasAnswered_) {
    // It has compiled other text, including the baseline, so this text is at fault.
    outcome.fault = BuildFault::Compiler;
    outcome.log = cleanDiagnostics(
        fmt::format("error: the compiler crashed on this twice (exit code {})\n{}\n",
                    result.exitCode, result.err),
        scratch);
    return outcome;
  }
  if (!reply.is_object())
    return badReply(result, "gave no JSON");
  hasAnswered_ = true;
  deadline_.took(result.wall);
  if (const auto error = reply.find("error"); error != reply.end() && error->is_object())
    return refused(*error);
  EmulateReply answer;
  if (const std::string problem = readDocument(reply, answer); !problem.empty())
    return badReply(result, fmt::format("gave a malformed reply: {}", problem));
  outcome.log = cleanDiagnostics(answer.log, scratch);
  outcome.reads = std::move(answer.reads);
  if (answer.isLimit)
    outcome.fault = BuildFault::Device;
  if (!answer.ok)
    return outcome;
  if (!request.symbol.empty() && answer.symbol != request.symbol) {
    outcome.log += fmt::format("error: the slice compiles to the kernel {}, not to {}\n",
                               answer.symbol, request.symbol);
    return outcome;
  }
  return withModule(std::move(outcome), module);
}

std::vector<fs::path> EmulatedToolchain::programs() const {
  std::vector<fs::path> all{frontend_};
  if (!sandbox_.cudaPath().empty())
    all.push_back(fs::path(sandbox_.cudaPath()) / "bin/nvcc"); // for the headers of its toolkit
  return all;
}

} // namespace

Result<std::unique_ptr<Toolchain>>
makeEmulatedToolchain(ProcessRunner &processes, const fs::path &frontend, CompilerSandbox sandbox) {
  const std::optional<fs::path> program = findProgram(frontend.string());
  if (!program)
    return makeError(ErrorCode::Environment, "the front end " + frontend.string() + " is missing",
                     "the installation is incomplete: build or install kopt again");
  ProcessSpec spec;
  spec.argv = {program->string(), "extract", "--version"};
  spec.timeout = Duration(60);
  KOPT_TRY(const ProcessResult result, processes.run(spec));
  const std::string version = clangVersionIn(result.out);
  return std::make_unique<EmulatedToolchain>(
      processes, *program, version.empty() ? "of unknown version" : version, std::move(sandbox));
}

} // namespace kopt
