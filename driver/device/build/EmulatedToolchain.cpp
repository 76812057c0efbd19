// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/Variants.h"
#include "driver/device/Toolchain.h"
#include "driver/device/build/CompilerLimits.h"
#include "driver/device/build/CubinImage.h"
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

private:
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
  KOPT_TRY(ProcessResult result, processes_.run(spec));
  nlohmann::json reply = nlohmann::json::parse(result.out, nullptr, false);
  if (!result.timedOut && !reply.is_object()) { // try again: the machine may be at fault
    KOPT_TRY(result, processes_.run(spec));
    reply = nlohmann::json::parse(result.out, nullptr, false);
  }
  if (const auto refusal = Sandbox::refusal(result.exitCode, result.err))
    return tl::unexpected(*refusal);

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
  const auto textOf = [](const nlohmann::json &object, const char *key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (const auto error = reply.find("error"); error != reply.end() && error->is_object()) {
    const std::string what = textOf(*error, "what");
    return makeError(ErrorCode::Internal,
                     "the emulation compiler refused the request: " +
                         (what.empty() ? "no reason given" : what),
                     textOf(*error, "hint"), textOf(*error, "where"));
  }
  EmulateReply answer;
  if (const std::string problem = readDocument(reply, answer); !problem.empty())
    return badReply(result, fmt::format("gave a malformed reply: {}", problem));
  outcome.log = cleanDiagnostics(answer.log, scratch);
  if (answer.isLimit)
    outcome.fault = BuildFault::Device;
  if (!answer.ok)
    return outcome;
  if (!request.symbol.empty() && answer.symbol != request.symbol) {
    outcome.log += fmt::format("error: the slice compiles to the kernel {}, not to {}\n",
                               answer.symbol, request.symbol);
    return outcome;
  }
  KOPT_TRY(const ModuleFile file, readModule(module));
  if (!file.refusal.empty()) {
    outcome.log += fmt::format("error: {}\n", file.refusal);
    return outcome;
  }
  KOPT_TRY(const ElfImage image, ElfImage::parse(file.bytes));
  outcome.ok = true;
  outcome.module = module;
  outcome.hash = image.codeHash();
  outcome.externals = image.externals();
  return outcome;
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
