// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/CompilerLimits.h"
#include "driver/device/build/ModuleFile.h"
#include "driver/device/build/NvccFlags.h"
#include "driver/device/build/Toolchains.h"
#include "driver/support/FileSystem.h"
#include "driver/support/RelativeDeadline.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <utility>

namespace kopt {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLogLimit = 1u << 20;

/// "13.0.88" for "Cuda compilation tools, release 13.0, V13.0.88"; empty if there is no version.
std::string versionOf(const std::string &text) {
  const auto at = text.find(", V");
  if (at == text.npos)
    return {};
  const auto end = text.find_first_not_of("0123456789.", at + 3);
  return text.substr(at + 3, end == text.npos ? text.npos : end - at - 3);
}

class NvccToolchain final : public Toolchain {
public:
  NvccToolchain(ProcessRunner &processes, fs::path nvcc, std::string version,
                CompilerSandbox sandbox)
      : processes_(processes), nvcc_(std::move(nvcc)), version_(std::move(version)),
        sandbox_(std::move(sandbox)) {}
  ToolchainKind kind() const override { return ToolchainKind::Nvcc; }
  std::string name() const override { return "nvcc " + version_; }
  Result<BuildOutcome> build(const BuildRequest &request) override;
  std::vector<fs::path> programs() const override;

private:
  /// Runs nvcc with the request's flags and these arguments.
  Result<ProcessResult> compile(const BuildRequest &request,
                                const std::vector<std::string> &arguments);
  /// Compiles the file `source`, for the rounding of the request, to its output.
  Result<ProcessResult> compileRounding(const BuildRequest &request, const fs::path &source);

