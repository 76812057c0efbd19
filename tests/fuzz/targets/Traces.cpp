// SPDX-License-Identifier: Apache-2.0
// Logs and buffers of traces. The first byte says which; a log's input is what follows the header,
// so that mutations reach the records, or whole files.
#include "runtime/trace/Contents.h"
#include "runtime/trace/LogReader.h"
#include "tests/fuzz/Fuzz.h"

#include <memory>

using namespace kopt::runtime::trace;
using kopt::fuzz::require;

namespace {

std::string withHeader(std::string_view records) {
  LogHeader header{};
  std::memcpy(header.magic, kLogMagic, sizeof kLogMagic);
  header.version = kLogVersion;
  header.segmentBytes = kSegmentBytes;
  std::string log(kHeaderBytes, '\0');
  std::memcpy(log.data(), &header, sizeof header);
  const SegmentHeader segment{kSegmentMark, 0, 0};
  log.append(reinterpret_cast<const char *>(&segment), sizeof segment);
  return log.append(records);
}

void readAsLog(const std::string &bytes) {
  ProcessTrace trace;
  std::string why;
  if (!readLog(bytes, "input.klog", trace, why)) {
    require(why.find("input.klog: byte ") == 0, "an error names the file and the offset");
    return;
  }
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const Launch &launch = trace.launches[i];
    require(launch.function < trace.functions.size(), "every launch has its function");
    require(i == 0 || trace.launches[i - 1].sequence <= launch.sequence, "launches are in order");
    require(launch.seconds == -1 || launch.seconds > 0, "a time is above 0 or not known");
    const auto *begin = reinterpret_cast<const char *>(launch.arguments.data());
    require(launch.arguments.empty() || (begin >= bytes.data() && begin + launch.arguments.size() <=
                                                                      bytes.data() + bytes.size()),
            "arguments lie in the file");
  }
  LiveAllocations live(trace);
  for (const Launch &launch : trace.launches) {
    live.advance(launch.sequence);
    if (const Allocation *found = live.find(launch.stream))
      require(launch.stream - found->base < found->bytes, "an allocation holds the address");
  }
  // Any shorter file is read too, or refused at the same place.
  ProcessTrace cut;
  readLog(std::string_view(bytes).substr(0, bytes.size() - bytes.size() / 3), "input.klog", cut,
          why);
}

void readAsContents(std::string_view bytes) {
  const std::string path = kopt::fuzz::scratch().write("input.kbuf", bytes).string();
  std::string why;
  const auto file = ContentsFile::open(path, why);
  if (!file) {
    require(why.find(path) == 0, "an error names the file");
    return;
  }
  if (file->bytes() > (64u << 20))
    return; // fine to open; not read here
  std::vector<std::byte> whole(file->bytes());
  const bool read = file->read(0, whole.size(), whole.data(), why);
  if (file->verify(why))
    require(read && hashContents(whole.data(), whole.size()) == file->hash(),
            "what is verified is what is read");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view input = kopt::fuzz::textOf(data, size);
  switch (kopt::fuzz::takeChoice(input, 3)) {
  case 0:
    readAsLog(withHeader(input));
    break;
  case 1:
    readAsContents(input);
    break;
  default:
    readAsLog(std::string(input));
  }
  return 0;
}
