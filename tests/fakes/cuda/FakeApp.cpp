// SPDX-License-Identifier: Apache-2.0
// A CUDA program for tests: uses the driver API of whatever libcuda.so.1 the loader finds. Its
// kernels are those of tests/e2e/data/captured.cu. Each word of the command line is a scene; prints
// a checksum of what it computed.
#include "fakes/cuda/FakeCuda.h"
#include "runtime/capture/adapter/CallParameters.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace kopt::runtime::capture;

struct Span {
  float *data;
  std::int32_t count;
};

float weights[4];

template <class T> T argument(void **parameters, std::size_t index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof value);
  return value;
}

void scale(const unsigned *grid, const unsigned *block, void **p) {
  auto *out = argument<float *>(p, 0);
  const auto *in = argument<const float *>(p, 1);
  const auto factor = argument<float>(p, 2);
  for (std::int32_t i = 0; i < argument<std::int32_t>(p, 3) && unsigned(i) < grid[0] * block[0];
       ++i)
    out[i] = factor * in[i];
}
void weigh(const unsigned *, const unsigned *, void **p) {
  const auto out = argument<Span>(p, 0);
  const auto *in = argument<const float *>(p, 1);
  for (std::int32_t i = 0; i < out.count; ++i)
    out.data[i] = weights[i % 4] * in[i];
}
void gather(const unsigned *, const unsigned *, void **p) {
  auto *out = argument<float *>(p, 0);
  const auto *rows = argument<const float *const *>(p, 1);
  for (std::int32_t i = 0; i < argument<std::int32_t>(p, 2); ++i)
    out[i] += *rows[i];
}
void blend(const unsigned *, const unsigned *, void **p) {
  auto *out = argument<float *>(p, 0);
  const auto *in = argument<const float *>(p, 1), *add = argument<const float *>(p, 2);
  const auto factor = argument<float>(p, 3);
  for (std::int32_t i = 0; i < argument<std::int32_t>(p, 4); ++i)
    out[i] = factor * in[i] + add[i];
}
void nothing(const unsigned *, const unsigned *, void **) {}

constexpr std::size_t kScale[][2] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
constexpr std::size_t kWeigh[][2] = {{0, 16}, {16, 8}};
constexpr std::size_t kGather[][2] = {{0, 8}, {8, 8}, {16, 4}};
constexpr std::size_t kBlend[][2] = {{0, 8}, {8, 8}, {16, 8}, {24, 4}, {28, 4}};
const FakeKernel kKernels[] = {
    {"_Z5scalePfPKffi", 4, kScale, scale, 1000},    {"_Z5weigh4SpanPKf", 2, kWeigh, weigh, 500},
    {"_Z6gatherPfPKPKfi", 3, kGather, gather, 100}, {"_Z5blendPfPKfS1_fi", 5, kBlend, blend, 100},
    {"nothing", 0, nullptr, nothing, 10},           {"fails", 0, nullptr, nothing, 10},
};
const FakeVariable kVariables[] = {{"_ZN3app7weightsE", weights, sizeof weights}};

/// The driver API, by name.
template <class Signature> Signature *api(const char *name) {
  static void *library = dlopen("libcuda.so.1", RTLD_NOW);
  void *function = library ? dlsym(library, name) : nullptr;
  if (!function) {
    std::fprintf(stderr, "there is no %s\n", name);
    std::_Exit(9);
  }
  return reinterpret_cast<Signature *>(function);
}

using LaunchFunction = CuResult(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, unsigned, CuStream, void **, void **);

