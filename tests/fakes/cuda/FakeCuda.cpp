// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 of FakeCuda.h. Loads CUDA_INJECTION64_PATH in cuInit, as the driver does.
#include "fakes/cuda/FakeCuda.h"
#include "runtime/capture/adapter/CallParameters.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <vector>

namespace {

using namespace kopt::runtime::capture;
using kopt::runtime::cuda::CuUuid;

constexpr CuResult kOk = 0, kInvalidValue = 1, kNotFound = 500, kLaunchFailure = 719;

struct Module;
struct Function {
  Module *module;
  const FakeKernel *kernel;
};
struct Module {
  const FakeImage *image;
  std::deque<Function> functions;
};
struct Node {
  const Function *function;
  std::uint32_t grid[3], block[3], shared;
  std::vector<std::vector<std::byte>> values;
  std::vector<void *> pointers;
  Node *original = nullptr;
};
struct Graph {
  std::vector<Node *> nodes;
};
struct Stream {
  Graph *capturing = nullptr;
};

const FakeHooks *hooks = nullptr;
std::atomic<std::uint32_t> correlations{0};
std::atomic<std::uint64_t> now{1000};
std::mutex sizesMutex;
std::map<std::uint64_t, std::size_t> sizes; ///< of allocations

const Function &of(CuFunction function) { return *reinterpret_cast<const Function *>(function); }

/// Runs `body` between the two callbacks of a call.
template <class Parameters, class Body>
CuResult call(DriverCall id, const char *name, const Parameters &parameters, Body body,
              const char *symbol = nullptr) {
  CuResult result = kOk;
  if (!hooks)
    return body(std::uint32_t(0));
  const std::uint32_t correlation = ++correlations;
  hooks->call(id, 0, name, &parameters, &result, symbol, correlation);
  result = body(correlation);
  hooks->call(id, 1, name, &parameters, &result, symbol, correlation);
  return result;
}

void run(const Function &function, const std::uint32_t *grid, const std::uint32_t *block,
         void **parameters, std::uint32_t correlation, std::uint64_t node) {
  const FakeKernel &kernel = *function.kernel;
  if (kernel.run)
    kernel.run(grid, block, parameters);
  const std::uint64_t length = kernel.nanoseconds * grid[0] * grid[1] * grid[2];
  const std::uint64_t begin = now.fetch_add(length + 100);
  if (hooks)
    hooks->kernel(correlation, kernel.symbol, node, begin, begin + length);
}

Node *makeNode(const Function &function, const std::uint32_t *grid, const std::uint32_t *block,
               std::uint32_t shared, void **parameters) {
  Node *node = new Node{&function, {}, {}, shared, {}, {}, nullptr};
  std::memcpy(node->grid, grid, sizeof node->grid);
  std::memcpy(node->block, block, sizeof node->block);
  for (std::uint32_t i = 0; i < function.kernel->parameterCount; ++i) {
    const auto *from = static_cast<const std::byte *>(parameters[i]);
    node->values.emplace_back(from, from + function.kernel->parameters[i][1]);
  }
  for (auto &value : node->values)
    node->pointers.push_back(value.data());
  return node;
}

CuResult launch(CuFunction handle, const std::uint32_t *grid, const std::uint32_t *block,
                std::uint32_t shared, CuStream stream, void **parameters, void **extra,
                std::uint32_t correlation) {
  const Function &function = of(handle);
  if (grid[0] == 0 || block[0] == 0 || block[0] > 1024)
    return kInvalidValue;
  std::vector<void *> unpacked;
  if (!parameters && extra) {
    auto *bytes = static_cast<std::byte *>(extra[1]);
    for (std::uint32_t i = 0; i < function.kernel->parameterCount; ++i)
      unpacked.push_back(bytes + function.kernel->parameters[i][0]);
    parameters = unpacked.data();
  }
  auto *known =
      reinterpret_cast<std::uintptr_t>(stream) > 2 ? reinterpret_cast<Stream *>(stream) : nullptr;
  if (known && known->capturing) {
    known->capturing->nodes.push_back(makeNode(function, grid, block, shared, parameters));
    return kOk;
  }
  if (std::strcmp(function.kernel->symbol, "fails") == 0)
    return kLaunchFailure;
  run(function, grid, block, parameters, correlation, 0);
  return kOk;
}

CuResult allocate(CuDevicePointer *pointer, std::size_t bytes) {
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256 + 256);
  *pointer = reinterpret_cast<std::uint64_t>(memory);
  const std::lock_guard lock(sizesMutex);
  sizes[*pointer] = bytes;
  return kOk;
}

