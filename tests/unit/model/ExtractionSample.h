// SPDX-License-Identifier: Apache-2.0
// A complete reply of `kopt-frontend extract`, as the tests' common starting point.
#pragma once

#include <nlohmann/json.hpp>

namespace kopt {

inline nlohmann::json extractionSample() {
  return nlohmann::json::parse(R"json({
  "schema_version": 1, "tool": "kopt-extract 0.1.0", "notes": [{"text": "no nvcc: slices are not proven", "kind": "other"}],
  "library_kernels": [], "file_hashes": {"/src/a.cu": "99aa06d3014798d86001c324468d497f"},
  "kernels": [{
    "name": "ns::stencil", "file": "/src/a.cu", "line": 7, "unit": "/src/a.cu", "units": ["/src/a.cu"], "annotated": true,
    "defined": true, "outside": [], "unused": [],
    "clauses": [{"text": "param R in {1, 2}", "file": "/src/a.cu", "line": 6}],
    "compile_flags": ["-O3", "-arch=sm_90"], "directory": "/src", "project_files": {},
    "specializations": [{
      "symbol": "_ZN2ns7stencilIfLi2EEEvPKfPfi", "expression": "ns::stencil<float, 2>",
      "file_local": false, "needs": [], "constant_variables": [], "tests_non_finite": false,
      "template_args": [
        {"name": "T", "value": "float", "integral": false},
        {"name": "R", "value": "2", "integral": true, "range": {"file": "/src/a.cu", "begin": 400, "end": 401}}],
      "params": [
        {"name": "in", "type": "const float *", "kind": "pointer", "size": 8, "align": 8, "scalar": "f32",
         "components": 1, "pointee_size": 4, "pointee_const": true, "restrict": false, "compared_with": [], "members": []},
        {"name": "n", "type": "int", "kind": "scalar", "size": 4, "align": 4, "scalar": "i32", "components": 1,
         "pointee_size": 0, "pointee_const": false, "restrict": false, "compared_with": [], "members": []}],
      "route": "slice", "slice": "/out/stencil.cu", "reason": "", "proven": true,
      "chunks": [
        {"source": {"file": "/src/a.cu", "begin": 0, "end": 20}, "slice_begin": 0, "slice_end": 20,
         "role": "constant", "name": "kShift", "editable": true, "users": [], "needed": true},
        {"source": {"file": "/src/a.cu", "begin": 30, "end": 230}, "slice_begin": 21, "slice_end": 221,
         "role": "kernel", "name": "ns::stencil", "editable": true, "users": [], "needed": true}],
      "kernel_chunk": 1}],
    "launches": [{
      "file": "/src/a.cu", "line": 30, "column": 3, "symbol": "_ZN2ns7stencilIfLi2EEEvPKfPfi",
      "geometry": "symbolic", "grid": ["(n + 255) / 256", "1", "1"], "block": ["256", "1", "1"],
      "shared_bytes": "0", "args": ["d_in", "n"], "template_args": [], "variables": ["n"],
      "pointers": [{"root": "d_in", "offset": "4", "bytes": ""},
                   {"root": "", "offset": "0", "bytes": ""}],
      "values": ["", "n"], "guards": ["(n > 0)"],
      "grid_range": {"file": "/src/a.cu", "begin": 405, "end": 420}, "block_range": null}, {
      "file": "/src/a.cu", "line": 40, "column": 3, "symbol": "_ZN2ns7stencilIfLi2EEEvPKfPfi",
      "geometry": "unresolved", "reason": "the grid depends on a call of 'power'", "grid": ["", "", ""],
      "block": ["32", "1", "1"], "shared_bytes": "0", "args": [], "template_args": [], "variables": [],
      "pointers": [], "values": [], "guards": []}],
    "constants": [{
      "name": "kShift", "kind": "constexpr", "value": -3,
      "value_range": {"file": "/src/a.cu", "begin": 15, "end": 17}, "line": 1,
      "used_by_kernel": true, "used_by_launch": true}]
  }],
  "unresolved_launches": [{
    "file": "/src/a.cu", "line": 50, "column": 3, "symbol": "", "callee": "table[i]", "reason": "not followed",
    "geometry": "exact", "grid": ["1", "1", "1"], "block": ["32", "1", "1"], "shared_bytes": "0", "args": [], "template_args": [],
    "variables": [], "pointers": [], "values": [], "guards": []}]
})json");
}

} // namespace kopt
