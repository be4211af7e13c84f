#include "capture/nccl_payload.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "capture/payload_values.h"

namespace teller::capture {

namespace {

struct Key {
  std::string_view field;  // as NCCL's schemas name it
  const char* key;
};
constexpr Key kKeys[] = {{"Message size [bytes]", "bytes"},
                         {"Rank", "rank"},
                         {"No. of ranks", "nranks"},
                         {"CUDA device", "device"},
                         {"No. of devices", "ndevices"},
                         {"Root", "root"},
                         {"Peer rank", "peer"},
                         {"Reduction operation", "reduction"},
                         {"Color", "color"},
                         {"Key", "key"}};
// Hashes: as numbers they would lose digits in many readers.
constexpr Key kCommunicators[] = {{"NCCL communicator ID", "communicator"},
                                  {"Communicator ID", "communicator"},
                                  {"Parent NCCL communicator ID", "parent_communicator"}};

constexpr std::string_view kCollectives[] = {"AllGather",     "AllReduce", "AlltoAll", "Bcast",
                                             "Broadcast",     "Gather",    "Recv",     "Reduce",
                                             "ReduceScatter", "Scatter",   "Send"};

// AllReduce of ncclAllReduce, ncclAllReduce_impl, pncclAllReduce.
std::string_view bare(std::string_view name) {
  if (name.substr(0, 1) == "p") name.remove_prefix(1);
  if (name.substr(0, 4) == "nccl") name.remove_prefix(4);
  constexpr std::string_view kEnd = "_impl";
  if (name.size() > kEnd.size() && name.substr(name.size() - kEnd.size()) == kEnd) {
    name.remove_suffix(kEnd.size());
  }
  return name;
}

}  // namespace

void add_nccl_keys(const nlohmann::ordered_json& payload, std::string_view schema,
                   std::string_view range, nlohmann::ordered_json* attrs) {
  if (!payload.is_object()) return;
  const std::string_view name = bare(schema.empty() ? range : schema);
  if (!name.empty()) {
    const bool collective =
        std::find(std::begin(kCollectives), std::end(kCollectives), name) != std::end(kCollectives);
    (*attrs)[collective ? "collective" : "operation"] = name;
  }
  for (const Key& entry : kKeys) {
    const auto found = payload.find(entry.field);
    if (found != payload.end()) (*attrs)[entry.key] = *found;
  }
  for (const Key& entry : kCommunicators) {
    const auto found = payload.find(entry.field);
    if (found == payload.end() || !found->is_number_integer()) continue;
    (*attrs)[entry.key] = hex_number(found->get<std::uint64_t>());
  }
}

}  // namespace teller::capture
