#include "horizontal/output.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/terminal.h"
#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostListed = 100;  // odd collectives, kinds
// For people and programs that meet a local time: of a rank whose offset is applied.
constexpr const char* kToBaseClock =
    "origin_ns + (1 - drift_ppm * 1e-6) * (time_ns - origin_ns - offset_ns) where applied, else "
    "time_ns";
constexpr std::size_t kFilesLength = 400;
constexpr std::size_t kMostSources = 16;  // named per rank

Json whole_ns(double ns) {
  return std::isfinite(ns) ? Json(std::llround(ns)) : Json();
}

Json clock_json(const RankClock& clock, const Json& base) {
  Json json = {{"aligned", clock.aligned}, {"collectives", clock.collectives}};
  if (!clock.aligned) {
    json["why"] = clock.why;
    return json;
  }
  json["by"] = clock.reference ? Json() : Json(clock.transfers > 0 ? "transfers" : "collectives");
  json["transfers"] = clock.transfers;
  json["reference"] = clock.reference;
  json["offset_ns"] = whole_ns(clock.offset_ns);
  json["drift_ppm"] = clock.drift_known ? Json(std::round(clock.drift * 1e9) / 1e3) : Json();
  json["residual_ns"] = whole_ns(clock.residual_ns);
  json["uncertainty_ns"] = whole_ns(clock.uncertainty_ns);
  json["applied"] = clock.applied;
  json["base"] = base;
  return json;
}

Json ranks_json(const Chains& chains, const Comparison& found) {
  Json list = Json::array();
  for (std::size_t i = 0; i < found.operations.ranks.size(); ++i) {
    const RankOperations& rank = found.operations.ranks[i];
    Json sources = Json::array();
    for (const std::uint16_t source : rank.sources) {
      if (sources.size() == kMostSources) break;
      sources.push_back(chains.string(chains.sources.name[source]));
    }
    double late = 0, wait = 0, own = 0;
    for (const Unit& unit : found.lateness.units) {
      late += unit.late_ns[i];
      wait += unit.wait_ns[i];
      own += unit.own_ns[i];
    }
    list.push_back(
        {{"rank", rank_json(rank)},
         {"rank_from", rank.rank_from},
         {"sources", std::move(sources)},
         {"host", rank.host},
         {"operations", rank.list.size()},
         {"clock", clock_json(found.clocks.ranks[i],
                              rank_json(found.operations.ranks[found.clocks.ranks[i].base]))},
         {"late_ns", whole_ns(late)},
         {"wait_ns", whole_ns(wait)},
         {"own_ns", whole_ns(own)}});
  }
  return list;
}

std::string group_text(const Comparison& found, const Operation& op) {
  return std::string(found.operations.texts.view(op.group).substr(0, 200));
}

const Operation& first_of(const Comparison& found, const Collective& one) {
  return found.operations.ranks[one.shown.rank].list[one.shown.at];
}

Json odd_json(const Comparison& found, std::size_t at, const std::vector<std::uint32_t>& missing) {
  const Collective& one = found.matching.collectives[at];
  const Operation& op = first_of(found, one);
  Json json = {{"collective", at},
               {"operation", found.operations.texts.view(op.operation)},
               {"group", group_text(found, op)},
               {"sequence", op.sequence >= 0 ? Json(op.sequence) : Json()}};
  Json ranks = Json::array();
  for (const std::uint32_t rank : missing) ranks.push_back(rank_json(found.operations.ranks[rank]));
  if (!ranks.empty()) json["missing_ranks"] = std::move(ranks);
  if (!one.mismatched) return json;
  json["calls"] = Json::array();
  for (const Member& member : one.members) {
    if (json["calls"].size() == kMostListed) break;
    const Operation& call = found.operations.ranks[member.rank].list[member.at];
    json["calls"].push_back({{"rank", rank_json(found.operations.ranks[member.rank])},
                             {"operation", found.operations.texts.view(call.operation)},
                             {"bytes", call.bytes >= 0 ? Json(call.bytes) : Json()}});
  }
  return json;
}

