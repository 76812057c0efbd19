// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/PlacedTask.h"

#include <algorithm>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

nlohmann::json mapped(nlohmann::json message, const MapText &map) {
  if (message.is_string())
    return map(message.get<std::string>());
  if (message.is_structured())
    for (nlohmann::json &part : message)
      part = mapped(std::move(part), map);
  return message;
}

Error mapped(Error error, const MapText &map) {
  for (std::string *text : {&error.what, &error.where, &error.hint})
    *text = map(*text);
  for (std::string &text : error.context)
    text = map(text);
  return error;
}

PathMap::PathMap(fs::path root, const std::vector<WorkerFile> &files) : root_(root.string()) {
  std::set<std::string> known;
  for (const WorkerFile &file : files)
    for (fs::path path = fs::path(file.path).lexically_normal(); path.has_relative_path();
         path = path.parent_path())
      if (!known.insert(path.string()).second)
        break;
  known_.assign(known.begin(), known.end());
}

fs::path PathMap::here(const std::string &path) const {
  return fs::path(root_) / fs::path(path).lexically_normal().relative_path();
}

std::string PathMap::flag(const std::string &text) const {
  std::string mapped;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '/') {
      mapped += text[i++];
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(",;:\"'", i), text.size());
    const std::string path = text.substr(i, end - i);
    std::string plain = fs::path(path).lexically_normal().string();
    if (plain.size() > 1 && plain.back() == '/')
      plain.pop_back();
    mapped += std::ranges::binary_search(known_, plain) ? root_ + path : path;
    i = end;
  }
  return mapped;
}

std::string PathMap::there(std::string text) const {
  for (auto at = text.find(root_ + "/"); at != text.npos; at = text.find(root_ + "/", at))
    text.erase(at, root_.size());
  return text;
}

Subject placed(const JudgeTask &task, const PathMap &paths) {
  Subject subject;
  subject.kernel = task.kernel;
  subject.specialization = task.specialization;
  subject.sliceText = task.sliceText;
  subject.workload = task.workload;
  subject.declaration = task.declaration;
  subject.program = task.program;
  KernelSpec &kernel = subject.kernel;
  kernel.directory = paths.here(kernel.directory).string();
  for (std::string &flag : kernel.compileFlags)
    flag = paths.flag(flag);
  for (std::vector<Launch> *launches : {&subject.workload.launches, &subject.program})
    for (Launch &launch : *launches)
      for (Buffer &buffer : launch.buffers)
        if (!buffer.fill.path.empty())
          buffer.fill.path = paths.here(buffer.fill.path).string();
  return subject;
}

} // namespace kopt
