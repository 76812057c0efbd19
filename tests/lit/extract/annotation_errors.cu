// What [[kopt::tune]] cannot mark is an error at the user's line.
// RUN: not %kopt-extract %s --list -- 2>&1 | FileCheck %s
// CHECK-DAG: annotation_errors.cu:[[#@LINE+1]]:3: error: {{\[\[}}kopt::tune]] marks 'host', which is not a __global__ function
[[kopt::tune("target 2")]] void host() {}
// CHECK-DAG: annotation_errors.cu:[[#@LINE+1]]:3: error: {{\[\[}}kopt::tune]] marks a __global__ function, not this declaration
[[kopt::tune("target 2")]] int variable;
// CHECK-DAG: annotation_errors.cu:[[#@LINE+1]]:14: error: {{\[\[}}kopt::tune]] takes string literals
[[kopt::tune(5)]] __global__ void number() {}
