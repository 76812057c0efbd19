// SPDX-License-Identifier: Apache-2.0
#include <kopt/kopt.h>

KOPT_TUNE("param N in {1, 2}") int twice(int x) { return 2 * x; }

int main() { return twice(0); }
