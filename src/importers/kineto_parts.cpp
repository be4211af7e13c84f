#include "importers/kineto_parts.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "importers/json_text.h"

namespace teller {

namespace {

// Long against what it takes to hand it over, short against a piece of the input.
constexpr std::size_t kPartBytes = 64u << 10;
// So many at a time, which bounds the memory of what is made of them.
constexpr std::size_t kMostParts = 32;
// An event begins within so much of nearly any place.
constexpr std::size_t kSearchBytes = 16u << 10;
constexpr std::size_t kMostThreads = 4;

// The first '{' from `at` on that stands behind "},": there an element of an array begins, most
// likely an event. `end` if there is none nearby.
const char* guess_event(const char* at, const char* end) {
  const char* const limit = at + std::min<std::ptrdiff_t>(end - at, kSearchBytes);
  for (const char* brace = at; (brace = std::find(brace, limit, '{')) != limit; ++brace) {
    const char* before = brace;
    const auto back = [&] {
      while (before > at && is_json_blank(before[-1])) --before;
      return before > at ? *--before : '\0';
    };
    if (back() == ',' && back() == '}') return brace;
  }
  return end;
}

}  // namespace

std::size_t KinetoParts::threads() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
}

KinetoParts::KinetoParts(std::size_t threads, bool operators, const KinetoMemory& memory)
    : memory_(memory) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
    shapers_.push_back(std::make_unique<KinetoShaper>(operators));
  }
}

KinetoParts::~KinetoParts() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    next_open_ = used_;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void KinetoParts::start(const char* begin, const char* end, std::size_t event_bytes) {
  forget();
  const std::unique_lock lock(mutex_);
  end_ = end;
  event_bytes_ = event_bytes;
  add_part(begin);
  const auto long_enough = static_cast<std::ptrdiff_t>(2 * kPartBytes);
  while (shapers_.size() > 1 && end - parts_[used_ - 1]->begin >= long_enough) {
    const char* const next = guess_event(parts_[used_ - 1]->begin + kPartBytes, end);
    if (next == end) break;
    parts_[used_ - 1]->stop = next;
    if (used_ == kMostParts) break;
    add_part(next);
  }
  states_.assign(used_, State::kOpen);
  if (used_ == 1) return;
  start_threads();
  changed_.notify_all();
}

KinetoPart& KinetoParts::add_part(const char* begin) {
  if (used_ == parts_.size()) parts_.push_back(std::make_unique<KinetoPart>());
  KinetoPart& part = *parts_[used_++];
  part.begin = begin;
  part.stop = end_;
  return part;
}

void KinetoParts::start_threads() {
  try {
    while (threads_.size() + 1 < shapers_.size()) {
      threads_.emplace_back([this, number = threads_.size() + 1] { run(number); });
    }
  } catch (const std::system_error&) {
    // The system has no more of them to give: those that are there do the work.
  }
}

const KinetoPart& KinetoParts::take(const char* at, const char* end, std::size_t event_bytes) {
  while (first_ < used_ && parts_[first_]->begin < at) ++first_;
  if (first_ < used_ && parts_[first_]->begin == at) {
    wait_for(first_);
    return *parts_[first_++];
  }
  between_.begin = at;
  between_.stop = first_ < used_ ? parts_[first_]->begin : end;
  between_.shaper = 0;
  between_.events.clear();
  between_.got = shapers_[0]->plain_events(at, between_.stop, end, event_bytes, between_.events);
  return between_;
}

void KinetoParts::wait_for(std::size_t index) {
  std::unique_lock lock(mutex_);
  while (states_[index] != State::kDone && failure_ == nullptr) {
    if (!shape_next(0, lock)) changed_.wait(lock);
  }
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void KinetoParts::forget() {
  std::unique_lock lock(mutex_);
  next_open_ = used_;
  changed_.wait(lock, [this] { return working_ == 0; });
  first_ = used_ = next_open_ = 0;
  for (const auto& shaper : shapers_) {
    if (shaper->texts() <= memory_.texts && shaper->text_bytes() <= memory_.bytes) continue;
    shaper->forget();
    ++forgotten_;
  }
}

bool KinetoParts::shape_next(std::size_t number, std::unique_lock<std::mutex>& lock) {
  if (next_open_ == used_) return false;
  const std::size_t index = next_open_++;
  states_[index] = State::kTaken;
  ++working_;
  KinetoPart& part = *parts_[index];
  lock.unlock();
  std::exception_ptr failure;
  try {
    shape(part, number);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --working_;
  states_[index] = State::kDone;
  if (failure != nullptr) failure_ = failure;
  changed_.notify_all();
  return true;
}

void KinetoParts::shape(KinetoPart& part, std::size_t number) {
  part.shaper = number;
  part.events.clear();
  part.got = shapers_[number]->plain_events(part.begin, part.stop, end_, event_bytes_, part.events);
}

void KinetoParts::run(std::size_t number) {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (!shape_next(number, lock)) changed_.wait(lock);
  }
}

}  // namespace teller