CuResult release(std::uint64_t pointer) {
  const std::lock_guard lock(sizesMutex);
  if (sizes.erase(pointer) == 0)
    return kInvalidValue;
  std::free(reinterpret_cast<void *>(pointer));
  return kOk;
}

Function *find(Module &module, const char *name) {
  for (Function &function : module.functions)
    if (std::strcmp(function.kernel->symbol, name) == 0)
      return &function;
  return nullptr;
}

Module *loadModule(const void *image) {
  auto *module = new Module{static_cast<const FakeImage *>(image), {}};
  for (std::uint32_t i = 0; i < module->image->kernelCount; ++i)
    module->functions.push_back({module, module->image->kernels + i});
  if (hooks && module->image->cubin)
    hooks->module(module->image->cubin, module->image->cubinBytes);
  return module;
}

CuResult global(Module *module, const char *name, CuDevicePointer *pointer, std::size_t *bytes) {
  for (std::uint32_t i = 0; i < module->image->variableCount; ++i)
    if (const FakeVariable &variable = module->image->variables[i];
        std::strcmp(variable.name, name) == 0) {
      *pointer = reinterpret_cast<std::uint64_t>(variable.memory);
      if (bytes)
        *bytes = variable.bytes;
      return kOk;
    }
  return kNotFound;
}

} // namespace

