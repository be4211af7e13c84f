// Operations of synthetic ranks.
#pragma once

#include <string>
#include <utility>

#include "horizontal/clocks.h"
#include "horizontal/match.h"
#include "horizontal/measure.h"
#include "horizontal/operations.h"

namespace teller::horizontal_detail {

inline Operations ranks(std::size_t count) {
  Operations ops;
  ops.group_ranks.resize(1);
  for (std::size_t i = 0; i < count; ++i) {
    RankOperations one;
    one.rank = static_cast<std::int32_t>(i);
    one.has_events = true;
    ops.ranks.push_back(std::move(one));
  }
  return ops;
}

// Adds an operation of `rank`; the list stays in the order of the calls.
inline Operation& add(Operations& ops, std::size_t rank, const std::string& name,
                      std::int64_t begin_ns, std::int64_t end_ns, std::int64_t bytes = 4096) {
  Operation one;
  one.operation = one.wire = ops.texts.intern(name);
  one.begin_ns = begin_ns;
  one.end_ns = end_ns;
  one.bytes = bytes;
  ops.ranks[rank].list.push_back(one);
  ops.ranks[rank].last_ns = std::max(ops.ranks[rank].last_ns, end_ns);
  return ops.ranks[rank].list.back();
}

}  // namespace teller::horizontal_detail
