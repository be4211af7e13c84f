// Turns the events of a Kineto trace into event records and counts what becomes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/kineto_attrs.h"
#include "importers/kineto_categories.h"
#include "importers/kineto_event.h"
#include "importers/kineto_plain_event.h"
#include "importers/kineto_tracks.h"
#include "importers/operator_times.h"
#include "importers/source_counts.h"
#include "importers/source_layers.h"
#include "run_folder/event_file.h"

namespace teller {

class KinetoConverter {
 public:
  // What operators ran when is added to `operators`, unless that is null.
  explicit KinetoConverter(EventFileWriter& writer, OperatorTimes* operators = nullptr);

  // Reads and writes plain events from the start of `text` on; see KinetoSink::plain_events().
  Result<std::size_t> plain_events(std::string_view text, std::size_t event_bytes);
  // Reads one event and writes it. False if its text is no JSON object.
  Result<bool> event(std::string_view text);
  void lost(std::uint64_t count);

  const SourceCounts& counts() const { return counts_; }
  SourceCounts& counts() { return counts_; }
  // Complete events (ph "X") per category.
  nlohmann::ordered_json complete_events() const;
  // META objects made of metadata events: thread names, process names, labels.
  const nlohmann::ordered_json& names() const { return names_; }
  SourceLayers layers() const { return layers_.layers(); }
  // Begin of the earliest event; nothing if there was none.
  std::optional<std::int64_t> first_ns() const { return first_ns_; }

 private:
  // What a category means, looked up once per category.
  struct CategoryEntry {
    std::string text;
    StringId id = 0;
    std::optional<KinetoCategory> meaning;
    std::uint64_t complete = 0;
    std::uint64_t unknown = 0;
  };
  // Arguments that have a field of their own; the rest goes to attrs.
  struct Arguments {
    std::string_view correlation;
    std::string_view external;
    std::string_view graph;
    std::string_view bytes;
    KinetoPlace place;
  };

  Result<bool> convert();
  CategoryEntry& category(std::string_view text);
  Status complete(EventRecord& record);
  Status flow(EventRecord& record, EventKind kind);
  Status simple(EventRecord& record, EventKind kind);
  Status unknown_phase(EventRecord& record);
  bool set_begin(EventRecord& record) const;
  bool set_end(EventRecord& record) const;
  bool metadata();
  Arguments sort_arguments(EventKind kind, bool on_device, EventRecord& record);
  static bool take_argument(const JsonField& field, EventKind kind, bool on_device,
                            Arguments& found);
  void set_ids(const Arguments& arguments, EventRecord& record);
  void set_number(std::string_view text, std::uint64_t& field, EventRecord& record);
  bool append_field(const JsonField& field, EventRecord& record);
  Status write(EventRecord& record);
  Status malformed();
  void note_operator(const EventRecord& record);

  EventFileWriter& writer_;
  OperatorTimes* operators_;
  KinetoPlainParser plain_;
  KinetoEventParser parser_;
  KinetoTracks tracks_;
  KinetoEvent event_;
  SourceCounts counts_;
  std::vector<CategoryEntry> categories_;
  std::map<std::string, std::size_t, std::less<>> category_index_;
  nlohmann::ordered_json names_ = nlohmann::ordered_json::object();
  std::size_t names_bytes_ = 0;
  std::optional<std::int64_t> first_ns_;
  LayerCounter layers_;
  KinetoAttrs attrs_;
  std::string member_;  // of attrs_, in the making
  std::string repaired_text_;
  bool attrs_bad_ = false;      // an argument is no JSON value
  bool text_repaired_ = false;  // event_ was made of repaired text
  bool mended_ = false;         // a token that is no JSON became a string
  bool needs_repair_ = false;   // an argument's string is no JSON
};

}  // namespace teller
