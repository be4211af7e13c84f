// JSON files that commands read: labels, vocabularies, baselines. The first byte chooses.
#include "fuzz_file.h"
#include "run_folder/labels.h"
#include "slice/baseline_file.h"
#include "tpe/vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace teller;
  if (size == 0) return 0;
  const std::string path = fuzz::put("file.json", fuzz::text_of(data + 1, size - 1));
  switch (data[0] % 3) {
    case 0:
      static_cast<void>(read_labels(path));
      break;
    case 1:
      static_cast<void>(tpe::read_vocabulary(path));
      break;
    default:
      static_cast<void>(slice_detail::read_entries(path));
  }
  return 0;
}
