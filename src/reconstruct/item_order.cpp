#include "reconstruct/item_order.h"

#include <string_view>

namespace teller {

namespace {

template <typename T>
int three_way(const T& left, const T& right) {
  return left < right ? -1 : right < left ? 1 : 0;
}

// The number that Kineto gives a Python function as it begins; -1 where `attrs` has none.
std::int64_t python_id(std::string_view attrs) {
  constexpr std::string_view kKey = "\"Python id\":";
  const std::size_t found = attrs.find(kKey);
  if (found == std::string_view::npos) return -1;
  std::size_t at = found + kKey.size();
  while (at < attrs.size() && attrs[at] == ' ') ++at;
  std::int64_t id = -1;
  constexpr std::int64_t kMost = std::int64_t{1} << 58;
  for (; at < attrs.size() && attrs[at] >= '0' && attrs[at] <= '9' && id < kMost; ++at) {
    id = (id < 0 ? 0 : id * 10) + (attrs[at] - '0');
  }
  return id;
}

// Records of two items, and the texts of the files that they are from.
class Contents {
 public:
  Contents(const Workspace& work, const Item& left, const Item& right)
      : left_(*left.event),
        right_(*right.event),
        left_file_(work.sources[left.source].file),
        right_file_(work.sources[right.source].file) {}

  int compare() const {
    if (const int order = by_number_of_begin(); order != 0) return order;
    if (const int order = texts(left_.name, right_.name); order != 0) return order;
    if (const int order = three_way(left_.correlation, right_.correlation)) return order;
    if (const int order = three_way(left_.flags, right_.flags)) return order;
    if (const int order = three_way(left_.value, right_.value)) return order;
    if (const int order = texts(left_.category, right_.category)) return order;
    if (const int order = texts(left_.domain, right_.domain)) return order;
    return texts(left_.attrs, right_.attrs);
  }

 private:
  // Many records may share one long text: equal ids of one file are equal at once.
  int texts(StringId left, StringId right) const {
    if (left == right && &left_file_ == &right_file_) return 0;
    return left_file_.string(left).compare(right_file_.string(right));
  }

  // Python functions before what they ran, then by the numbers that the source gave as they began.
  int by_number_of_begin() const {
    const bool left_python = (left_.flags & kFlagPython) != 0;
    const bool right_python = (right_.flags & kFlagPython) != 0;
    if (left_python != right_python) return left_python ? -1 : 1;
    if (left_python) {
      if (left_.attrs == right_.attrs && &left_file_ == &right_file_) return 0;
      return three_way(python_id(left_file_.string(left_.attrs)),
                       python_id(right_file_.string(right_.attrs)));
    }
    const bool left_linked = (left_.flags & kFlagHasExternal) != 0;
    const bool right_linked = (right_.flags & kFlagHasExternal) != 0;
    if (left_linked != right_linked) return left_linked ? 1 : -1;
    return left_linked ? three_way(left_.external, right_.external) : 0;
  }

  const EventRecord& left_;
  const EventRecord& right_;
  const EventFile& left_file_;
  const EventFile& right_file_;
};

}  // namespace

int tree_rank(const Item& item) {
  const bool driver = item.kind == ItemKind::kCall && (item.event->flags & kFlagDriver) != 0;
  return 2 * static_cast<int>(item.layer) + (driver ? 1 : 0);
}

int compare_content(const Workspace& work, const Item& left, const Item& right) {
  if (const int order = three_way(left.source, right.source)) return order;
  if (const int order = three_way(left.kind, right.kind)) return order;
  if (const int order = three_way(left.track, right.track)) return order;
  // Rows of one record keep the order of its entries.
  if (left.kind == ItemKind::kRange) {
    if (const int order = three_way(left.detail, right.detail)) return order;
  }
  return Contents(work, left, right).compare();
}

bool TreeOrder::of_one_interval(std::uint32_t a, std::uint32_t b) const {
  const Item& left = work.items[a];
  const Item& right = work.items[b];
  if (const int rank = tree_rank(left) - tree_rank(right)) return rank < 0;
  const int content = compare_content(work, left, right);
  return content != 0 ? content < 0 : a < b;
}

bool BeginOrder::operator()(std::uint32_t a, std::uint32_t b) const {
  const Item& left = work.items[a];
  const Item& right = work.items[b];
  if (left.begin_ns != right.begin_ns) return left.begin_ns < right.begin_ns;
  if (left.source != right.source) return left.source < right.source;
  return TreeOrder{work}(a, b);
}

}  // namespace teller
