// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/LaunchRequest.h"

#include <fmt/format.h>

namespace kopt {

namespace protocol = runtime::protocol;
using protocol::Message;

namespace {

std::string hexBytes(const std::string &bytes) {
  std::string text;
  for (const char c : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::vector<std::string> words(const Dim3 &extent) {
  return {std::to_string(extent.x), std::to_string(extent.y), std::to_string(extent.z)};
}

} // namespace

void addLaunch(Message &request, const std::string &prefix, std::uint32_t module,
               const Launch &launch) {
  request.add(prefix + "module", module);
  request.addList(prefix + "grid", words(launch.grid));
  request.addList(prefix + "block", words(launch.block));
  request.add(prefix + "shared", launch.sharedBytes);
  if (launch.cooperative)
    request.add(prefix + "cooperative", 1u);
  if (launch.stackBytes != 0)
    request.add(prefix + "stack", launch.stackBytes);
  for (const Buffer &buffer : launch.buffers)
    request.addList(prefix + "buffer", {buffer.name, std::to_string(buffer.bytes), buffer.scalar,
                                        buffer.fill.kind, protocol::formatDouble(buffer.fill.low),
                                        protocol::formatDouble(buffer.fill.high),
                                        buffer.readOnly ? "in"
                                        : buffer.output ? "out"
                                                        : "inout"});
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    const Buffer &buffer = launch.buffers[i];
    if (buffer.fill.kind == "captured")
      request.addList(prefix + "contents", {std::to_string(i), buffer.fill.path});
    if (!buffer.drawnAs.empty())
      request.addList(prefix + "drawn", {std::to_string(i), buffer.drawnAs});
    if (!buffer.symbol.empty())
      request.addList(prefix + "symbol", {std::to_string(i), buffer.symbol});
    if (buffer.address != 0)
      request.addList(prefix + "address", {std::to_string(i), std::to_string(buffer.address),
                                           buffer.holdsPointers ? "1" : "0"});
  }
  for (const Argument &argument : launch.arguments) {
    if (const auto *value = std::get_if<ValueArg>(&argument)) {
      std::vector<std::string> fields{"value", hexBytes(value->bytes)};
      for (const PointerWord &pointer : value->pointers)
        for (const std::uint64_t number :
             {std::uint64_t(pointer.at), std::uint64_t(pointer.buffer), pointer.offset})
          fields.push_back(std::to_string(number));
      request.addList(prefix + "arg", fields);
    } else {
      request.addList(prefix + "arg",
                      {"buffer", std::to_string(std::get<BufferArg>(argument).buffer),
                       std::to_string(std::get<BufferArg>(argument).offset)});
    }
  }
}

} // namespace kopt