Json collectives_json(const Comparison& found) {
  std::uint64_t matched = 0, whole = 0, alone = 0, mismatched = 0, missing = 0, beyond = 0;
  std::uint64_t sequenced = 0, impossible = 0;
  Json odd = Json::array();
  for (std::size_t i = 0; i < found.matching.collectives.size(); ++i) {
    const Collective& one = found.matching.collectives[i];
    const std::vector<std::uint32_t> gone = missing_ranks(found, i);
    if (one.members.size() > 1) ++matched;
    if (one.members.size() > 1 && one.absent.empty()) ++whole;
    if (one.members.size() > 1 && one.by_sequence) ++sequenced;
    if (one.members.size() == 1) ++alone;
    if (one.mismatched) ++mismatched;
    if (found.measures[i].impossible) ++impossible;
    missing += gone.size();
    beyond += one.absent.size() - gone.size();
    const bool listed = odd.size() < kMostListed && (one.mismatched || !gone.empty());
    if (listed) odd.push_back(odd_json(found, i, gone));
  }
  const Operations& ops = found.operations;
  return {{"operations", ops.count()},
          {"collectives", found.matching.collectives.size()},
          {"matched", matched},
          {"matched_on_all_ranks", whole},
          {"matched_by_sequence", sequenced},
          {"on_one_rank", alone},
          {"mismatched", mismatched},
          {"impossible", impossible},
          {"missing", missing},
          {"outside_recording", beyond},
          {"repeated", found.matching.duplicates},
          {"mixed_numbering", found.matching.mixed_groups},
          {"placed_by_clocks", found.matching.by_clocks},
          {"ambiguous_order", found.matching.ambiguous},
          {"numbering_restarts", found.matching.restarts},
          {"without_rank", ops.without_rank},
          {"without_kernel", ops.without_kernel},
          {"waits", ops.waits},
          {"odd", std::move(odd)}};
}

// Collectives of one group, kind and size.
struct Kind {
  std::vector<double> spreads, transfers, bandwidths;
  std::size_t count = 0;
};

Json kinds_json(const Comparison& found) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, Kind> kinds;
  for (std::size_t i = 0; i < found.measures.size(); ++i) {
    const Measure& one = found.measures[i];
    const Operation& op = first_of(found, found.matching.collectives[i]);
    if (one.arrivals.size() < 2) continue;
    Kind& kind = kinds[{op.group, op.operation, op.bytes}];
    ++kind.count;
    kind.spreads.push_back(one.spread_ns);
    if (one.transfer_ns >= 0) kind.transfers.push_back(one.transfer_ns);
    if (one.bus_bytes_per_s >= 0) kind.bandwidths.push_back(one.bus_bytes_per_s);
  }
  Json list = Json::array();
  for (auto& [key, kind] : kinds) {
    if (list.size() == kMostListed) break;
    const auto& [group, operation, bytes] = key;
    const bool timed = !kind.transfers.empty();
    const bool sized = !kind.bandwidths.empty();
    list.push_back({{"operation", found.operations.texts.view(operation)},
                    {"group", std::string(found.operations.texts.view(group).substr(0, 200))},
                    {"bytes", bytes >= 0 ? Json(bytes) : Json()},
                    {"count", kind.count},
                    {"spread_ns", whole_ns(median(kind.spreads))},
                    {"spread_p95_ns", whole_ns(quantile(kind.spreads, 0.95))},
                    {"transfer_ns", timed ? whole_ns(median(kind.transfers)) : Json()},
                    {"bus_bytes_per_s", sized ? whole_ns(median(kind.bandwidths)) : Json()}});
  }
  return list;
}

Json verdict_json(const Comparison& found) {
  const RankVerdict& verdict = found.verdict;
  Json culprits = Json::array();
  for (const CulpritRank& one : verdict.culprits) {
    culprits.push_back({{"rank", one.numbered ? Json(one.rank) : Json()},
                        {"score", std::round(one.score * 1e4) / 1e4},
                        {"why", one.why}});
  }
  Json json = {{"culprits", std::move(culprits)}};
  json["link"] =
      verdict.link
          ? Json{{"from", verdict.link->from}, {"to", verdict.link->to}, {"why", verdict.link->why}}
          : Json();
  json["uniform"] = verdict.uniform ? Json(*verdict.uniform) : Json();
  json["doing"] = verdict.culprits.empty() ? Json() : Json(doing_words(found.culprit_doing));
  // Who stands out has been compared; that nobody does takes more.
  const bool named = !verdict.culprits.empty() || verdict.link || verdict.uniform.value_or(false);
  const bool apart = found.operations.ranks.size() > 1 && !verdict.unclear;
  json["compared"] = apart && (named || !verdict.too_few);
  json["told_apart"] = apart;
  json["too_few_collectives"] = verdict.too_few;
  json["evidence"] = verdict.evidence;
  return json;
}

Json shared_json(const Chains& chains, const Comparison& found) {
  Json list = Json::array();
  for (const SharedRank& one : found.operations.shared) {
    Json sources = Json::array();
    for (const std::uint16_t source : one.sources) {
      if (sources.size() == kMostListed) break;
      sources.push_back(chains.string(chains.sources.name[source]));
    }
    list.push_back({{"stated_rank", one.stated < 0 ? Json() : Json(one.stated)},
                    {"sources", one.sources.size()},
                    {"files", std::move(sources)},
                    {"told_apart", one.apart},
                    {"by", one.by.empty() ? Json() : Json(one.by)}});
  }
  return list;
}

