#include "cli/put_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace teller::cli {

void put_json(const nlohmann::ordered_json& document, int indent) {
  using Json = nlohmann::ordered_json;
  std::puts(document.dump(indent, ' ', true, Json::error_handler_t::replace).c_str());
}

}  // namespace teller::cli
