#include "dump/log_fields.h"

#include <string>

#include "logs/line.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

void add_text(Json& fields, const char* key, std::string_view text) {
  if (!text.empty()) fields[key] = text;
}

Json ranks_json(const LogRanks& ranks) {
  Json json = Json::object();
  const auto add = [&](const char* key, std::int32_t rank) {
    if (rank >= 0) json[key] = rank;
  };
  add("global", ranks.global);
  add("local", ranks.local);
  add("dp", ranks.dp);
  add("pp", ranks.pp);
  add("tp", ranks.tp);
  add("ep", ranks.ep);
  return json;
}

}  // namespace

void add_log_fields(Json& record) {
  const auto text = record.find("text");
  if (text == record.end() || !text->is_string() || record.contains("cont")) return;
  const std::string line = text->get<std::string>();
  const LogFields read = parse_line(line);
  Json fields = Json::object();
  add_text(fields, "format", log_format_name(read.format));
  add_text(fields, "level", read.level);
  add_text(fields, "process", read.process);
  if (read.pid >= 0) fields["pid"] = read.pid;
  add_text(fields, "source", read.source);
  if (Json ranks = ranks_json(read.ranks); !ranks.empty()) fields["ranks"] = std::move(ranks);
  for (const std::string_view id : stated_requests(read.message)) fields["requests"].push_back(id);
  fields["message"] = read.message;
  record["fields"] = std::move(fields);
}

}  // namespace teller
