// Imports one Chrome trace of PyTorch's profiler, plain, gzip or zstd.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "importers/decimal_time.h"
#include "importers/json_text.h"
#include "importers/kineto_convert.h"
#include "importers/kineto_reader.h"
#include "importers/source_import.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// Absolute times lie after this one (2001); what is earlier counts from the start of a host.
constexpr std::int64_t kUnixFrom = 1'000'000'000'000'000'000;
template <typename Integer>
bool parse_integer(std::string_view text, Integer& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// At the end of each piece those who share the work wait for each other.
constexpr std::size_t kPieceBytes = 2u << 20;
// Members of the top-level object that are kept besides those with a meaning.
constexpr std::size_t kOtherLimit = 4u << 20;
constexpr std::size_t kOtherMembers = 4096;

// The whole number that a JSON number or string stands for, however it is written ("5", "1.5e18");
// nothing if it is none or does not fit.
std::optional<std::int64_t> whole_number(std::string_view raw) {
  const std::string_view text = trim_blank(string_body(trim_blank(raw)).value_or(raw));
  std::int64_t number = 0;
  if (parse_integer(text, number)) return number;
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  std::string_view digits = text.substr(std::min(mark + 1, text.size()));
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  if (mark < text.size() && !parse_integer(digits, exponent)) return std::nullopt;
  if (exponent < 0 || exponent > 18) return std::nullopt;
  std::string_view mantissa = text.substr(0, mark);
  const std::size_t point = mantissa.find('.');
  while (point != std::string_view::npos && mantissa.ends_with('0')) mantissa.remove_suffix(1);
  const std::size_t decimals = point == std::string_view::npos ? 0 : mantissa.size() - point - 1;
  if (decimals > static_cast<std::size_t>(exponent)) return std::nullopt;
  return decimal_us_to_ns(std::string(mantissa) + "e" + std::to_string(exponent - 3));
}

// The top-level object but for its events.
class KinetoHeader {
 public:
  void member(std::string_view key, std::string_view raw) {
    const bool large = other_bytes_ + key.size() + raw.size() > kOtherLimit ||
                       producer_.size() + other_.size() >= kOtherMembers;
    if (large && key != "deviceProperties" && key != "distributedInfo") {
      ++left_out_;
      return;
    }
    Json value = parse(raw);
    if (value.is_discarded()) {
      ++left_out_;
    } else if (key == "distributedInfo") {
      distributed_ = std::move(value);
    } else if (key == "deviceProperties") {
      devices_ = std::move(value);
    } else if (key == "baseTimeNanoseconds") {
      const std::optional<std::int64_t> base = whole_number(raw);
      base_unknown_ = !base && !value.is_null();
      if (base_unknown_) ++left_out_;
      base_ns_ = base.value_or(0);
    } else if (key == "host_name" || key == "hostname") {
      host_ = std::move(value);
    } else {
      other_bytes_ += key.size() + raw.size();
      Json& group = value.is_primitive() ? producer_ : other_;
      group[repaired_key(key)] = std::move(value);
    }
  }

  Json distributed(const char* key) const {
    return distributed_.is_object() ? distributed_.value(key, Json()) : Json();
  }

  void add_to(Json& meta, std::optional<std::int64_t> first_ns) const {
    if (!host_.is_null()) meta["host"] = host_;
    meta["rank"] = distributed("rank");
    meta["world_size"] = distributed("world_size");
    meta["clock"] = clock(first_ns);
    meta["producer"] = producer_;
    if (!distributed_.is_null()) meta["distributed"] = distributed_;
    if (!devices_.is_null()) meta["devices"] = devices_;
    if (!other_.empty()) meta["other"] = other_;
    if (left_out_ > 0) meta["members_left_out"] = left_out_;
  }

  std::uint64_t left_out() const { return left_out_; }
  // There is a base of all times, but it can't be used.
  bool base_unknown() const { return base_unknown_; }

 private:
  // Real files hold raw newlines and cut characters here too.
  static Json parse(std::string_view raw) {
    Json value = parse_limited(raw);
    return value.is_discarded() ? parse_limited(repair_json(raw)) : value;
  }

  static Json parse_limited(std::string_view raw) {
    return fits_json_tree(raw) ? Json::parse(raw, nullptr, false) : Json(Json::value_t::discarded);
  }

  static std::string repaired_key(std::string_view key) {
    std::string quoted;
    append_quoted(key, quoted);
    const Json value = Json::parse(quoted, nullptr, false);
    return value.is_string() ? value.get<std::string>() : std::string();
  }

  Json clock(std::optional<std::int64_t> first_ns) const {
    if (base_ns_ != 0) return {{"base", "relative"}, {"unix_offset_ns", base_ns_}};
    if (!base_unknown_ && first_ns && *first_ns >= kUnixFrom)
      return {{"base", "unix"}, {"unix_offset_ns", 0}};
    return {{"base", "relative"}, {"unix_offset_ns", nullptr}};
  }

  Json distributed_;
  Json devices_;
  Json host_;
  Json producer_ = Json::object();
  Json other_ = Json::object();
  std::int64_t base_ns_ = 0;
  bool base_unknown_ = false;
  std::size_t other_bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

class ImportSink : public KinetoSink {
 public:
  ImportSink(const SourceRequest& request, const InputStream& input, EventFileWriter& writer)
      : converter(writer, request.operators), request_(request), input_(input) {}

  Result<std::size_t> plain_events(std::string_view text, std::size_t event_bytes) override {
    return converter.plain_events(text, event_bytes);
  }
  Result<bool> event(std::string_view text) override { return converter.event(text); }
  void lost(std::uint64_t count) override { converter.lost(count); }
  void member(std::string_view key, std::string_view value) override { header.member(key, value); }
  Status piece_done() override {
    converter.text_done();
    if (stop_requested(request_)) return interrupted_error(request_);
    if (request_.progress) request_.progress(input_.bytes_read(), input_.file_bytes());
    return {};
  }

  KinetoConverter converter;
  KinetoHeader header;

 private:
  const SourceRequest& request_;
  const InputStream& input_;
};

// Says why what was read is not to be kept, if so.
Status check_end(const SourceRequest& request, const KinetoEnd& end, const SourceCounts& counts) {
  const std::uint64_t kept = counts.records - counts.malformed;
  if (!end.truncated_reason.empty() && !request.allow_truncated) {
    return truncated_error(request, end.truncated_reason, kept);
  }
  if (!end.has_events && end.truncated_reason.empty()) {
    return unknown_trace_error("its JSON has no \"traceEvents\"");
  }
  if (end.bare_array && counts.records == 0) {
    return unknown_trace_error("its JSON is an empty array");
  }
  if (kept == 0 && counts.malformed > 0) {
    return unknown_trace_error("none of its " + std::to_string(counts.malformed) +
                               " records is a trace event");
  }
  return {};
}

Json final_meta(const ImportSink& sink, const InputStream& input) {
  Json meta;
  meta["size_bytes"] = input.file_bytes();
  sink.header.add_to(meta, sink.converter.first_ns());
  for (const auto& [key, value] : sink.converter.names().items()) meta[key] = value;
  meta["counts"] = sink.converter.counts().to_json();
  meta["complete_events"] = sink.converter.complete_events();
  return meta;
}

}  // namespace

Result<SourceResult> import_kineto(const SourceRequest& request, const std::string& output) {
  TELLER_TRY(const auto input,
             InputStream::open(request.path, {.piece_bytes = kPieceBytes, .stop = request.stop}));
  const Json first = {
      {"dialect", "kineto"}, {"source", request.name}, {"size_bytes", input->file_bytes()}};
  TELLER_TRY(EventFileWriter writer, EventFileWriter::create_hashed(output, meta_text(first)));
  if (request.operators != nullptr) request.operators->begin_source(request.name);
  ImportSink sink(request, *input, writer);
  auto end = KinetoReader(*input, sink).read();
  if (!end) return with_source(end.error(), request);
  SourceCounts& counts = sink.converter.counts();
  counts.truncated = !end->truncated_reason.empty();
  counts.bytes_after_document = end->bytes_after;
  if (Status status = check_end(request, *end, counts); !status) {
    return with_source(status.error(), request);
  }
  SourceResult result;
  TELLER_CHECK_OK(read_to_end(request, *input, counts, result));
  const Json meta = final_meta(sink, *input);
  TELLER_CHECK_OK(writer.finish(meta_text(meta)));
  result.clock = meta["clock"];
  if (request.operators != nullptr) request.operators->end_source(result.clock);
  result.dialect = "kineto";
  result.bytes = input->file_bytes();
  result.output_digest = writer.digest();
  result.events_written = writer.events_written();
  result.counts = counts;
  result.layers = sink.converter.layers();
  result.truncated_reason = end->truncated_reason;
  if (const std::uint64_t count = sink.header.left_out(); count > 0) {
    result.notes.push_back(std::to_string(count) +
                           " members of its top-level object were left out: nested too deeply, too "
                           "large, no JSON or no number");
  }
  if (sink.header.base_unknown()) {
    result.notes.push_back(
        "its baseTimeNanoseconds is no whole number of 64 bits: what its times count from is "
        "unknown");
  }
  if (const std::string note = counts.rest_note(); !note.empty()) result.notes.push_back(note);
  result.rank = sink.header.distributed("rank");
  result.world_size = sink.header.distributed("world_size");
  return result;
}

}  // namespace teller
