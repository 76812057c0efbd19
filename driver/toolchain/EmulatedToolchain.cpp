// SPDX-License-Identifier: Apache-2.0
#include "driver/toolchain/ChildEnvironment.h"
#include "driver/toolchain/CubinImage.h"
#include "driver/evaluate/Toolchain.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopt {

namespace {

namespace fs = std::filesystem;

constexpr Duration kBuildDeadline{300};

/// "19" of "kopt-extract 0.1.0 (Clang 19)", "19.1.7" of "clang version 19.1.7"; empty where there is none.
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
  EmulatedToolchain(ProcessRunner &processes, fs::path frontend, std::string version)
      : processes_(processes), frontend_(std::move(frontend)), version_(std::move(version)) {}
  std::string name() const override { return "emulated (clang " + version_ + ")"; }
  Result<BuildOutcome> build(const BuildRequest &request) override;

private:
  ProcessRunner &processes_;
  fs::path frontend_;
  std::string version_;
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

  const nlohmann::json json = {{"slice", request.sliceText},   {"expression", request.expression},
                               {"flags", request.flags},       {"directory", request.directory},
                               {"output", fs::absolute(module).string()}};
  ProcessSpec spec;
  spec.argv = {frontend_.string(), "emulate"};
  // Source text need not be UTF-8; what is not is replaced, and the diagnostics show it.
  spec.input = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  spec.unsetEnv = secretVariableNames();
  spec.timeout = kBuildDeadline;
  KOPT_TRY(const ProcessResult result, processes_.run(spec));

  BuildOutcome outcome;
  if (result.timedOut) {
    outcome.log = fmt::format("error: the compilation did not end within {}\n",
                              formatDuration(kBuildDeadline.count()));
    return outcome;
  }
  const nlohmann::json reply = nlohmann::json::parse(result.out, nullptr, false);
  if (!reply.is_object())
    return badReply(result, "gave no JSON");
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
  const auto ok = reply.find("ok");
  if (ok == reply.end() || !ok->is_boolean())
    return badReply(result, "gave a reply without \"ok\"");
  outcome.log = replaceAll(textOf(reply, "log"), request.output.parent_path().string() + "/", "");
  if (!ok->get<bool>())
    return outcome;
  const std::string symbol = textOf(reply, "symbol");
  if (!request.symbol.empty() && symbol != request.symbol) {
    outcome.log += fmt::format("error: the slice compiles to the kernel {}, wanted is {}\n",
                               symbol, request.symbol);
    return outcome;
  }
  KOPT_TRY(const std::string bytes, readFile(module));
  KOPT_TRY(const ElfImage image, ElfImage::parse(bytes));
  outcome.ok = true;
  outcome.module = module;
  outcome.hash = image.codeHash();
  return outcome;
}

} // namespace

Result<std::unique_ptr<Toolchain>> makeEmulatedToolchain(ProcessRunner &processes,
                                                         const fs::path &frontend) {
  const std::optional<fs::path> program = findProgram(frontend.string());
  if (!program)
    return makeError(ErrorCode::Environment,
                     "the front end " + frontend.string() + " is missing",
                     "the installation is incomplete: build or install kopt again");
  ProcessSpec spec;
  spec.argv = {program->string(), "extract", "--version"};
  spec.timeout = Duration(60);
  KOPT_TRY(const ProcessResult result, processes.run(spec));
  const std::string version = clangVersionIn(result.out);
  return std::make_unique<EmulatedToolchain>(processes, *program,
                                             version.empty() ? "of unknown version" : version);
}

} // namespace kopt
