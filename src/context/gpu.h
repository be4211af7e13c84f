// GPUs through NVML, which is opened at run time: it belongs to the driver and is there only with
// one. Private to context/.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "context/host.h"

namespace teller {

class Gpus {
 public:
  // Opens libnvidia-ml.so.1. Where that is not there, or has no GPU to show, samples are empty.
  Gpus();
  ~Gpus();
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;

  // False: there is nothing to sample.
  bool any() const;
  // One record per GPU, and one per event (Xid, ECC) since the last call. May block as long as the
  // driver does.
  std::vector<ContextRecord> sample();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace teller
