// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/Emulate.h"

#include "clang_plugin/emulate/CompileModule.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>

namespace kopt::frontend::emulate {
namespace {

/// Links one object file into a shared object, with the first linker that this machine has.
bool link(const std::string &object, const std::string &output, std::string &log) {
  for (const char *name : {"ld.lld-19", "ld.lld", "ld", "cc", "clang-19"}) {
    llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(name);
    if (!program)
      continue;
    const std::string temporary = output + ".tmp";
    llvm::SmallVector<llvm::StringRef> command = {*program, "-shared", "-o", temporary, object};
    // A compiler driver would add the C library and its start-up code, which nothing here needs.
    if (llvm::StringRef(name) == "cc" || llvm::StringRef(name) == "clang-19")
      command.push_back("-nostdlib");
    llvm::SmallString<128> messages;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("kopt-link", "log", messages)) {
      log += "cannot create a temporary file: " + error.message() + "\n";
      return false;
    }
    llvm::FileRemover removeMessages(messages);
    std::string failure;
    int status = llvm::sys::ExecuteAndWait(
        *program, command, std::nullopt,
        {std::nullopt, llvm::StringRef(messages), llvm::StringRef(messages)}, 120, 0, &failure);
    if (status != 0) {
      auto text = llvm::MemoryBuffer::getFile(messages);
      log += std::string(name) + " failed: " + failure + (text ? (*text)->getBuffer().str() : "") +
             "\n";
      llvm::sys::fs::remove(temporary);
      return false;
    }
    if (std::error_code error = llvm::sys::fs::rename(temporary, output)) {
      log += "cannot write " + output + ": " + error.message() + "\n";
      llvm::sys::fs::remove(temporary);
      return false;
    }
    return true;
  }
  log += "no linker was found (ld.lld, ld or cc): install binutils, or put one into PATH\n";
  return false;
}

} // namespace

EmulateReply emulate(const EmulateRequest &request) {
  EmulateReply reply;
  if (!llvm::sys::path::is_absolute(request.output)) {
    reply.log = "the output must be an absolute path, not '" + request.output + "'\n";
    return reply;
  }
  const std::string object = request.output + ".o";
  llvm::FileRemover removeObject(object);
  ModulePlan plan;
  const bool compiled = compileModule(request, object, plan, reply.log);
  reply.reads = std::move(plan.reads);
  reply.isLimit = plan.isLimit || !plan.errors.empty();
  if (!compiled)
    return reply;
  reply.symbol = plan.kernel;
  reply.ok = link(object, request.output, reply.log);
  return reply;
}

} // namespace kopt::frontend::emulate
