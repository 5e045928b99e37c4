// The choice among ways that are fast on one processor and slow on another. The results do not
// depend on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

namespace scatterx {

// How long stretches are copied. If the processor lacks an instruction set, kLines is used.
enum class CopyWay {
  kLines,   // vectors in order; past the caches, lines in order
  kTurns,   // the same, but past the caches several pages take turns
  kMoves,   // `rep movsb`
  kMemcpy,  // the C library's
};

struct Choices {
  CopyWay copy = CopyWay::kLines;
  bool prefetch = true;  // places are prefetched
  bool blocks = true;    // blocks.h
  bool panels = true;    // panels.h

  friend bool operator==(const Choices& a, const Choices& b) {
    return a.copy == b.copy && a.prefetch == b.prefetch && a.blocks == b.blocks &&
           a.panels == b.panels;
  }
};

namespace internal {

// They may change while other threads run, so each of them is read once.
struct Chosen {
  std::atomic<CopyWay> copy{CopyWay::kLines};
  std::atomic<bool> prefetch{true}, blocks{true}, panels{true};
};
inline Chosen chosen;

inline void TakeWord(const std::string& word, Choices& choices, std::string& wrong) {
  if (word == "lines") {
    choices.copy = CopyWay::kLines;
  } else if (word == "turns") {
    choices.copy = CopyWay::kTurns;
  } else if (word == "moves") {
    choices.copy = CopyWay::kMoves;
  } else if (word == "memcpy") {
    choices.copy = CopyWay::kMemcpy;
  } else if (word == "no-prefetch") {
    choices.prefetch = false;
  } else if (word == "no-blocks") {
    choices.blocks = false;
  } else if (word == "no-panels") {
    choices.panels = false;
  } else if (!word.empty() && wrong.empty()) {
    wrong = word;
  }
}

}  // namespace internal

// Uses these from now on, in the whole process.
inline void Choose(const Choices& choices) {
  internal::chosen.copy.store(choices.copy, std::memory_order_relaxed);
  internal::chosen.prefetch.store(choices.prefetch, std::memory_order_relaxed);
  internal::chosen.blocks.store(choices.blocks, std::memory_order_relaxed);
  internal::chosen.panels.store(choices.panels, std::memory_order_relaxed);
}

inline Choices Chosen() {
  return {internal::chosen.copy.load(std::memory_order_relaxed),
          internal::chosen.prefetch.load(std::memory_order_relaxed),
          internal::chosen.blocks.load(std::memory_order_relaxed),
          internal::chosen.panels.load(std::memory_order_relaxed)};
}

// Reads words such as "turns no-panels", with spaces or commas between them. Returns the first
// unknown word, or an empty string. The other words are used in any case.
inline std::string ReadChoices(const std::string& text, Choices& choices) {
  std::string word, wrong;
  for (const char c : text + ' ') {
    if (c != ' ' && c != ',') {
      word += c;
      continue;
    }
    internal::TakeWord(word, choices, wrong);
    word.clear();
  }
  return wrong;
}

}  // namespace scatterx
