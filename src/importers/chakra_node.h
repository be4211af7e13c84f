// One node of PyTorch's execution trace (Chakra's JSON), in any version of its schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teller {

struct ChakraNode {
  std::uint64_t id = 0;      // rises in the order in which nodes began
  std::uint64_t parent = 0;  // the node around it on its thread
  std::uint64_t rf_id = 0;   // number of the call in the profiler; 0: none
  std::int64_t tid = 0;      // the profiler's own number of the thread
  std::int64_t scope = -1;   // at::RecordScope
  std::string name;
  // Times that other tools added, in nanoseconds; the observer itself writes none.
  std::optional<std::int64_t> begin_ns;
  std::optional<std::int64_t> duration_ns;
  std::string attrs;      // its other members as one compact JSON object; "" if there are none
  bool repaired = false;  // its text was no JSON or no UTF-8 and was mended

  // Whether it stands for a process or a thread and for no call.
  bool is_structure() const;
  // Whether a person or a program named it, rather than an operator's registration.
  bool is_annotation() const { return scope == 7; }
};

// Nothing if the text is no node: no JSON object, without id or name, nested too deeply.
std::optional<ChakraNode> read_chakra_node(std::string_view text);

}  // namespace teller
