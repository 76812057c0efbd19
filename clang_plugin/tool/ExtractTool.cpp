// SPDX-License-Identifier: Apache-2.0
// kopt-extract, and kopt-frontend extract.
#include "clang_plugin/args/CompileDb.h"
#include "clang_plugin/cache/UnitCache.h"
#include "clang_plugin/extract/Extract.h"
#include "clang_plugin/extract/MergeUnits.h"
#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/output/Harness.h"
#include "clang_plugin/output/RecordJson.h"
#include "clang_plugin/parallel/WorkPool.h"
#include "clang_plugin/parse/Toolkit.h"
#include "clang_plugin/tool/Options.h"
#include "clang_plugin/tool/Tools.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

enum Exit { kDone = 0, kUsage = 1, kBaselineFailed = 4, kEnvironment = 6, kInternal = 70 };

/// Prints an error to stderr for people, and with --json as an object to stdout.
int fail(const Options &options, int code, const std::string &what, const std::string &where = "",
         const std::string &hint = "") {
  std::cerr << "kopt-extract: error: " << (where.empty() ? "" : where + ": ") << what << "\n";
  if (!hint.empty())
    std::cerr << "kopt-extract: hint: " << hint << "\n";
  if (options.json)
    std::cout << printed({{"error", {{"what", what}, {"where", where}, {"hint", hint}}}}, 2)
              << "\n";
  return code;
}

std::string textOf(const fs::path &file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// True if a line of the text includes a file with this name, with or without folders before it.
bool includesFile(const std::string &text, const std::string &name) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    llvm::StringRef rest = llvm::StringRef(line).ltrim();
    if (!rest.consume_front("#") || !(rest = rest.ltrim()).consume_front("include"))
      continue;
    const llvm::StringRef included =
        rest.trim().drop_front().take_until([](char c) { return c == '"' || c == '>'; });
    if (fs::path(included.str()).filename() == name)
      return true;
  }
  return false;
}

/// A source in the same folder that includes the file. The file is then a part of that source and
/// cannot be compiled alone.
std::string includerOf(const fs::path &file) {
  constexpr std::uintmax_t kLargest = 4u << 20;
  std::vector<fs::path> sources;
  std::error_code ignored;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(fs::absolute(file, ignored).parent_path(), ignored)) {
    const std::string extension = entry.path().extension().string();
    if ((extension == ".cu" || extension == ".cpp" || extension == ".cc") &&
        entry.path().filename() != file.filename() && entry.is_regular_file(ignored) &&
        entry.file_size(ignored) <= kLargest)
      sources.push_back(entry.path());
  }
  std::sort(sources.begin(), sources.end());
  for (const fs::path &source : sources)
    if (includesFile(textOf(source), file.filename().string()))
      return source.filename().string();
  return "";
}

/// True if the error is on a line with KOPT_TUNE and the file does not include the header that
/// defines this macro.
bool lacksOurHeader(const Diagnostic &error) {
  if (!error.line)
    return false;
  const std::string text = textOf(error.file);
  std::istringstream stream(text);
  std::string line;
  for (unsigned i = 0; i < error.line; ++i)
    std::getline(stream, line);
  return line.find("KOPT_TUNE") != std::string::npos && !includesFile(text, "kopt.h");
}

std::string hintFor(const std::string &file, const Diagnostic *error, const std::string &note) {
  if (error && lacksOurHeader(*error))
    return "KOPT_TUNE is declared by a header of kopt: add #include <kopt/kopt.h> before it";
  if (error && !findCudaToolkit() &&
      (error->message.ends_with("file not found") ||
       error->file.starts_with(emulatedIncludeDirectory())))
    return "if that header comes with the CUDA toolkit: none was found here, and kopt's own "
           "headers "
           "lack it; install the toolkit, or name it with KOPT_CUDA_PATH. Otherwise, give the "
           "flags "
           "it is built with: -p BUILD, or nvcc flags after --";
  if (const std::string includer = includerOf(file); !includer.empty())
    return includer + " includes this file: give " + includer + " instead";
  if (!note.empty())
    return note + "; leave the file out, or give its flags after --";
  return "give the flags it is built with: -p BUILD for a compile database, or nvcc flags after --";
}

