#include "learn/log_words.h"

#include <algorithm>
#include <cctype>

namespace teller::learn_detail {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_hex(std::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); });
}

// What a blank-separated piece stands for as a whole; "" if it is to be split into words.
std::string mask_of(std::string_view piece) {
  const bool has_digit = std::any_of(piece.begin(), piece.end(), is_digit);
  if (piece.find("://") != std::string_view::npos) return "<url>";
  if (piece.size() > 1 && std::count(piece.begin(), piece.end(), '/') >= 2) return "<path>";
  if (!has_digit) return "";
  if (std::count(piece.begin(), piece.end(), ':') >= 2) return "<time>";
  if (piece.find('.') != std::string_view::npos && piece.find(':') != std::string_view::npos &&
      std::any_of(piece.begin(), piece.end(), is_alpha)) {
    return "<place>";  // file.py:92
  }
  return "";
}

std::string word_of(std::string_view word) {
  const auto digits = static_cast<std::size_t>(std::count_if(word.begin(), word.end(), is_digit));
  if (digits == 0) {
    std::string text(word);
    std::transform(text.begin(), text.end(), text.begin(), lower);
    return text;
  }
  if (digits == word.size()) return "<num>";
  if (word.starts_with("0x") || (word.size() >= 6 && is_hex(word))) return "<hex>";
  std::size_t leading = 0;
  while (leading < word.size() && is_digit(word[leading])) ++leading;
  if (leading > 0 && word.size() - leading <= 3) {  // 12ms, 3GiB
    std::string unit = "<num>";
    for (const char c : word.substr(leading)) unit += lower(c);
    return unit;
  }
  return "<id>";
}

std::string_view trimmed(std::string_view piece) {
  constexpr std::string_view kEdges = "()[]{}<>,;.:!?\"'`=|";
  const std::size_t begin = piece.find_first_not_of(kEdges);
  if (begin == std::string_view::npos) return {};
  return piece.substr(begin, piece.find_last_not_of(kEdges) - begin + 1);
}

// req-3, cmpl-0a1b: letters, a dash, and a part with digits.
bool is_id(std::string_view piece) {
  const std::size_t dash = piece.find_last_of("-_#");
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == piece.size()) return false;
  const std::string_view tail = piece.substr(dash + 1);
  return is_alpha(piece[0]) && std::any_of(tail.begin(), tail.end(), is_digit);
}

void add_words(std::string_view piece, std::size_t most, std::vector<std::string>& words) {
  const std::string mask = mask_of(piece);
  if (!mask.empty()) return words.push_back(mask);
  if (is_id(piece)) return words.push_back("<id>");
  std::size_t begin = 0;
  while (begin < piece.size() && words.size() < most) {
    std::size_t end = begin;
    while (end < piece.size() &&
           (is_digit(piece[end]) || is_alpha(piece[end]) || piece[end] == '_' ||
            static_cast<unsigned char>(piece[end]) >= 0x80)) {
      ++end;
    }
    if (end > begin) words.push_back(word_of(piece.substr(begin, end - begin)));
    begin = std::max(end, begin + 1);
  }
}

}  // namespace

std::vector<std::string> log_words(std::string_view text, std::string_view level,
                                   std::size_t most) {
  std::vector<std::string> words;
  if (!level.empty()) {
    std::string word = "<level:";
    for (const char c : level.substr(0, 16)) word += lower(c);
    words.push_back(word + ">");
  }
  std::size_t begin = 0;
  while (begin < text.size() && words.size() < most) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    const std::string_view piece = trimmed(text.substr(begin, end - begin));
    if (!piece.empty() && piece.size() <= 256) add_words(piece, most, words);
    begin = end + 1;
  }
  if (words.size() > most) words.resize(most);
  return words;
}

WordTable::WordTable(std::vector<std::string> words) : words_(std::move(words)) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    ids_.emplace(words_[i], static_cast<std::uint32_t>(i + 2));
  }
}

WordTable WordCounter::table(std::size_t fewest, std::size_t most) const {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const auto& [word, count] : counts_) {
    if (count >= fewest) ranked.emplace_back(count, word);
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (ranked.size() > most) ranked.resize(most);
  std::vector<std::string> words;
  for (auto& [count, word] : ranked) words.push_back(std::move(word));
  return WordTable(std::move(words));
}

}  // namespace teller::learn_detail
