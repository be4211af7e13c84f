#include "importers/kineto_reader.h"

#include <algorithm>
#include <utility>

#include "importers/json_text.h"
#include "importers/source_import.h"

namespace teller {

namespace {

constexpr std::uint64_t kResyncBase = 64u << 20;
// How far the scanner looks for the end of an event that is not plain before it goes through all
// that is there: behind it there are plain ones again, in most files.
constexpr std::size_t kScanStep = 4096;
// An event that is cut off by the end of the text has less than this of it there.
constexpr std::size_t kCutEvent = 64u << 10;
constexpr auto kNone = std::string_view::npos;

std::size_t container_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = json_string_end(text, at);
      if (at == kNone) return kNone;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
    ++at;
  }
  return kNone;
}

std::size_t scalar_token_end(std::string_view text, std::size_t at) {
  at = text.find_first_of(",}] \n\r\t", at);
  return at;
}

std::size_t token_end(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '"':
      return json_string_end(text, at);
    case '{':
    case '[':
      return container_end(text, at);
    default:
      return scalar_token_end(text, at);
  }
}

}  // namespace

KinetoReader::KinetoReader(InputStream& input, KinetoSink& sink, KinetoLimits limits)
    : input_(input),
      sink_(sink),
      limits_(limits),
      resync_budget_(kResyncBase + 8 * input.file_bytes()) {}

void KinetoReader::truncated(std::string_view where) {
  end_.truncated_reason =
      input_.cut_reason().empty() ? "it stops " + std::string(where) : input_.cut_reason();
}

Result<KinetoEnd> KinetoReader::read() {
  TELLER_TRY(bool more, skip_blank(false));
  while (more && text_.size() - cursor_ < 3) {
    TELLER_TRY(more, refill());
  }
  more = text_.size() > cursor_;
  if (text().substr(cursor_, 3) == "\xEF\xBB\xBF") {
    cursor_ += 3;
    TELLER_TRY(more, skip_blank(false));
  }
  if (!more) {
    if (!input_.cut_reason().empty()) {
      truncated("");
      return end_;
    }
    return Error{ErrorCode::kCorrupt, "it holds nothing but blanks", ""};
  }
  const char first = text()[cursor_];
  if (first != '{' && first != '[')
    return unknown_trace_error("it is neither a JSON object nor an array");
  ++cursor_;
  bool closed = false;
  if (first == '[') {
    end_.has_events = end_.bare_array = true;
    TELLER_TRY(closed, read_elements());
  } else {
    TELLER_TRY(closed, read_members());
  }
  if (!closed) return end_;
  TELLER_CHECK_OK(count_rest());
  if (!input_.cut_reason().empty()) truncated("");
  return end_;
}

Status KinetoReader::count_rest() {
  TELLER_TRY(bool more, skip_blank(true));
  while (more) {
    ++end_.bytes_after;
    ++cursor_;
    TELLER_TRY(more, skip_blank(false));
  }
  return {};
}

Result<bool> KinetoReader::refill() {
  if (input_ended_) return false;
  TELLER_CHECK_OK(sink_.piece_done());
  const std::size_t kept = text_.size() - cursor_;
  TELLER_TRY(text_, input_.next_behind(text_.substr(cursor_)));
  cursor_ = 0;
  input_ended_ = text_.size() == kept;
  return !input_ended_;
}

Result<bool> KinetoReader::skip_blank(bool commas) {
  while (true) {
    for (; cursor_ < text_.size(); ++cursor_) {
      const char c = text_[cursor_];
      if (!is_json_blank(c) && !(commas && c == ',')) return true;
    }
    TELLER_TRY(const bool more, refill());
    if (!more) return false;
  }
}

Result<bool> KinetoReader::read_members() {
  while (true) {
    TELLER_TRY(bool more, skip_blank(true));
    if (more && text()[cursor_] == '}') {
      ++cursor_;
      return true;
    }
    if (more) {
      TELLER_TRY(more, read_member());
    }
    if (!more) {
      if (end_.truncated_reason.empty()) truncated("inside of its top-level object");
      return false;
    }
  }
}

// False if the text ends inside of the member.
Result<bool> KinetoReader::read_member() {
  if (text()[cursor_] != '"') return unknown_trace_error("its top-level object is no JSON");
  TELLER_TRY(const std::size_t key_end, value_end("a key"));
  if (key_end == kNone) return false;
  const std::string_view written = text().substr(cursor_ + 1, key_end - cursor_ - 2);
  std::string key;
  if (!append_unescaped(written, key)) key = written;
  cursor_ = key_end;
  TELLER_TRY(bool more, skip_blank(false));
  if (!more) return false;
  if (text()[cursor_] != ':') return unknown_trace_error("its top-level object is no JSON");
  ++cursor_;
  TELLER_TRY(more, skip_blank(false));
  if (!more) return false;
  if (key == limits_.events_key && text()[cursor_] == '[') {
    ++cursor_;
    end_.has_events = true;
    return read_elements();
  }
  TELLER_TRY(const std::size_t end, value_end(key));
  if (end == kNone) return false;
  sink_.member(key, text().substr(cursor_, end - cursor_));
  cursor_ = end;
  return true;
}

