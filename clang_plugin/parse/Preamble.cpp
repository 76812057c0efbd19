// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/Preamble.h"

#include "clang_plugin/parse/Toolkit.h"

#include <clang/Basic/Version.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/FrontendOptions.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

/// All precompiled headers together; one has some 10 MB. The least recently used go first.
constexpr std::uintmax_t kCacheBytes = 512u << 20;
/// Room on the disk without which none is made.
constexpr std::uintmax_t kRoom = 64u << 20;
/// How long an empty file keeps others from trying headers that do not compile.
constexpr std::chrono::hours kFailureCounts(24);

struct Includes {
  std::string lines, rest; ///< the include lines alone; the whole text with them blanked
};

/// The `#include <...>` lines before anything else but blank lines, comments of one line and the
/// `#line` of a slice.
Includes splitIncludes(llvm::StringRef text) {
  Includes result;
  result.rest = text.str();
  for (llvm::StringRef left = text; !left.empty();) {
    const auto [line, behind] = left.split('\n');
    const std::size_t begin = line.begin() - text.begin();
    left = behind;
    llvm::StringRef words = line.trim();
    if (words.empty() || (words.starts_with("//") && !words.ends_with("\\")))
      continue;
    if (!words.consume_front("#"))
      break;
    words = words.ltrim();
    if (words.starts_with("line "))
      continue;
    if (!words.consume_front("include"))
      break;
    words = words.ltrim();
    if (!words.starts_with("<") || words.find('>') + 1 != words.size())
      break;
    result.lines += ("#include " + words + "\n").str();
    std::fill_n(result.rest.begin() + std::ptrdiff_t(begin), line.size(), ' ');
  }
  return result;
}

/// Files that kopt or Clang's driver includes by force. A user's own could be edited while kopt
/// works, more finely than a file's time tells.
bool isOurs(llvm::StringRef include) {
  return include == "__clang_cuda_runtime_wrapper.h" || include == "kopt_parse_shim.h" ||
         include == "cuda_runtime.h" || include == kMacroHeader;
}

/// The invocation that makes the precompiled header: like the one that will use it, without what
/// differs from file to file.
std::shared_ptr<clang::CompilerInvocation> headerInvocation(const clang::CompilerInvocation &like) {
  auto result = std::make_shared<clang::CompilerInvocation>(like);
  clang::FrontendOptions &frontend = result->getFrontendOpts();
  frontend.Inputs.clear();
  frontend.OutputFile.clear();
  frontend.ProgramAction = clang::frontend::GeneratePCH;
  result->getLangOpts().CUID.clear();
  result->getCodeGenOpts() = clang::CodeGenOptions();
  result->getDependencyOutputOpts() = clang::DependencyOutputOptions();
  return result;
}

std::string keyOf(const clang::CompilerInvocation &header, llvm::StringRef includes,
                  llvm::vfs::FileSystem &files) {
  llvm::BLAKE3 hash;
  const auto add = [&hash](llvm::StringRef part) {
    hash.update(part);
    hash.update(llvm::StringRef("\0", 1));
  };
  add(clang::getClangFullVersion());
  for (const std::string &argument : header.getCC1CommandLine())
    add(argument);
  // Virtual files have no time by which Clang could tell their versions apart.
  std::map<std::string, std::string> own;
  std::error_code error;
  for (llvm::vfs::directory_iterator at = files.dir_begin(kShimFolder, error), end;
       !error && at != end; at.increment(error))
    if (auto buffer = files.getBufferForFile(at->path()))
      own[at->path().str()] = (*buffer)->getBuffer().str();
  for (const auto &[name, text] : own) {
    add(name);
    add(text);
  }
  add(includes);
  const bool isAbsolute = llvm::all_of(header.getHeaderSearchOpts().UserEntries, [](auto &entry) {
    return llvm::sys::path::is_absolute(entry.Path);
  });
  if (!isAbsolute)
    if (llvm::ErrorOr<std::string> directory = files.getCurrentWorkingDirectory())
      add(*directory);
  return llvm::toHex(hash.final<16>(), /*LowerCase=*/true);
}

