// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/cache/UnitCache.h"

#include "clang_plugin/args/NvccToClangArgs.h"
#include "clang_plugin/cache/Manifest.h"
#include "clang_plugin/output/RecordJson.h"
#include "clang_plugin/parse/Toolkit.h"

#include <clang/Basic/Version.h>
#include <cstdlib>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>

namespace kopt::frontend {

KOPT_FIELDS(Diagnostic, severity, file, message, line, column, inSystemHeader)

namespace {

/// What is kept of one unit.
struct Entry {
  std::vector<FileFact> files;
  bool ok = false;
  std::vector<Diagnostic> diagnostics;
  ExtractionResult extraction;
};
KOPT_FIELDS(Entry, files, ok, diagnostics, extraction)

std::string bytesOf(const Entry &entry) {
  std::string bytes;
  nlohmann::json::to_cbor(toJson(entry), bytes);
  return bytes;
}

/// The environment variables that Clang's driver and nvcc read. PATH counts through the programs
/// that are found in it.
constexpr const char *kVariables[] = {
    "CPATH",         "C_INCLUDE_PATH",    "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH", "GCC_EXEC_PREFIX",   "CUDA_PATH",          "NVCC_PREPEND_FLAGS",
    "NVCC_CCBIN",    "NVCC_APPEND_FLAGS", "SOURCE_DATE_EPOCH",
};

/// A text of parts with their lengths, so that parts cannot be confused.
class KeyText {
public:
  void add(llvm::StringRef part) { text_ += std::to_string(part.size()) + ":" + part.str(); }
  void add(const std::vector<std::string> &parts) {
    add(std::to_string(parts.size()));
    for (const std::string &part : parts)
      add(part);
  }
  std::string hash() const { return contentHash(text_); }

private:
  std::string text_;
};

/// The paths of the programs that, with kopt, determine the result.
std::vector<std::string> toolsFor(const std::vector<std::string> &flags) {
  std::vector<std::string> tools;
  static int anchor;
  tools.push_back(llvm::sys::fs::getMainExecutable("kopt-extract", &anchor));
  std::optional<std::string> nvcc = findNvcc();
  if (!nvcc)
    return tools;
  llvm::StringRef root = llvm::sys::path::parent_path(llvm::sys::path::parent_path(*nvcc));
  for (const char *tool : {"/bin/nvcc", "/bin/nvcc.profile", "/bin/cudafe++", "/nvvm/bin/cicc",
                           "/nvvm/libdevice/libdevice.10.bc"})
    tools.push_back(root.str() + tool);
  std::vector<std::string> hosts = {"gcc", "g++"}; // nvcc's preprocessors
  if (const char *chosen = std::getenv("NVCC_CCBIN"))
    hosts.push_back(chosen);
  for (std::size_t i = 0; i < flags.size(); ++i)
    for (llvm::StringRef name : {"-ccbin", "--compiler-bindir"}) {
      if (flags[i] == name && i + 1 < flags.size())
        hosts.push_back(flags[i + 1]);
      else if (llvm::StringRef(flags[i]).starts_with((name + "=").str()))
        hosts.push_back(flags[i].substr(name.size() + 1));
    }
  for (const std::string &host : hosts)
    if (auto path = llvm::sys::findProgramByName(host))
      tools.push_back(*path);
  return tools;
}

/// Everything that determines results for code that is compiled in this way.
KeyText contextOf(const ExtractUnit &unit, const std::vector<std::string> &tools,
                  const std::vector<std::string> &flags) {
  KeyText key;
  key.add(KOPT_VERSION);
  key.add("7: units"); // version of the stored content
  key.add(clang::getClangFullVersion());
  key.add(unit.directory);
  key.add(flags);
  key.add(tools);
  for (const char *variable : kVariables) {
    const char *value = std::getenv(variable);
    key.add(value ? std::string("=") + value : "");
  }
  return key;
}

std::string keyOf(const ExtractUnit &unit, const ExtractOptions &options, KeyText context) {
  context.add(unit.file);
  context.add(options.prove ? "prove" : "");
  context.add(options.proveOnly);
  context.add(options.project);
  for (Pass pass : {Pass::Host, Pass::Device}) {
    std::vector<std::string> notes;
    context.add(clangArguments({unit.file, std::nullopt, unit.flags, unit.directory, pass}, notes));
    context.add(notes);
  }
  return context.hash();
}

class KeptProofs : public ProofMemory {
public:
  /// A proof has no list of inputs, so its name includes the current state of the tools.
  KeptProofs(EntryStore &store, KeyText context, const Manifest &tools)
      : store_(store), context_(std::move(context)) {
    for (const FileFact &tool : tools.files()) {
      context_.add(std::to_string(tool.size));
      context_.add(std::to_string(tool.modified));
    }
  }
  bool knows(const std::string &claim) override {
    return store_.load(nameOf(claim)) == std::string(kProven);
  }
  void keep(const std::string &claim) override { store_.save(nameOf(claim), kProven); }

private:
  static constexpr const char *kProven = "proven";

