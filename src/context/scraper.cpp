#include "context/scraper.h"

#include <algorithm>
#include <utility>

#include "context/engines.h"
#include "context/metrics.h"

namespace teller {

namespace {

constexpr int kTimeoutMs = 1000;
constexpr int kTriesPerSocket = 3;
constexpr int kFailuresPerRecord = 60;
constexpr std::size_t kMaxEndpoints = 16;

}  // namespace

Scraper::Scraper(const ContextOptions& options) : options_(options) {
  for (const std::string& url : options.urls) {
    // What stands behind the question mark may be a key: it is sent, and not stored.
    if (auto parts = parse_http_url(url)) {
      endpoints_.push_back({url.substr(0, url.find('?')), *parts, 0});
    }
  }
}

void Scraper::ask(Endpoint& endpoint, ContextCounts& counts,
                  std::vector<ContextRecord>& records) const {
  ++counts.scrapes;
  const auto answer = http_get(endpoint.parts, kTimeoutMs);
  ContextRecord record = {{"kind", "metrics"}, {"url", endpoint.url}};
  if (answer && answer->status == 200) {
    endpoint.failures = 0;
    record.update(read_metrics(answer->body, options_.all_series));
    records.push_back(std::move(record));
    return;
  }
  ++counts.scrapes_failed;
  if (endpoint.failures++ % kFailuresPerRecord != 0) return;
  if (answer) {
    record["status"] = answer->status;
  } else {
    record["error"] = answer.error().message;
  }
  records.push_back(std::move(record));
}

// A socket is asked a few times: a server may listen before it can answer.
void Scraper::find_engines(const std::vector<ContextProcess>& processes, ContextCounts& counts,
                           std::vector<ContextRecord>& records) {
  for (const ContextProcess& process : processes) {
    const std::uint16_t port = engine_port(process.argv);
    if (port == 0) continue;
    for (const Listener& listener : worth_asking(listeners_of(options_.root, process.pid), port)) {
      if (endpoints_.size() >= kMaxEndpoints || tries_[listener.inode] >= kTriesPerSocket) continue;
      ++tries_[listener.inode];
      const bool v6 = listener.host.find(':') != std::string::npos;
      const std::string host = v6 ? "[" + listener.host + "]" : listener.host;
      Endpoint endpoint{"http://" + host + ":" + std::to_string(listener.port) + "/metrics",
                        {listener.host, listener.port, "/metrics"},
                        0};
      const bool known = std::any_of(endpoints_.begin(), endpoints_.end(), [&](const Endpoint& e) {
        return e.parts.port == endpoint.parts.port && e.parts.path == endpoint.parts.path;
      });
      if (known) continue;
      std::vector<ContextRecord> answer;
      ask(endpoint, counts, answer);
      // What answers otherwise is no engine's server, or not yet.
      if (answer.empty() || answer[0].value("engine", "").empty()) continue;
      tries_[listener.inode] = kTriesPerSocket;
      records.push_back(std::move(answer[0]));
      endpoints_.push_back(std::move(endpoint));
    }
  }
}

std::vector<ContextRecord> Scraper::sample(const std::vector<ContextProcess>& processes,
                                           ContextCounts& counts) {
  std::vector<ContextRecord> records;
  for (Endpoint& endpoint : endpoints_) ask(endpoint, counts, records);
  if (options_.find_engines) find_engines(processes, counts, records);
  return records;
}

}  // namespace teller