extern "C" {

void kopt_fake_set_hooks(const FakeHooks *given) { hooks = given; }

CuResult cuInit(unsigned) {
  static std::once_flag once;
  std::call_once(once, [] {
    const char *path = std::getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (auto *start =
            library ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr)
      start();
  });
  return kOk;
}
CuResult cuDriverGetVersion(int *version) { return *version = 13000, kOk; }
CuResult cuGetErrorName(CuResult, const char **text) { return *text = "CUDA_ERROR_FAKE", kOk; }
CuResult cuGetErrorString(CuResult, const char **text) { return *text = "words", kOk; }
CuResult cuDeviceGet(CuDevice *device, int ordinal) { return *device = ordinal, kOk; }
CuResult cuDeviceGetCount(int *count) { return *count = 1, kOk; }
CuResult cuDeviceGetName(char *name, int size, CuDevice) {
  return std::strncpy(name, "Fake GPU", std::size_t(size)), kOk;
}
CuResult cuDeviceGetUuid_v2(CuUuid *uuid, CuDevice) {
  return std::memset(uuid, 7, sizeof *uuid), kOk;
}
CuResult cuCtxGetDevice(CuDevice *device) { return *device = 0, kOk; }
CuResult cuCtxGetLimit(std::size_t *value, kopt::runtime::cuda::CuLimit) {
  return *value = 1024, kOk;
}

CuResult cuModuleLoadData(CuModule *out, const void *image) {
  return *out = reinterpret_cast<CuModule>(loadModule(image)), kOk;
}
CuResult cuModuleGetFunction(CuFunction *out, CuModule module, const char *name) {
  Function *found = find(*reinterpret_cast<Module *>(module), name);
  return *out = reinterpret_cast<CuFunction>(found), found ? kOk : kNotFound;
}
CuResult cuModuleGetGlobal_v2(CuDevicePointer *pointer, std::size_t *bytes, CuModule module,
                              const char *name) {
  return call(kModuleGetGlobal, "cuModuleGetGlobal_v2", GetGlobalCall{pointer, bytes, module, name},
              [&](std::uint32_t) {
                return global(reinterpret_cast<Module *>(module), name, pointer, bytes);
              });
}
CuResult cuLibraryLoadData(CuLibrary *out, const void *image) {
  return *out = reinterpret_cast<CuLibrary>(loadModule(image)), kOk;
}
CuResult cuLibraryGetKernel(CuKernel *out, CuLibrary library, const char *name) {
  return call(kLibraryGetKernel, "cuLibraryGetKernel", LibraryGetKernelCall{out, library, name},
              [&](std::uint32_t) {
                Function *found = find(*reinterpret_cast<Module *>(library), name);
                return *out = reinterpret_cast<CuKernel>(found), found ? kOk : kNotFound;
              });
}
CuResult cuLibraryGetGlobal(CuDevicePointer *pointer, std::size_t *bytes, CuLibrary library,
                            const char *name) {
  return call(kLibraryGetGlobal, "cuLibraryGetGlobal", GetGlobalCall{pointer, bytes, library, name},
              [&](std::uint32_t) {
                return global(reinterpret_cast<Module *>(library), name, pointer, bytes);
              });
}
CuResult cuKernelGetFunction(CuFunction *out, CuKernel kernel) {
  return *out = reinterpret_cast<CuFunction>(kernel), kOk;
}
CuResult cuFuncGetName(const char **name, CuFunction function) {
  return *name = of(function).kernel->symbol, kOk;
}
CuResult cuKernelGetName(const char **name, CuKernel kernel) {
  return cuFuncGetName(name, reinterpret_cast<CuFunction>(kernel));
}
CuResult cuFuncGetParamInfo(CuFunction function, std::size_t index, std::size_t *offset,
                            std::size_t *bytes) {
  const FakeKernel &kernel = *of(function).kernel;
  if (index >= kernel.parameterCount || std::getenv("KOPT_FAKE_NO_PARAM_INFO"))
    return kInvalidValue;
  *offset = kernel.parameters[index][0];
  *bytes = kernel.parameters[index][1];
  return kOk;
}
CuResult cuKernelGetParamInfo(CuKernel kernel, std::size_t index, std::size_t *offset,
                              std::size_t *bytes) {
  return cuFuncGetParamInfo(reinterpret_cast<CuFunction>(kernel), index, offset, bytes);
}
CuResult cuFuncGetModule(CuModule *module, CuFunction function) {
  return *module = reinterpret_cast<CuModule>(of(function).module), kOk;
}

CuResult cuMemAlloc_v2(CuDevicePointer *pointer, std::size_t bytes) {
  return call(kMemAlloc, "cuMemAlloc_v2", MemAllocCall{pointer, bytes},
              [&](std::uint32_t) { return allocate(pointer, bytes); });
}
CuResult cuMemAllocPitch_v2(CuDevicePointer *pointer, std::size_t *pitch, std::size_t width,
                            std::size_t height, unsigned) {
  return call(kMemAllocPitch, "cuMemAllocPitch_v2",
              MemAllocPitchCall{pointer, pitch, width, height}, [&](std::uint32_t) {
                *pitch = (width + 511) / 512 * 512;
                return allocate(pointer, *pitch * height);
              });
}
CuResult cuMemAllocManaged(CuDevicePointer *pointer, std::size_t bytes, unsigned) {
  return call(kMemAllocManaged, "cuMemAllocManaged", MemAllocCall{pointer, bytes},
              [&](std::uint32_t) { return allocate(pointer, bytes); });
}
CuResult cuMemAllocAsync(CuDevicePointer *pointer, std::size_t bytes, CuStream) {
  return call(kMemAllocAsync, "cuMemAllocAsync", MemAllocCall{pointer, bytes},
              [&](std::uint32_t) { return allocate(pointer, bytes); });
}
CuResult cuMemFree_v2(CuDevicePointer pointer) {
  return call(kMemFree, "cuMemFree_v2", MemFreeCall{pointer},
              [&](std::uint32_t) { return release(pointer); });
}
CuResult cuMemFreeAsync(CuDevicePointer pointer, CuStream) {
  return call(kMemFreeAsync, "cuMemFreeAsync", MemFreeCall{pointer},
              [&](std::uint32_t) { return release(pointer); });
}
CuResult cuMemHostAlloc(void **pointer, std::size_t bytes, unsigned) {
  return call(
      kMemHostAlloc, "cuMemHostAlloc", MemHostAllocCall{pointer, bytes},
      [&](std::uint32_t) { return allocate(reinterpret_cast<CuDevicePointer *>(pointer), bytes); });
}
CuResult cuMemHostRegister_v2(void *pointer, std::size_t bytes, unsigned) {
  return call(kMemHostRegister, "cuMemHostRegister_v2", MemHostRegisterCall{pointer, bytes},
              [](std::uint32_t) { return kOk; });
}
CuResult cuMemHostUnregister(void *pointer) {
  return call(kMemHostUnregister, "cuMemHostUnregister", MemHostPointerCall{pointer},
              [](std::uint32_t) { return kOk; });
}
CuResult cuMemFreeHost(void *pointer) {
  return call(kMemFreeHost, "cuMemFreeHost", MemHostPointerCall{pointer},
              [&](std::uint32_t) { return release(reinterpret_cast<std::uint64_t>(pointer)); });
}
CuResult cuMemcpyHtoD_v2(CuDevicePointer to, const void *from, std::size_t bytes) {
  return std::memcpy(reinterpret_cast<void *>(to), from, bytes), kOk;
}
CuResult cuMemcpyDtoH_v2(void *to, CuDevicePointer from, std::size_t bytes) {
  return std::memcpy(to, reinterpret_cast<const void *>(from), bytes), kOk;
}
CuResult cuMemcpyDtoHAsync_v2(void *to, CuDevicePointer from, std::size_t bytes, CuStream) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}

