// Numbers requests and strings by their first use in the output and leaves out what no node uses,
// so that the bytes of chains.tcol do not tell in which order records were read.
#include <algorithm>
#include <numeric>
#include <utility>

#include "reconstruct/passes.h"

namespace teller {

namespace {

// New numbers of old ones, given in the order in which they are asked for.
class Numbering {
 public:
  explicit Numbering(std::size_t size) : new_of_(size, kNoIndex) {}

  std::uint32_t of(std::uint32_t old) {
    std::uint32_t& number = new_of_[old];
    if (number == kNoIndex) {
      number = static_cast<std::uint32_t>(old_of_.size());
      old_of_.push_back(old);
    }
    return number;
  }
  void renumber(std::vector<std::uint32_t>& column) {
    for (std::uint32_t& value : column) {
      if (value != kNoIndex) value = of(value);
    }
  }
  const std::vector<std::uint32_t>& old_of() const { return old_of_; }

 private:
  std::vector<std::uint32_t> new_of_;
  std::vector<std::uint32_t> old_of_;
};

template <typename T>
void reorder(std::vector<T>& column, const std::vector<std::uint32_t>& old_of) {
  std::vector<T> ordered;
  ordered.reserve(column.size());
  for (const std::uint32_t old : old_of) ordered.push_back(column[old]);
  column = std::move(ordered);
}

// Those of nodes in tree order, those of log lines, then the rest by id.
void number_requests(ChainsBuilder& chains) {
  Numbering numbers(chains.requests.id.size());
  numbers.renumber(chains.nodes.request);
  numbers.renumber(chains.rows.request);
  numbers.renumber(chains.logs.request);
  std::vector<std::uint32_t> rest(chains.requests.id.size());
  std::iota(rest.begin(), rest.end(), 0u);
  std::sort(rest.begin(), rest.end(), [&](std::uint32_t a, std::uint32_t b) {
    return chains.strings.view(chains.requests.id[a]) < chains.strings.view(chains.requests.id[b]);
  });
  for (const std::uint32_t request : rest) numbers.of(request);
  visit_columns(chains, [&](std::string_view table, std::string_view, auto& column) {
    if (table == "requests") reorder(column, numbers.old_of());
  });
}

// Tracks stand in the order of their content; here those go that hold links or samples only.
void drop_unused_tracks(ChainsBuilder& chains) {
  std::vector<bool> used(chains.tracks.kind.size(), false);
  for (const std::uint32_t track : chains.nodes.track) {
    if (track != kNoIndex) used[track] = true;
  }
  Numbering numbers(used.size());
  for (std::uint32_t track = 0; track < used.size(); ++track) {
    if (used[track]) numbers.of(track);
  }
  if (numbers.old_of().size() == used.size()) return;
  numbers.renumber(chains.nodes.track);
  visit_columns(chains, [&](std::string_view table, std::string_view, auto& column) {
    if (table == "tracks") reorder(column, numbers.old_of());
  });
}

}  // namespace

void number_by_first_use(Workspace& work) {
  ChainsBuilder& chains = work.chains;
  drop_unused_tracks(chains);
  number_requests(chains);
  Numbering numbers(chains.strings.size());
  numbers.of(0);  // "" stays 0
  for (std::vector<std::uint32_t>* column :
       {&chains.sources.name, &chains.sources.host, &chains.tracks.label, &chains.nodes.name,
        &chains.nodes.family, &chains.steps.engine, &chains.requests.id, &chains.logs.text,
        &chains.logs.stream, &chains.logs.level, &chains.logs.format, &chains.logs.process,
        &chains.logs.source, &chains.logs.ranks}) {
    numbers.renumber(*column);
  }
  Interner strings;
  for (const std::uint32_t old : numbers.old_of()) strings.intern(chains.strings.view(old));
  chains.strings = std::move(strings);
}

}  // namespace teller
