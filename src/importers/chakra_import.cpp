// Imports one execution trace of PyTorch (Chakra's JSON), plain or gzip.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "importers/chakra_match.h"
#include "importers/chakra_node.h"
#include "importers/chakra_order.h"
#include "importers/input_stream.h"
#include "importers/json_text.h"
#include "importers/kineto_reader.h"
#include "importers/source_import.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kHeaderLimit = 1u << 20;
// All calls are in memory until their order is known; a text of a few bytes is one.
constexpr std::size_t kMostCalls = 8u << 20;

// Names of traces in one line.
constexpr std::size_t kShownTraces = 4;

// How the calls of a trace got their times.
enum class Times { kStated, kTied, kOrder };

class ChakraSink : public KinetoSink {
 public:
  ChakraSink(const SourceRequest& request, const InputStream& input, EventFileWriter& writer)
      : request_(request), input_(input), writer_(writer) {}

  // What is no node is malformed, but JSON all the same as far as the reader is concerned.
  Result<bool> event(std::string_view text) override {
    ++counts.records;
    auto node = read_chakra_node(text);
    if (!node) {
      ++counts.malformed;
      return true;
    }
    if (node->repaired) ++counts.repaired;
    if (node->is_structure()) {
      ++counts.metadata;
      return true;
    }
    if (calls.size() == kMostCalls) {
      return Error{ErrorCode::kUnsupported,
                   "it has more than " + std::to_string(kMostCalls) +
                       " nodes, an execution trace of at most that is read",
                   "record fewer steps"};
    }
    ++counts.events;
    keep(*node);
    return true;
  }
  void lost(std::uint64_t count) override {
    counts.records += count;
    counts.malformed += count;
  }
  void member(std::string_view key, std::string_view value) override {
    header_bytes_ += key.size() + value.size();
    Json json = header_bytes_ <= kHeaderLimit ? parse_json(value) : Json(Json::value_t::discarded);
    if (json.is_discarded()) {
      ++members_left_out;
    } else {
      header[std::string(key)] = std::move(json);
    }
  }
  Status piece_done() override {
    if (stop_requested(request_)) return interrupted_error(request_);
    if (request_.progress) request_.progress(input_.bytes_read(), input_.file_bytes());
    return {};
  }

  SourceCounts counts;
  Json header = Json::object();
  std::uint64_t members_left_out = 0;
  std::vector<ChakraCall> calls;
  bool all_timed = true;

 private:
  void keep(const ChakraNode& node) {
    ChakraCall call;
    call.id = node.id;
    call.parent = node.parent;
    call.rf_id = node.rf_id;
    call.name_hash = operator_name_hash(node.name);
    call.tid = node.tid;
    call.name = writer_.intern(node.name);
    call.attrs = writer_.append_text(with_ids(node));
    if (!node.is_annotation()) call.flags |= kFlagOperator;
    if (node.repaired) call.flags |= kFlagRepaired;
    const bool sane = node.begin_ns && node.duration_ns && *node.duration_ns >= 0 &&
                      !__builtin_add_overflow(*node.begin_ns, *node.duration_ns, &call.end_ns);
    call.timed = sane && call.end_ns != kOpenNs;
    call.begin_ns = call.timed ? *node.begin_ns : 0;
    all_timed = all_timed && call.timed;
    calls.push_back(call);
  }

  static std::string with_ids(const ChakraNode& node) {
    std::string attrs = "{\"id\":" + std::to_string(node.id) +
                        ",\"parent\":" + std::to_string(node.parent) +
                        ",\"rf_id\":" + std::to_string(node.rf_id);
    if (node.attrs.size() > 2) attrs += "," + node.attrs.substr(1);
    return node.attrs.size() > 2 ? attrs : attrs + "}";
  }

  const SourceRequest& request_;
  const InputStream& input_;
  EventFileWriter& writer_;
  std::size_t header_bytes_ = 0;
};

class ChakraImport {
 public:
  ChakraImport(const SourceRequest& request, ChakraSink& sink, EventFileWriter& writer)
      : request_(request), sink_(sink), writer_(writer) {}

  Status write() {
    place();
    const StringId category = writer_.intern("execution_trace");
    const bool links = times_ == Times::kTied;
    for (const ChakraCall& call : sink_.calls) {
      EventRecord record;
      record.kind = static_cast<std::uint16_t>(links ? EventKind::kFlowEnd : EventKind::kRange);
      record.flags = call.flags;
      record.begin_ns = call.begin_ns;
      record.end_ns = links ? call.begin_ns : call.end_ns;
      record.name = call.name;
      record.category = category;
      record.attrs = call.attrs;
      if (links) {
        record.correlation = call.rf_id;
        record.flags = kFlagHasCorrelation | (call.flags & kFlagRepaired);
      }
      TrackRecord track;
      track.kind = static_cast<std::uint32_t>(TrackKind::kHostThread);
      track.pid = pid();
      track.tid = call.tid;
      record.track = writer_.track(track);
      layers_.add(record);
      TELLER_CHECK_OK(writer_.add(record));
    }
    if (links) {
      sink_.counts.flows = sink_.counts.events;
      sink_.counts.events = 0;
    }
    return {};
  }

