// The shared arena of this process: creation, handing over to the recorder, and what happens at
// fork.
#pragma once

#include <atomic>
#include <cstdint>

#include "teller/ring.h"

namespace teller::collector {

// Lives on a page of its own that the kernel wipes in a forked child (MADV_WIPEONFORK), so that a
// child is recognised whatever way it was forked, at the price of one load per event.
struct ProcessPage {
  std::atomic<std::uint32_t> state;       // ArenaState
  std::atomic<std::uint32_t> generation;  // 0 = this process has no arena
};

enum ArenaState : std::uint32_t { kUntried = 0, kCreating = 1, kReady = 2, kFailed = 3 };

// Both never null. [MT]
extern std::atomic<ProcessPage*> g_page;
// Null until the first arena exists. Set before the generation.
extern std::atomic<ring::ArenaHeader*> g_arena;

// The generation of this process's arena, 0 if it has none yet. [MT]
inline std::uint32_t current_generation() noexcept {
  return g_page.load(std::memory_order_relaxed)->generation.load(std::memory_order_acquire);
}

// Creates the arena if this process has none; false if there is none (no recorder, a limit, or
// another thread is creating it right now). Keeps errno. [MT]
bool ensure_arena() noexcept;

// Adds a definition; false (and counted) if there is no room. [MT]
bool define(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id, const char* text,
            std::uint32_t text_bytes) noexcept;

// Adds "key=value" about this process. [MT]
void note(const char* key, const char* value) noexcept;

}  // namespace teller::collector
