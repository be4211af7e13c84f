// Model bundles: bundle.json as it is and with its check made right, and weights. The first byte
// chooses.
#include "base/json.h"
#include "fuzz_file.h"
#include "learn/bundle_reader.h"

namespace teller::fuzz {

namespace {

using Json = nlohmann::ordered_json;

void read_bundle(std::string_view text) {
  std::filesystem::create_directories(folder().file("model"));
  put("model/bundle.json", text);
  Json self_test;
  static_cast<void>(learn_detail::read_bundle_file(folder().file("model"), self_test));
  Json json = parse_json(text);
  if (!json.is_object()) return;
  json["check"] = learn_detail::bundle_check(json);
  put("model/bundle.json", json.dump(-1, ' ', true, Json::error_handler_t::replace));
  const auto bundle = learn_detail::read_bundle_file(folder().file("model"), self_test);
  if (!bundle) return;
  demand(bundle->shape.heads > 0 && bundle->shape.width % bundle->shape.heads == 0, "a bad shape");
  demand(static_cast<std::int64_t>(bundle->words.size()) == bundle->shape.words, "lost words");
}

void read_weights(std::string_view bytes) {
  const auto tensors = learn_detail::read_safetensors(put("weights.safetensors", bytes));
  if (!tensors) return;
  for (const auto& [name, tensor] : *tensors) {
    std::size_t count = 1;
    for (const std::int64_t side : tensor.shape) count *= static_cast<std::size_t>(side);
    demand(count == tensor.values.size(), "a tensor whose shape is not its size");
  }
}

}  // namespace

}  // namespace teller::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace teller::fuzz;
  if (size == 0) return 0;
  const std::string_view text = text_of(data + 1, size - 1);
  data[0] % 2 == 0 ? read_bundle(text) : read_weights(text);
  return 0;
}
