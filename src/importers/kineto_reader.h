// Walks through the text of a Chrome trace of any size in bounded memory: the elements of its event
// array one by one, and the other members of its top-level object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "importers/array_scanner.h"
#include "importers/input_stream.h"
#include "teller/result.h"

namespace teller {

// Receives what the reader finds. Texts are valid during the call only.
class KinetoSink {
 public:
  virtual ~KinetoSink() = default;
  // Reads as many events at the start of `text` as it can right away, with the blanks and commas
  // between them, and answers how far it got; an event larger than `event_bytes` is not among them.
  // Behind `text` are KinetoEventParser::kPadding blanks. The others come through event().
  virtual Result<std::size_t> plain_events(std::string_view text, std::size_t event_bytes) {
    static_cast<void>(text), static_cast<void>(event_bytes);
    return std::size_t{0};
  }
  // One element that is an object, with KinetoEventParser::kPadding readable bytes behind it.
  // Answers whether it is a JSON object at all; if not, the reader looks for the next event inside.
  virtual Result<bool> event(std::string_view text) = 0;
  // `count` records that can't be read and were not given to event().
  virtual void lost(std::uint64_t count) = 0;
  // A member of the top-level object, as raw JSON.
  virtual void member(std::string_view key, std::string_view value) = 0;
  // Called after each piece of the file.
  virtual Status piece_done() = 0;
};

// How reading ended.
struct KinetoEnd {
  bool has_events = false;        // there is an array of events
  bool bare_array = false;        // the events are the whole text
  std::string truncated_reason;   // "" if the text is whole
  std::uint64_t bytes_after = 0;  // behind the text's value, blanks not counted
};

struct KinetoLimits {
  std::size_t event_bytes = 64u << 20;          // larger events are skipped and counted
  std::size_t member_bytes = 64u << 20;         // larger top-level members are an error
  std::size_t suspect_bytes = 1u << 20;         // an open event of this size may lack its end
  std::string_view events_key = "traceEvents";  // of the array whose elements are the events
};

class KinetoReader {
 public:
  KinetoReader(InputStream& input, KinetoSink& sink, KinetoLimits limits = {});
  // Fails if the text is no Chrome trace, or the sink or the input fails.
  Result<KinetoEnd> read();

 private:
  std::string_view text() const { return text_; }
  // Drops what lies before cursor_ and appends the next piece of input. False at the end of input.
  Result<bool> refill();
  // Moves cursor_ to the next byte that is no blank (nor comma, with `commas`). False at the end.
  Result<bool> skip_blank(bool commas);
  // Counts what stands behind the text's value.
  Status count_rest();
  Result<bool> read_members();
  Result<bool> read_member();
  // End of the JSON value at cursor_, refilling as needed; npos at the end of input.
  Result<std::size_t> value_end(std::string_view what);
  // Reads elements from behind '['; true if the array was closed.
  Result<bool> read_elements();
  // Has the sink read what it can from where the scanner is. True if more input is to come first.
  Result<bool> take_plain_events();
  // Finds the ends of the next elements, and hands these over; see take_elements().
  Result<bool> scan_elements();
  Result<bool> take_elements(const std::vector<ArrayElement>& elements);
  // Has the elements' next piece of input follow what the scanner still needs.
  Status refill_elements();
  // Starts over inside of a broken or endless element if an event seems to begin there.
  bool resync(std::size_t from, std::size_t to);
  void watch_open_element();
  void truncated(std::string_view where);

  InputStream& input_;
  KinetoSink& sink_;
  KinetoLimits limits_;
  KinetoEnd end_;
  std::string_view text_;  // InputStream::kPadding blanks are behind it
  std::size_t cursor_ = 0;
  bool input_ended_ = false;
  ArrayScanner scanner_;
  std::vector<ArrayElement> elements_;
  std::size_t refused_at_ = std::string_view::npos;    // the sink found nothing plain there
  std::size_t scanned_from_ = std::string_view::npos;  // where the element scanned last began
  bool damaged_ =
      false;  // something in text_ was no event: nothing in it is taken for plain any more
  bool scanned_all_ = false;         // the scanner went through text_
  std::size_t searched_ = 0;         // the open element was searched for a resync up to here
  std::uint64_t resync_budget_ = 0;  // bytes that may still be scanned again
  std::uint64_t stray_reported_ = 0;
  bool skipping_ = false;  // the open element is too large: drop it
};

}  // namespace teller
