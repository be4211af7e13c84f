// Formats whose level comes first, or whose letter does: vLLM, uvicorn, Python's own, glog.
#include "logs/formats.h"
#include "logs/prefix.h"
#include "logs/text.h"

namespace teller {

namespace {

constexpr std::size_t kMaxSource = 160;
// How far from a line's begin a vLLM line may start.
constexpr std::size_t kMaxPrelude = 256;

// "[core.py:349] …", "metrics.py:455] …": the source, and the bracket behind it.
void take_source(Cursor& cursor, LogFields& fields) {
  Cursor tried = cursor;
  tried.take("[");
  const auto source = tried.until("]", kMaxSource);
  if (!source || !is_source(*source)) return;
  fields.source = *source;
  tried.take("]");
  tried.take(" ");
  cursor = tried;
}

// The rest of "INFO 12-22 21:44:40 [core.py:349] …" behind the level.
bool read_vllm_rest(std::string_view rest, LogFields& fields) {
  const auto stamp = take_stamp(rest);
  if (!stamp || stamp->clock == StampClock::kMonotonic) return false;
  Cursor cursor(rest);
  cursor.take(" ");
  take_source(cursor, fields);
  fields.stamp = *stamp;
  fields.message = cursor.rest();
  fields.format = LogFormat::kVllm;
  return true;
}

// "[Rank 3]", "[PG ID 0 PG GUID 0(default_pg) Rank 1]" at the front of a message of c10d: the rank
// in the group, which is that of the job only for the default group.
std::int32_t group_rank(std::string_view message) {
  Cursor cursor(message);
  if (!cursor.take("[")) return -1;
  const auto inside = cursor.until("]", kMaxSource);
  if (!inside) return -1;
  const bool whole = inside->starts_with("Rank ") || inside->starts_with("PG ID 0 ") ||
                     inside->starts_with("PG 0 ");
  const std::size_t at = inside->find("Rank ");
  return whole && at != std::string_view::npos ? rank_number(inside->substr(at + 5)) : -1;
}

}  // namespace

bool read_level_first(std::string_view text, LogFields& fields) {
  const std::string_view level = level_at(text);
  if (level.empty()) return false;
  Cursor cursor(text);
  cursor.word();
  if (cursor.take(" ") && read_vllm_rest(cursor.rest(), fields)) {
    fields.level = level;
    return true;
  }
  Cursor plain(text);
  plain.word();
  const bool colon = plain.take(":");
  if (!colon && plain.peek() != ' ' && !plain.at_end()) return false;
  if (colon) plain.skip_blanks();
  if (!colon) plain.take(" ");
  if (!colon) take_source(plain, fields);
  fields.level = level;
  fields.message = plain.rest();
  fields.format = LogFormat::kUvicorn;
  return true;
}

std::size_t find_vllm(std::string_view text) {
  const std::string_view head = text.substr(0, kMaxPrelude);
  for (std::size_t at = 0; at < head.size(); ++at) {
    const bool begins = at > 0 && is_upper(head[at]) && !is_word(head[at - 1]);
    if (!begins || level_at(head.substr(at)).empty()) continue;
    LogFields found;
    if (read_level_first(text.substr(at), found) && found.format == LogFormat::kVllm &&
        !found.source.empty()) {
      return at;
    }
  }
  return std::string_view::npos;
}

// "[E410 14:46:34.6 ProcessGroupNCCL.cpp:684] …", "[E ProcessGroupNCCL.cpp:828] …",
// "E0619 02:47:42.441629  1555 tcp_transport.cpp:136] …".
bool read_glog(std::string_view text, LogFields& fields) {
  Cursor cursor(text);
  const bool bracket = cursor.take("[");
  const std::string_view level = level_of_letter(cursor.peek());
  if (level.empty() || cursor.rest().size() < 2) return false;
  std::string_view rest = cursor.rest().substr(1);
  const auto stamp = take_glog_stamp(rest);
  if (!stamp && !bracket) return false;
  cursor = Cursor(rest);
  cursor.skip_blanks();
  Cursor thread = cursor;  // a thread's number: not always its process's
  if (stamp && thread.digits(1, 10) && thread.peek() == ' ') {
    thread.skip_blanks();
    cursor = thread;
  }
  const auto source = cursor.until("]", kMaxSource);
  if (!source || !is_source(*source)) return false;
  cursor.take("]");
  cursor.take(" ");
  fields.level = level;
  fields.source = *source;
  fields.message = cursor.rest();
  if (stamp) fields.stamp = *stamp;
  if (fields.ranks.global < 0) fields.ranks.global = group_rank(fields.message);
  fields.format = LogFormat::kGlog;
  return true;
}

}  // namespace teller
