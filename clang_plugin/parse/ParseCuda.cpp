// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/ParseCuda.h"

#include "ClangShims.h"
#include "clang_plugin/args/NvccToClangArgs.h"
#include "clang_plugin/parse/FileRecord.h"
#include "clang_plugin/parse/LibraryBodies.h"
#include "clang_plugin/parse/Preamble.h"
#include "clang_plugin/parse/Toolkit.h"

#include <clang/Basic/DiagnosticParse.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/Utils.h>
#include <clang/Serialization/PCHContainerOperations.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/VirtualFileSystem.h>

namespace kopt::frontend {
namespace {

/// Errors of Clang's about what nvcc compiles, after which Clang goes on: `__shared__ alignas(16)`,
/// and objects with constructors in shared memory, such as cuda::barrier. Such an object is an
/// invalid declaration in the AST.
bool isTakenByNvcc(unsigned diagnostic) {
  return diagnostic == clang::diag::err_attributes_not_allowed ||
         diagnostic == clang::diag::err_shared_var_init;
}

/// Copies diagnostics into plain data as they come; the AST may outlive the parse and report
/// diagnostics later.
class Collector : public clang::DiagnosticConsumer {
public:
  explicit Collector(std::shared_ptr<std::vector<Diagnostic>> out) : out_(std::move(out)) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    Diagnostic diagnostic;
    switch (level) {
    case clang::DiagnosticsEngine::Fatal:
      diagnostic.severity = "fatal";
      break;
    case clang::DiagnosticsEngine::Error:
      diagnostic.severity = "error";
      break;
    case clang::DiagnosticsEngine::Warning:
      diagnostic.severity = "warning";
      break;
    case clang::DiagnosticsEngine::Note:
    case clang::DiagnosticsEngine::Remark:
      diagnostic.severity = "note";
      break;
    case clang::DiagnosticsEngine::Ignored:
      return;
    }
    if (isTakenByNvcc(info.getID()))
      diagnostic.severity = "warning";
    llvm::SmallString<256> text;
    info.FormatDiagnostic(text);
    diagnostic.message = text.str();
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      clang::PresumedLoc at = info.getSourceManager().getPresumedLoc(info.getLocation());
      diagnostic.inSystemHeader = info.getSourceManager().isInSystemHeader(info.getLocation());
      if (at.isValid()) {
        diagnostic.file = at.getFilename();
        diagnostic.line = at.getLine();
        diagnostic.column = at.getColumn();
      }
    }
    out_->push_back(std::move(diagnostic));
  }

private:
  std::shared_ptr<std::vector<Diagnostic>> out_;
};

std::string absolutePath(const std::string &path, const std::string &directory) {
  llvm::SmallString<256> result(path);
  if (!llvm::sys::path::is_absolute(result)) {
    result = directory;
    llvm::sys::path::append(result, path);
  }
  llvm::sys::fs::make_absolute(result);
  llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
  return std::string(result);
}

NvccCommand commandOf(const ParseRequest &request) {
  auto readFile = [&request](const std::string &path) -> std::optional<std::string> {
    auto buffer = llvm::MemoryBuffer::getFile(absolutePath(path, request.directory));
    if (!buffer)
      return std::nullopt;
    return (*buffer)->getBuffer().str();
  };
  return translateNvcc(request.nvccFlags, readFile);
}

/// Removes the macros from Clang's arguments and returns them as the text of a header.
std::string takeMacros(std::vector<std::string> &arguments) {
  std::string text;
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i];
    bool undefine = argument.starts_with("-U");
    if ((!undefine && !argument.starts_with("-D")) ||
        (argument.size() == 2 && i + 1 == arguments.size())) {
      rest.push_back(arguments[i]);
      continue;
    }
    std::string macro = argument.size() == 2 ? arguments[++i] : argument.drop_front(2).str();
    if (std::size_t equals = macro.find('='); !undefine && equals != std::string::npos)
      macro[equals] = ' ';
    else if (!undefine)
      macro += " 1";
    text += (undefine ? "#undef " : "#define ") + macro + "\n";
  }
  arguments = std::move(rest);
  return text;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
makeFileSystem(const ParseRequest &request, const std::optional<std::string> &content) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> disk(
      llvm::vfs::createPhysicalFileSystem().release());
  if (request.files)
    disk = request.files->watch(std::move(disk));
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(disk));
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const auto &[name, text] : shims::kFiles)
    memory->addFile(
        std::string(kShimFolder) + "/" + std::string(name), 0,
        llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(text.data(), text.size()), name));
  if (content)
    memory->addFile(absolutePath(request.file, request.directory), 0,
                    llvm::MemoryBuffer::getMemBufferCopy(*content, request.file));
  if (request.lateMacros) {
    NvccCommand command = commandOf(request);
    memory->addFile(std::string(kShimFolder) + "/" + kMacroHeader, 0,
                    llvm::MemoryBuffer::getMemBufferCopy(takeMacros(command.clang), kMacroHeader));
  }
  overlay->pushOverlay(memory);
  if (!request.directory.empty())
    overlay->setCurrentWorkingDirectory(absolutePath(request.directory, ""));
  return overlay;
}

