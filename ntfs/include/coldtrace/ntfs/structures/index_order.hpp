#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::ntfs {

// The entries of an index in order: for each entry, first its child node, then the entry itself;
// after the tree, the nodes to which nothing leads. `Nodes` reads them:
//   Reader, Entry            a node's entries by next(); Entry has child_vcn, has_name(entry)
//   optional<Reader> root()
//   optional<Reader> child(vcn)      nothing if it is not a node, or was read
//   optional<Reader> next_detached() in the order of their numbers
template <class Nodes>
class IndexOrder {
 public:
  using Entry = typename Nodes::Entry;

  bool next(Nodes& nodes, Entry& entry) {
    for (;;) {
      if (levels_.empty()) {
        auto reader = root_read_ ? nodes.next_detached() : nodes.root();
        if (!reader && root_read_) return false;
        root_read_ = true;
        if (!reader) continue;
        levels_.emplace_back(std::move(*reader));
      }
      auto& level = levels_.back();
      if (level.waits) {
        level.waits = false;
        entry = level.entry;
        return true;
      }
      auto found = level.reader.next();
      if (!found) {
        nodes.end(level.reader);
        levels_.pop_back();
        continue;
      }
      if (!found->child_vcn) {
        if (!has_name(*found)) continue;
        entry = *found;
        return true;
      }
      level.waits = has_name(*found);
      level.entry = *found;
      if (auto child = nodes.child(*found->child_vcn)) levels_.emplace_back(std::move(*child));
    }
  }

 private:
  struct Level {
    explicit Level(typename Nodes::Reader node) : reader{std::move(node)} {}
    typename Nodes::Reader reader;
    Entry entry{};  // follows its child
    bool waits = false;
  };
  std::vector<Level> levels_;
  bool root_read_ = false;
};

}  // namespace coldtrace::ntfs
