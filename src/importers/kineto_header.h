// The top-level object of a Kineto trace but for its events: what becomes of it in META.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teller {

class KinetoHeader {
 public:
  // Takes one member; `raw` is its value as the file has it.
  void member(std::string_view key, std::string_view raw);
  // Adds host, rank, world size, clock and the rest; `first_ns` is the begin of the earliest event.
  void add_to(nlohmann::ordered_json& meta, std::optional<std::int64_t> first_ns) const;
  // Adds a line for each kind of thing that was left out or can't be read.
  void add_notes(std::vector<std::string>& notes) const;

 private:
  using Json = nlohmann::ordered_json;

  Json stated(const char* key) const;
  // The number, at least `least`, that distributedInfo states under `key`; or null.
  Json number(const char* key, std::int64_t least) const;
  Json clock(std::optional<std::int64_t> first_ns) const;

  Json distributed_;
  Json devices_;
  Json host_;
  Json producer_ = Json::object();
  Json other_ = Json::object();
  std::int64_t base_ns_ = 0;
  bool base_unknown_ = false;  // there is a base of all times, but it can't be used
  std::size_t other_bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace teller
