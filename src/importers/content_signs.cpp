#include "importers/content_signs.h"

#include <charconv>

#include "importers/input_stream.h"

namespace teller {

namespace {

constexpr std::size_t kTarBlock = 512;
constexpr std::size_t kTarSumAt = 148;
constexpr std::size_t kTarSumSize = 8;

std::string_view without_blanks(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

}  // namespace

Result<std::string> inflated_head(const std::string& path, const std::atomic<bool>* stop) {
  TELLER_TRY(const auto input, InputStream::open(path, {.piece_bytes = kSignBytes, .stop = stop}));
  TELLER_TRY(const std::string_view piece, input->next());
  return std::string(piece);
}

bool is_chrome_trace(std::string_view head) {
  const std::string_view text = without_blanks(head);
  if (text.starts_with('{')) return text.find("\"traceEvents\"") != std::string_view::npos;
  if (!text.starts_with('[')) return false;
  const std::string_view first = without_blanks(text.substr(1));
  return first.starts_with('{') && first.find("\"ph\"") != std::string_view::npos;
}

bool is_tar(std::string_view head) {
  if (head.size() < kTarBlock || head[0] == '\0') return false;
  unsigned sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    const bool in_sum = i >= kTarSumAt && i < kTarSumAt + kTarSumSize;
    sum += in_sum ? unsigned{' '} : static_cast<unsigned char>(head[i]);
  }
  std::string_view field = head.substr(kTarSumAt, kTarSumSize);
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  unsigned stated = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), stated, 8);
  return error == std::errc{} && end != field.data() && stated == sum;
}

}  // namespace teller