  ProcessRunner &processes_;
  fs::path nvcc_;
  std::string version_;
  CompilerSandbox sandbox_;
  std::atomic<bool> hasBuilt_ = false;
  RelativeDeadline deadline_{Duration(30), Duration(600), kTimesAsLong};
};

/// True if nvcc, or one of the programs that it runs, died from a signal.
bool diedOfSignal(const ProcessResult &result) {
  return !result.timedOut &&
         (result.exitCode > 128 || result.err.find("died due to signal") != result.err.npos);
}

/// What is wrong with a module that lacks the requested kernel.
std::string missingKernel(const ElfImage &image, const std::string &symbol) {
  const std::vector<std::string> kernels = image.kernels();
  const bool found =
      symbol.empty() ? kernels.size() == 1 : std::ranges::find(kernels, symbol) != kernels.end();
  if (found)
    return {};
  return fmt::format("the slice compiles to {}, not to {}",
                     kernels.empty() ? "no kernel" : "the kernels " + join(kernels, ", "),
                     symbol.empty() ? "exactly one" : symbol);
}

/// PTX that rounds in another direction where it rounds to nearest.
std::string rounded(std::string ptx, Rounding rounding) {
  const std::string suffix = rounding == Rounding::Up ? ".rp.f64" : ".rm.f64";
  for (const char *operation : {"add", "sub", "mul", "div", "sqrt"})
    ptx = replaceAll(std::move(ptx), operation + std::string(".rn.f64"), operation + suffix);
  return ptx;
}

/// The file that the host compiler, which preprocesses, writes the names of the headers to.
fs::path headerList(const BuildRequest &request) {
  fs::path list = request.output;
  list += ".d";
  return list;
}

/// The option for that. nvcc splits it at blanks and commas, so some paths cannot be named. nvcc's
/// own -MD would preprocess once more.
std::vector<std::string> listHeaders(const BuildRequest &request) {
  const std::string list = headerList(request).string();
  if (list.find_first_of(", \t'\"\\") != list.npos)
    return {};
  return {"-Xcompiler=-MD,-MF," + list};
}

/// The files in a list of dependencies, without the text itself. Unset: there is no list.
std::optional<std::vector<std::string>> headersIn(const fs::path &list) {
  std::string text = readFile(list).value_or("");
  for (const auto &[from, to] :
       {std::pair("\\\n", " "), {"\n", " "}, {"\\ ", "\1"}, {"\\#", "#"}, {"$$", "$"}})
    text = replaceAll(std::move(text), from, to);
  std::vector<std::string> files;
  for (const std::string &word : split(text, ' '))
    if (!word.empty())
      files.push_back(replaceAll(word, "\1", " "));
  if (files.size() < 2)
    return std::nullopt;
  files.erase(files.begin(), files.begin() + 2); // "text.o:" and the text
  return files;
}

Result<ProcessResult> NvccToolchain::compileRounding(const BuildRequest &request,
                                                     const fs::path &source) {
  std::vector<std::string> rest = listHeaders(request);
  rest.push_back(source.string());
  const auto arguments = [&](const char *phase, const fs::path &output) {
    std::vector<std::string> all{phase, "-x", "cu", "-o", output.string()};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  if (request.rounding == Rounding::Nearest)
    return compile(request, arguments("-cubin", request.output));
  fs::path ptx = request.output;
  ptx += ".ptx";
  KOPT_TRY(ProcessResult result, compile(request, arguments("-ptx", ptx)));
  if (!result.ok())
    return result;
  KOPT_TRY(std::string text, readFile(ptx));
  KOPT_CHECK(writeFileAtomically(ptx, rounded(std::move(text), request.rounding)));
  return compile(request, {"-cubin", "-o", request.output.string(), ptx.string()});
}

Result<ProcessResult> NvccToolchain::compile(const BuildRequest &request,
                                             const std::vector<std::string> &arguments) {
  ProcessSpec spec;
  spec.argv = {nvcc_.string()};
  const std::vector<std::string> flags = flagsForCubin(request.flags);
  spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
  spec.argv.push_back("-arch=" + cubinArch(request.flags, request.arch));
  if (request.unoptimized)
    spec.argv.push_back("-G");
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  if (!request.directory.empty())
    spec.cwd = request.directory;
  spec.timeout = deadline_.now();
  spec.floodLimit = kFloodLimit;
  spec.outputLimit = kLogLimit;
  spec = sandbox_.contain(
      std::move(spec),
      {request.flags, request.directory, {}, {fs::path(request.output.parent_path())}});
  KOPT_TRY(ProcessResult result, processes_.run(spec));
  if (diedOfSignal(result)) { // try again: the machine may have been short of memory
    KOPT_TRY(result, processes_.run(spec));
  }
  return result;
}

Result<BuildOutcome> NvccToolchain::build(const BuildRequest &request) {
  fs::path source = request.output;
  source += ".cu";
  KOPT_CHECK(writeFileAtomically(source, request.sliceText));
  std::error_code ignored;
  fs::remove(request.output, ignored);
  fs::remove(headerList(request), ignored);
  const fs::path scratch = request.output.parent_path();
  const Duration limit = deadline_.now();
  KOPT_TRY(const ProcessResult result, compileRounding(request, source));
  if (const auto refusal = Sandbox::refusal(result.exitCode, result.err))
    return tl::unexpected(*refusal);

  BuildOutcome outcome;
  outcome.log = cleanDiagnostics(result.err + result.out, scratch);
  if (result.timedOut) {
    outcome.log +=
        fmt::format("error: nvcc did not end within {}\n", formatDuration(limit.count()));
    return outcome;
  }
  if (outcome.log.find("No space left on device") != outcome.log.npos)
    return makeError(
        ErrorCode::Environment, "nvcc ran out of disk space while it built a candidate",
        "free some space on the disks of TMPDIR and of " + request.output.parent_path().string());
  if (!result.ok()) {
    if (outcome.log.empty())
      outcome.log = fmt::format("error: nvcc ended with exit code {}\n", result.exitCode);
    if (!diedOfSignal(result))
      outcome.reads = headersIn(headerList(request));
    return outcome;
  }
  outcome.reads = headersIn(headerList(request));
  Result<BuildOutcome> inspected = withModule(outcome, request.output, [&](const ElfImage &image) {
    return missingKernel(image, request.symbol);
  });
  if (!inspected &&
      hasBuilt_) { // it has built other text, including the baseline, so this text is at fault
    outcome.reads.reset();
    outcome.log +=
        fmt::format("error: nvcc succeeded but wrote no module: {}\n", inspected.error().what);
    return outcome;
  }
  if (inspected && inspected->ok) {
    hasBuilt_ = true;
    deadline_.took(result.wall);
  }
  return inspected;
}

std::vector<fs::path> NvccToolchain::programs() const {
  std::error_code ignored;
  const fs::path root = fs::weakly_canonical(nvcc_, ignored).parent_path().parent_path();
  std::vector<fs::path> all{nvcc_};
  for (const char *part : {"bin/nvcc", "bin/nvcc.profile", "bin/cudafe++", "bin/ptxas",
                           "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc"})
    all.push_back(root / part);
  for (const fs::path &compiler : compilersInPath())
    all.push_back(compiler);
  return all;
}

} // namespace

Result<std::unique_ptr<Toolchain>>
makeNvccToolchain(ProcessRunner &processes, const CudaToolkit &cuda, CompilerSandbox sandbox) {
  if (!cuda.nvcc) {
    Error error = cuda.nvcc.error();
    error.hint += ", or use --device emulated, which needs no nvcc";
    return tl::unexpected(std::move(error));
  }
  const fs::path &nvcc = *cuda.nvcc;
  ProcessSpec spec;
  spec.argv = {nvcc.string(), "--version"};
  spec.timeout = Duration(60);
  KOPT_TRY(const ProcessResult result, processes.run(spec));
  const std::string version = versionOf(result.out);
  if (!result.ok() || version.empty())
    return makeError(ErrorCode::Environment,
                     nvcc.string() + " --version does not print the version of an nvcc",
                     "check the installation of the CUDA toolkit");
  return std::make_unique<NvccToolchain>(processes, nvcc, version, std::move(sandbox));
}

} // namespace kopt