struct App {
  App() {
    api<CuResult(unsigned)>("cuInit")(0);
    if (const char *file = std::getenv("FAKE_APP_CUBIN")) {
      std::FILE *in = std::fopen(file, "rb");
      char bytes[65536];
      cubin.assign(bytes, in ? std::fread(bytes, 1, sizeof bytes, in) : 0);
      if (in)
        std::fclose(in);
    }
    image = {kKernels, 6, kVariables, 1, cubin.empty() ? nullptr : cubin.data(), cubin.size()};
    if (std::getenv("FAKE_APP_LIBRARY"))
      api<CuResult(CuLibrary *, const void *)>("cuLibraryLoadData")(&library, &image);
    else
      api<CuResult(CuModule *, const void *)>("cuModuleLoadData")(&module, &image);
    for (int i = 0; i < 4; ++i)
      weights[i] = 0.25f * float(i + 1);
  }
  CuFunction function(const char *name) {
    CuFunction found = nullptr;
    if (library) { // a kernel of a library is launched as if it were a function
      CuKernel kernel = nullptr;
      api<CuResult(CuKernel *, CuLibrary, const char *)>("cuLibraryGetKernel")(&kernel, library,
                                                                               name);
      return reinterpret_cast<CuFunction>(kernel);
    }
    api<CuResult(CuFunction *, CuModule, const char *)>("cuModuleGetFunction")(&found, module,
                                                                               name);
    return found;
  }
  float *allocate(std::size_t count, const char *how = "cuMemAlloc_v2") {
    CuDevicePointer pointer = 0;
    if (std::string(how) == "cuMemAllocManaged")
      api<CuResult(CuDevicePointer *, std::size_t, unsigned)>(how)(&pointer, count * 4, 1);
    else if (std::string(how) == "cuMemAllocAsync")
      api<CuResult(CuDevicePointer *, std::size_t, CuStream)>(how)(&pointer, count * 4, nullptr);
    else
      api<CuResult(CuDevicePointer *, std::size_t)>(how)(&pointer, count * 4);
    return reinterpret_cast<float *>(pointer);
  }
  void release(float *pointer) {
    api<CuResult(CuDevicePointer)>("cuMemFree_v2")(reinterpret_cast<CuDevicePointer>(pointer));
  }
  CuResult launch(CuFunction function, unsigned blocks, void **parameters,
                  CuStream stream = nullptr, const char *with = "cuLaunchKernel") {
    static LaunchFunction *const usual = api<LaunchFunction>("cuLaunchKernel");
    LaunchFunction *const call =
        std::strcmp(with, "cuLaunchKernel") == 0 ? usual : api<LaunchFunction>(with);
    return call(function, blocks, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr);
  }
  CuResult launchScale(float *out, const float *in, float factor, std::int32_t n,
                       CuStream stream = nullptr, const char *with = "cuLaunchKernel") {
    void *parameters[] = {&out, &in, &factor, &n};
    return launch(function("_Z5scalePfPKffi"), unsigned(n + 127) / 128, parameters, stream, with);
  }

  CuModule module = nullptr;
  CuLibrary library = nullptr;
  FakeImage image{};
  std::string cubin;
};

double sum(const float *data, std::int32_t count) {
  double total = 0;
  for (std::int32_t i = 0; i < count; ++i)
    total += double(data[i]) * (i % 7 + 1);
  return total;
}

void fill(float *data, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i)
    data[i] = 0.1f * float(i % 97) - 3;
}