ExtractionNote leftOut(const std::string &file, const std::vector<Diagnostic> &diagnostics) {
  const Diagnostic *first = firstErrorOf(diagnostics);
  return {file + " does not compile, so its kernels are left out" +
              (first ? ": " + first->place() + ": " + first->message : ""),
          NoteKind::FileLeftOut};
}

int failToCompile(const Options &options, const std::string &file,
                  const std::vector<Diagnostic> &diagnostics, const std::string &note) {
  const Diagnostic *first = firstErrorOf(diagnostics);
  for (const Diagnostic &diagnostic : diagnostics)
    std::cerr << diagnostic.place() << ": " << diagnostic.severity << ": " << diagnostic.message
              << "\n";
  return fail(options, kBaselineFailed,
              fs::path(file).filename().string() + " does not compile" +
                  (first ? ": " + first->message : ""),
              first ? first->place() : file, hintFor(file, first, note));
}

/// Compile databases by -p or by the folder of a file. Each is read once.
using Databases = std::map<std::string, std::optional<CompileDatabase>>;

/// The unit of a file. Its flags come from after --, from a database, or from nowhere (a single
/// file without a project). `note` says if the database lacks the file or has several commands for
/// it.
std::optional<ExtractUnit> unitFor(const Options &options, const std::string &file,
                                   Databases &databases, std::string &error, ExtractionNote &note) {
  ExtractUnit unit;
  std::error_code ignored;
  unit.file = fs::weakly_canonical(file, ignored).string();
  unit.directory = fs::current_path(ignored).string();
  if (options.hasFlags) {
    unit.flags = options.flags;
  } else {
    std::string place =
        options.build.empty() ? fs::path(unit.file).parent_path().string() : options.build;
    auto [known, added] = databases.try_emplace(place);
    if (added)
      known->second = loadCompileDatabase(options.build, unit.file, error);
    if (!error.empty())
      return std::nullopt;
    const std::optional<CompileDatabase> &database = known->second;
    std::size_t count = 0;
    const CompileCommand *command =
        database ? findCommand(*database, unit.file, options.command, count) : nullptr;
    if (command) {
      if (count > 1)
        note = {database->path + " has " + std::to_string(count) + " commands for " + unit.file +
                    "; --command TEXT takes the one that contains TEXT; this one is used: " +
                    llvm::join(command->arguments, " "),
                NoteKind::SeveralCommands};
      unit.flags = command->arguments;
      unit.directory = command->directory;
    } else if (database && !options.command.empty()) {
      error = database->path + " has no command with '" + options.command + "' for " + unit.file;
      return std::nullopt;
    } else if (database) {
      note.text = database->path + " has no command for " + unit.file + ": parsed without flags";
    }
  }
  unit.flags.insert(unit.flags.end(), options.extraArgs.begin(), options.extraArgs.end());
  return unit;
}

struct UnitJob {
  ExtractUnit unit;
  ExtractionNote note; ///< as unitFor()
  ExtractionResult extraction;
  UnitOutcome outcome;
};

/// Extracts as many files at once as the user allows. After a file that does not compile, later
/// files are not begun, unless --keep-going is given.
void extractAll(const Options &options, std::vector<UnitJob> &jobs) {
  UnitCache cache(options.cache ? userCacheDirectory().value_or("") : "");
  WorkPool pool(options.jobs);
  std::error_code ignored;
  const std::string project =
      options.project.empty() ? "" : fs::weakly_canonical(options.project, ignored).string();
  std::atomic<std::size_t> firstBroken = jobs.size();
  pool.forEach(jobs.size(), [&](std::size_t i) {
    if (i > firstBroken && !options.keepGoing)
      return;
    jobs[i].outcome = cache.extract(
        jobs[i].unit, {pool, options.prove, options.proveOnly, nullptr, nullptr, project},
        jobs[i].extraction);
    std::size_t known = firstBroken;
    while (!jobs[i].outcome.ok && i < known && !firstBroken.compare_exchange_weak(known, i))
      ;
  });
  cache.trim();
}

/// Writes a file atomically: beside the target, then renamed.
bool writeFile(const fs::path &path, const std::string &text, std::string &error) {
  fs::path partial = path;
  partial += ".partial";
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  if (code) {
    error = "cannot create " + path.parent_path().string() + ": " + code.message();
    return false;
  }
  errno = 0;
  std::ofstream stream(partial, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) {
    error =
        "cannot write " + path.string() + ": " + (errno ? std::strerror(errno) : "unknown reason");
    fs::remove(partial, code);
    return false;
  }
  fs::rename(partial, path, code);
  if (code)
    error = "cannot write " + path.string() + ": " + code.message();
  return !code;
}

