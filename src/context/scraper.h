// Asks engines for their metrics. Private to context/.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "context/context.h"
#include "context/host.h"
#include "context/http_get.h"

namespace teller {

class Scraper {
 public:
  explicit Scraper(const ContextOptions& options);

  // Looks for new servers among the processes, asks each known one, and gives a record for each
  // answer; of failures the first and every 60th of an endpoint.
  std::vector<ContextRecord> sample(const std::vector<ContextProcess>& processes,
                                    ContextCounts& counts);

 private:
  struct Endpoint {
    std::string url;
    HttpUrl parts;
    int failures = 0;  // since the last answer
  };
  void find_engines(const std::vector<ContextProcess>& processes, ContextCounts& counts,
                    std::vector<ContextRecord>& records);
  void ask(Endpoint& endpoint, ContextCounts& counts, std::vector<ContextRecord>& records) const;

  ContextOptions options_;
  std::vector<Endpoint> endpoints_;
  std::map<std::uint64_t, int> tries_;  // by the inode of a socket that was found
};

}  // namespace teller
