// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/CudaFunctions.h"

#include <clang/AST/Expr.h>
#include <llvm/ADT/StringExtras.h>

namespace kopt::frontend {

using namespace clang;

namespace {

/// The first that fits decides. "name*": what begins so; "*part*": what has it anywhere in its
/// qualified name; "::…": only in the namespaces of CUDA's libraries.
constexpr std::pair<CudaFunction, const char *> kVocabulary[] = {
    {CudaFunction::Fence, "__threadfence* __nv_atomic_thread_fence* __builtin_nvvm_membar* "
                          "__nvvm_membar* __fence* *thread_fence*"},
    {CudaFunction::Barrier, "__syncthreads* __syncwarp* __barrier_sync* __builtin_nvvm_bar* "
                            "__nvvm_bar* ::sync* ::arrive* ::wait* ::barrier_* ::consumer_* "
                            "::producer_*"},
    {CudaFunction::Lanes,
     "__shfl* __ballot* __any* __all* __match* __reduce_* __activemask* shfl*"},
    {CudaFunction::Atomic,
     "atomic* __atomic* __nv_atomic* __builtin_nvvm_atom* __nvvm_atom* ::*atomic*"},
    {CudaFunction::CacheLoad, "__ldg __ldcg __ldca __ldcs __ldlu __ldcv"},
    {CudaFunction::CacheStore, "__stwb __stcg __stcs __stwt"},
    {CudaFunction::CacheHint, "apply_access_property associate_access_property "
                              "__builtin_nontemporal_load __builtin_nontemporal_store "
                              "__builtin_nvvm_ldg*"},
    {CudaFunction::Prefetch, "*prefetch*"},
    {CudaFunction::Clock,
     "clock clock64 __clock __clock64 __clockhi __globaltimer globaltimer "
     "__builtin_readcyclecounter __builtin_readsteadycounter __builtin_nvvm_read_ptx_sreg_clock* "
     "__builtin_nvvm_read_ptx_sreg_globaltimer* *chrono::*"},
    {CudaFunction::Sleep, "__nanosleep"},
    {CudaFunction::Heap, "malloc free calloc realloc alloca aligned_alloc __builtin_malloc "
                         "__builtin_alloca __builtin_free cudaMalloc* cudaFree*"},
    {CudaFunction::Print, "printf vprintf puts putchar __builtin_printf"},
    {CudaFunction::Assert, "__assert*"},
    {CudaFunction::Trap, "__trap __brkpt __builtin_trap abort exit __builtin_abort "
                         "__builtin_unreachable __builtin_assume __nv_associate"},
    {CudaFunction::Launch, "cudaLaunch* cudaStream* cudaGraph* cudaEvent* cudaDeviceSynchronize* "
                           "cudaGetParameterBuffer* cudaMemcpy* cudaMemset* __cudaCDP*"},
    {CudaFunction::FastMath, "__expf __exp10f __logf __log2f __log10f __sinf __cosf __tanf "
                             "__sincosf __powf __fdividef __tanhf rsqrtf rsqrt __frsqrt_rn "
                             "__fsqrt_rz __fmaf_rz __frcp_rz"},
    {CudaFunction::ShortProduct, "__mul24 __umul24"},
    {CudaFunction::Smaller, "min max umin umax llmin llmax fminf fmaxf fmin fmax"}};

/// The kinds with one pattern each, in the table's order.
const std::vector<std::pair<CudaFunction, llvm::StringRef>> &patterns() {
  static const auto all = [] {
    std::vector<std::pair<CudaFunction, llvm::StringRef>> found;
    for (const auto &[kind, names] : kVocabulary)
      for (llvm::StringRef pattern : llvm::split(names, ' '))
        found.emplace_back(kind, pattern);
    return found;
  }();
  return all;
}

bool matches(llvm::StringRef pattern, llvm::StringRef name, llvm::StringRef qualified) {
  if (pattern.consume_front("::") && !qualified.starts_with("cooperative_groups") &&
      !qualified.starts_with("cuda::"))
    return false;
  if (pattern.consume_front("*"))
    return qualified.contains(pattern.drop_back());
  return pattern.consume_back("*") ? name.starts_with(pattern) : name == pattern;
}

} // namespace

CudaFunction cudaFunction(llvm::StringRef name, llvm::StringRef qualified) {
  for (const auto &[kind, pattern] : patterns())
    if (matches(pattern, name, qualified))
      return kind;
  return CudaFunction::None;
}

CudaFunction cudaFunction(const FunctionDecl &function) {
  const llvm::StringRef name = function.getIdentifier() ? function.getName() : llvm::StringRef();
  return cudaFunction(name, function.getQualifiedNameAsString());
}

CudaFunction cudaFunction(const Stmt *statement) {
  const auto *call = dyn_cast_or_null<CallExpr>(statement);
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  return callee ? cudaFunction(*callee) : CudaFunction::None;
}

std::vector<llvm::StringRef> cudaNames(CudaFunction kind) {
  std::vector<llvm::StringRef> names;
  for (const auto &[other, pattern] : patterns())
    if (other == kind && !pattern.contains('*'))
      names.push_back(pattern);
  return names;
}

} // namespace kopt::frontend
