// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/proof/Prove.h"

#include "clang_plugin/args/NvccToClangArgs.h"
#include "clang_plugin/parse/Toolkit.h"
#include "clang_plugin/proof/Ptx.h"

#include <algorithm>
#include <llvm/ADT/SmallString.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>
#include <sstream>

namespace kopt::frontend {
namespace {

/// The flags for -ptx, which takes one architecture. Line information is left out, because it would
/// be removed anyway; the user's other flags stay.
std::vector<std::string> flagsForPtx(const std::vector<std::string> &flags) {
  NvccCommand command = translateNvcc(flags, nullptr);
  std::vector<std::string> result;
  auto takesValue = [](const std::string &flag) {
    return flag == "-gencode" || flag == "--generate-code" || flag == "-arch" ||
           flag == "--gpu-architecture" || flag == "-code" || flag == "--gpu-code" ||
           flag == "-t" || flag == "--threads";
  };
  for (std::size_t i = 0; i < command.nvcc.size(); ++i) {
    const std::string &flag = command.nvcc[i];
    if (takesValue(flag)) {
      ++i;
      continue;
    }
    std::string name = flag.substr(0, flag.find('='));
    if (takesValue(name) || flag == "-lineinfo" || flag == "--generate-line-info")
      continue;
    result.push_back(flag);
  }
  if (!command.architectures.empty())
    result.push_back("-arch=" + command.architectures.back());
  return result;
}

std::string shellQuoted(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string read(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// True if nvcc failed because of the machine, not because of the code.
bool blamesTheMachine(llvm::StringRef diagnostics) {
  for (const char *words : {"died due to signal", "No space left", "allocate memory",
                            "out of memory", "Resource temporarily", "Read-only file system"})
    if (diagnostics.contains_insensitive(words))
      return true;
  return false;
}

} // namespace

std::vector<std::string> makePrerequisites(llvm::StringRef rule, const std::string &directory) {
  std::vector<std::string> paths;
  std::string word;
  auto finish = [&] {
    if (!word.empty()) {
      llvm::SmallString<256> path(word);
      if (!llvm::sys::path::is_absolute(path)) {
        path = directory;
        llvm::sys::path::append(path, word);
      }
      paths.emplace_back(path);
    }
    word.clear();
  };
  rule = rule.drop_front(std::min(rule.find(": "), rule.size()));
  rule.consume_front(":");
  for (std::size_t i = 0; i < rule.size(); ++i) {
    char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (rule[i] == '\\' && next == '\n')
      finish();
    else if ((rule[i] == '\\' && (next == ' ' || next == '#' || next == '\\')) ||
             (rule[i] == '$' && next == '$'))
      word += rule[++i];
    else if (rule[i] == ' ' || rule[i] == '\n' || rule[i] == '\t')
      finish();
    else
      word += rule[i];
  }
  finish();
  return paths;
}

NvccOutcome compileToPtx(const std::string &nvcc, const std::string &file,
                         const std::vector<std::string> &flags, const std::string &directory,
                         bool optimise, bool listsInputs) {
  NvccOutcome outcome;
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("kopt-proof", folder)) {
    outcome.diagnostics = "error: no temporary folder: " + error.message();
    return outcome;
  }
  std::string ptx = (folder + "/kernel.ptx").str(), log = (folder + "/log").str(),
              inputs = (folder + "/inputs").str();
  // Use a shell only to change to the directory on which the flags are based.
  std::string command =
      "cd " + shellQuoted(directory.empty() ? "." : directory) + " && exec " + shellQuoted(nvcc);
  for (const std::string &flag : flagsForPtx(flags))
    command += " " + shellQuoted(flag);
  if (!optimise)
    command += " -Xcicc -O0";
  if (listsInputs)
    command += " -MD -MF " + shellQuoted(inputs);
  command += " -I " + shellQuoted(runtimeIncludeDirectory()) + " -w -x cu -ptx " +
             shellQuoted(file) + " -o " + shellQuoted(ptx);
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(log),
                                                llvm::StringRef(log)};
  std::string problem;
  int status =
      llvm::sys::ExecuteAndWait("/bin/sh", {"/bin/sh", "-c", command}, std::nullopt, redirects,
                                /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  outcome.diagnostics = problem + read(log);
  outcome.ptx = read(ptx);
  outcome.ok = status == 0 && !outcome.ptx.empty();
  outcome.isVerdict =
      outcome.ok || (status > 0 && status < 128 && !blamesTheMachine(outcome.diagnostics));
  if (outcome.ok && listsInputs)
    outcome.inputs = makePrerequisites(read(inputs), directory);
  llvm::sys::fs::remove_directories(folder);
  return outcome;
}

ProofOutcome comparePtx(const PtxModule &original, const PtxModule &slice,
                        const std::string &symbol) {
  std::vector<std::string> sliceEntries = slice.entries();
  std::string inOriginal = findEntry(original.entries(), symbol);
  std::string inSlice = findEntry(sliceEntries, symbol);
  // A local type among the template arguments may have another name in the slice.
  if (inSlice.empty() && sliceEntries.size() == 1)
    inSlice = sliceEntries.front();
  if (inSlice.empty())
    return {false, "the slice's PTX has no kernel " + symbol};
  if (inOriginal.empty())
    return {false, "the original's PTX has no kernel " + symbol};
  std::string difference =
      firstDifference(*original.normalised(inOriginal), *slice.normalised(inSlice));
  return {difference.empty(), difference};
}

std::string findEntry(const std::vector<std::string> &entries, const std::string &symbol) {
  if (std::find(entries.begin(), entries.end(), symbol) != entries.end())
    return symbol;
  std::string wanted = llvm::demangle(symbol);
  for (const std::string &entry : entries)
    if (llvm::demangle(entry) == wanted)
      return entry;
  return "";
}

std::string firstError(const std::string &diagnostics) {
  std::istringstream stream(diagnostics);
  std::string first;
  for (std::string line; std::getline(stream, line);) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos)
      return line;
    if (first.empty())
      first = line;
  }
  return first;
}

} // namespace kopt::frontend
