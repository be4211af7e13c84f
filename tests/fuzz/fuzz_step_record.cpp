// Step records, one a line, and the waiting lists that they refer to.
#include "fuzz_file.h"
#include "reconstruct/annotation.h"
#include "reconstruct/family.h"
#include "reconstruct/step_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace teller;
  std::string_view text = fuzz::text_of(data, size);
  WaitLists waits;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    StepRecord record;
    if (parse_step_record(line, record) == RecordOutcome::kGood) {
      waits.complete(record);
      for (const RecordRow& row : record.rows) {
        fuzz::demand(!row.id.empty() && row.scheduled >= 0 && row.computed >= 0, "a senseless row");
      }
    }
    // Names are read by the same stage, and are as free.
    fuzz::demand(line.empty() || !family_of(line).empty(), "a name without a family");
    if (is_step_annotation(line))
      fuzz::demand(parse_annotation(line).tokens >= -1, "tokens below none");
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return 0;
}
