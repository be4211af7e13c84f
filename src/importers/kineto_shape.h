// Makes event records of the events of a Kineto trace, as far as each can be understood by itself;
// KinetoConverter does the rest. So several threads can do most of the work, each with a shaper of
// its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "importers/kineto_attrs.h"
#include "importers/kineto_event.h"
#include "importers/kineto_places.h"
#include "importers/kineto_plain_event.h"
#include "importers/kineto_shaped.h"
#include "importers/kineto_shaped_tables.h"

namespace teller {

class KinetoShaper {
 public:
  // With `operators` it notes when they ran.
  explicit KinetoShaper(bool operators) : wants_operators_(operators) {}

  // Appends to `out` the plain events between `at` and `stop`, which lies at the begin of an event
  // or at `end`; answers where it got. That is `stop` or behind it, or the begin of an event that
  // is not plain or is larger than `event_bytes`. KinetoEventParser::kPadding blanks are behind
  // `end`.
  const char* plain_events(const char* at, const char* stop, const char* end,
                           std::size_t event_bytes, ShapedEvents& out);
  // Appends one event to `out`. False if its text is no JSON object: then `out` is as it was.
  bool event(std::string_view text, ShapedEvents& out);

  // What the numbers in shaped events mean; any thread may ask it.
  const ShapedTables& tables() const { return tables_; }
  // How many names, places and categories it knows, and their texts' bytes.
  std::size_t texts() const { return names_.size() + places_.size() + categories_.size(); }
  std::size_t text_bytes() const { return text_bytes_; }
  // Forgets them: their numbers are given anew.
  void forget();

 private:
  // Arguments that have a field of their own; the rest goes to attrs.
  struct Arguments {
    std::string_view correlation;
    std::string_view external;
    std::string_view graph;
    std::string_view bytes;
    KinetoPlace place;
  };

  bool shape(ShapedEvents& out);
  void shape_phase(ShapedEvents& out);
  std::uint32_t category(std::string_view text);
  void complete(ShapedEvents& out);
  void flow(EventKind kind, ShapedEvents& out);
  void simple(EventKind kind, ShapedEvents& out);
  void unknown_phase(ShapedEvents& out);
  bool set_begin(EventRecord& record) const;
  bool set_end(EventRecord& record) const;
  bool set_pair_id(EventRecord& record) const;
  void metadata(ShapedEvents& out);
  Arguments sort_arguments(EventKind kind, bool on_device, EventRecord& record);
  static bool take_argument(const JsonField& field, EventKind kind, bool on_device,
                            Arguments& found);
  void set_ids(const Arguments& arguments, EventRecord& record);
  void set_number(std::string_view text, std::uint64_t& field, EventRecord& record);
  bool append_field(const JsonField& field, EventRecord& record);
  void keep(EventRecord& record, ShapedAs as, const KinetoPlace& place, ShapedEvents& out);
  void note_operator(const EventRecord& record, ShapedEvents& out) const;

  bool wants_operators_;
  KinetoPlainParser plain_;
  KinetoEventParser parser_;
  KinetoEvent event_;
  Interner names_;
  KinetoPlaces places_;
  std::size_t text_bytes_ = 0;     // of names, places and categories
  std::uint32_t names_told_ = 1;   // to tables_
  std::uint32_t places_told_ = 0;  // to tables_
  ShapedTables tables_;
  std::vector<ShapedCategory> categories_;
  std::map<std::string, std::uint32_t, std::less<>> category_index_;
  KinetoAttrs attrs_;
  std::string member_;  // of attrs_, in the making
  std::string repaired_text_;
  std::uint64_t clipped_ = 0;   // numbers of event_
  bool attrs_bad_ = false;      // an argument is no JSON value
  bool text_repaired_ = false;  // event_ was made of repaired text
  bool mended_ = false;         // a token that is no JSON became a string
  bool needs_repair_ = false;   // an argument's string is no JSON
};

}  // namespace teller