/// Clang writes beside the file and renames, so the file is whole wherever it is.
bool makeHeader(std::shared_ptr<clang::CompilerInvocation> invocation, const std::string &includes,
                const std::string &output,
                const llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> &files) {
  invocation->getFrontendOpts().OutputFile = output;
  invocation->getFrontendOpts().Inputs.emplace_back(
      llvm::MemoryBufferRef(includes, "kopt-preamble"), clang::InputKind(clang::Language::CUDA));
  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.createDiagnostics(new clang::IgnoringDiagConsumer);
  compiler.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
  compiler.createFileManager(files);
  clang::GeneratePCHAction action;
  return compiler.ExecuteAction(action) && llvm::sys::fs::exists(output);
}

/// Deletes what has not been used for longest, and what a killed process left half written.
void trim(const fs::path &folder) {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  std::vector<std::pair<fs::file_time_type, fs::directory_entry>> headers;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored)) {
    const auto used = entry.last_write_time(ignored);
    if (entry.path().extension() == ".pch")
      headers.emplace_back(used, entry);
    else if (entry.path().extension() == ".tmp" && now - used > std::chrono::hours(1))
      fs::remove(entry.path(), ignored);
  }
  std::sort(headers.begin(), headers.end(), std::greater<>());
  std::uintmax_t bytes = 0;
  for (const auto &[used, header] : headers)
    if (const std::uintmax_t size = header.file_size(ignored);
        !ignored && (bytes += size) > kCacheBytes)
      fs::remove(header.path(), ignored);
}

} // namespace

std::optional<std::string>
usePreamble(clang::CompilerInvocation &invocation, llvm::StringRef text,
            const llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> &files) {
  const std::optional<std::string> cache = userCacheDirectory();
  const clang::PreprocessorOptions &preprocessor = invocation.getPreprocessorOpts();
  if (!cache || !preprocessor.MacroIncludes.empty() || !preprocessor.ImplicitPCHInclude.empty() ||
      !llvm::all_of(preprocessor.Includes, isOurs))
    return std::nullopt;
  clang::CompilerInvocation changed(invocation);
  // Otherwise each file that uses the header instantiates the header's templates anew, which takes
  // longer than the rest of a small file.
  changed.getLangOpts().PCHInstantiateTemplates = true;
  // Nearly all of the headers are the system's, which Clang would take on trust.
  changed.getHeaderSearchOpts().ModulesValidateSystemHeaders = true;

  Includes includes = splitIncludes(text);
  std::shared_ptr<clang::CompilerInvocation> header = headerInvocation(changed);
  const fs::path folder = fs::path(*cache) / "headers";
  const fs::path path = folder / (keyOf(*header, includes.lines, *files) + ".pch");
  const auto now = fs::file_time_type::clock::now();
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > 0) {
    fs::last_write_time(path, now, error); // when it was last used
  } else if (!error && now - fs::last_write_time(path, error) < kFailureCounts) {
    return std::nullopt;
  } else {
    fs::create_directories(folder, error);
    if (error || fs::space(folder, error).available < kRoom) // Clang would end the process
      return std::nullopt;
    if (!makeHeader(std::move(header), includes.lines, path.string(), files)) {
      std::ofstream(path, std::ios::trunc);
      return std::nullopt;
    }
    trim(folder);
  }
  changed.getPreprocessorOpts().ImplicitPCHInclude = path.string();
  invocation = std::move(changed);
  return std::move(includes.rest);
}

void dropPreamble(const clang::CompilerInvocation &invocation) {
  const std::string &path = invocation.getPreprocessorOpts().ImplicitPCHInclude;
  if (!path.empty())
    llvm::sys::fs::remove(path);
}

} // namespace kopt::frontend
