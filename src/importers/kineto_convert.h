// Turns the events of a Kineto trace into event records and counts what becomes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/kineto_names.h"
#include "importers/kineto_parts.h"
#include "importers/kineto_shaped.h"
#include "importers/kineto_tracks.h"
#include "importers/operator_times.h"
#include "importers/source_counts.h"
#include "importers/source_layers.h"
#include "run_folder/event_file.h"

namespace teller {

class KinetoConverter {
 public:
  static constexpr std::size_t kNamesBytes = 64u << 20;

  // What operators ran when is added to `operators`, unless that is null. How many threads share
  // the work, and what they keep in `memory`, shows nowhere in what is written. Names beyond
  // `names_bytes` may be written more than once.
  explicit KinetoConverter(EventFileWriter& writer, OperatorTimes* operators = nullptr,
                           std::size_t threads = KinetoParts::threads(),
                           const KinetoMemory& memory = {}, std::size_t names_bytes = kNamesBytes);

  // Reads and writes plain events from the start of `text` on; see KinetoSink::plain_events(). The
  // text must stay until text_done().
  Result<std::size_t> plain_events(std::string_view text, std::size_t event_bytes);
  // What plain_events() was given may go now.
  void text_done() { parts_.forget(); }
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
  // How often those who share the work forgot what they had seen of names and places.
  std::uint64_t forgotten() const { return parts_.forgotten(); }
  // Begin of the earliest event; nothing if there was none.
  std::optional<std::int64_t> first_ns() const { return first_ns_; }

 private:
  struct CategoryEntry {
    std::string text;
    StringId id = 0;
    bool known = false;  // its meaning is
    std::uint64_t complete = 0;
  };
  // The tracks of what happens at a place, as far as they were asked for.
  struct PlaceTracks {
    std::optional<TrackId> host;
    std::optional<TrackId> device;
    std::optional<TrackId> flow;
    std::uint64_t version = 0;  // of KinetoTracks, for device and flow
  };
  // What the numbers of one shaper mean in the file, as far as they were asked for.
  struct Tables {
    const ShapedTables* shaped = nullptr;
    std::vector<StringId> names;            // 0: not asked for
    std::vector<std::uint32_t> categories;  // index + 1; 0: not asked for
    std::vector<PlaceTracks> places;
    std::uint64_t forgotten = 0;    // of KinetoParts, when these were begun
    std::uint64_t names_round = 0;  // of KinetoNames, which the names are of
  };

  Status add(const ShapedEvents& shaped, std::size_t shaper);
  void add_facts(const ShapedEvents& shaped);
  Tables& tables_of(std::size_t shaper);
  void add_name(const ShapedName& name);
  StringId name(Tables& tables, std::uint32_t number);
  // Good until the next call.
  CategoryEntry& other_category(std::string_view text);
  CategoryEntry& category(Tables& tables, std::uint32_t number);
  TrackId track(Tables& tables, ShapedAs as, std::uint32_t number);
  void count(CategoryEntry& entry, ShapedAs as);
  void count_unknown(const std::string& what);

  EventFileWriter& writer_;
  OperatorTimes* operators_;
  KinetoParts parts_;
  std::vector<Tables> tables_;  // of each shaper
  KinetoNames event_names_;
  KinetoTracks tracks_;
  ShapedEvents one_;  // what event() reads
  SourceCounts counts_;
  std::vector<CategoryEntry> categories_;
  CategoryEntry other_;  // stands for those that are too many, or too long, to be told apart
  std::map<std::string, std::size_t, std::less<>> category_index_;
  nlohmann::ordered_json names_ = nlohmann::ordered_json::object();
  std::size_t names_bytes_ = 0;
  std::optional<std::int64_t> first_ns_;
  LayerCounter layers_;
};

}  // namespace teller