bool namesStandard(const std::vector<std::string> &flags) {
  for (const std::string &flag : flags)
    if (flag.rfind("-std=", 0) == 0)
      return true;
  return false;
}

} // namespace

std::vector<std::string> clangArguments(const ParseRequest &request,
                                        std::vector<std::string> &notes) {
  NvccCommand command = commandOf(request);
  notes.insert(notes.end(), command.notes.begin(), command.notes.end());

  std::optional<std::string> toolkit = findCudaToolkit();
  const CudaVersion version = toolkit ? toolkitVersion(*toolkit) : CudaVersion{13, 0, 0};
  if (command.architectures.empty()) // nvcc's own choice
    command.architectures.push_back(version.major >= 13 ? "sm_75" : "sm_52");
  std::vector<std::string> arguments = {
      "-x", "cuda", "-fsyntax-only",
      // Only so does Clang take `extern __shared__ S s;`, as nvcc does.
      "-fgpu-rdc", request.pass == Pass::Host ? "--cuda-host-only" : "--cuda-device-only",
      "--cuda-gpu-arch=" + clampArchitecture(command.architectures.back()),
      // No code is generated from this parse, so libdevice is not needed either.
      "-nocudalib", "-resource-dir", clangResourceDirectory(), "-Wno-unknown-cuda-version",
      "-Wno-register", "-Wno-c++11-narrowing", "-Wno-unused-command-line-argument",
      "-Wno-unknown-warning-option", "-ferror-limit=50", "-DKOPT_FRONTEND=1", "-Xclang",
      "-detailed-preprocessing-record",
      // Clang 19 does not know newer toolkits and would fall back to the launch protocol of CUDA 8.
      "-Xclang", "-target-sdk-version=12.5"};
  if (!namesStandard(command.clang))
    arguments.push_back("-std=gnu++17");
  if (request.lateMacros)
    takeMacros(command.clang);
  // Before the headers that the user's flags force in, as nvcc does.
  arguments.push_back("-include");
  arguments.push_back(toolkit ? "kopt_parse_shim.h" : "cuda_runtime.h");
  arguments.insert(arguments.end(), command.clang.begin(), command.clang.end());

  for (const std::string &macro :
       nvccMacros(command.architectures,
                  request.pass == Pass::Device ? std::optional(command.architectures.back())
                                               : std::nullopt,
                  {version.major, version.minor, version.build}))
    arguments.push_back(macro);
  if (toolkit) {
    for (const std::string &argument :
         {std::string("--cuda-path=") + *toolkit, std::string("-isystem"), std::string(kShimFolder),
          std::string("-isystem"), *toolkit + "/include/cccl",
          // Before Clang's own folders: /usr/local/include may hold another toolkit's headers.
          std::string("-isystem"), *toolkit + "/include",
          // CUDA 13.5's math_functions.hpp has it; Clang leaves out the header that defines it.
          std::string("-D_NV_RSQRT_SPECIFIER=")})
      arguments.push_back(argument);
    if (request.lateMacros) {
      arguments.push_back("-include");
      arguments.push_back(kMacroHeader);
    }
  } else {
    notes.push_back("no CUDA toolkit was found: kopt's own declarations of the CUDA API are used");
    for (const std::string &argument :
         {std::string("-nocudainc"), std::string("--cuda-path=/kopt-virtual/no-toolkit"),
          std::string("-isystem"), emulatedIncludeDirectory(), std::string("-isystem"),
          std::string(kShimFolder)})
      arguments.push_back(argument);
  }
  // Last, so that the user's own kopt.h, if there is one, is the one that counts.
  arguments.push_back("-isystem");
  arguments.push_back(runtimeIncludeDirectory());
  return arguments;
}

namespace {

/// One parse. Where `preamble` is given the parse may begin with a precompiled header; the
/// invocation that did so is left there.
ParsedUnit parseOnce(const ParseRequest &request,
                     std::shared_ptr<clang::CompilerInvocation> *preamble) {
  ParsedUnit unit;
  std::vector<std::string> arguments = clangArguments(request, unit.notes);
  arguments.insert(arguments.begin(), clangProgramName());
  arguments.push_back(absolutePath(request.file, request.directory));
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());