// "4 traces all state rank 0 (a, b, c, d): they can't be told apart, …".
std::string shared_text(const Json& shared) {
  std::string text = shared["sources"].dump() + " traces with collectives ";
  text += shared["stated_rank"].is_null() ? "state no rank"
                                          : "all state rank " + shared["stated_rank"].dump();
  std::string files;
  for (const Json& file : shared["files"]) {
    if (files.size() > kFilesLength) {
      files += ", …";
      break;
    }
    files += (files.empty() ? "" : ", ") + file.get<std::string>();
  }
  text += " (" + files + ")";
  if (!shared["told_apart"].get<bool>()) {
    return text +
           ": the ranks can't be told apart and were not compared; trace with RANK set, or "
           "with torch.distributed initialised";
  }
  if (shared["by"] == "processes") {
    return text +
           ": they are told apart as processes, and named by their files: their numbers are "
           "not known";
  }
  return text + ": their numbers are from " + shared["by"].get<std::string>();
}

}  // namespace

Json rank_json(const RankOperations& rank) {
  return rank.numbered ? Json(rank.rank) : Json();
}

Json comparison_json(const Chains& chains, const Comparison& found) {
  Json json = {{"format", "teller.horizontal"}, {"version", 1}};
  json["ranks"] = ranks_json(chains, found);
  json["shared_ranks"] = shared_json(chains, found);
  json["collectives"] = collectives_json(found);
  std::size_t aligned = 0, bases = 0;
  for (const RankClock& clock : found.clocks.ranks) {
    aligned += clock.aligned ? 1 : 0;
    bases += clock.aligned && clock.reference ? 1 : 0;
  }
  json["clocks"] = {{"aligned", aligned},
                    {"not_aligned", found.clocks.ranks.size() - aligned},
                    {"bases", bases},
                    {"connected", bases + found.clocks.ranks.size() - aligned == 1},
                    {"residual_ns", aligned > 1 ? whole_ns(found.clocks.residual_ns) : Json()},
                    {"origin_ns", found.clocks.origin_ns},
                    {"to_base_clock", kToBaseClock}};
  json["kinds"] = kinds_json(found);
  Json own = Json::array();
  for (const double ns : found.pace.own_ns) own.push_back(whole_ns(ns));
  json["pace"] = {{"units", found.pace.units},
                  {"step_ns", whole_ns(found.pace.step_ns)},
                  {"own_ns", std::move(own)},
                  {"transfer_ns", whole_ns(found.pace.transfer_ns)},
                  {"scatter_ns", whole_ns(found.lateness.spread_ns)}};
  json["verdict"] = verdict_json(found);
  Json notes = Json::array();
  for (const Json& one : json["shared_ranks"]) notes.push_back(shared_text(one));
  const Json& verdict = json["verdict"];
  if (json["collectives"]["matched"] == 0 && verdict["told_apart"] == true &&
      verdict["compared"] == false) {
    notes.push_back("they have no collective in common");
  }
  json["verdict"]["notes"] = std::move(notes);
  return json;
}

std::string comparison_text(const Json& json) {
  const Json& collectives = json["collectives"];
  std::string text = "ranks " + std::to_string(json["ranks"].size()) + ", collectives matched " +
                     collectives["matched"].dump() + " of " + collectives["collectives"].dump() +
                     " (on all ranks " + collectives["matched_on_all_ranks"].dump() +
                     "), clocks aligned " + json["clocks"]["aligned"].dump();
  if (!json["clocks"]["residual_ns"].is_null()) {
    text += ", residual " + time_text(json["clocks"]["residual_ns"].get<double>());
  }
  text += "\n";
  for (const Json& rank : json["ranks"]) {
    if (rank["clock"]["aligned"].get<bool>()) continue;
    text += "note: " + (rank["rank"].is_null() ? "a rank" : "rank " + rank["rank"].dump()) +
            " can't be aligned: " + rank["clock"]["why"].get<std::string>() + "\n";
  }
  if (json["clocks"]["bases"] > 1) {
    text += "note: the ranks' clocks fall into " + json["clocks"]["bases"].dump() +
            " sets that no collective or transfer ties together: each is on the clock of its first "
            "rank\n";
  }
  for (const Json& one : json["verdict"]["notes"]) {
    text += "note: " + printable(one.get<std::string>()) + "\n";
  }
  const auto note = [&](const char* key, const char* words) {
    if (collectives[key] != 0) text += "note: " + collectives[key].dump() + words;
  };
  note("missing", " times a rank is missing in a collective\n");
  note("impossible",
       " collectives have times that cannot be (a rank came after the others had left): nothing is "
       "concluded from them\n");
  note("mixed_numbering",
       " groups are numbered by some ranks or calls only, or by numbers that begin anew: their "
       "collectives are matched by order\n");
  note("ambiguous_order",
       " sequences of operations without numbers fit their peers' at several places, and neither "
       "times nor clocks tell which: what is said of them may be off by some operations\n");
  note("mismatched", " collectives are called differently by different ranks\n");
  for (const Json& line : json["verdict"]["evidence"]) {
    text += printable(line.get<std::string>()) + "\n";
  }
  return text;
}

}  // namespace teller::horizontal_detail
