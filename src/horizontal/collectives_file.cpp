// collectives.jsonl: one line per collective.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "horizontal/output.h"

namespace teller::horizontal_detail {

namespace {

using Json = nlohmann::ordered_json;

Json ns_or_null(double ns) {
  return ns >= 0 && std::isfinite(ns) ? Json(std::llround(ns)) : Json();
}

Json line_json(const Comparison& found, std::size_t at) {
  const Collective& one = found.matching.collectives[at];
  const Measure& measured = found.measures[at];
  const Operation& op = found.operations.ranks[one.shown.rank].list[one.shown.at];
  Json json = {{"collective", at},
               {"operation", found.operations.texts.view(op.operation)},
               {"group", found.operations.texts.view(op.group)},
               {"sequence", op.sequence >= 0 ? Json(op.sequence) : Json()},
               {"bytes", op.bytes >= 0 ? Json(op.bytes) : Json()},
               {"matched_by", one.by_sequence ? "sequence" : "order"},
               {"mismatched", one.mismatched},
               {"open", measured.open}};
  const bool timed = measured.arrivals.size() >= 2;
  json["last_rank"] = timed ? rank_json(found.operations.ranks[measured.last]) : Json();
  json["spread_ns"] = timed ? ns_or_null(measured.spread_ns) : Json();
  json["transfer_ns"] = ns_or_null(measured.transfer_ns);
  json["bus_bytes_per_s"] = ns_or_null(measured.bus_bytes_per_s);
  json["ranks"] = Json::array();
  std::size_t next = 0;
  for (const Member& member : one.members) {
    const RankOperations& rank = found.operations.ranks[member.rank];
    const Operation& part = rank.list[member.at];
    while (next < measured.arrivals.size() && measured.arrivals[next].rank < member.rank) ++next;
    const bool placed =
        next < measured.arrivals.size() && measured.arrivals[next].rank == member.rank;
    json["ranks"].push_back(
        {{"rank", rank_json(rank)},
         {"node", part.node},
         {"begin_ns", part.begin_ns},
         {"end_ns", part.end_ns},
         {"aligned_begin_ns",
          placed ? Json(found.clocks.origin_ns + std::llround(measured.arrivals[next].begin_ns))
                 : Json()},
         {"aligned_end_ns",
          placed ? Json(found.clocks.origin_ns + std::llround(measured.arrivals[next].end_ns))
                 : Json()},
         {"wait_ns", placed && timed ? ns_or_null(measured.arrivals[next].wait_ns) : Json()}});
  }
  Json absent = Json::array();
  for (const std::uint32_t rank : one.absent)
    absent.push_back(rank_json(found.operations.ranks[rank]));
  json["absent"] = std::move(absent);
  return json;
}

}  // namespace

Status write_collectives(const Comparison& found, const std::string& path) {
  const std::string part = part_of(path);
  std::error_code error;
  std::filesystem::remove(part, error);
  {
    std::ofstream out(part, std::ios::binary);
    for (std::size_t i = 0; out && i < found.matching.collectives.size(); ++i) {
      out << line_json(found, i).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    }
    out.close();
    if (!out) {
      std::filesystem::remove(part, error);
      return Error{ErrorCode::kIo, "writing " + path + ": it can't be written",
                   "check the disk's space and the folder's permissions"};
    }
  }
  std::filesystem::rename(part, path, error);
  if (error) return errno_error("writing " + path, error.value());
  return {};
}

}  // namespace teller::horizontal_detail
