// SPDX-License-Identifier: Apache-2.0
// Addresses for more bytes than the GPU has memory, through the driver's virtual memory management.
#include "runtime/cuda/CudaDevice.h"

namespace kopt::runtime::cuda {

Status CudaDevice::allocateRepeating(std::size_t bytes, Address &out) {
  if (!api_.memAddressReserve || !api_.memCreate || !api_.memMap || !api_.memSetAccess)
    return Device::allocateRepeating(bytes, out);
  const std::size_t piece = properties_.repeatBytes;
  Repeating made;
  made.bytes = (bytes + piece - 1) / piece * piece;
  const CuMemoryLocation location{.id = device_};
  const CuMemoryKind kind{.location = location};
  const CuMemoryAccess access{.location = location};
  Status status =
      check(api_.memAddressReserve(&made.reserved, 3 * made.bytes, 0, 0, 0), "cuMemAddressReserve");
  const CuDevicePointer first = made.reserved + made.bytes;
  if (status.ok())
    status = check(api_.memCreate(&made.memory, piece, &kind, 0), "cuMemCreate");
  for (; status.ok() && made.mapped < made.bytes; made.mapped += piece)
    status = check(api_.memMap(first + made.mapped, piece, 0, made.memory, 0), "cuMemMap");
  if (status.ok())
    status = check(api_.memSetAccess(first, made.bytes, &access, 1), "cuMemSetAccess");
  if (!status.ok()) {
    static_cast<void>(releaseRepeating(made)); // the first failure tells more
    return status;
  }
  repeating_[first] = made;
  out = first;
  return {};
}

Status CudaDevice::releaseRepeating(const Repeating &repeating) {
  Status status;
  const auto note = [&](CuResult result, const char *what) {
    if (Status next = check(result, what); status.ok())
      status = std::move(next);
  };
  if (repeating.mapped > 0)
    note(api_.memUnmap(repeating.reserved + repeating.bytes, repeating.mapped), "cuMemUnmap");
  if (repeating.memory != 0)
    note(api_.memRelease(repeating.memory), "cuMemRelease");
  if (repeating.reserved != 0)
    note(api_.memAddressFree(repeating.reserved, 3 * repeating.bytes), "cuMemAddressFree");
  return status;
}

} // namespace kopt::runtime::cuda
