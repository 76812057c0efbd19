# SPDX-License-Identifier: Apache-2.0
"""The capture library in real CUDA programs: what they print and return stays, every launch is seen, and what was captured is
replayed bit by bit."""

import json
import shutil
import subprocess
import sys
import unittest

from kopt_test import KoptTest, has_gpu

COMMON = """#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(call) do { if ((call) != cudaSuccess) { std::printf("failed: %s\\n", #call); std::exit(3); } } while (0)
__global__ void scale(float *out, const float *in, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
static double sum(const float *device, int n) {
  float *host = (float *)std::malloc(n * sizeof(float));
  CHECK(cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDefault));
  double total = 0;
  for (int i = 0; i < n; ++i) total += host[i];
  std::free(host);
  return total;
}
static float *filled(int n, bool managed = false) {
  float *host = (float *)std::malloc(n * sizeof(float)), *device = nullptr;
  for (int i = 0; i < n; ++i) host[i] = 0.25f * (i % 1001);
  CHECK(managed ? cudaMallocManaged(&device, n * sizeof(float)) : cudaMalloc(&device, n * sizeof(float)));
  CHECK(cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyDefault));
  std::free(host);
  return device;
}
"""

RUNTIME = COMMON + """
int main() {
  int n = 1 << 16;
  float *in = filled(n), *out = filled(n, true);
  for (int i = 0; i < 20; ++i) scale<<<(n + 255) / 256, 256>>>(out, in, 1.0f + i % 2, n);
  scale<<<16, 128>>>(out, in, 3.0f, 2000);
  CHECK(cudaDeviceSynchronize());
  std::printf("%.9g\\n", sum(out, n));
  return 5;
}
"""

DRIVER = COMMON.replace("#include <cuda_runtime.h>", "#include <cuda.h>\n#include <cuda_runtime.h>") + """
int main() {
  int n = 4096;
  float *in = filled(n), *out = filled(n), factor = 2;
  cudaFunction_t function;
  CHECK(cudaGetFuncBySymbol(&function, (const void *)scale));
  void *arguments[] = {&out, &in, &factor, &n};
  for (int i = 0; i < 3; ++i)
    if (cuLaunchKernel((CUfunction)function, 32, 1, 1, 128, 1, 1, 0, 0, arguments, 0) != CUDA_SUCCESS) return 3;
  cudaLaunchConfig_t config = {};
  config.gridDim = 32, config.blockDim = 128;
  CHECK(cudaLaunchKernelEx(&config, scale, out, (const float *)in, 4.0f, n));
  std::printf("%.9g\\n", sum(out, n));
  return 0;
}
"""

GRAPH = COMMON + """
__global__ void add(float *data, float value) { data[threadIdx.x + blockIdx.x * blockDim.x] += value; }
int main() {
  int n = 4096;
  float *in = filled(n), *out = filled(n);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<32, 128, 0, stream>>>(out, in, 2.0f, n);
  add<<<32, 128, 0, stream>>>(out, 1.0f);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 10; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("%.9g\\n", sum(out, n));
  return 0;
}
"""

SYMBOLS = COMMON + """
namespace app { __constant__ float weights[4]; }
__device__ float offset;
struct Span { float *data; int count; };
__global__ void weigh(Span out, const float *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < out.count) out.data[i] = app::weights[i % 4] * in[i] - offset;
}
int main() {
  int n = 5000;
  float weights[4] = {0.5f, 2, 4, 8}, one = 1;
  CHECK(cudaMemcpyToSymbol(app::weights, weights, sizeof weights));
  CHECK(cudaMemcpyToSymbol(offset, &one, sizeof one));
  float *in = filled(n + 8), *out = filled(n + 64);
  for (int i = 0; i < 3; ++i) weigh<<<40, 128>>>(Span{out + 64, n}, in + 8);
  CHECK(cudaDeviceSynchronize());
  std::printf("%.9g\\n", sum(out, n));
  return 0;
}
"""

GATHER = COMMON + """
__global__ void gather(float *out, const float *const *rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += *rows[i];
}
int main() {
  int n = 3000;
  float *data = filled(10000), *out = filled(n), **rows;
  CHECK(cudaMallocManaged(&rows, n * sizeof(float *)));
  for (int i = 0; i < n; ++i) rows[i] = data + (i * 37) % 10000;
  for (int i = 0; i < 2; ++i) gather<<<24, 128>>>(out, rows, n);
  CHECK(cudaDeviceSynchronize());
  std::printf("%.9g\\n", sum(out, n));
  return 0;
}
"""

THREADS = COMMON + """
#include <thread>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>
static void work(double *total) {
  int n = 1024;
  float *in = filled(n), *out;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocAsync(&out, n * sizeof(float), stream));
  for (int i = 0; i < 500; ++i) scale<<<8, 128, 0, stream>>>(out, in, 2.0f, n);
  CHECK(cudaStreamSynchronize(stream));
  *total = sum(out, n);
}
int main(int argc, char **argv) {
  if (argc == 1) { // a child of its own, before CUDA begins here
    pid_t child = fork();
    if (child == 0) { execl("/proc/self/exe", argv[0], "child", (char *)0); _exit(9); }
    int status;
    waitpid(child, &status, 0);
    if (status != 0) return 4;
  }
  double totals[4];
  std::vector<std::thread> threads;
  for (double &total : totals) threads.emplace_back(work, &total);
  for (auto &thread : threads) thread.join();
  std::printf("%.9g\\n", totals[0] + totals[3]);
  return 0;
}
"""

