#include "coldtrace/trace_analysis/waits/wait_graph_view.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

namespace coldtrace::trace_analysis {

using Kind = WaitGraphView::Node::Kind;

namespace {

// Numbers of the edges of threads that are wanted.
template <class Edges, class Wanted>
std::vector<u32> open_and_long_first(const Edges& edges, const Wanted& is_wanted) {
  std::vector<u32> numbers;
  for (u32 i = 0; i < edges.size(); ++i)
    if (is_wanted(edges[i].thread)) numbers.push_back(i);
  std::ranges::stable_sort(numbers, std::greater{}, [&](u32 number) {
    return std::pair{edges[number].open_since.has_value(), edges[number].ended.time};
  });
  return numbers;
}

}  // namespace

WaitGraphView::WaitGraphView(const WaitEvidence& evidence, const Population& population,
                             const std::optional<std::vector<Index>>& processes,
                             std::size_t most_nodes, RowOrder order)
    : graph_{evidence.graph.get()},
      stated_{evidence.stated.get()},
      locks_{evidence.locks.get()},
      request_waits_{evidence.requests.get()},
      file_waits_{evidence.files.get()},
      wait_kinds_{evidence.kinds.get()},
      node_of_thread_(population.threads().size(), no_node),
      node_of_object_(graph_.objects().all().size(), no_node) {
  choose(population, processes);
  if (order == RowOrder::count) sort_by_count();
  place_stated(most_nodes);
  place_lock_owners(most_nodes);
  place_requests(most_nodes);
  place_files(most_nodes);
  place_kinds(most_nodes);
  if (graph_.names_objects())
    place_waits(most_nodes);
  else
    place_wakes(most_nodes);
  count_left_out();
}

void WaitGraphView::choose(const Population& population,
                           const std::optional<std::vector<Index>>& processes) {
  std::vector<bool> wanted(population.processes().size(), !processes);
  if (processes)
    for (const auto process : *processes) wanted[process] = true;
  const auto is_wanted = [&](Index thread) {
    const auto process = population.threads()[thread].process;
    return process == nobody ? !processes : wanted[process];
  };
  const auto& edges = graph_.edges();
  for (u32 i = 0; i < edges.size(); ++i)
    if (is_wanted(edges[i].thread)) waits_.push_back(i);
  std::sort(waits_.begin(), waits_.end(), [&](u32 a, u32 b) {
    return std::tuple{edges[b].open, edges[b].total, edges[b].count, a} <
           std::tuple{edges[a].open, edges[a].total, edges[a].count, b};
  });
  const auto& wakes = graph_.wakes().edges();
  for (u32 i = 0; i < wakes.size() && !graph_.names_objects(); ++i)
    if (is_wanted(wakes[i].thread)) wakes_.push_back(i);
  std::sort(wakes_.begin(), wakes_.end(), [&](u32 a, u32 b) {
    return std::tuple{wakes[b].total, wakes[b].count, a} <
           std::tuple{wakes[a].total, wakes[a].count, b};
  });
  for (u32 i = 0; i < stated_.edges().size(); ++i)
    if (is_wanted(stated_.edges()[i].thread)) stated_edges_.push_back(i);
  for (u32 i = 0; i < locks_.edges().size(); ++i)
    if (is_wanted(locks_.edges()[i].owner)) lock_owners_.push_back(i);
  if (!graph_.names_objects()) {
    requests_ = open_and_long_first(request_waits_.edges(), is_wanted);
    files_ = open_and_long_first(file_waits_.edges(), is_wanted);
    const auto& kinds = wait_kinds_.edges();
    for (u32 i = 0; i < kinds.size(); ++i)
      if (is_wanted(kinds[i].thread)) kinds_.push_back(i);
    std::ranges::stable_sort(kinds_, std::greater{},
                             [&](u32 number) { return kinds[number].ended.time; });
  }
  std::vector<bool> waited_for(graph_.objects().all().size());
  for (const auto wait : waits_) waited_for[edges[wait].object] = true;
  for (u32 i = 0; i < graph_.owners().size(); ++i)
    if (waited_for[graph_.owners()[i].object]) owners_.push_back(i);
}

void WaitGraphView::sort_by_count() {
  const auto sort = [](std::vector<u32>& numbers, const auto& edges, auto count_of) {
    std::ranges::stable_sort(numbers, std::greater{},
                             [&](u32 number) { return count_of(edges[number]); });
  };
  const auto count = [](const auto& edge) { return edge.count; };
  const auto ended = [](const auto& edge) { return edge.ended.count; };
  sort(waits_, graph_.edges(), count);
  sort(wakes_, graph_.wakes().edges(), count);
  sort(stated_edges_, stated_.edges(), count);
  sort(lock_owners_, locks_.edges(), count);
  sort(requests_, request_waits_.edges(), ended);
  sort(files_, file_waits_.edges(), ended);
  sort(kinds_, wait_kinds_.edges(), ended);
}

u32 WaitGraphView::node(Kind kind, u32 index, std::vector<u32>& numbers, std::size_t most_nodes) {
  if (numbers[index] == no_node && nodes_.size() < most_nodes) {
    numbers[index] = static_cast<u32>(nodes_.size());
    nodes_.push_back({kind, index, 0});
  }
  return numbers[index];
}

// A thread that is waited for is its own object.
u32 WaitGraphView::object_node(ObjectIndex object, std::size_t most_nodes) {
  const auto thread = graph_.objects().all()[object].thread;
  return thread == nobody ? node(Kind::object, object, node_of_object_, most_nodes)
                          : node(Kind::thread, thread, node_of_thread_, most_nodes);
}

void WaitGraphView::place_waits(std::size_t most_nodes) {
  for (const auto wait : waits_) {
    const auto& edge = graph_.edges()[wait];
    const auto from = node(Kind::thread, edge.thread, node_of_thread_, most_nodes);
    const auto to = object_node(edge.object, most_nodes);
    if (from != no_node && to != no_node) edges_.push_back({Edge::Kind::waits, from, to, wait});
  }
  for (const auto owned : owners_) {
    const auto& owner = graph_.owners()[owned];
    if (node_of_object_[owner.object] == no_node) continue;
    const auto to = node(Kind::thread, owner.thread, node_of_thread_, most_nodes);
    if (to != no_node)
      edges_.push_back({Edge::Kind::owner, node_of_object_[owner.object], to, owned});
  }
}

void WaitGraphView::place_wakes(std::size_t most_nodes) {
  for (const auto wake : wakes_) {
    const auto& edge = graph_.wakes().edges()[wake];
    const auto from = node(Kind::thread, edge.thread, node_of_thread_, most_nodes);
    u32 to = interrupts_;
    if (edge.waker != nobody) {
      to = node(Kind::thread, edge.waker, node_of_thread_, most_nodes);
    } else if (interrupts_ == no_node && nodes_.size() < most_nodes) {
      to = interrupts_ = static_cast<u32>(nodes_.size());
      nodes_.push_back({Kind::interrupts, 0, 0});
    }
    if (from != no_node && to != no_node) edges_.push_back({Edge::Kind::woken, from, to, wake});
  }
}

void WaitGraphView::place_stated(std::size_t most_nodes) {
  for (const auto number : stated_edges_) {
    const auto& edge = stated_.edges()[number];
    const auto from = node(Kind::thread, edge.thread, node_of_thread_, most_nodes);
    const auto to = node(Kind::thread, edge.other, node_of_thread_, most_nodes);
    if (from != no_node && to != no_node) edges_.push_back({Edge::Kind::stated, from, to, number});
  }
}

// What several edges name by the same key.
template <class Key>
u32 WaitGraphView::shared_node(Kind kind, u32 index, std::map<Key, u32>& nodes, const Key& key,
                               std::size_t most_nodes) {
  auto& number = nodes.try_emplace(key, no_node).first->second;
  if (number == no_node && nodes_.size() < most_nodes) {
    number = static_cast<u32>(nodes_.size());
    nodes_.push_back({kind, index, 0});
  }
  return number;
}

void WaitGraphView::place_lock_owners(std::size_t most_nodes) {
  for (const auto number : lock_owners_) {
    const auto& edge = locks_.edges()[number];
    const auto lock = shared_node(Kind::lock, number, node_of_lock_, edge.lock, most_nodes);
    const auto to = node(Kind::thread, edge.owner, node_of_thread_, most_nodes);
    if (lock != no_node && to != no_node)
      edges_.push_back({Edge::Kind::lock_owner, lock, to, number});
  }
}

template <class Key>
void WaitGraphView::place(Edge::Kind edge_kind, Kind kind, Index thread, u32 index,
                          std::map<Key, u32>& nodes, const Key& key, std::size_t most_nodes) {
  const auto from = node(Kind::thread, thread, node_of_thread_, most_nodes);
  const auto to = shared_node(kind, index, nodes, key, most_nodes);
  if (from != no_node && to != no_node) edges_.push_back({edge_kind, from, to, index});
}

void WaitGraphView::place_requests(std::size_t most_nodes) {
  for (const auto number : requests_) {
    const auto& edge = request_waits_.edges()[number];
    place(Edge::Kind::request, Kind::disk, edge.thread, number, node_of_disk_,
          DiskKey{edge.disk, edge.action}, most_nodes);
  }
}

void WaitGraphView::place_files(std::size_t most_nodes) {
  for (const auto number : files_) {
    const auto& edge = file_waits_.edges()[number];
    place(Edge::Kind::file, Kind::file, edge.thread, number, node_of_file_, edge.file, most_nodes);
  }
}

void WaitGraphView::place_kinds(std::size_t most_nodes) {
  for (const auto number : kinds_) {
    const auto& edge = wait_kinds_.edges()[number];
    place(Edge::Kind::wait_kind, Kind::wait_kind, edge.thread, number, node_of_kind_, edge.kind,
          most_nodes);
  }
}

void WaitGraphView::count_left_out() {
  std::vector<bool> threads(node_of_thread_.size()), objects(node_of_object_.size());
  const auto count = [](std::vector<bool>& seen, const std::vector<u32>& nodes, u32 index,
                        u64& left_out) {
    if (nodes[index] == no_node && !seen[index]) ++left_out;
    seen[index] = true;
  };
  const auto thread = [&](Index index) {
    count(threads, node_of_thread_, index, threads_left_out_);
  };
  if (graph_.names_objects()) {
    for (const auto wait : waits_) {
      const auto& edge = graph_.edges()[wait];
      thread(edge.thread);
      const auto waited = graph_.objects().all()[edge.object].thread;
      if (waited != nobody)
        thread(waited);
      else
        count(objects, node_of_object_, edge.object, objects_left_out_);
    }
    for (const auto owned : owners_) thread(graph_.owners()[owned].thread);
  } else {
    for (const auto wake : wakes_) {
      thread(graph_.wakes().edges()[wake].thread);
      if (graph_.wakes().edges()[wake].waker != nobody) thread(graph_.wakes().edges()[wake].waker);
    }
  }
  for (const auto number : stated_edges_) {
    thread(stated_.edges()[number].thread);
    thread(stated_.edges()[number].other);
  }
  for (const auto number : lock_owners_) thread(locks_.edges()[number].owner);
  for (const auto number : requests_) thread(request_waits_.edges()[number].thread);
  for (const auto number : files_) thread(file_waits_.edges()[number].thread);
  for (const auto number : kinds_) thread(wait_kinds_.edges()[number].thread);
  const auto count_shared = [&](const auto& nodes) {
    for (const auto& [key, number] : nodes) objects_left_out_ += number == no_node ? 1 : 0;
  };
  count_shared(node_of_lock_);
  count_shared(node_of_disk_);
  count_shared(node_of_file_);
  count_shared(node_of_kind_);
  if (threads_left_out_ > 0) nodes_.push_back({Kind::more_threads, 0, threads_left_out_});
  if (objects_left_out_ > 0) nodes_.push_back({Kind::more_objects, 0, objects_left_out_});
}

}  // namespace coldtrace::trace_analysis
