#include "importers/source_layers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace teller {
namespace {

EventRecord event_at(EventKind kind, std::int64_t begin_ns, std::uint16_t flags = 0) {
  EventRecord event;
  event.kind = static_cast<std::uint16_t>(kind);
  event.flags = flags;
  event.begin_ns = begin_ns;
  event.end_ns = begin_ns + 1;
  return event;
}

TEST(SourceLayers, EveryEventIsCountedOnce) {
  LayerCounter counter;
  for (const EventKind kind :
       {EventKind::kKernel, EventKind::kMemcpy, EventKind::kMemset, EventKind::kApiCall,
        EventKind::kFlowStart, EventKind::kFlowEnd, EventKind::kRange, EventKind::kRangePush,
        EventKind::kRangePop, EventKind::kMark, EventKind::kUnknown}) {
    counter.add(event_at(kind, 5));
  }
  counter.add(event_at(EventKind::kRange, 5, kFlagOperator));
  counter.add(event_at(EventKind::kRange, 5, kFlagPython));
  counter.add(event_at(static_cast<EventKind>(999), 5));
  EXPECT_EQ(counter.layers().words(),
            "1 kernels, 2 copies and fills, 1 CUDA calls, 1 operators, 1 Python functions, "
            "2 ranges and spans, 2 links, 3 others");
  EXPECT_EQ(counter.layers(true).collectives, 3U);
}

TEST(SourceLayers, StrayTimesDoNotMoveTheMiddle) {
  for (const int events : {1, 2, 5, 1000, 100'000}) {
    LayerCounter counter;
    if (events > 2) counter.add(event_at(EventKind::kKernel, INT64_MIN));
    for (int i = 0; i < events; ++i) counter.add(event_at(EventKind::kKernel, 1000 + i));
    counter.add(event_at(EventKind::kRange, kOpenNs));
    if (events > 2) counter.add(event_at(EventKind::kKernel, INT64_MAX - 1));
    const std::int64_t middle = counter.layers().middle_ns.value();
    EXPECT_LE(std::llabs(middle - (1000 + events / 2)), 1 + events / 1000) << events;
  }
  EXPECT_FALSE(LayerCounter().layers().middle_ns);
}

}  // namespace
}  // namespace teller
