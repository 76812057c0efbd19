// A file is answered from the last run where nothing that it was made from has changed.
// RUN: rm -rf %t && mkdir -p %t && cp %s %t/k.cu && echo '#define WIDTH 32' > %t/width.h
// RUN: echo 'KOPT_CACHE_DIR=%t/kept %cached-extract "$@"' > %t/extract.sh
// RUN: sh %t/extract.sh %t/k.cu --json -o %t/out -- > %t/first.json
// RUN: ls %t/kept/extract | count 1
// RUN: cp -r %t/out %t/first && rm -rf %t/out
// RUN: sh %t/extract.sh %t/k.cu --json -o %t/out -- > %t/second.json
// RUN: cmp %t/first.json %t/second.json && diff -r %t/first %t/out
// RUN: sh %t/extract.sh %t/k.cu --json --no-cache -o %t/out -- > %t/third.json
// RUN: cmp %t/first.json %t/third.json && diff -r %t/first %t/out

// What it is asked for is no part of the answer.
// RUN: sh %t/extract.sh %t/k.cu --list -- | FileCheck %s --check-prefix=LIST
// RUN: ls %t/kept/extract | count 1
// LIST: fill

// Other flags are another question; an edit replaces the answer.
// RUN: sh %t/extract.sh %t/k.cu --json --no-proof -- -DOTHER > %t/flags.json
// RUN: ls %t/kept/extract | count 2
// RUN: echo '#define WIDTH 64' > %t/width.h
// RUN: sh %t/extract.sh %t/k.cu --json -- | FileCheck %s --check-prefix=EDITED
// RUN: ls %t/kept/extract | count 2
// EDITED: "value": 64
// EDITED: "block": [
// EDITED-NEXT: "WIDTH"

// A damaged answer is none, and is replaced.
// RUN: %python -c "import pathlib, sys; [p.write_text('damaged') for p in pathlib.Path(sys.argv[1]).iterdir()]" %t/kept/extract
// RUN: sh %t/extract.sh %t/k.cu --json -- | FileCheck %s --check-prefix=EDITED
// RUN: sh %t/extract.sh %t/k.cu --json -- | FileCheck %s --check-prefix=EDITED

// A folder that cannot be made, or written, stops nothing; --no-cache touches none.
// RUN: env KOPT_CACHE_DIR=/proc/kopt %cached-extract %t/k.cu --json -- | FileCheck %s --check-prefix=EDITED
// RUN: env KOPT_CACHE_DIR=%t/k.cu %cached-extract %t/k.cu --json -- | FileCheck %s --check-prefix=EDITED
// RUN: env KOPT_CACHE_DIR=%t/none %cached-extract %t/k.cu --no-cache --json -- | FileCheck %s --check-prefix=EDITED
// RUN: not ls %t/none

// What does not compile is not parsed again either, and says the same.
// RUN: rm %t/width.h
// RUN: %exits 4 sh %t/extract.sh %t/k.cu -- 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: %exits 4 sh %t/extract.sh %t/k.cu -- 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: echo '#define WIDTH 64' > %t/width.h
// RUN: sh %t/extract.sh %t/k.cu --json -- | FileCheck %s --check-prefix=EDITED
// MISSING: k.cu:[[#]]:10: fatal: 'width.h' file not found

// At most so much is kept.
// RUN: env KOPT_CACHE_LIMIT=0 sh %t/extract.sh %t/k.cu --json --no-proof -- -DMORE > /dev/null
// RUN: ls %t/kept/extract | count 0

#include "width.h"
__global__ void fill(float *x) { x[threadIdx.x] = WIDTH; }
void run(float *x) { fill<<<1, WIDTH>>>(x); }
