// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/ModuleRules.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include <gtest/gtest.h>

namespace kopt::frontend::emulate {
namespace {

/// Where a call stands that was inlined from line 106 of a header into line 7 of the user's file.
std::string placeOfCallInlinedFrom(const std::string &directory, const std::string &file) {
  const std::string text = R"(
    declare void @barrier()
    define void @kernel() !dbg !4 {
      call void @barrier(), !dbg !7
      ret void, !dbg !6
    }
    !llvm.module.flags = !{!0}
    !llvm.dbg.cu = !{!1}
    !0 = !{i32 2, !"Debug Info Version", i32 3}
    !1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2)
    !2 = !DIFile(filename: "slice.cu", directory: "/tmp/scratch")
    !3 = !DIFile(filename: ")" +
                           file + R"(", directory: ")" + directory + R"(")
    !4 = distinct !DISubprogram(name: "kernel", file: !2, unit: !1)
    !5 = distinct !DISubprogram(name: "__syncthreads", file: !3, unit: !1)
    !6 = !DILocation(line: 7, scope: !4)
    !7 = !DILocation(line: 106, scope: !5, inlinedAt: !6)
  )";
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module)
    return diagnostic.getMessage().str();
  ModulePlan plan;
  plan.headerDirectory = "/tmp/checkout/kopt/include";
  return placeOf(*llvm::inst_begin(module->getFunction("kernel")), plan);
}

TEST(UserLocation, IsTheLineThatCalledIntoOurHeaders) {
  EXPECT_EQ(placeOfCallInlinedFrom("/tmp/scratch", "/tmp/checkout/kopt/include/barriers.h"),
            "slice.cu:7");
}

TEST(UserLocation, KnowsOurHeadersWhereTheirPathIsSplit) {
  EXPECT_EQ(placeOfCallInlinedFrom("/tmp", "checkout/kopt/include/barriers.h"), "slice.cu:7");
}

TEST(UserLocation, IsTheLineThatCalledIntoTheSystemsHeaders) {
  EXPECT_EQ(placeOfCallInlinedFrom("/tmp/scratch", "/usr/include/c++/12/bits/stl_algobase.h"),
            "slice.cu:7");
}

TEST(UserLocation, IsTheLineItselfInTheUsersHeaders) {
  EXPECT_EQ(placeOfCallInlinedFrom("/tmp", "work/app/barriers.h"), "work/app/barriers.h:106");
}

} // namespace
} // namespace kopt::frontend::emulate
