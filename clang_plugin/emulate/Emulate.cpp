// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/Emulate.h"

#include "clang_plugin/emulate/CompileModule.h"
#include "clang_plugin/tool/Tools.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <iterator>

namespace kopt::frontend::emulate {
namespace {

/// Links one object file into a shared object with whatever linker this machine has.
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
  if (!compileModule(request, object, plan, reply.log))
    return reply;
  reply.symbol = plan.kernel;
  reply.ok = link(object, request.output, reply.log);
  return reply;
}

} // namespace kopt::frontend::emulate

namespace kopt::frontend {

int runEmulate(int argc, const char **argv) {
  using nlohmann::json;
  auto fail = [](const std::string &what, const std::string &where, const std::string &hint) {
    std::cout << json{{"error", {{"what", what}, {"where", where}, {"hint", hint}}}}.dump() << "\n";
    return 1;
  };
  const std::string text{std::istreambuf_iterator<char>(std::cin),
                         std::istreambuf_iterator<char>()};
  json request = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object())
    return fail("the request is not a JSON object", "standard input",
                R"(send {"slice","expression","flags","directory","output"})");
  emulate::EmulateRequest wanted;
  for (auto [name, member] : {std::pair<const char *, std::string *>{"slice", &wanted.slice},
                              {"expression", &wanted.expression},
                              {"directory", &wanted.directory},
                              {"output", &wanted.output}}) {
    if (!request.contains(name) || !request[name].is_string())
      return fail(std::string("the member \"") + name + "\" is missing or no string", "request",
                  "");
    *member = request[name].get<std::string>();
  }
  for (const json &flag : request.value("flags", json::array())) {
    if (!flag.is_string())
      return fail("\"flags\" holds something that is no string", "request", "");
    wanted.flags.push_back(flag.get<std::string>());
  }
  emulate::EmulateReply reply = emulate::emulate(wanted);
  std::cout << json{{"ok", reply.ok}, {"log", reply.log}, {"symbol", reply.symbol}}.dump(
                   -1, ' ', false, json::error_handler_t::replace)
            << "\n";
  return 0;
}

} // namespace kopt::frontend
