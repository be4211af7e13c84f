// Shapes the events of a text with several threads: each takes a part of it at a time. Where a part
// begins is a guess, which whoever reads in order confirms by getting there.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "importers/kineto_shape.h"

namespace teller {

// A part of a text, and what was made of it.
struct KinetoPart {
  const char* begin = nullptr;
  const char* stop = nullptr;  // begin of the next part, or the end of the text
  const char* got = nullptr;   // how far its shaper came; see KinetoShaper::plain_events()
  std::size_t shaper = 0;      // whose numbers its events hold
  ShapedEvents events;
};

// Of names, places and categories each shaper keeps so many, and bytes of them, before it forgets
// them all; what one piece of the text adds may come on top.
struct KinetoMemory {
  std::size_t texts = 1u << 16;
  std::size_t bytes = 16u << 20;
};

// For one thread, which is the first of `threads` shapers itself.
class KinetoParts {
 public:
  KinetoParts(std::size_t threads, bool operators, const KinetoMemory& memory = {});
  ~KinetoParts();
  KinetoParts(const KinetoParts&) = delete;
  KinetoParts& operator=(const KinetoParts&) = delete;

  // As many as are useful on this machine.
  static std::size_t threads();
  KinetoShaper& shaper(std::size_t number) { return *shapers_[number]; }
  std::size_t shapers() const { return shapers_.size(); }
  // How often a shaper has forgotten what its numbers meant.
  std::uint64_t forgotten() const { return forgotten_; }

  // Cuts [begin, end), or much of it, into parts and has them shaped; those before are forgotten.
  void start(const char* begin, const char* end, std::size_t event_bytes);
  // The part that begins at `at`, shaped; the text until the next part or `end`, if none does.
  // Valid until the next call.
  const KinetoPart& take(const char* at, const char* end, std::size_t event_bytes);
  // No part lies at `at` or behind it.
  bool through(const char* at) const { return first_ == used_ || parts_[used_ - 1]->begin < at; }
  // Waits until nobody reads the text any more, and forgets its parts.
  void forget();

 private:
  enum class State : unsigned char { kOpen, kTaken, kDone };

  KinetoPart& add_part(const char* begin);
  void start_threads();
  void run(std::size_t number);
  // Shapes the first open part, which is `lock`ed only before and after. False if there is none.
  bool shape_next(std::size_t number, std::unique_lock<std::mutex>& lock);
  void shape(KinetoPart& part, std::size_t number);
  void wait_for(std::size_t index);

  std::vector<std::unique_ptr<KinetoShaper>> shapers_;
  std::vector<std::unique_ptr<KinetoPart>> parts_;  // the memory of more than there are now
  std::size_t used_ = 0;                            // parts of the text
  std::size_t first_ = 0;                           // that was not taken nor passed by
  const char* end_ = nullptr;
  KinetoMemory memory_;
  std::uint64_t forgotten_ = 0;
  std::size_t event_bytes_ = 0;
  KinetoPart between_;

  std::mutex mutex_;  // guards all below, and through it what others made of a part
  std::condition_variable changed_;
  std::vector<State> states_;  // of the parts
  std::size_t next_open_ = 0;
  std::size_t working_ = 0;  // threads that read the text
  std::exception_ptr failure_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace teller