bool writeFolders(const fs::path &output, ExtractionResult &extraction, std::string &error) {
  std::set<std::string> taken;
  for (KernelSpec &kernel : extraction.kernels)
    for (Specialization &specialization : kernel.specializations) {
      // Write no slice whose text is not proven to be the kernel.
      if (specialization.route != Route::Slice)
        continue;
      std::string base = folderName(specialization), name = base;
      for (int i = 2; !taken.insert(name).second; ++i)
        name = base + "_" + std::to_string(i);
      fs::path folder = output / name;
      specialization.slice = (folder / "slice.cu").string();
      const std::string harness = harnessText(kernel, specialization);
      if (!writeFile(folder / "slice.cu", specialization.lifted->text, error) ||
          !writeFile(folder / "harness.cu", harness, error) ||
          !writeFile(folder / "original.cu", harness, error) ||
          !writeFile(folder / "build.sh", buildScript(kernel), error))
        return false;
    }
  return true;
}

std::string summary(const ExtractionResult &extraction, const fs::path &output) {
  std::size_t specializations = 0, proven = 0, launches = 0, unresolved = 0;
  std::map<Route, std::size_t> routes;
  std::string text;
  for (const KernelSpec &kernel : extraction.kernels) {
    for (const Specialization &specialization : kernel.specializations) {
      ++specializations;
      proven += specialization.proven;
      ++routes[specialization.route];
      text += specialization.expression + ": " + toString(specialization.route) +
              (specialization.proven ? ", proven" : "") +
              (specialization.reason.empty() ? "" : " (" + specialization.reason + ")") +
              (specialization.slice.empty() ? "" : " -> " + specialization.slice) + "\n";
    }
    for (const LaunchSite &launch : kernel.launches) {
      ++launches;
      unresolved += launch.geometry == GeometryKind::Unresolved;
    }
  }
  for (const ExtractionNote &note : extraction.notes)
    text += "note: " + note.text + "\n";
  auto also = [](std::size_t count, const std::string &what) {
    return count ? ", " + std::to_string(count) + " " + what : "";
  };
  return text + std::to_string(extraction.kernels.size()) + " kernels, " +
         std::to_string(specializations) + " specializations, " + std::to_string(proven) +
         " proven" + also(routes[Route::Slice] - proven, "not compared") +
         also(routes[Route::InPlace], "in place") + also(routes[Route::Refused], "refused") +
         also(launches, "launches") + also(unresolved, "of them unresolved") + ", written to " +
         output.string() + "\n";
}

std::string triple(const std::array<std::string, 3> &value) {
  if (value[0].empty())
    return "?";
  return "(" + value[0] + ", " + value[1] + ", " + value[2] + ")";
}

std::string launchText(const LaunchSite &launch, const std::string &kernel) {
  std::string text = "  launch          " + launch.file + ":" + std::to_string(launch.line) + ":" +
                     std::to_string(launch.column) + "  " + kernel + "  " +
                     toString(launch.geometry) + "  grid " + triple(launch.grid) + " block " +
                     triple(launch.block) + " shared " +
                     (launch.sharedBytes.empty() ? "?" : launch.sharedBytes) + "\n";
  if (launch.reason)
    text += "                  " + *launch.reason + "\n";
  return text;
}

/// The expression of a specialization, known by its symbol.
std::string nameOf(const KernelSpec &kernel, const std::string &symbol) {
  for (const Specialization &specialization : kernel.specializations)
    if (specialization.symbol == symbol)
      return specialization.expression;
  return symbol;
}

