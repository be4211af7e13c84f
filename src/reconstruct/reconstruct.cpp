#include "reconstruct/reconstruct.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "reconstruct/passes.h"
#include "reconstruct/roles.h"
#include "reconstruct/summary.h"

namespace teller {

namespace {

Status publish(RunFolder& run, const ReconstructOptions& options, std::uint64_t nodes) {
  nlohmann::ordered_json shaping;
  shaping["log_window_ns"] = options.log_window_ns;
  if (!options.role_files.empty()) shaping["roles"] = options.role_files;
  TELLER_CHECK_OK(run.publish({"chains",
                               {"chains.tcol", "reconstruct.json", "roles.json"},
                               "reconstruct",
                               nodes,
                               {"events", "logs"},
                               shaping.dump()}));
  return run.save();
}

}  // namespace

Result<ReconstructSummary> reconstruct(RunFolder& run, const ReconstructOptions& options) {
  TELLER_TRY(const RoleTable table, RoleTable::load(options.role_files));
  Workspace work;
  TELLER_CHECK_OK(load_sources(run, work));
  align_clocks(run, work);
  collect_items(work);
  nest_items(work);
  bind_items(work);
  find_in_flight(work);
  StepRoots steps = find_steps(work);
  add_rows(work, steps);
  join_request_names(work);
  join_requests(work);
  TELLER_CHECK_OK(write_nodes(work, steps));
  fill_requests(work);
  add_request_facts(work);
  RecordBalance logs;
  TELLER_CHECK_OK(align_logs(run, {options.log_window_ns}, work, logs));
  number_by_first_use(work);
  const std::vector<RoleEntry> roles = find_roles(work.chains, table);
  const std::string roles_text = roles_json(work.chains, table, roles);
  TELLER_TRY(ReconstructSummary summary,
             summarise(run, work, logs, {table, roles, roles_text.size()}));
  TELLER_CHECK_OK(work.chains.write(run.file("chains.tcol")));
  TELLER_CHECK_OK(write_file_atomic(run.file("reconstruct.json"), summary.json));
  TELLER_CHECK_OK(write_file_atomic(run.file("roles.json"), roles_text));
  TELLER_CHECK_OK(publish(run, options, work.chains.nodes.parent.size()));
  return summary;
}

}  // namespace teller
