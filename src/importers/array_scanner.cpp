#include "importers/array_scanner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "importers/json_text.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace teller {

namespace {

constexpr std::size_t kBlock = 64;
// How many bytes may be scanned twice to find out whether a bracket was lost: so much in all, and
// per byte of text; of that, one element may use a part.
constexpr std::uint64_t kJudgeBase = 64u << 20;
constexpr std::uint64_t kJudgePerByte = 8;
constexpr std::uint64_t kJudgeShare = 16;
constexpr std::uint64_t kJudgeLeast = 1024;
constexpr std::uint64_t kJudgeMost = 16u << 20;

// One bit per byte of a block.
struct BlockMasks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t brackets = 0;  // { } [ ]
};

#ifdef __SSE2__
BlockMasks classify(const char* data) {
  BlockMasks masks;
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i lower = _mm_set1_epi8(0x20);  // '[' | 0x20 == '{', ']' | 0x20 == '}'
  const __m128i open = _mm_set1_epi8('{');
  const __m128i close = _mm_set1_epi8('}');
  for (unsigned i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 16 * i));
    const __m128i folded = _mm_or_si128(bytes, lower);
    const __m128i bracket =
        _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close));
    const auto bits = [&](__m128i m) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(m)))
             << (16 * i);
    };
    masks.quotes |= bits(_mm_cmpeq_epi8(bytes, quote));
    masks.backslashes |= bits(_mm_cmpeq_epi8(bytes, backslash));
    masks.brackets |= bits(bracket);
  }
  return masks;
}
#else
BlockMasks classify(const char* data) {
  BlockMasks masks;
  for (unsigned i = 0; i < kBlock; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char folded = static_cast<char>(data[i] | 0x20);
    if (data[i] == '"') masks.quotes |= bit;
    if (data[i] == '\\') masks.backslashes |= bit;
    if (folded == '{' || folded == '}') masks.brackets |= bit;
  }
  return masks;
}
#endif

// Bytes that a backslash before them escapes; `carry` is whether the block's first one is, and then
// whether the next block's first one is.
std::uint64_t escaped_bytes(std::uint64_t backslashes, std::size_t size, bool& carry) {
  std::uint64_t escaped = carry ? 1 : 0;
  carry = false;
  backslashes &= ~escaped;
  while (backslashes != 0) {
    const auto at = static_cast<std::size_t>(std::countr_zero(backslashes));
    backslashes &= backslashes - 1;
    if (at + 1 >= size) {
      carry = true;
      break;
    }
    const std::uint64_t next = std::uint64_t{1} << (at + 1);
    escaped |= next;
    backslashes &= ~next;
  }
  return escaped;
}

// Bit i = parity of the bits 0..i.
std::uint64_t prefix_xor(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

std::size_t skip_blank(std::string_view text, std::size_t at, std::size_t limit) {
  while (at < std::min(limit, text.size()) && is_json_blank(text[at])) ++at;
  return at;
}

}  // namespace

bool event_begins(std::string_view text, std::size_t at, std::size_t from) {
  std::size_t before = at;
  while (before > from && is_json_blank(text[before - 1])) --before;
  if (before == from || text[before - 1] != ',') return false;
  const std::size_t limit = at + ArrayScanner::kLookahead - 5;
  const std::size_t key = skip_blank(text, at + 1, limit);
  return text.substr(key, 5) == "\"ph\":" || text.substr(key, 6) == "\"ph\" :";
}

std::size_t find_event(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('{', from); at != std::string_view::npos;
       at = text.find('{', at + 1)) {
    if (event_begins(text, at, from > 0 ? from - 1 : 0)) return at;
  }
  return std::string_view::npos;
}

void ArrayScanner::reset(std::size_t offset) {
  const std::uint64_t stray = stray_, judged = judged_bytes_, shifted = shifted_bytes_;
  *this = ArrayScanner{};
  stray_ = stray;
  judged_bytes_ = judged;
  shifted_bytes_ = shifted;
  scanned_ = offset;
  gap_at_ = offset;
}

void ArrayScanner::shift(std::size_t count) {
  scanned_ -= count;
  open_at_ -= std::min(open_at_, count);
  gap_at_ -= std::min(gap_at_, count);
  if (candidate_ != kNone) candidate_ -= std::min(candidate_, count);
  shifted_bytes_ += count;
}

void ArrayScanner::scan(std::string_view text, bool at_end, std::vector<ArrayElement>& elements) {
  while (!done_ && scanned_ < text.size()) {
    const std::size_t left = text.size() - scanned_;
    if (!at_end && left < kBlock + kLookahead) break;
    const std::size_t at = scanned_;
    const std::size_t size = std::min(left, kBlock);
    scanned_ += size;
    scan_block(text, at, size, elements);
    if (candidate_ == kNone) continue;
    const bool never_ends = at_end && scanned_ == text.size();
    if (never_ends || scanned_ - candidate_ > judge_bytes_) cut_at_candidate(elements);
  }
  // Long garbage between elements must not pile up in the caller's buffer.
  if (!done_ && depth_ == 0 && scanned_ - gap_at_ > 4096) {
    count_stray(text.substr(gap_at_, scanned_ - gap_at_));
    gap_at_ = scanned_;
  }
}