Result<std::size_t> KinetoReader::value_end(std::string_view what) {
  for (bool more = true;;) {
    const std::size_t end = token_end(text(), cursor_);
    const std::size_t have = (end == kNone ? text_.size() : end) - cursor_;
    if (have > limits_.member_bytes) {
      return Error{ErrorCode::kUnsupported,
                   "its member \"" + std::string(what.substr(0, 60)) + "\" is larger than " +
                       std::to_string(limits_.member_bytes >> 20) + " MiB",
                   ""};
    }
    if (end != kNone || !more) return end;
    // Doubling what is there keeps the repeated scans of a large value linear. What arrives before
    // the input ends is scanned too, however little it is.
    while (more && text_.size() - cursor_ < 2 * have) {
      TELLER_TRY(more, refill());
    }
  }
}

Result<bool> KinetoReader::read_elements() {
  scanner_.reset(cursor_);
  refused_at_ = scanned_from_ = kNone;
  while (true) {
    TELLER_TRY(bool more, take_plain_events());
    if (more) {
      TELLER_CHECK_OK(refill_elements());
      continue;
    }
    TELLER_TRY(const bool went_on, scan_elements());
    if (!went_on) continue;
    if (scanner_.stray() > stray_reported_) {
      sink_.lost(scanner_.stray() - stray_reported_);
      stray_reported_ = scanner_.stray();
      damaged_ = true;
    }
    if (scanner_.done()) {
      cursor_ = scanner_.done_at() + 1;
      return true;
    }
    if (!scanned_all_) continue;
    watch_open_element();
    if (input_ended_ && scanner_.scanned() >= text_.size()) {
      if (scanner_.inside_element() && resync(scanner_.keep_from() + 1, text_.size())) {
        sink_.lost(1);
        continue;
      }
      truncated(scanner_.inside_element() ? "inside of an event" : "before the end of its events");
      return false;
    }
    TELLER_CHECK_OK(refill_elements());
  }
}

Status KinetoReader::refill_elements() {
  cursor_ = std::min(scanner_.keep_from(), text_.size());
  const std::size_t dropped = cursor_;
  scanner_.shift(dropped);
  searched_ -= std::min(searched_, dropped);
  scanned_from_ = kNone;
  damaged_ = false;
  // What was refused may just have been cut off.
  refused_at_ = text_.size() - dropped < kCutEvent ? kNone : 0;
  TELLER_TRY(const bool more, refill());
  static_cast<void>(more);
  return {};
}

Result<bool> KinetoReader::take_plain_events() {
  const std::size_t from = scanner_.keep_from();
  if (skipping_ || damaged_ || from == refused_at_ || from >= text_.size()) return false;
  TELLER_TRY(const std::size_t size, sink_.plain_events(text().substr(from), limits_.event_bytes));
  refused_at_ = from + size;
  if (size == 0) return false;
  scanner_.reset(refused_at_);
  const std::size_t left = text_.size() - refused_at_;
  return !input_ended_ && left < kCutEvent && (left == 0 || text_[refused_at_] == '{');
}

Result<bool> KinetoReader::scan_elements() {
  elements_.clear();
  const std::size_t from = scanner_.keep_from();
  const bool again = std::exchange(scanned_from_, from) == from;
  const std::size_t step = std::max(from + kScanStep, scanner_.scanned() + kScanStep / 16);
  scanned_all_ = again || skipping_ || damaged_ || step >= text_.size();
  const std::string_view part = scanned_all_ ? text() : text().substr(0, step);
  scanner_.scan(part, input_ended_ && scanned_all_, elements_);
  return take_elements(elements_);
}

// False if scanning has to start again at another place.
Result<bool> KinetoReader::take_elements(const std::vector<ArrayElement>& elements) {
  for (const ArrayElement& element : elements) {
    const std::string_view piece = text().substr(element.begin, element.end - element.begin);
    if (skipping_) {
      skipping_ = false;
    } else if (element.cut || piece.front() != '{' || piece.size() > limits_.event_bytes) {
      sink_.lost(1);
      damaged_ = true;
    } else {
      TELLER_TRY(const bool is_object, sink_.event(piece));
      if (!is_object && resync(element.begin + 1, element.end)) return false;
      damaged_ |= !is_object;
    }
  }
  return true;
}

bool KinetoReader::resync(std::size_t from, std::size_t to) {
  const std::size_t found = find_event(text().substr(0, to), from);
  if (found == kNone) return false;
  const std::size_t again = scanner_.scanned() - std::min(scanner_.scanned(), found);
  if (again > resync_budget_) return false;
  resync_budget_ -= again;
  scanner_.reset(found);
  searched_ = found;
  return true;
}

// An element that never ends swallows all that follows: look for an event inside.
void KinetoReader::watch_open_element() {
  if (!scanner_.inside_element()) return;
  const std::size_t open = scanner_.keep_from();
  const bool suspect = scanner_.scanned() - open > limits_.suspect_bytes && !scanner_.judging();
  if (skipping_ || suspect) {
    const std::size_t from = std::max(open + 1, searched_);
    const bool was_skipping = skipping_;
    if (resync(from, scanner_.scanned())) {
      skipping_ = false;
      if (!was_skipping) sink_.lost(1);
      return;
    }
    searched_ = scanner_.scanned() - std::min<std::size_t>(scanner_.scanned(), 64);
  }
  if (scanner_.scanned() - open > limits_.event_bytes) {
    if (!skipping_) sink_.lost(1);
    skipping_ = true;
    scanner_.forget_open_text();
  }
}

}  // namespace teller
