// The order of items: one that depends on what they say, never on where their records stand in the
// files, so that the same events in any order give the same chains. Private to reconstruct/ and its
// tests.
#pragma once

#include <cstdint>

#include "reconstruct/workspace.h"

namespace teller {

// How far down an item stands among items of one interval: ranges hold calls, and a runtime call
// holds the driver calls that it makes.
int tree_rank(const Item& item);

// < 0, 0, > 0 as `left` stands before `right` by all that their records say besides their times. 0:
// nothing tells them apart. Among equal intervals the outer one stands first where the source
// numbers them as they begin (External id, Python id, depth of the stack of pushes).
int compare_content(const Workspace& work, const Item& left, const Item& right);

// True if `a` stands before `b` among siblings and on a thread: earlier, then longer, then ranges
// before the calls in them, then by content. Equal items keep the order of their indexes.
struct TreeOrder {
  const Workspace& work;
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    const Item& left = work.items[a];
    const Item& right = work.items[b];
    if (left.begin_ns != right.begin_ns) return left.begin_ns < right.begin_ns;
    if (left.end_ns != right.end_ns) return left.end_ns > right.end_ns;
    return a != b && of_one_interval(a, b);
  }

  bool of_one_interval(std::uint32_t a, std::uint32_t b) const;
};

// True if `a` begins before `b`; what begins together by source, then in tree order.
struct BeginOrder {
  const Workspace& work;
  bool operator()(std::uint32_t a, std::uint32_t b) const;
};

}  // namespace teller
