// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/HarnessData.h"

#include "driver/support/ElementType.h"
#include "driver/support/FileSystem.h"
#include "runtime/trace/Format.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHead =
    "# A launch of the program, as kopt captured it: harness.cu runs it again. Buffers are counted "
    "from 0;\n# their contents before and after are in the files named here.\n";

std::string pointerLine(const PointerWord &pointer) {
  return fmt::format("pointer {} -> buffer {} offset {}\n", pointer.at, pointer.buffer,
                     pointer.offset);
}

std::string toleranceText(const Tolerance &tolerance) {
  if (tolerance.policy == TolerancePolicy::User)
    return fmt::format("relative={} absolute={}", tolerance.relative, tolerance.absolute);
  return toString(tolerance.policy);
}

std::string pointersIn(const Launch &launch, const std::string &contents) {
  std::string lines;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= contents.size();
       at += sizeof(std::uint64_t)) {
    const auto word = loadAs<std::uint64_t>(contents.data() + at);
    if (auto pointer = pointerTo(launch, word)) {
      pointer->at = at;
      lines += pointerLine(*pointer);
    }
  }
  return lines;
}

/// The name of the file beside the launch that has these contents of the trace.
std::string fileNameOf(const std::string &stored) {
  return fs::path(stored).stem().string() + ".bin";
}

/// Writes that file, unless it is there already.
Status writeContents(const std::string &stored, const std::string &contents,
                     const fs::path &folder) {
  const fs::path path = folder / fileNameOf(stored);
  return isThere(path) ? Status() : writeFileAtomically(path, contents);
}

Result<std::string> writeBuffer(const CapturedLaunch &captured, std::size_t index,
                                const fs::path &folder) {
  const Buffer &buffer = captured.launch.buffers[index];
  const std::string &before = buffer.fill.path, &after = captured.after[index];
  KOPT_TRY(const std::string contents, capturedBytes(before));
  KOPT_CHECK(writeContents(before, contents, folder));
  if (!after.empty() && after != before) {
    KOPT_TRY(const std::string later, capturedBytes(after));
    KOPT_CHECK(writeContents(after, later, folder));
  }
  std::string text =
      fmt::format("\nbuffer {}\nbytes {}\ntype {}\noutput {}\naddress {}\n", buffer.name,
                  buffer.bytes, buffer.scalar, buffer.readOnly ? "no" : "yes", buffer.address);
  if (!buffer.symbol.empty())
    text += fmt::format("variable {}\n", buffer.name);
  text += fmt::format("before {}\n", fileNameOf(before));
  text += after.empty() ? fmt::format("# not known afterwards: {}\n", captured.notAfter[index])
                        : fmt::format("after {}\n", fileNameOf(after));
  if (buffer.holdsPointers)
    text += "addresses yes\n" + pointersIn(captured.launch, contents);
  return text;
}

std::string parameterLines(const Argument &argument, const std::string &name) {
  if (const auto *buffer = std::get_if<BufferArg>(&argument))
    return fmt::format("parameter {} = buffer {} offset {}\n", name, buffer->buffer,
                       buffer->offset);
  const ValueArg &value = std::get<ValueArg>(argument);
  std::string lines =
      fmt::format("parameter {} = bytes {}\n", name, runtime::trace::hexOf(value.bytes));
  for (const PointerWord &pointer : value.pointers)
    lines += pointerLine(pointer);
  return lines;
}

} // namespace

Status writeHarnessLaunch(const CapturedLaunch &captured, const Specialization &specialization,
                          const Tolerance &tolerance, std::size_t index, const fs::path &folder) {
  const Launch &launch = captured.launch;
  std::string text = fmt::format(
      "{}launch {}\ngrid {} {} {}\nblock {} {} {}\nshared {}\nstack {}\ncooperative {}\ntolerance "
      "{}\n\n",
      kHead, launch.name, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
      launch.block.y, launch.block.z, launch.sharedBytes, launch.stackBytes,
      launch.cooperative ? "yes" : "no", toleranceText(tolerance));
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::string &name = specialization.params[i].name;
    text += parameterLines(launch.arguments[i], name.empty() ? fmt::format("unnamed{}", i) : name);
  }
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    KOPT_TRY(const std::string lines, writeBuffer(captured, i, folder));
    text += lines;
  }
  return writeFileAtomically(folder / fmt::format("launch-{}.txt", index), text);
}

} // namespace kopt
