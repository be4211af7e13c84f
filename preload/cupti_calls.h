// Calls of the CUDA runtime and driver, as CUPTI calls us back at their begin and end.
#pragma once

namespace teller::collector {

// Subscribes and enables both domains; what prevented it is noted as "cuda". False: no call comes.
// Without a driver cuptiSubscribe answers 999.
bool subscribe_to_calls() noexcept;

}  // namespace teller::collector
