#pragma once

#include <map>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// Edges of a graph by a key, in the order in which they came. Beyond the limit, none is kept.
template <class Edge, class Key>
class EdgeTable {
 public:
  explicit EdgeTable(std::size_t most) : most_{most} {}

  // The edge with the key, which is `fresh` if it is new; valid until the next one is added. Null
  // for an edge beyond the limit, which is counted each time.
  Edge* find_or_add(const Key& key, const Edge& fresh) {
    if (const auto known = numbers_.find(key); known != numbers_.end())
      return &edges_[known->second];
    if (edges_.size() == most_) {
      ++left_out_;
      return nullptr;
    }
    numbers_.emplace(key, edges_.size());
    return &edges_.emplace_back(fresh);
  }

  [[nodiscard]] std::size_t number_of(const Edge& edge) const {
    return static_cast<std::size_t>(&edge - edges_.data());
  }
  Edge& operator[](std::size_t number) { return edges_[number]; }
  [[nodiscard]] const std::vector<Edge>& all() const { return edges_; }
  [[nodiscard]] u64 left_out() const { return left_out_; }

 private:
  std::size_t most_;
  std::vector<Edge> edges_;
  std::map<Key, std::size_t> numbers_;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