void ArrayScanner::scan_block(std::string_view text, std::size_t at, std::size_t size,
                              std::vector<ArrayElement>& elements) {
  BlockMasks masks = classify(text.data() + at);
  const std::uint64_t valid = size == kBlock ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
  masks.quotes &= valid;
  if (masks.backslashes != 0 || escape_) {
    masks.quotes &= ~escaped_bytes(masks.backslashes & valid, size, escape_);
  }
  const std::uint64_t inside = prefix_xor(masks.quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  in_string_ = (inside >> 63) != 0;
  std::uint64_t brackets = masks.brackets & valid & ~inside;
  while (brackets != 0) {
    const auto offset = static_cast<std::size_t>(std::countr_zero(brackets));
    brackets &= brackets - 1;
    if (!bracket(text, at + offset, elements)) return;
  }
}

bool ArrayScanner::bracket(std::string_view text, std::size_t at,
                           std::vector<ArrayElement>& elements) {
  const char c = text[at];
  if (c == '{' || c == '[') {
    const std::size_t next = scanned_;
    open_bracket(text, at, elements);
    return scanned_ == next;
  }
  if (depth_ > 0) return close_bracket(text, at, elements);
  if (c == '}') return true;  // a stray brace: count_stray() sees it
  count_stray(text.substr(gap_at_, at - gap_at_));
  gap_at_ = at + 1;
  done_ = true;
  done_at_ = at;
  return false;
}

void ArrayScanner::open_bracket(std::string_view text, std::size_t at,
                                std::vector<ArrayElement>& elements) {
  const char c = text[at];
  if (depth_ == 0) {
    count_stray(text.substr(gap_at_, at - gap_at_));
    open_at_ = at;
    mismatched_ = false;
  } else if (c == '{' && event_begins(text, at, open_at_)) {
    // JSON has an object behind a comma in arrays only; there it may well be the element's own.
    if (!mismatched_ && innermost_is_array()) {
      judge(at);
    } else if (candidate_ != kNone) {
      cut_at_candidate(elements);
      return;
    } else {
      elements.push_back({open_at_, at, true});
      open_at_ = at;
      depth_ = 0;
      mismatched_ = false;
    }
  }
  if (depth_ < kKnownDepth) {
    const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
    std::uint64_t& word = arrays_[depth_ / 64];
    word = c == '[' ? word | bit : word & ~bit;
  }
  ++depth_;
}

// False if scanning goes on elsewhere.
bool ArrayScanner::close_bracket(std::string_view text, std::size_t at,
                                 std::vector<ArrayElement>& elements) {
  if (depth_ <= kKnownDepth && innermost_is_array() != (text[at] == ']')) {
    mismatched_ = true;
    if (candidate_ != kNone) {
      cut_at_candidate(elements);
      return false;
    }
  }
  if (--depth_ > 0) return true;
  if (candidate_ != kNone) {
    // The brackets may be those of the whole text; then no element and no end of the array follows.
    const std::size_t limit = at + kLookahead;
    const std::size_t next = skip_blank(text, at + 1, limit);
    if (next < limit && (next >= text.size() || (text[next] != ',' && text[next] != ']'))) {
      cut_at_candidate(elements);
      return false;
    }
    candidate_ = kNone;
  }
  elements.push_back({open_at_, at + 1, false});
  gap_at_ = at + 1;
  return true;
}

bool ArrayScanner::innermost_is_array() const {
  const std::uint32_t level = depth_ - 1;
  return level >= kKnownDepth || ((arrays_[level / 64] >> (level % 64)) & 1) != 0;
}

void ArrayScanner::judge(std::size_t at) {
  if (candidate_ != kNone) return;
  candidate_ = at;
  const std::uint64_t all = kJudgeBase + kJudgePerByte * (shifted_bytes_ + at);
  const std::uint64_t left = all - std::min(all, judged_bytes_);
  judge_bytes_ = std::clamp(left / kJudgeShare, kJudgeLeast, kJudgeMost);
}

void ArrayScanner::cut_at_candidate(std::vector<ArrayElement>& elements) {
  elements.push_back({open_at_, candidate_, true});
  judged_bytes_ += scanned_ - candidate_;
  scanned_ = gap_at_ = candidate_;
  candidate_ = kNone;
  depth_ = 0;
  in_string_ = escape_ = mismatched_ = false;
}

// Each run of text between commas is one element that is no object.
void ArrayScanner::count_stray(std::string_view gap) {
  bool in_run = false;
  for (char c : gap) {
    const bool text = c != ',' && !is_json_blank(c);
    if (text && !in_run) ++stray_;
    if (c == ',') in_run = false;
    if (text) in_run = true;
  }
}

}  // namespace teller
