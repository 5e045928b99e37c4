#include "choose.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "scatterx/choices.h"
#include "scatterx/shape.h"

namespace scatterx {

namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The file that `onnx-scatterx calibrate` writes.
std::string MachineFile() {
  const std::string given = Variable("ONNX_SCATTERX_MACHINE");
  if (!given.empty()) return given;
  std::string config = Variable("XDG_CONFIG_HOME");
  if (config.empty()) {
#if defined(_WIN32)
    const std::string home = Variable("USERPROFILE");
#else
    const std::string home = Variable("HOME");
#endif
    if (home.empty()) return "";
    config = home + "/.config";
  }
  return config + "/onnx-scatterx/machine.toml";
}

// The words in the line `kernel = "..."` of that file, or an empty string. Only its first lines are
// read.
std::string Measured() {
  constexpr int kMostLines = 100;
  constexpr std::size_t kMostBytes = 1 << 12;
  const std::string start = "kernel = \"";
  std::ifstream file(MachineFile());
  std::string line(kMostBytes, '\0');
  for (int i = 0; i < kMostLines && file.getline(line.data(), kMostBytes); ++i) {
    const std::string text = line.c_str();
    if (text.compare(0, start.size(), start) == 0)
      return text.substr(start.size(), text.find('"', start.size()) - start.size());
  }
  return "";
}

}  // namespace

void ChooseForThisMachine() {
  Choices choices;
  const std::string said = Variable("SCATTERX_COPY");
  const std::string wrong = ReadChoices(said.empty() ? Measured() : said, choices);
  if (!said.empty() && !wrong.empty()) {
    throw InvalidArgument("SCATTERX_COPY has the word '" + wrong +
                          "', which is none of lines, turns, moves, memcpy, no-prefetch, "
                          "no-blocks, no-panels");
  }
  Choose(choices);
}

}  // namespace scatterx