/// One block of lines per kernel: its place, its specializations with their route, and its launches
/// with their geometry.
std::string listText(const ExtractionResult &extraction) {
  std::string text;
  for (const KernelSpec &kernel : extraction.kernels) {
    text += kernel.name + "  " + kernel.file + ":" + std::to_string(kernel.line) +
            (kernel.annotated ? "  [[kopt::tune]]" : "") + "\n";
    for (const TuneClause &clause : kernel.clauses)
      text += "  clause          " + clause.text + "\n";
    for (const Specialization &specialization : kernel.specializations) {
      text += "  specialization  " + specialization.expression + "  " +
              toString(specialization.route) + (specialization.proven ? ", proven" : "") + "\n";
      if (!specialization.reason.empty())
        text += "                  " + specialization.reason + "\n";
    }
    for (const LaunchSite &launch : kernel.launches)
      text += launchText(launch, nameOf(kernel, launch.symbol));
    for (const NamedConstant &constant : kernel.constants)
      text += "  constant        " + constant.name + " = " + std::to_string(constant.value) + "  " +
              toString(constant.kind) + "\n";
    text += "\n";
  }
  if (extraction.kernels.empty())
    text += "no kernels\n";
  if (!extraction.unresolvedLaunches.empty())
    text += "launches of unknown kernels\n";
  for (const LaunchSite &launch : extraction.unresolvedLaunches)
    text += launchText(launch, launch.callee.value_or(""));
  for (const ExtractionNote &note : extraction.notes)
    text += "note: " + note.text + "\n";
  return text;
}

} // namespace

int runExtract(int argc, const char **argv) {
  Options options = parseOptions({argv + 1, argv + argc});
  if (!options.error.empty())
    return fail(options, kUsage, options.error, "", "kopt-extract --help lists all flags");
  if (options.help || options.version) {
    std::cout << (options.help ? kHelpText : "kopt-extract " KOPT_VERSION " (Clang 19)\n");
    return kDone;
  }
  for (const std::string &file : options.files) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
      return fail(options, kUsage, fs::exists(file, ignored) ? "not a file" : "no such file", file);
  }
  if (const CudaRoot root = findCudaRoot(); root.state == CudaRoot::State::Wrong)
    return fail(options, kEnvironment, root.problem, "", root.remedy);

  ExtractionResult extraction;
  extraction.tool = "kopt-extract " KOPT_VERSION;
  std::vector<UnitJob> jobs;
  Databases databases;
  for (const std::string &file : options.files) {
    std::string error;
    ExtractionNote note;
    std::optional<ExtractUnit> unit = unitFor(options, file, databases, error, note);
    if (!unit)
      return fail(options, kUsage, error);
    if (!note.text.empty())
      extraction.notes.push_back(note);
    std::vector<std::string> skipped;
    if (options.printClangArgs)
      for (const std::string &argument : clangArguments(
               {unit->file, std::nullopt, unit->flags, unit->directory, Pass::Host}, skipped))
        std::cout << argument << "\n";
    jobs.push_back({std::move(*unit), std::move(note), {}, {}});
  }
  if (options.printClangArgs)
    return kDone;
  extractAll(options, jobs);
  const bool anyCompiles =
      std::any_of(jobs.begin(), jobs.end(), [](const UnitJob &job) { return job.outcome.ok; });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].outcome.ok && options.keepGoing && anyCompiles) {
      extraction.notes.push_back(leftOut(options.files[i], jobs[i].outcome.diagnostics));
      continue;
    }
    if (!jobs[i].outcome.ok)
      return failToCompile(options, options.files[i], jobs[i].outcome.diagnostics,
                           jobs[i].note.text);
    merge(extraction, std::move(jobs[i].extraction));
  }

  bool summarise = !options.list && !options.json;
  fs::path output = options.output.empty() && summarise ? "kopt.extract" : options.output;
  std::string error;
  bool isWritten = true;
  if (!output.empty()) {
    std::error_code ignored;
    output = fs::absolute(output, ignored).lexically_normal();
    isWritten = writeFolders(output, extraction, error);
  }
  for (KernelSpec &kernel : extraction.kernels)
    for (Specialization &specialization : kernel.specializations)
      specialization.lifted.reset();
  const std::string document =
      output.empty() && !options.json ? "" : printed(toJson(extraction), 2) + "\n";
  if (!isWritten || (!output.empty() && !writeFile(output / "kernels.json", document, error)))
    return fail(options, kEnvironment, error, "",
                "free some space or choose another folder with -o");
  if (options.json)
    std::cout << document;
  else
    std::cout << (options.list ? listText(extraction) : summary(extraction, output));
  std::cout.flush();
  return std::cout ? kDone : fail(options, kEnvironment, "cannot write to standard output");
}

} // namespace kopt::frontend