COOPERATIVE = COMMON + """
#include <cooperative_groups.h>
__global__ void reversed(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
  cooperative_groups::this_grid().sync();
  float other = i < n ? out[n - 1 - i] : 0;
  cooperative_groups::this_grid().sync();
  if (i < n) out[i] = other;
}
int main() {
  int n = 1 << 14;
  float *in = filled(n), *out = filled(n);
  void *arguments[] = {&out, &in, &n};
  for (int i = 0; i < 3; ++i)
    CHECK(cudaLaunchCooperativeKernel((const void *)reversed, (n + 255) / 256, 256, arguments));
  CHECK(cudaDeviceSynchronize());
  std::printf("%.9g\\n", sum(out, n));
  return 0;
}
"""


class Capture(KoptTest):
    def build(self, text, name="app", flags=()):
        self.write(name + ".cu", text)
        subprocess.run(["nvcc", "-std=c++17", "-arch=native", "-O2", "-o", name, name + ".cu", "-lcuda", *flags],
                       cwd=self.folder, check=True)
        return subprocess.run(["./" + name], cwd=self.folder, capture_output=True, text=True)

    def observe(self, *arguments, name="app"):
        done = self.kopt("observe", "--json", *arguments, "--", "./" + name)
        return done, json.loads(done.stdout) if done.stdout else None

    def launches(self, text, expected, flags=()):
        alone = self.build(text, flags=flags)
        done, out = self.observe()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(alone.stdout, done.stderr)
        kernels = {kernel["name"]: kernel for kernel in out["results"]}
        self.assertEqual({name: kernel["launches"] for name, kernel in kernels.items()}, expected)
        for kernel in kernels.values():
            self.assertEqual(kernel["timed"], kernel["launches"], kernel)
            self.assertGreater(kernel["seconds"], 0)
        return out

    def replays(self, kernel, at_least):
        done, out = self.observe("--kernel", kernel)
        self.assertEqual(done.returncode, 0, done.stderr)
        replay = self.kopt("replay", "kopt.trace", "app.cu", "--kernel", kernel, "--device", "cuda", "--json", "--",
                           "-std=c++17", "-O2")
        self.assertEqual(replay.returncode, 0, replay.stdout + replay.stderr)
        launches = json.loads(replay.stdout)["results"][0]["launches"]
        self.assertGreaterEqual(len(launches), at_least)
        self.assertEqual({launch["match"] for launch in launches}, {"identical"}, launches)

    def test_runtime_launches_and_managed_memory(self):
        # A program that returns 5 may mean that: its launches are used, and it is said.
        self.build(RUNTIME)
        done, out = self.observe()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("exit code 5", done.stderr)
        self.assertEqual(out["results"][0]["launches"], 21)
        out = self.launches(RUNTIME.replace("return 5", "return 0"), {"scale": 21})
        self.assertEqual(len(out["results"][0]["kinds"]), 3)
        self.replays("scale", 3)

    def test_per_thread_default_streams(self):
        self.launches(RUNTIME.replace("return 5", "return 0"), {"scale": 21}, ["--default-stream", "per-thread"])

    def test_a_shared_runtime_library(self):
        self.launches(RUNTIME.replace("return 5", "return 0"), {"scale": 21}, ["-cudart", "shared"])

    def test_driver_launches(self):
        self.launches(DRIVER, {"scale": 4})
        self.replays("scale", 1)

    def test_graphs(self):
        self.launches(GRAPH, {"scale": 10, "add": 10})

    def test_variables_of_the_module_and_structs(self):
        self.launches(SYMBOLS, {"weigh": 3})
        self.replays("weigh", 1)

    def test_pointers_within_buffers(self):
        self.launches(GATHER, {"gather": 2})
        self.replays("gather", 1)

    def test_cooperative_launches(self):
        self.launches(COOPERATIVE, {"reversed": 3})
        self.replays("reversed", 1)
        text = (self.folder / "app.cu").read_text()
        accepted = ("Faster", "Same", "Slower", "Ambiguous")
        for name, change, check in (
                ("same.cu", ("float other = i < n ? out[n - 1 - i] : 0;", "float other = i < n ? __ldcg(out + n - 1 - i) : 0;"), self.assertIn),
                # 'in' may be 'out', which the original allows.
                ("apart.cu", ("float other = i < n ? out[n - 1 - i] : 0;", "float other = i < n ? 2 * in[n - 1 - i] : 0;"), self.assertNotIn),
                ("early.cu", ("cooperative_groups::this_grid().sync();\n  float other", "float other"), self.assertNotIn)):
            self.write(name, text.replace(*change, 1))
            trial = json.loads(self.kopt_trial("app.cu", "--kernel", "reversed", "--candidate", name, "--device", "cuda",
                                            "--json", "--run", "./app", "--", "-std=c++17", "-O2").stdout)["results"][0]
            check(trial["verdict"], accepted, trial["reason"])

    def test_threads_streams_pools_and_children(self):
        out = self.launches(THREADS, {"scale": 4000})
        self.assertEqual(len(out["details"]["processes"]), 2)

    def test_a_trial_on_the_programs_own_launches(self):
        self.build(RUNTIME.replace("return 5", "return 0"))
        text = (self.folder / "app.cu").read_text()
        self.write("wrong.cu", text.replace("factor * in[i]", "(i == 1999 ? 0 : factor) * in[i]"))
        done = self.kopt_trial("app.cu", "--kernel", "scale", "--candidate", "wrong.cu", "--device", "cuda", "--json",
                            "--run", "./app", "--", "-std=c++17", "-O2")
        self.assertEqual(json.loads(done.stdout)["results"][0]["verdict"], "WrongResult")


if __name__ == "__main__":
    if not shutil.which("nvcc") or not has_gpu():
        print("no GPU, or no nvcc")
        sys.exit(77)
    unittest.main()
