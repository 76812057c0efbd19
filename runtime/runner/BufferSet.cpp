// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/BufferSet.h"

#include "runtime/runner/Fill.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace kopt::runtime {

namespace {

constexpr std::size_t kGuardBytes = 64 << 10;
constexpr std::size_t kChunk = 4u << 20; ///< of host staging, a multiple of every element size

/// The emulated device reports any byte outside an allocation, reads too: zones would only hide that from it.
std::size_t guardBytesOn(const Device &device) {
  return device.properties().kind == "emulated" ? 0 : kGuardBytes;
}

/// Calls `part(offset, size)` for each chunk of a buffer until one is not Ok.
template <class Part> Status forChunks(std::uint64_t bytes, Part part) {
  for (std::uint64_t offset = 0; offset < bytes; offset += kChunk)
    if (Status status = part(offset, std::size_t(std::min<std::uint64_t>(kChunk, bytes - offset)));
        !status.ok())
      return status;
  return {};
}

std::vector<std::byte> staging(std::uint64_t bytes) {
  return std::vector<std::byte>(std::size_t(std::min<std::uint64_t>(kChunk, bytes)));
}

std::size_t firstDifference(const std::vector<std::byte> &a, const std::vector<std::byte> &b,
                            std::size_t size) {
  return std::size_t(
      std::mismatch(a.begin(), a.begin() + std::ptrdiff_t(size), b.begin()).first - a.begin());
}

} // namespace

BufferSet::BufferSet(Device &device, std::vector<BufferSpec> specs, std::uint64_t inputSeed)
    : device_(device), specs_(std::move(specs)), inputSeed_(inputSeed),
      guardBytes_(guardBytesOn(device)), placed_(specs_.size()) {}

BufferSet::~BufferSet() {
  // After a fault nothing can be freed; the process ends soon and takes the memory with it.
  for (const Placed &placed : placed_) {
    if (placed.base && device_.usable())
      device_.release(placed.base);
    if (placed.pristine && device_.usable())
      device_.release(placed.pristine);
  }
}

std::uint64_t BufferSet::footprint(const Device &device, const std::vector<BufferSpec> &specs,
                                   bool pristine) {
  std::uint64_t sum = 0;
  for (const BufferSpec &spec : specs)
    sum += spec.bytes + 2 * guardBytesOn(device) + (pristine && spec.inPlace() ? spec.bytes : 0);
  return sum;
}

Status BufferSet::allocate(bool pristine) {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const std::uint64_t bytes = specs_[i].bytes;
    if (bytes + guardBytes_ == 0)
      continue;
    if (Status status = device_.allocate(bytes + 2 * guardBytes_, placed_[i].base); !status.ok())
      return status;
    placed_[i].data = placed_[i].base + guardBytes_;
    if (pristine && specs_[i].inPlace() && bytes > 0)
      if (Status status = device_.allocate(bytes, placed_[i].pristine); !status.ok())
        return status;
  }
  return {};
}

std::uint64_t BufferSet::guardStream(std::size_t buffer, bool after) const {
  return specs_.size() + 2 * buffer + (after ? 1 : 0);
}

Status BufferSet::resetGuards(std::size_t buffer) {
  if (guardBytes_ == 0)
    return {};
  std::vector<std::byte> bytes(guardBytes_);
  for (const bool after : {false, true}) {
    drawPoison(poison_.seed, guardStream(buffer, after), poison_.inverted, 0, guardBytes_,
               bytes.data());
    const Address at = after ? placed_[buffer].data + specs_[buffer].bytes : placed_[buffer].base;
    if (Status status = device_.poison(at, bytes.data(), guardBytes_); !status.ok())
      return status;
  }
  return {};
}

Status BufferSet::reset(Poison poison) {
  poison_ = poison;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (Status status = resetGuards(i); !status.ok())
      return status;
    const BufferSpec &spec = specs_[i];
    if (spec.output)
      continue;
    std::vector<std::byte> bytes = staging(spec.bytes);
    const Status status = forChunks(spec.bytes, [&](std::uint64_t offset, std::size_t size) {
      drawContents(spec, inputSeed_, i, offset, size, bytes.data());
      if (Status written = device_.write(placed_[i].data + offset, bytes.data(), size);
          !written.ok())
        return written;
      return placed_[i].pristine
                 ? device_.write(placed_[i].pristine + offset, bytes.data(), size)
                 : Status{};
    });
    if (!status.ok())
      return status;
  }
  return poisonOutputs();
}

Status BufferSet::poisonOutputs() {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (!specs_[i].output)
      continue;
    std::vector<std::byte> bytes = staging(specs_[i].bytes);
    const Status status = forChunks(specs_[i].bytes, [&](std::uint64_t offset, std::size_t size) {
      drawPoison(poison_.seed, i, poison_.inverted, offset, size, bytes.data());
      return device_.poison(placed_[i].data + offset, bytes.data(), size);
    });
    if (!status.ok())
      return status;
  }
  return {};
}

Status BufferSet::restore() {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (placed_[i].pristine)
      if (Status status = device_.copy(placed_[i].data, placed_[i].pristine, specs_[i].bytes);
          !status.ok())
        return status;
  return {};
}