CuResult cuStreamCreate(CuStream *stream, unsigned) {
  return *stream = reinterpret_cast<CuStream>(new Stream), kOk;
}
CuResult cuStreamSynchronize(CuStream) { return kOk; }
CuResult cuStreamQuery(CuStream) { return std::getenv("KOPT_FAKE_NEVER_DONE") ? 600 : kOk; }
CuResult cuStreamIsCapturing(CuStream stream, int *status) {
  const bool known = reinterpret_cast<std::uintptr_t>(stream) > 2;
  return *status = known && reinterpret_cast<Stream *>(stream)->capturing ? 1 : 0, kOk;
}
CuResult cuStreamBeginCapture_v2(CuStream stream, int) {
  return call(kBeginCapture, "cuStreamBeginCapture_v2", stream, [&](std::uint32_t) {
    return reinterpret_cast<Stream *>(stream)->capturing = new Graph, kOk;
  });
}
CuResult cuStreamEndCapture(CuStream stream, CuGraph *graph) {
  return call(kEndCapture, "cuStreamEndCapture", stream, [&](std::uint32_t) {
    auto *known = reinterpret_cast<Stream *>(stream);
    *graph = reinterpret_cast<CuGraph>(known->capturing);
    known->capturing = nullptr;
    return kOk;
  });
}

CuResult cuLaunchKernel(CuFunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CuStream stream,
                        void **parameters, void **extra) {
  const LaunchKernelCall made{function, {gx, gy, gz}, {bx, by, bz}, shared,
                              stream,   parameters,   extra};
  return call(
      kLaunchKernel, "cuLaunchKernel", made,
      [&](std::uint32_t id) {
        return launch(function, made.grid, made.block, shared, stream, parameters, extra, id);
      },
      of(function).kernel->symbol);
}
CuResult cuLaunchKernel_ptsz(CuFunction function, unsigned gx, unsigned gy, unsigned gz,
                             unsigned bx, unsigned by, unsigned bz, unsigned shared,
                             CuStream stream, void **parameters, void **extra) {
  const LaunchKernelCall made{function, {gx, gy, gz}, {bx, by, bz}, shared,
                              stream,   parameters,   extra};
  return call(
      kLaunchKernelPtsz, "cuLaunchKernel_ptsz", made,
      [&](std::uint32_t id) {
        return launch(function, made.grid, made.block, shared, stream, parameters, extra, id);
      },
      of(function).kernel->symbol);
}
CuResult cuLaunchKernelEx(const LaunchConfig *config, CuFunction function, void **parameters,
                          void **extra) {
  return call(
      kLaunchKernelEx, "cuLaunchKernelEx", LaunchKernelExCall{config, function, parameters, extra},
      [&](std::uint32_t id) {
        return launch(function, config->grid, config->block, config->sharedBytes, config->stream,
                      parameters, extra, id);
      },
      of(function).kernel->symbol);
}
CuResult cuLaunchCooperativeKernel(CuFunction function, unsigned gx, unsigned gy, unsigned gz,
                                   unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                   CuStream stream, void **parameters) {
  const LaunchCooperativeCall made{function, {gx, gy, gz}, {bx, by, bz},
                                   shared,   stream,       parameters};
  return call(
      kLaunchCooperative, "cuLaunchCooperativeKernel", made,
      [&](std::uint32_t id) {
        return launch(function, made.grid, made.block, shared, stream, parameters, nullptr, id);
      },
      of(function).kernel->symbol);
}

