// SPDX-License-Identifier: Apache-2.0
// The kernels of executable graphs. A graph launch does not name its kernels, so they are kept when
// the graph is instantiated.
#pragma once

#include "runtime/capture/Recorder.h"
#include "runtime/capture/adapter/CallParameters.h"

#include <mutex>
#include <unordered_map>

namespace kopt::runtime::capture {

class GraphTable {
public:
  using KernelOf = std::function<KernelEntry &(const void *handle)>;
  GraphTable(Recorder &recorder, const CaptureDriver &driver, KernelOf kernelOf)
      : recorder_(recorder), driver_(driver), kernelOf_(std::move(kernelOf)) {}

  /// CUPTI's id of the clone of a node. Called while the graph is instantiated on this thread.
  void cloned(CuGraphNode original, std::uint64_t id);
  void instantiated(CuGraphExec exec, CuGraph graph);
  /// Takes the nodes' parameters from `graph`, whose nodes are in the same order.
  void updated(CuGraphExec exec, CuGraph graph);
  /// One node's new parameters. `hasKernel`: `parameters` has the members of the struct's second
  /// version.
  void changed(CuGraphExec exec, CuGraphNode node, const KernelNodeParameters &parameters,
               bool hasKernel);
  void launched(CuGraphExec exec, const LaunchFacts &facts);
  void destroyed(CuGraphExec exec);

private:
  struct Node {
    CuGraphNode original = nullptr;
    std::uint64_t id = 0;
    const KernelEntry *kernel = nullptr;
    LaunchFacts facts;
    std::vector<std::byte> arguments;
  };
  struct Exec {
    std::uint64_t number = 0; ///< its id in the trace, because the driver reuses handles
    bool told = false;        ///< its nodes are in the log under `number`
    std::vector<Node> nodes;
  };

  void collect(CuGraph graph, std::vector<Node> &out, unsigned depth);
  void set(Node &node, const KernelNodeParameters &parameters, bool hasKernel);

  Recorder &recorder_;
  const CaptureDriver &driver_;
  KernelOf kernelOf_;
  std::mutex mutex_;
  std::uint64_t next_ = 1;
  std::unordered_map<CuGraphExec, Exec> execs_;
};

/// Sets the arguments of `facts` from the arrays of a launch: `parameters`, or the packed buffer in
/// `extra`.
void setArguments(LaunchFacts &facts, void **parameters, void **extra);

} // namespace kopt::runtime::capture
