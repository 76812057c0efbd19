# SPDX-License-Identifier: Apache-2.0
"""Tunes two kernels of a PyTorch extension that dispatches them over types, and confirms them in its program."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import unittest

from kopt_test import KoptTest, find_nvcc, has_gpu

KERNELS = r"""#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <torch/library.h>

template <typename scalar_t>
__global__ void rms_norm_kernel(scalar_t *__restrict__ out, const scalar_t *__restrict__ input, const scalar_t *__restrict__ weight,
                                float epsilon, int hidden) {
  __shared__ float sums[1024];
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float x = static_cast<float>(input[static_cast<int64_t>(blockIdx.x) * hidden + i]);
    sum += x * x;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(sums[0] / hidden + epsilon);
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    int64_t at = static_cast<int64_t>(blockIdx.x) * hidden + i;
    out[at] = static_cast<scalar_t>(static_cast<float>(input[at]) * scale) * weight[i];
  }
}

template <typename scalar_t>
__global__ void silu_and_mul_kernel(scalar_t *__restrict__ out, const scalar_t *__restrict__ input, int width) {
  int64_t row = blockIdx.x;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float gate = static_cast<float>(input[row * 2 * width + i]);
    out[row * width + i] = static_cast<scalar_t>(gate / (1.0f + expf(-gate))) * input[row * 2 * width + width + i];
  }
}

at::Tensor rms_norm(const at::Tensor &input, const at::Tensor &weight, double epsilon) {
  TORCH_CHECK(input.is_contiguous() && weight.is_contiguous(), "rms_norm: tensors must be contiguous");
  int hidden = input.size(-1);
  int rows = input.numel() / hidden;
  at::Tensor out = at::empty_like(input);
  const dim3 grid(rows);
  const dim3 block(1024);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "rms_norm", [&] {
    rms_norm_kernel<scalar_t><<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        out.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), static_cast<float>(epsilon), hidden);
  });
  return out;
}

at::Tensor silu_and_mul(const at::Tensor &input) {
  TORCH_CHECK(input.is_contiguous() && input.size(-1) % 2 == 0, "silu_and_mul: two contiguous halves are needed");
  int width = input.size(-1) / 2;
  int rows = input.numel() / (2 * width);
  at::Tensor out = at::empty({rows, width}, input.options());
  const dim3 grid(rows);
  const dim3 block(1024);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "silu_and_mul", [&] {
    silu_and_mul_kernel<scalar_t><<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        out.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), width);
  });
  return out;
}

TORCH_LIBRARY(layers, library) {
  library.def("rms_norm(Tensor input, Tensor weight, float epsilon) -> Tensor");
  library.def("silu_and_mul(Tensor input) -> Tensor");
  library.impl("rms_norm", c10::kCUDA, TORCH_FN(rms_norm));
  library.impl("silu_and_mul", c10::kCUDA, TORCH_FN(silu_and_mul));
}
"""

MODEL = """import pathlib
import torch

torch.ops.load_library(pathlib.Path(__file__).parent / "layers.so")
torch.manual_seed(1)
with torch.no_grad():
    weight = torch.rand(1024, device="cuda", dtype=torch.bfloat16)
    hidden = torch.randn(16384, 1024, device="cuda", dtype=torch.bfloat16)
    up = torch.randn(1024, 2560, device="cuda", dtype=torch.bfloat16) / 32
    down = torch.randn(1280, 1024, device="cuda", dtype=torch.bfloat16) / 32
    for _ in range(30):
        normed = torch.ops.layers.rms_norm(hidden, weight, 1e-5)
        reference = torch.nn.functional.rms_norm(hidden, (1024,), weight, 1e-5)
        torch.testing.assert_close(normed, reference, rtol=2e-2, atol=2e-2)
        hidden = hidden + torch.ops.layers.silu_and_mul(normed @ up) @ down
    print(f"mean {hidden.float().abs().mean().item():.4f}")
"""


def flags():
    """nvcc's for a file that includes PyTorch's headers."""
    from torch.utils import cpp_extension
    import torch
    includes = [flag for folder in cpp_extension.include_paths("cuda") for flag in ("-I", folder)]
    return ["-O3", "-std=c++17", "-arch=sm_%d%d" % torch.cuda.get_device_capability(), "--expt-relaxed-constexpr",
            f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", *includes]


def build_command():
    from torch.utils import cpp_extension
    libraries = [flag for folder in cpp_extension.library_paths("cuda") for flag in ("-L", folder)]
    return [str(find_nvcc()), *flags(), "-shared", "-Xcompiler", "-fPIC", "-o", "layers.so", "layers.cu", *libraries,
            "-lc10", "-lc10_cuda", "-ltorch_cpu", "-ltorch_cuda", "-ltorch"]


class TorchExtension(KoptTest):
    def test_two_dispatched_kernels_are_confirmed_in_their_program(self):
        source = self.write("layers.cu", KERNELS)
        self.write("model.py", MODEL)
        build = " ".join(build_command())
        subprocess.run(build, shell=True, check=True, cwd=self.folder)
        done = self.kopt("tune", "layers.cu", "--run", f"{sys.executable} model.py", "--build", build, "--device", "cuda", "--json",
                         "--budget-seconds", os.environ.get("KOPT_TEST_BUDGET_SECONDS", "120"), "--", *flags(), timeout=900)
        print(done.stderr, file=sys.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        for kernel in answer["results"]:
            print(kernel.get("judged"), kernel.get("stages"), file=sys.stderr)
        session = answer["details"]["session"]
        states = {win["kernel"]: win["state"] for win in session["wins"]}
        self.assertEqual(states, {"rms_norm_kernel<c10::BFloat16>": "confirmed", "silu_and_mul_kernel<c10::BFloat16>": "confirmed"},
                         json.dumps(session, indent=1))
        self.kopt_ok("apply")
        self.assertNotEqual(source.read_text(), KERNELS)
        subprocess.run(build, shell=True, check=True, cwd=self.folder)
        subprocess.run([sys.executable, "model.py"], check=True, cwd=self.folder)


if __name__ == "__main__":
    if not has_gpu() or not find_nvcc() or not shutil.which("g++") or not importlib.util.find_spec("torch"):
        print("no GPU, no nvcc, or no PyTorch")
        sys.exit(77)
    unittest.main()