CuResult cuGraphGetNodes(CuGraph graph, CuGraphNode *nodes, std::size_t *count) {
  const auto &all = reinterpret_cast<Graph *>(graph)->nodes;
  for (std::size_t i = 0; nodes && i < all.size() && i < *count; ++i)
    nodes[i] = reinterpret_cast<CuGraphNode>(all[i]);
  return *count = all.size(), kOk;
}
CuResult cuGraphNodeGetType(CuGraphNode, int *type) { return *type = 0, kOk; }
CuResult cuGraphKernelNodeGetParams_v2(CuGraphNode handle, void *out) {
  auto &node = *reinterpret_cast<Node *>(handle);
  KernelNodeParameters parameters{};
  parameters.function = reinterpret_cast<CuFunction>(const_cast<Function *>(node.function));
  std::memcpy(parameters.grid, node.grid, sizeof node.grid);
  std::memcpy(parameters.block, node.block, sizeof node.block);
  parameters.sharedBytes = node.shared;
  parameters.parameters = node.pointers.data();
  return std::memcpy(out, &parameters, sizeof parameters), kOk;
}
CuResult cuGraphInstantiateWithFlags(CuGraphExec *exec, CuGraph graph, unsigned long long) {
  return call(kGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags",
              GraphInstantiateCall{exec, graph}, [&](std::uint32_t) {
                auto *clone = new Graph;
                for (Node *node : reinterpret_cast<Graph *>(graph)->nodes) {
                  Node *copy = makeNode(*node->function, node->grid, node->block, node->shared,
                                        node->pointers.data());
                  copy->original = node;
                  clone->nodes.push_back(copy);
                  if (hooks)
                    hooks->nodeCloned(graph, node, copy);
                }
                return *exec = reinterpret_cast<CuGraphExec>(clone), kOk;
              });
}
CuResult cuGraphExecKernelNodeSetParams_v2(CuGraphExec exec, CuGraphNode original,
                                           const KernelNodeParameters *given) {
  return call(kGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2",
              GraphExecKernelNodeSetParamsCall{exec, original, given}, [&](std::uint32_t) {
                for (Node *&node : reinterpret_cast<Graph *>(exec)->nodes)
                  if (node->original == reinterpret_cast<Node *>(original)) {
                    Node *changed = makeNode(of(given->function), given->grid, given->block,
                                             given->sharedBytes, given->parameters);
                    for (std::size_t i = 0; i < changed->values.size(); ++i)
                      node->values[i] = changed->values[i],
                      node->pointers[i] = node->values[i].data();
                    std::memcpy(node->grid, given->grid, sizeof node->grid);
                    delete changed;
                  }
                return kOk;
              });
}
CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  return call(kGraphLaunch, "cuGraphLaunch", GraphLaunchCall{exec, stream},
              [&](std::uint32_t correlation) {
                for (Node *node : reinterpret_cast<Graph *>(exec)->nodes)
                  run(*node->function, node->grid, node->block, node->pointers.data(), correlation,
                      reinterpret_cast<std::uint64_t>(node));
                return kOk;
              });
}
CuResult cuGraphExecDestroy(CuGraphExec exec) {
  return call(kGraphExecDestroy, "cuGraphExecDestroy", GraphExecDestroyCall{exec},
              [](std::uint32_t) { return kOk; });
}

} // extern "C"