  auto collected = std::make_shared<std::vector<Diagnostic>>();
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  auto diagnostics =
      clang::CompilerInstance::createDiagnostics(options.get(), new Collector(collected),
                                                 /*ShouldOwnClient=*/true);
  // Clang's driver reports this before it has read -Wno-unknown-cuda-version.
  diagnostics->setSeverityForGroup(clang::diag::Flavor::WarningOrError, "unknown-cuda-version",
                                   clang::diag::Severity::Ignored);
  auto files = makeFileSystem(request, request.content);
  clang::CreateInvocationOptions how;
  how.Diags = diagnostics;
  how.VFS = files;
  std::shared_ptr<clang::CompilerInvocation> invocation = clang::createInvocation(pointers, how);
  // A record of files must see those that a precompiled header would hide.
  if (invocation && preamble && request.content && !request.files)
    if (auto rest = usePreamble(*invocation, *request.content, files)) {
      files = makeFileSystem(request, rest);
      *preamble = invocation;
    }
  if (invocation && request.skipLibraryBodies)
    leaveOutLibraryBodies(*invocation);
  if (invocation)
    unit.ast = clang::ASTUnit::LoadFromCompilerInvocation(
        invocation, std::make_shared<clang::PCHContainerOperations>(), diagnostics,
        new clang::FileManager(invocation->getFileSystemOpts(), files),
        /*OnlyLocalDecls=*/false, clang::CaptureDiagsKind::None,
        /*PrecompilePreambleAfterNParses=*/0, clang::TU_Complete,
        /*CacheCodeCompletionResults=*/false, /*IncludeBriefCommentsInCodeCompletion=*/false,
        /*UserFilesAreVolatile=*/true);

  unit.diagnostics = *collected;
  for (const Diagnostic &diagnostic : unit.diagnostics) {
    unit.hasErrors |= diagnostic.severity == "error" || diagnostic.severity == "fatal";
    // A missing header leaves half a translation unit: nothing built on it could be trusted.
    if (diagnostic.severity == "fatal")
      unit.ast.reset();
  }
  if (!unit.ast && !unit.problem())
    unit.diagnostics.push_back({"fatal", request.file, "Clang could not start on this file"});
  return unit;
}

/// One parse, with a precompiled header if one is available.
ParsedUnit parseQuickly(const ParseRequest &request) {
  std::shared_ptr<clang::CompilerInvocation> preamble;
  ParsedUnit unit = parseOnce(request, &preamble);
  if (unit.ast || !preamble)
    return unit;
  unit = parseOnce(request, nullptr);
  if (unit.ast)
    dropPreamble(*preamble);
  return unit;
}

/// An error in a header that Clang includes before the user's first line.
bool breaksCudaHeaders(const ParsedUnit &unit) {
  std::string toolkit = findCudaToolkit().value_or("/kopt-virtual/no-toolkit");
  for (const Diagnostic &diagnostic : unit.diagnostics)
    if (diagnostic.severity == "error" || diagnostic.severity == "fatal")
      return llvm::StringRef(diagnostic.file).starts_with(clangResourceDirectory()) ||
             llvm::StringRef(diagnostic.file).starts_with(toolkit) ||
             llvm::sys::path::filename(diagnostic.file) == "cuda.h";
  return false;
}

} // namespace

std::string Diagnostic::place() const {
  if (!line)
    return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

const Diagnostic *firstErrorOf(const std::vector<Diagnostic> &diagnostics) {
  for (const Diagnostic &diagnostic : diagnostics)
    if (diagnostic.severity == "error" || diagnostic.severity == "fatal")
      return &diagnostic;
  return nullptr;
}

const Diagnostic *ParsedUnit::problem() const {
  const auto found = llvm::find_if(diagnostics, [](const Diagnostic &one) {
    return one.severity == "fatal" || (one.severity == "error" && !one.inSystemHeader);
  });
  return found == diagnostics.end() ? nullptr : &*found;
}

ParsedUnit parseCuda(const ParseRequest &request) {
  ParsedUnit unit = parseQuickly(request);
  if (!unit.hasErrors || request.lateMacros || !findCudaToolkit() || !breaksCudaHeaders(unit))
    return unit;
  std::vector<std::string> arguments = commandOf(request).clang;
  if (takeMacros(arguments).empty())
    return unit;
  ParseRequest late = request;
  late.lateMacros = true;
  ParsedUnit again = parseQuickly(late);
  if (again.hasErrors)
    return unit;
  again.notes.push_back("the macros of the command line break CUDA headers that nvcc does not "
                        "include by itself: they "
                        "were defined after those");
  return again;
}

} // namespace kopt::frontend
