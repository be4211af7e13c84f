// The buffers that CUPTI fills with activity records: a pool of fixed size, and what is delivered.
#pragma once

namespace teller::collector {

// Maps the pool and registers it with CUPTI. False: no activity will come.
bool start_cupti_buffers() noexcept;

// Begins to ask CUPTI for what is complete, every 100 ms, on a thread of our own: CUPTI's own
// period returns full buffers only. The thread takes no signals.
void start_cupti_flushes() noexcept;

}  // namespace teller::collector
