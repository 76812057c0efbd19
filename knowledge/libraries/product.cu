// SPDX-License-Identifier: Apache-2.0
// C = alpha op(A) op(B) + beta C by cuBLAS, for row-major matrices without gaps, once or for a batch of them. IN is the type
// of A and B, OUT that of C. Numbers: batch m n k, 1 if A is transposed, 1 if B is, alpha, beta.
#include "launch.h"

#include <cublas_v2.h>

void check(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(std::string(what) + ": " + cublasGetStatusString(status));
}

cudaDataType typeOf(f16) { return CUDA_R_16F; }
cudaDataType typeOf(bf16) { return CUDA_R_16BF; }
cudaDataType typeOf(f32) { return CUDA_R_32F; }
cudaDataType typeOf(f64) { return CUDA_R_64F; }

cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const float *alpha,
                        const float *A, int lda, const float *B, int ldb, const float *beta, float *C) {
  return cublasSgemm(handle, a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, m);
}
cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const double *alpha,
                        const double *A, int lda, const double *B, int ldb, const double *beta, double *C) {
  return cublasDgemm(handle, a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, m);
}
template <class In, class Out, class Scale>
cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const Scale *alpha,
                        const In *A, int lda, const In *B, int ldb, const Scale *beta, Out *C) {
  return cublasGemmEx(handle, a, b, m, n, k, alpha, A, typeOf(In()), lda, B, typeOf(In()), ldb, beta, C, typeOf(Out()), m,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

int main(int argc, char **argv) {
  Launch launch(argc, argv);
  using Scale = std::conditional_t<std::is_same_v<OUT, f64>, double, float>;
  const int batch = int(launch.size(0)), m = int(launch.size(1)), n = int(launch.size(2)), k = int(launch.size(3));
  const bool isTransposedA = launch.size(4) != 0, isTransposedB = launch.size(5) != 0;
  const Scale alpha = Scale(launch.number(6)), beta = Scale(launch.number(7));
  cublasHandle_t handle;
  check(cublasCreate(&handle), "cublasCreate");
  check(cublasSetStream(handle, launch.stream()), "cublasSetStream");
  constexpr std::size_t kWorkspace = 32u << 20; // NVIDIA's advice for Hopper
  void *workspace = nullptr;
  check(cudaMalloc(&workspace, kWorkspace), "cudaMalloc");
  check(cublasSetWorkspace(handle, workspace, kWorkspace), "cublasSetWorkspace");
  // cuBLAS counts columns first, so it computes the transpose of C from those of B and A.
  const cublasOperation_t first = isTransposedB ? CUBLAS_OP_T : CUBLAS_OP_N, second = isTransposedA ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int ldb = isTransposedB ? k : n, lda = isTransposedA ? m : k;
  const IN *A = launch.in<IN>(0), *B = launch.in<IN>(1);
  OUT *C = launch.out<OUT>(0);
  return launch.run([&] {
    if (batch == 1)
      check(multiply(handle, first, second, n, m, k, &alpha, B, ldb, A, lda, &beta, C), "the product failed");
    else
      check(cublasGemmStridedBatchedEx(handle, first, second, n, m, k, &alpha, B, typeOf(IN()), ldb, (long long)(k)*n, A,
                                       typeOf(IN()), lda, (long long)(m)*k, &beta, C, typeOf(OUT()), n, (long long)(m)*n, batch,
                                       std::is_same_v<OUT, f64> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            "the product failed");
  });
}
