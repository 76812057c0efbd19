// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/OwnKernels.h"

#include "OwnKernelFiles.h"

#include <utility>

namespace kopt::runtime::cuda {

namespace {

void replaceAll(std::string &text, const std::string &name, const std::string &by) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + by.size()))
    text.replace(at, name.size(), by);
}

/// A file of own/; empty if there is none.
std::string fileText(const std::string &name) {
  for (const auto &[file, text] : own::kFiles)
    if (file == name + ".ptx")
      return std::string(text);
  return {};
}

std::string mixOf(const char *reg) {
  std::string text = fileText("mix");
  replaceAll(text, "REG", reg);
  return text;
}

} // namespace

const OwnKernel kReadMemory = {"kopt_read", "read_memory"};
const OwnKernel kDiscardMemory = {"kopt_discard", "discard_memory",
                                  ".version 7.4\n.target sm_80\n"};
const OwnKernel kFillShared = {"kopt_fill_shared", "fill_shared"};
const OwnKernel kFillLocal = {"kopt_fill_local", "fill_local"};
const OwnKernel kWait = {"kopt_wait", "wait"};
const OwnKernel kProbe = {"kopt_probe", "probe"};
const OwnKernel kWritePattern = {"kopt_write", "write_pattern"};
const OwnKernel kFindPattern = {"kopt_find", "find_pattern"};
const OwnKernel kDigest = {"kopt_digest", "digest"};

std::string textOf(const OwnKernel &kernel, std::uint32_t bytes) {
  std::string text = kernel.target + std::string(".address_size 64\n") + fileText(kernel.file);
  for (const auto &[name, by] : {std::pair<const char *, std::string>("BEGIN", fileText("begin")),
                                 {"THREAD", fileText("thread")},
                                 {"NEXT_WORD", fileText("next_word")},
                                 {"LOOP", fileText("loop")},
                                 {"MIX_X", mixOf("%x")},
                                 {"MIX_D4", mixOf("%d4")},
                                 {"BYTES", std::to_string(bytes)},
                                 {"NAME", kernel.name}})
    replaceAll(text, name, by);
  return text;
}

} // namespace kopt::runtime::cuda