/// Twelve launches of 1000 elements, one of 5000: two geometries.
double sceneScale(App &app, bool slow) {
  float *in = app.allocate(5000), *out = app.allocate(5000, "cuMemAllocManaged");
  fill(in, 5000);
  double total = 0;
  for (int i = 0; i < 12; ++i) {
    app.launchScale(out, in, 1.5f, 1000);
    total += sum(out, 1000);
    if (slow)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  app.launchScale(out, in, 0.75f, 5000);
  total += sum(out, 5000);
  app.release(in);
  app.release(out);
  return total;
}

/// A struct with a pointer, a variable of the module, a pointer into the middle of an allocation.
double sceneWeigh(App &app) {
  CuDevicePointer variable = 0;
  std::size_t bytes = 0;
  if (app.module)
    api<CuResult(CuDevicePointer *, std::size_t *, CuModule, const char *)>("cuModuleGetGlobal_v2")(
        &variable, &bytes, app.module, "_ZN3app7weightsE");
  float *in = app.allocate(2000), *out = app.allocate(2000, "cuMemAllocAsync");
  fill(in, 2000);
  Span span{out + 64, 700};
  const float *from = in + 100;
  void *parameters[] = {&span, &from};
  for (int i = 0; i < 3; ++i)
    app.launch(app.function("_Z5weigh4SpanPKf"), 6, parameters, nullptr, "cuLaunchKernel_ptsz");
  return sum(out + 64, 700);
}

/// Pointers within a buffer, and a buffer that is read and written.
double sceneGather(App &app) {
  const std::int32_t n = 300;
  float *data = app.allocate(1000), *out = app.allocate(n);
  auto **rows = reinterpret_cast<float **>(app.allocate(2 * n));
  fill(data, 1000);
  fill(out, n);
  for (std::int32_t i = 0; i < n; ++i)
    rows[i] = data + (i * 37) % 1000;
  void *parameters[] = {&out, &rows, const_cast<std::int32_t *>(&n)};
  const auto gather = app.function("_Z6gatherPfPKPKfi");
  app.launch(gather, 3, parameters);
  LaunchAttribute attributes[2]{};
  attributes[0].id = kAttributeCooperative;
  attributes[0].value.cooperative = 1;
  attributes[1].id = kAttributeCluster;
  LaunchConfig config{{3, 1, 1}, {128, 1, 1}, 0, nullptr, attributes, 2};
  api<CuResult(const LaunchConfig *, CuFunction, void **, void **)>("cuLaunchKernelEx")(
      &config, gather, parameters, nullptr);
  using Cooperative = CuResult(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, CuStream, void **);
  api<Cooperative>("cuLaunchCooperativeKernel")(gather, 3, 1, 1, 128, 1, 1, 0, nullptr, parameters);
  return sum(out, n);
}

/// What is added happens to be 0 everywhere.
double sceneBlend(App &app) {
  std::int32_t n = 3000;
  float *in = app.allocate(3000), *add = app.allocate(3000), *out = app.allocate(3000);
  fill(in, n);
  std::memset(add, 0, std::size_t(n) * sizeof *add);
  float factor = 1.5f;
  void *parameters[] = {&out, &in, &add, &factor, &n};
  app.launch(app.function("_Z5blendPfPKfS1_fi"), unsigned(n + 127) / 128, parameters);
  return sum(out, n);
}

/// Launches of `scale` with one attribute each: a priority, a preferred cluster, one that nobody
/// knows.
double sceneAttributes(App &app) {
  float *in = app.allocate(256), *out = app.allocate(256);
  fill(in, 256);
  float factor = 2;
  std::int32_t n = 256;
  void *parameters[] = {&out, &in, &factor, &n};
  for (const std::uint32_t id : {8u, 11u, 4711u}) {
    LaunchAttribute attribute{};
    attribute.id = id;
    LaunchConfig config{{2, 1, 1}, {128, 1, 1}, 0, nullptr, &attribute, 1};
    api<CuResult(const LaunchConfig *, CuFunction, void **, void **)>("cuLaunchKernelEx")(
        &config, app.function("_Z5scalePfPKffi"), parameters, nullptr);
  }
  return sum(out, 256);
}

/// Two launches captured, launched three times, the second time with another factor; one launch
/// beside the graph.
double sceneGraph(App &app) {
  float *in = app.allocate(1000), *out = app.allocate(1000);
  fill(in, 1000);
  CuStream stream = nullptr;
  CuGraph graph = nullptr;
  CuGraphExec exec = nullptr;
  api<CuResult(CuStream *, unsigned)>("cuStreamCreate")(&stream, 1);
  api<CuResult(CuStream, int)>("cuStreamBeginCapture_v2")(stream, 1);
  app.launchScale(out, in, 2, 1000, stream);
  void *none[] = {nullptr};
  app.launch(app.function("nothing"), 1, none, stream);
  api<CuResult(CuStream, CuGraph *)>("cuStreamEndCapture")(stream, &graph);
  api<CuResult(CuGraphExec *, CuGraph, unsigned long long)>("cuGraphInstantiateWithFlags")(
      &exec, graph, 0);
  const auto launch = api<CuResult(CuGraphExec, CuStream)>("cuGraphLaunch");
  launch(exec, stream);
  double total = sum(out, 1000);
  CuGraphNode nodes[2];
  std::size_t count = 2;
  api<CuResult(CuGraph, CuGraphNode *, std::size_t *)>("cuGraphGetNodes")(graph, nodes, &count);
  KernelNodeParameters parameters{};
  api<CuResult(CuGraphNode, void *)>("cuGraphKernelNodeGetParams_v2")(nodes[0], &parameters);
  float factor = 3;
  void *changed[] = {parameters.parameters[0], parameters.parameters[1], &factor,
                     parameters.parameters[3]};
  parameters.parameters = changed;
  api<CuResult(CuGraphExec, CuGraphNode, const KernelNodeParameters *)>(
      "cuGraphExecKernelNodeSetParams_v2")(exec, nodes[0], &parameters);
  launch(exec, stream);
  total += sum(out, 1000);
  launch(exec, stream);
  app.launchScale(out, in, 5, 1000);
  return total + sum(out, 1000);
}

double sceneThreads(App &app) {
  std::vector<std::thread> threads;
  std::vector<double> totals(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      float *in = app.allocate(256), *out = app.allocate(256);
      fill(in, 256);
      for (int i = 0; i < 1000; ++i)
        app.launchScale(out, in, float(t + 1), 256);
      totals[std::size_t(t)] = sum(out, 256);
    });
  for (std::thread &thread : threads)
    thread.join();
  return totals[0] + totals[1] + totals[2] + totals[3];
}