Status BufferSet::check() {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    for (const bool after : {false, true})
      if (Status status = checkGuard(i, after); !status.ok())
        return status;
    if (specs_[i].readOnly)
      if (Status status = checkInput(i); !status.ok())
        return status;
  }
  return {};
}

Status BufferSet::checkGuard(std::size_t buffer, bool after) {
  if (guardBytes_ == 0)
    return {};
  std::vector<std::byte> found(guardBytes_), wanted(guardBytes_);
  const Address at = after ? placed_[buffer].data + specs_[buffer].bytes : placed_[buffer].base;
  if (Status status = device_.read(found.data(), at, guardBytes_); !status.ok())
    return status;
  drawPoison(poison_.seed, guardStream(buffer, after), poison_.inverted, 0, guardBytes_,
             wanted.data());
  if (found == wanted)
    return {};
  const std::size_t size = scalarSize(specs_[buffer].scalar);
  if (after) {
    const std::uint64_t byte = specs_[buffer].bytes + firstDifference(found, wanted, guardBytes_);
    return {StatusCode::GuardTouched, "wrote past the end of " + specs_[buffer].name +
                                          ": at element " + std::to_string(byte / size) + " of " +
                                          std::to_string(specs_[buffer].bytes / size)};
  }
  // Named from the buffer's side: the touched byte nearest to its begin.
  std::size_t last = guardBytes_ - 1;
  while (found[last] == wanted[last])
    --last;
  const std::size_t before = (guardBytes_ - last + size - 1) / size;
  return {StatusCode::GuardTouched, "wrote before the begin of " + specs_[buffer].name +
                                        ": at element -" + std::to_string(before)};
}

Status BufferSet::checkInput(std::size_t buffer) {
  const BufferSpec &spec = specs_[buffer];
  std::vector<std::byte> found = staging(spec.bytes), wanted = found;
  return forChunks(spec.bytes, [&](std::uint64_t offset, std::size_t size) -> Status {
    if (Status status = device_.read(found.data(), placed_[buffer].data + offset, size);
        !status.ok())
      return status;
    drawContents(spec, inputSeed_, buffer, offset, size, wanted.data());
    const std::size_t at = firstDifference(found, wanted, size);
    if (at == size)
      return {};
    return {StatusCode::InputChanged,
            "wrote to the read-only " + spec.name + ": element " +
                std::to_string((offset + at) / scalarSize(spec.scalar)) + " changed"};
  });
}

Status BufferSet::findPoison(std::vector<std::vector<bool>> &out) {
  out.assign(specs_.size(), {});
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const BufferSpec &spec = specs_[i];
    if (!spec.output)
      continue;
    const std::size_t element = scalarSize(spec.scalar);
    out[i].reserve(spec.bytes / element + 1);
    std::vector<std::byte> found = staging(spec.bytes), poison = found;
    const Status status = forChunks(spec.bytes, [&](std::uint64_t offset, std::size_t size) {
      if (Status read = device_.read(found.data(), placed_[i].data + offset, size); !read.ok())
        return read;
      drawPoison(poison_.seed, i, poison_.inverted, offset, size, poison.data());
      for (std::size_t at = 0; at < size; at += element)
        out[i].push_back(
            std::memcmp(&found[at], &poison[at], std::min(element, size - at)) == 0);
      return Status{};
    });
    if (!status.ok())
      return status;
  }
  return {};
}

Status BufferSet::dump(const std::string &directory, const std::string &prefix,
                       std::vector<std::string> &files) {
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const std::string path = directory + "/" + prefix + std::to_string(i) + ".bin";
    const auto failed = [&] {
      return Status{StatusCode::DeviceError,
                    "cannot write " + path + ": " + std::strerror(errno)};
    };
    std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wb"));
    if (!file)
      return failed();
    std::vector<std::byte> bytes = staging(specs_[i].bytes);
    const Status status = forChunks(specs_[i].bytes, [&](std::uint64_t offset, std::size_t size) {
      if (Status read = device_.read(bytes.data(), placed_[i].data + offset, size); !read.ok())
        return read;
      return std::fwrite(bytes.data(), 1, size, file.get()) == size ? Status{} : failed();
    });
    if (!status.ok())
      return status;
    if (std::fflush(file.get()) != 0)
      return failed();
    files.push_back(path);
  }
  return {};
}

LaunchRequest BufferSet::request(const LaunchSpec &launch) const {
  LaunchRequest request;
  request.module = launch.module;
  request.grid = launch.grid;
  request.block = launch.block;
  request.sharedBytes = launch.sharedBytes;
  for (const ArgumentSpec &argument : launch.arguments) {
    if (!argument.isBuffer) {
      request.arguments.push_back(argument.value);
      continue;
    }
    const Address address = placed_[argument.buffer].data + argument.offset;
    std::vector<std::byte> bytes(sizeof address);
    std::memcpy(bytes.data(), &address, sizeof address);
    request.arguments.push_back(std::move(bytes));
  }
  return request;
}

} // namespace kopt::runtime
