// The parts of reconstruct.json and its text that are made from other parts. Private to
// reconstruct/ and its tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reconstruct/workspace.h"

namespace teller {

// What was lost or mended before the records came here: the counts of META that say so and are not
// zero.
nlohmann::ordered_json losses_json(std::string_view meta);

// Work on devices that never ended, by stream, with its first and last launch; and the calls that
// wait. Empty if there is neither.
nlohmann::ordered_json in_flight_json(const ChainsBuilder& chains);

// One line each for what a reader must know before trusting the figures of `report`: what is
// missing altogether, what was lost, what hangs.
nlohmann::ordered_json notes_json(const Workspace& work, const nlohmann::ordered_json& report);

// reconstruct.json in words.
std::string summary_text(const nlohmann::ordered_json& report);

}  // namespace teller