/// Prints the nanoseconds of a launch of a kernel that does nothing.
double sceneMany(App &app, long count) {
  const auto function = app.function("nothing");
  void *none[] = {nullptr};
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < count; ++i)
    app.launch(function, 1, none);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("ns-per-launch %.1f\n", seconds * 1e9 / double(count));
  return 0;
}

void sceneChild(char **argv) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", argv[0], "scale", static_cast<char *>(nullptr));
    _exit(9);
  }
  waitpid(child, nullptr, 0);
}

void sceneForked() {
  std::fflush(stdout);
  if (fork() == 0)
    std::exit(0); // its parent's exit handlers run in it
  wait(nullptr);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || std::getenv("FAKE_APP_WITHOUT_CUDA"))
    return argc < 2 ? 2 : 0;
  if (std::string(argv[1]) == "child-only") {
    sceneChild(argv);
    return 0;
  }
  App app;
  double total = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string scene = argv[i];
    if (scene == "scale")
      total += sceneScale(app, false);
    else if (scene == "slowly")
      total += sceneScale(app, true);
    else if (scene == "weigh")
      total += sceneWeigh(app);
    else if (scene == "gather")
      total += sceneGather(app);
    else if (scene == "blend")
      total += sceneBlend(app);
    else if (scene == "attributes")
      total += sceneAttributes(app);
    else if (scene == "graph")
      total += sceneGraph(app);
    else if (scene == "threads")
      total += sceneThreads(app);
    else if (scene == "many")
      total += sceneMany(app, std::atol(argv[++i]));
    else if (scene == "child")
      sceneChild(argv);
    else if (scene == "forked")
      sceneForked();
    else if (scene == "fails")
      total += double(app.launch(app.function("fails"), 1, nullptr));
    else if (scene == "killed")
      std::raise(SIGKILL);
    else if (scene == "exit")
      std::exit(std::atoi(argv[++i]));
    else
      return 2;
  }
  std::printf("checksum %.9g\n", total);
  return 0;
}
