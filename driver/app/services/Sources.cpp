// SPDX-License-Identifier: Apache-2.0
#include "driver/app/services/Sources.h"

#include "driver/compare/versions/BaseCommands.h"
#include "driver/integrate/patch/Patch.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <regex>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// True if the command compiles CUDA, judged by the file's name or by `-x cu`.
bool isCuda(const CompileCommand &command) {
  static const std::regex kLanguage(R"((^|\s)--?x[ =]?cu(da)?(\s|$))");
  return command.file.extension() == ".cu" ||
         std::regex_search(join(command.arguments, " "), kLanguage);
}

} // namespace

Result<SourceSettings> withDatabaseFiles(SourceSettings sources) {
  if (!sources.files.empty())
    return sources;
  if (sources.buildDirectory.empty())
    return makeError(ErrorCode::Usage, "no source file is given",
                     "give the .cu files, or -p with the build folder of a project that has a "
                     "compile_commands.json");
  const fs::path database = sources.buildDirectory.filename() == "compile_commands.json"
                                ? sources.buildDirectory
                                : sources.buildDirectory / "compile_commands.json";
  if (!isThere(database))
    return makeError(ErrorCode::Usage, "no " + database.string(),
                     "configure the project with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or give .cu "
                     "files and nvcc flags after --");
  KOPT_TRY(const std::vector<CompileCommand> commands, readCompileCommands(database));
  std::error_code ignored;
  for (const CompileCommand &command : commands)
    if (isCuda(command) && fs::is_regular_file(command.file, ignored) &&
        std::ranges::find(sources.files, command.file) == sources.files.end())
      sources.files.push_back(command.file);
  if (sources.files.empty())
    return makeError(ErrorCode::Usage, database.string() + " has no command for a CUDA file",
                     "build the project first if its sources are generated, or give the .cu files");
  sources.wholeDatabase = true;
  return sources;
}

Result<std::unique_ptr<Frontend>> openFrontend(const Services &services,
                                               std::optional<CompilerSandbox> sandbox) {
  if (services.installation.frontend.empty())
    return makeError(ErrorCode::Environment,
                     "this build of kopt has no front end, so it cannot read CUDA sources",
                     "build kopt with KOPT_BUILD_FRONTEND=ON, or use the released package");
  if (!sandbox)
    sandbox = CompilerSandbox({}, {}, {}, services.installation.cuda.root.forChildren());
  return makeFrontend(services.processes, services.installation.frontend, std::move(*sandbox));
}

ExtractRequest extractRequest(const SourceSettings &sources, std::filesystem::path output) {
  ExtractRequest request;
  request.files = sources.files;
  request.buildDirectory = sources.buildDirectory;
  request.project = patchRoot(sources.files, sources.buildDirectory);
  request.flags = sources.flags;
  request.command = sources.command;
  request.output = std::move(output);
  request.keepGoing = sources.wholeDatabase;
  return request;
}

bool canProve(const Services &services) { return services.installation.cuda.nvcc.has_value(); }

ExtractRequest proofRequest(const SourceSettings &sources, std::filesystem::path output,
                            const std::vector<KernelInstance> &kernels) {
  ExtractRequest request = extractRequest(sources, std::move(output));
  request.files.clear();
  for (const KernelInstance &instance : kernels) {
    for (const std::string &unit : instance.kernel->units)
      if (std::ranges::find(request.files, fs::path(unit)) == request.files.end())
        request.files.emplace_back(unit);
    if (instance.specialization)
      request.proveOnly.push_back(instance.specialization->symbol);
  }
  return request;
}

} // namespace kopt
