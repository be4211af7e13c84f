#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/terminal.h"

namespace teller {

namespace {

// Made at first use, so that commands that say nothing pay nothing.
spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("teller",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("teller: %v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

}  // namespace

void set_verbosity(Verbosity verbosity) {
  logger().set_level(verbosity == Verbosity::kQuiet     ? spdlog::level::err
                     : verbosity == Verbosity::kVerbose ? spdlog::level::debug
                                                        : spdlog::level::info);
}

void log_info(std::string_view message) {
  logger().debug("{}", printable(message));
}
void log_hint(std::string_view message) {
  logger().info("hint: {}", printable(message));
}
void log_warning(std::string_view message) {
  logger().warn("warning: {}", printable(message));
}

}  // namespace teller
