// SPDX-License-Identifier: Apache-2.0
// Marks a CUDA kernel for kopt:
//
//   KOPT_TUNE("param TILE in {8, 16, 32}", "extent out = n * n")
//   __global__ void transpose(const float *in, float *out, int n);
//
// kopt's own front end sees the attribute [[kopt::tune(...)]]; every other compiler sees nothing at
// all, so the program that is built does not change. With Clang's kopt plugin loaded, define
// KOPT_PLUGIN=1 to have it checked there.
#ifndef KOPT_KOPT_H
#define KOPT_KOPT_H

#if defined(__clang__) && (defined(KOPT_FRONTEND) || defined(KOPT_PLUGIN))
#define KOPT_TUNE(...) [[kopt::tune(__VA_ARGS__)]]
#else
#define KOPT_TUNE(...)
#endif

#endif // KOPT_KOPT_H
