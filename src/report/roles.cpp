#include "report/roles.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "report/document.h"
#include "run_folder/roles_file.h"

namespace teller::report_detail {

namespace {

constexpr const char* kFile = "roles.json";

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

}  // namespace

RoleNames::RoleNames(const RunFolder& run) {
  const auto files = run.require_artifact("chains");
  if (!files || std::find(files->begin(), files->end(), kFile) == files->end()) return;
  const auto text = read_file(run.file(kFile), "roles", kMostRolesBytes);
  if (!text) return;
  const Json roles = parse_json(*text);
  for (const Json& entry : member(roles, "names")) {
    const std::string role = text_of(member(entry, "role"));
    if (role.empty()) continue;
    roles_[{text_of(member(entry, "layer")), text_of(member(entry, "name"))}] = role;
  }
}

std::string_view RoleNames::of(std::string_view layer, std::string_view name) const {
  const auto found = roles_.find({std::string(layer), std::string(name)});
  return found == roles_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace teller::report_detail
