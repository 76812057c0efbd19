// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/adapter/GraphTable.h"

namespace kopt::runtime::capture {

namespace {

constexpr int kKernelNode = 0, kChildGraphNode = 4;
constexpr unsigned kDeepestGraph = 16;

thread_local std::unordered_map<CuGraphNode, std::uint64_t> clones;

} // namespace

void setArguments(LaunchFacts &facts, void **parameters, void **extra) {
  facts.parameters = parameters;
  if (parameters || !extra)
    return;
  // CU_LAUNCH_PARAM_BUFFER_POINTER (1), CU_LAUNCH_PARAM_BUFFER_SIZE (2), each with its value, up to
  // CU_LAUNCH_PARAM_END (0).
  for (std::size_t i = 0; i < 8 && extra[i]; i += 2) {
    const auto key = reinterpret_cast<std::uintptr_t>(extra[i]);
    if (key == 1)
      facts.packed = extra[i + 1];
    else if (key == 2)
      facts.packedBytes = *static_cast<const std::size_t *>(extra[i + 1]);
  }
  if (facts.packedBytes == 0)
    facts.packed = nullptr;
}

void GraphTable::cloned(CuGraphNode original, std::uint64_t id) { clones[original] = id; }

void GraphTable::set(Node &node, const KernelNodeParameters &parameters, bool hasKernel) {
  const void *handle = parameters.function;
  if (!handle && hasKernel)
    handle = parameters.kernel;
  node.kernel = &kernelOf_(handle);
  node.facts = {};
  for (std::size_t i = 0; i < 3; ++i) {
    node.facts.grid[i] = parameters.grid[i];
    node.facts.block[i] = parameters.block[i];
  }
  node.facts.sharedBytes = parameters.sharedBytes;
  setArguments(node.facts, parameters.parameters, parameters.extra);
  node.arguments.resize(Recorder::kMostArgumentBytes);
  node.arguments.resize(Recorder::pack(*node.kernel, node.facts, node.arguments.data()));
  node.arguments.shrink_to_fit();
  // From here on the arguments lie in node.arguments. `packed` only marks that they are packed.
  node.facts.parameters = nullptr;
  if (node.facts.packed)
    node.facts.packed = node.arguments.data();
}

void GraphTable::collect(CuGraph graph, std::vector<Node> &out, unsigned depth) {
  std::size_t count = 0;
  if (depth == kDeepestGraph ||
      called(driver_.graphGetNodes, graph, nullptr, &count) != cuda::kSuccess || count == 0)
    return;
  std::vector<CuGraphNode> nodes(count);
  if (driver_.graphGetNodes(graph, nodes.data(), &count) != cuda::kSuccess)
    return;
  nodes.resize(std::min(count, nodes.size()));
  for (const CuGraphNode node : nodes) {
    int type = -1;
    if (called(driver_.graphNodeGetType, node, &type) != cuda::kSuccess)
      continue;
    CuGraph child = nullptr;
    if (type == kChildGraphNode &&
        called(driver_.graphChildGetGraph, node, &child) == cuda::kSuccess)
      collect(child, out, depth + 1);
    KernelNodeParameters parameters{};
    if (type != kKernelNode ||
        called(driver_.graphKernelNodeGetParams, node, &parameters) != cuda::kSuccess)
      continue;
    Node &kept = out.emplace_back();
    kept.original = node;
    if (const auto clone = clones.find(node); clone != clones.end())
      kept.id = clone->second;
    set(kept, parameters, true);
  }
}

void GraphTable::instantiated(CuGraphExec exec, CuGraph graph) {
  const std::lock_guard lock(mutex_);
  Exec &kept = execs_[exec];
  kept = {};
  kept.number = next_++;
  collect(graph, kept.nodes, 0);
  clones.clear();
}

void GraphTable::updated(CuGraphExec exec, CuGraph graph) {
  const std::lock_guard lock(mutex_);
  const auto found = execs_.find(exec);
  if (found == execs_.end())
    return;
  std::vector<Node> nodes;
  collect(graph, nodes, 0);
  std::vector<Node> &before = found->second.nodes;
  for (std::size_t i = 0; i < nodes.size() && i < before.size(); ++i) {
    nodes[i].id = before[i].id;
    nodes[i].original = before[i].original;
  }
  before = std::move(nodes);
  found->second.number = next_++;
  found->second.told = false;
}

void GraphTable::changed(CuGraphExec exec, CuGraphNode node, const KernelNodeParameters &parameters,
                         bool hasKernel) {
  const std::lock_guard lock(mutex_);
  const auto found = execs_.find(exec);
  if (found == execs_.end())
    return;
  for (Node &kept : found->second.nodes)
    if (kept.original == node)
      set(kept, parameters, hasKernel);
  found->second.number = next_++;
  found->second.told = false;
}

void GraphTable::launched(CuGraphExec exec, const LaunchFacts &facts) {
  const std::lock_guard lock(mutex_);
  const auto found = execs_.find(exec);
  if (found == execs_.end())
    return;
  Exec &graph = found->second;
  if (!graph.told)
    for (const Node &node : graph.nodes)
      recorder_.graphNode(graph.number, node.id, *node.kernel, node.facts, node.arguments.data(),
                          node.arguments.size());
  graph.told = true;
  recorder_.graphLaunch(graph.number, graph.nodes.size(), facts);
}

void GraphTable::destroyed(CuGraphExec exec) {
  const std::lock_guard lock(mutex_);
  execs_.erase(exec);
}

} // namespace kopt::runtime::capture