  std::string nameOf(const std::string &claim) const {
    KeyText key = context_;
    key.add(claim);
    return "proof-" + key.hash();
  }

  EntryStore &store_;
  KeyText context_;
};

std::uint64_t limitInBytes() {
  std::uint64_t mebibytes = 512;
  if (const char *chosen = std::getenv("KOPT_CACHE_LIMIT"))
    if (llvm::StringRef(chosen).getAsInteger(10, mebibytes))
      mebibytes = 512;
  return mebibytes << 20;
}

} // namespace

UnitCache::UnitCache(const std::string &folder)
    : store_(folder.empty() ? "" : folder + "/extract") {}

void UnitCache::trim() const { store_.trim(limitInBytes()); }

UnitOutcome UnitCache::extract(const ExtractUnit &unit, const ExtractOptions &options,
                               ExtractionResult &extraction) {
  if (!store_.isOpen())
    return extractUnit(unit, options, extraction);
  std::vector<std::string> flags = expandedFlags(unit);
  std::vector<std::string> tools = toolsFor(flags);
  KeyText context = contextOf(unit, tools, flags);
  std::string key = keyOf(unit, options, context);
  if (std::optional<std::string> bytes = store_.load(key)) {
    Entry entry;
    const bool isRead = readDocument(nlohmann::json::from_cbor(*bytes, true, false), entry).empty();
    Manifest manifest(std::move(entry.files));
    bool touched = false;
    if (isRead && manifest.holds(touched)) {
      if (touched) {
        entry.files = manifest.files();
        store_.save(key, bytesOf(entry));
      }
      ++hits_;
      extraction = std::move(entry.extraction);
      UnitOutcome outcome;
      outcome.ok = entry.ok;
      outcome.diagnostics = std::move(entry.diagnostics);
      return outcome;
    }
  }

  Manifest manifest(nowInNanoseconds());
  for (const std::string &tool : tools)
    manifest.addTool(tool);
  FileRecord record;
  KeptProofs proofs(store_, context, manifest);
  ExtractOptions recorded = options;
  recorded.files = &record;
  recorded.proofs = &proofs;
  UnitOutcome outcome = extractUnit(unit, recorded, extraction);
  std::map<std::string, SeenFile> seen = record.files();
  for (const auto &[path, file] : seen)
    manifest.add(path, file);
  for (const std::string &path : outcome.readByNvcc)
    if (auto known = seen.find(path); known == seen.end() || known->second.kind != SeenFile::Read)
      manifest.addReadByOthers(path);
  if (!outcome.isRepeatable || !manifest.isSound())
    return outcome;
  store_.save(key, bytesOf({manifest.files(), outcome.ok, outcome.diagnostics, extraction}));
  return outcome;
}

} // namespace kopt::frontend
