// One importer as a fuzz target: whatever the bytes are, it answers, every record is in one bucket,
// what it wrote is whole, and twice the same gives the same.
#pragma once

#include "base/file.h"
#include "fuzz_file.h"
#include "importers/source_import.h"
#include "run_folder/event_file.h"

namespace teller::fuzz {

using Importer = Result<SourceResult> (*)(const SourceRequest&, const std::string&);

// The event file's digest; "" where the importer refused the bytes.
inline std::string import_once(Importer importer, const std::string& path) {
  SourceRequest request;
  request.path = path;
  request.name = "input";
  request.allow_truncated = true;
  const std::string output = folder().file("out.tev");
  std::error_code error;
  std::filesystem::remove(output, error);
  const auto result = importer(request, output);
  if (!result) {
    demand(!result.error().message.empty(), "a refusal without a word");
    demand(result.error().message.find('\n') == std::string::npos, "a refusal of several lines");
    return "";
  }
  demand(result->counts.balanced(), "records are in no bucket, or in two");
  const auto file = EventFile::open(output);
  demand(file.ok(), "the event file can't be read");
  demand(file->damage().whole && file->damage().invalid_records == 0,
         "the event file is not whole");
  demand(file->event_count() == result->events_written, "events were lost");
  return sha256_file(output).value();
}

inline int fuzz_importer(Importer importer, const std::uint8_t* data, std::size_t size) {
  const std::string path = put("input", text_of(data, size));
  const std::string first = import_once(importer, path);
  // Half of the inputs, told by their size, are read again.
  if (size % 2 == 0) demand(import_once(importer, path) == first, "twice the same is not the same");
  return 0;
}

}  // namespace teller::fuzz
