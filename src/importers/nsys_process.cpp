#include "importers/nsys_process.h"

namespace teller {

std::int64_t only_calling_process(const NsysDatabase& database) {
  constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
  if (!database.has_table(kTable)) return 0;
  auto processes = database.query(
      std::string("SELECT DISTINCT (globalTid >> 24) & 0xFFFFFF FROM ") + kTable + " LIMIT 2");
  if (!processes) return 0;  // calls that name no thread
  const auto first = processes->step();
  if (!first || !*first) return 0;
  const std::int64_t process = processes->number(0).value_or(0);
  const auto second = processes->step();
  return second && !*second ? process : 0;
}

}  // namespace teller
