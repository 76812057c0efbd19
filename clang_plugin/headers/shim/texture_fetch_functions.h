// SPDX-License-Identifier: Apache-2.0
// CUDA 13 no longer has this header; the CUDA wrapper header of Clang 19 still includes it.
#pragma once
