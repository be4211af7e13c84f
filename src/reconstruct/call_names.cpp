#include "reconstruct/call_names.h"

namespace teller {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Host functions run nothing on the device; attributes of a launch are but asked for.
bool is_launch(std::string_view name) {
  return contains(name, "Launch") && !contains(name, "HostFunc") && !contains(name, "GetLaunch") &&
         !contains(name, "Attribute");
}

}  // namespace

std::uint8_t call_facts(std::string_view name) {
  if (!name.starts_with("cu") && !name.starts_with("hip")) return 0;
  unsigned facts = 0;
  if (is_launch(name)) facts |= kCallLaunches;
  if (contains(name, "Synchronize")) facts |= kCallWaits;
  if (contains(name, "DeviceSynchronize") || contains(name, "CtxSynchronize")) {
    facts |= kCallWaitsForAll;
  }
  if (contains(name, "StreamSynchronize")) facts |= kCallWaitsForStream;
  if (contains(name, "BeginCapture")) facts |= kCallBeginsCapture;
  if (contains(name, "EndCapture")) facts |= kCallEndsCapture;
  return static_cast<std::uint8_t>(facts);
}

}  // namespace teller