  Json meta() const {
    Json meta;
    meta["pid"] = pid();
    meta["rank"] = nullptr;
    meta["world_size"] = nullptr;
    meta["clock"] = clock();
    meta["times"] = times_ == Times::kStated ? "stated" : times_ == Times::kTied ? "tied" : "order";
    if (process_ != nullptr) {
      meta["tied"] = {
          {"source", process_->source}, {"nodes", sink_.calls.size() - untied_}, {"not", untied_}};
    }
    if (!like_.empty()) meta["tied_to_none_of"] = like_;
    meta["producer"] = sink_.header;
    if (sink_.members_left_out > 0) meta["members_left_out"] = sink_.members_left_out;
    meta["counts"] = sink_.counts.to_json();
    return meta;
  }

  SourceLayers layers() const { return layers_.layers(); }

  std::string ambiguous_note() const {
    if (like_.empty()) return "";
    std::string names;
    for (std::size_t i = 0; i < std::min(like_.size(), kShownTraces); ++i) {
      names += (i == 0 ? "" : ", ") + like_[i];
    }
    if (like_.size() > kShownTraces) names += ", …";
    return "its calls are in " + std::to_string(like_.size()) + " traces of a process " +
           std::to_string(pid()) + " alike (" + names +
           "): it is tied to none of them; import it with the trace of its own process alone";
  }

  std::string note() const {
    if (times_ == Times::kOrder) {
      return "it states no times: its operators stand in their order, and how long one is only "
             "says how many it holds";
    }
    if (times_ != Times::kTied || untied_ == 0) return "";
    return std::to_string(untied_) + " of its " + std::to_string(sink_.calls.size()) +
           " nodes are not in " + process_->source + ": they are put where the node around them is";
  }

 private:
  std::int64_t pid() const {
    const auto found = sink_.header.find("pid");
    return found != sink_.header.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                                     : 0;
  }

  Json clock() const {
    if (process_ != nullptr) return process_->clock;
    return {{"base", times_ == Times::kOrder ? "order" : "relative"}, {"unix_offset_ns", nullptr}};
  }

  void place() {
    std::vector<ChakraCall>& calls = sink_.calls;
    if (sink_.all_timed && !calls.empty()) {
      times_ = Times::kStated;
      return;
    }
    set_order(calls);
    if (calls.empty()) return;
    ProcessMatch match = same_process(request_.operators, pid(), calls);
    process_ = match.process;
    like_ = std::move(match.like);
    if (process_ == nullptr) return;
    times_ = Times::kTied;
    std::vector<const OperatorTime*> tied;
    for (const ChakraCall& call : calls) {
      tied.push_back(process_->find(call.rf_id, call.name_hash));
      untied_ += tied.back() == nullptr ? 1 : 0;
    }
    set_tied_times(calls, tied);
  }

  const SourceRequest& request_;
  ChakraSink& sink_;
  EventFileWriter& writer_;
  const TracedProcess* process_ = nullptr;
  std::vector<std::string> like_;  // traces that it could be tied to, where several fit alike
  std::size_t untied_ = 0;
  LayerCounter layers_;
  Times times_ = Times::kOrder;
};

Status check(const SourceRequest& request, const KinetoEnd& end, const SourceCounts& counts) {
  const std::uint64_t kept = counts.records - counts.malformed;
  if (!end.truncated_reason.empty() && !request.allow_truncated) {
    return truncated_error(request, end.truncated_reason, kept);
  }
  if (kept == 0 && counts.malformed > 0) {
    return unknown_trace_error("none of its " + std::to_string(counts.malformed) +
                               " nodes has an id and a name");
  }
  return {};
}

}  // namespace

Result<SourceResult> import_chakra(const SourceRequest& request, const std::string& output) {
  TELLER_TRY(const auto input, InputStream::open(request.path, {.stop = request.stop}));
  const Json first = {{"dialect", "execution_trace"},
                      {"source", request.name},
                      {"size_bytes", input->file_bytes()}};
  TELLER_TRY(EventFileWriter writer, EventFileWriter::create_hashed(output, meta_text(first)));
  ChakraSink sink(request, *input, writer);
  KinetoLimits limits;
  limits.events_key = "nodes";
  auto end = KinetoReader(*input, sink, limits).read();
  if (!end) return with_source(end.error(), request);
  sink.counts.truncated = !end->truncated_reason.empty();
  sink.counts.bytes_after_document = end->bytes_after;
  if (Status status = check(request, *end, sink.counts); !status) {
    return with_source(status.error(), request);
  }
  SourceResult result;
  TELLER_CHECK_OK(read_to_end(request, *input, sink.counts, result));
  ChakraImport import(request, sink, writer);
  TELLER_CHECK_OK(import.write());
  result.dialect = "execution_trace";
  TELLER_CHECK_OK(finish_source(import.meta(), *input, writer, result));
  result.counts = sink.counts;
  result.layers = import.layers();
  result.truncated_reason = end->truncated_reason;
  for (const std::string& note :
       {import.ambiguous_note(), import.note(), sink.counts.rest_note()}) {
    if (!note.empty()) result.notes.push_back(note);
  }
  return result;
}

}  // namespace teller
