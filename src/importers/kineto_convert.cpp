#include "importers/kineto_convert.h"

#include <algorithm>

#include "base/bounded_counts.h"

namespace teller {

namespace {

constexpr std::size_t kNamesLimit = 16u << 20;
// Of categories, and of what else is unknown, so many are told apart while a trace is read; then it
// is seen which are the most frequent.
constexpr std::size_t kMostToldApart = 1u << 16;

// The entry with this number, made if there is none yet.
template <typename T>
T& entry_of(std::vector<T>& table, std::uint32_t number) {
  if (number >= table.size()) table.resize(std::size_t{number} + 1);
  return table[number];
}

}  // namespace

KinetoConverter::KinetoConverter(EventFileWriter& writer, OperatorTimes* operators,
                                 std::size_t threads, const KinetoMemory& memory,
                                 std::size_t names_bytes)
    : writer_(writer),
      operators_(operators),
      parts_(threads, operators != nullptr, memory),
      tables_(parts_.shapers()),
      event_names_(writer, names_bytes),
      tracks_(writer) {}

void KinetoConverter::lost(std::uint64_t count) {
  counts_.records += count;
  counts_.malformed += count;
}

nlohmann::ordered_json KinetoConverter::complete_events() const {
  CountsByText sorted;
  for (const CategoryEntry& entry : categories_) {
    if (entry.complete > 0) sorted[entry.text] = entry.complete;
  }
  if (other_.complete > 0) sorted[kOtherCounts] += other_.complete;
  return bounded_counts(std::move(sorted));
}

Result<std::size_t> KinetoConverter::plain_events(std::string_view text, std::size_t event_bytes) {
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  while (at < end) {
    if (parts_.through(at)) parts_.start(at, end, event_bytes);
    const KinetoPart& part = parts_.take(at, end, event_bytes);
    TELLER_CHECK_OK(add(part.events, part.shaper));
    at = part.got;
    if (at < part.stop) break;
  }
  return static_cast<std::size_t>(at - text.data());
}

Result<bool> KinetoConverter::event(std::string_view text) {
  one_.clear();
  if (!parts_.shaper(0).event(text, one_)) {
    lost(1);
    return false;
  }
  TELLER_CHECK_OK(add(one_, 0));
  return true;
}

Status KinetoConverter::add(const ShapedEvents& shaped, std::size_t shaper) {
  add_facts(shaped);
  Tables& tables = tables_of(shaper);
  const char* attrs = shaped.attrs.view().data();
  for (std::size_t i = 0; i < shaped.events.size(); ++i) {
    EventRecord record = shaped.events[i];
    CategoryEntry& entry = category(tables, record.category);
    record.category = entry.id;
    record.track = track(tables, shaped.as[i], record.track);
    count(entry, shaped.as[i]);
    record.name = name(tables, record.name);
    if (record.attrs != 0) {
      const std::string_view text(attrs + sizeof(KinetoAttrs::Length), record.attrs);
      record.attrs = writer_.append_text(text);
      attrs = text.data() + text.size();
    }
    first_ns_ = std::min(first_ns_.value_or(record.begin_ns), record.begin_ns);
    layers_.add(record);
    TELLER_CHECK_OK(writer_.add(record));
  }
  return {};
}

// What is not told event by event.
void KinetoConverter::add_facts(const ShapedEvents& shaped) {
  counts_.records += shaped.records;
  counts_.metadata += shaped.metadata;
  counts_.malformed += shaped.malformed;
  counts_.clipped += shaped.clipped;
  counts_.repaired += shaped.repaired;
  for (const std::string& phase : shaped.unknown_phases) count_unknown("ph:" + phase);
  for (const ShapedName& name : shaped.names) add_name(name);
  for (const ShapedOperator& one : shaped.operators) operators_->add(one.pid, one.id, one.time);
}

void KinetoConverter::add_name(const ShapedName& name) {
  if (names_bytes_ > kNamesLimit) return;
  nlohmann::ordered_json entry;
  entry["pid"] = name.pid;
  if (name.list == "thread_names") entry["tid"] = name.tid;
  entry["name"] = name.value;
  names_bytes_ += name.pid.size() + name.tid.size() + name.value.size() + 64;
  names_[std::string(name.list)].push_back(std::move(entry));
}

KinetoConverter::Tables& KinetoConverter::tables_of(std::size_t shaper) {
  Tables& tables = tables_[shaper];
  if (tables.forgotten != parts_.forgotten()) tables = {};
  tables.forgotten = parts_.forgotten();
  tables.shaped = &parts_.shaper(shaper).tables();
  return tables;
}

StringId KinetoConverter::name(Tables& tables, std::uint32_t number) {
  const std::uint64_t round = event_names_.round();
  if (tables.names_round != round) tables.names.clear();
  tables.names_round = round;
  StringId& id = entry_of(tables.names, number);
  if (id == 0 && number != 0) id = event_names_.id(tables.shaped->name(number));
  return id;
}

KinetoConverter::CategoryEntry& KinetoConverter::other_category(std::string_view text) {
  other_.text = kOtherCounts;
  other_.id = event_names_.id(text);
  return other_;
}

KinetoConverter::CategoryEntry& KinetoConverter::category(Tables& tables, std::uint32_t number) {
  std::uint32_t& known = entry_of(tables.categories, number);
  if (known == 0) {
    const ShapedCategory shaped = tables.shaped->category(number);
    auto found = category_index_.find(shaped.text);
    if (found == category_index_.end()) {
      const bool full = categories_.size() >= kMostToldApart && !shaped.meaning;
      if (full || shaped.text.size() > kMostCountText) return other_category(shaped.text);
      found = category_index_.emplace(shaped.text, categories_.size()).first;
      categories_.push_back(
          {shaped.text, writer_.intern(shaped.text), shaped.meaning.has_value(), 0});
    }
    known = static_cast<std::uint32_t>(found->second) + 1;
  }
  return categories_[known - 1];
}

TrackId KinetoConverter::track(Tables& tables, ShapedAs as, std::uint32_t number) {
  PlaceTracks& place = entry_of(tables.places, number);
  const auto look_up = [&](std::optional<TrackId>& known, auto find) {
    if (!known) known = (tracks_.*find)(tables.shaped->place(number));
    return *known;
  };
  if (as == ShapedAs::kHost || as == ShapedAs::kUnknownPhase) {
    return look_up(place.host, &KinetoTracks::host);
  }
  if (place.version != tracks_.version()) {
    place.device.reset();
    place.flow.reset();
    place.version = tracks_.version();
  }
  if (as == ShapedAs::kDevice) return look_up(place.device, &KinetoTracks::device);
  return look_up(place.flow, &KinetoTracks::flow);
}

void KinetoConverter::count(CategoryEntry& entry, ShapedAs as) {
  switch (as) {
    case ShapedAs::kHost:
    case ShapedAs::kDevice:
      ++entry.complete;
      if (entry.text.empty()) {
        count_unknown("(no category)");
      } else if (entry.known) {
        ++counts_.events;
      } else {
        count_unknown(entry.text);
      }
      break;
    case ShapedAs::kFlow:
      ++counts_.flows;
      break;
    case ShapedAs::kSimple:
      ++counts_.events;
      break;
    case ShapedAs::kUnknownPhase:
      break;  // its phase was counted
  }
}

void KinetoConverter::count_unknown(const std::string& what) {
  const bool full = counts_.unknown.size() >= kMostToldApart && !counts_.unknown.contains(what);
  ++counts_.unknown[full || what.size() > kMostCountText ? kOtherCounts : what];
}

}  // namespace teller
