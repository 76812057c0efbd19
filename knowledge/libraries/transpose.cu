// SPDX-License-Identifier: Apache-2.0
// The transpose of a row-major matrix by cuBLAS. IN is f32 or f64. Numbers: rows and columns of the input.
#include "launch.h"

#include <cublas_v2.h>

void check(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(std::string(what) + ": " + cublasGetStatusString(status));
}

cublasStatus_t transpose(cublasHandle_t handle, int rows, int columns, const float *in, float *out) {
  static const float one = 1, zero = 0;
  return cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, in, columns, &zero, out, rows, out, rows);
}
cublasStatus_t transpose(cublasHandle_t handle, int rows, int columns, const double *in, double *out) {
  static const double one = 1, zero = 0;
  return cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, in, columns, &zero, out, rows, out, rows);
}

int main(int argc, char **argv) {
  Launch launch(argc, argv);
  cublasHandle_t handle;
  check(cublasCreate(&handle), "cublasCreate");
  check(cublasSetStream(handle, launch.stream()), "cublasSetStream");
  return launch.run([&] {
    check(transpose(handle, int(launch.size(0)), int(launch.size(1)), launch.in<IN>(0), launch.out<IN>(0)), "the transpose failed");
  });
}
