#include "tracefile/synthesis/wait_graph.hpp"

#include <algorithm>
#include <set>

namespace coldtrace::tracefile::synthesis {
namespace {

using Threads = std::set<const Thread*, bool (*)(const Thread*, const Thread*)>;

bool is_older(const Thread* a, const Thread* b) {
  return a->number < b->number;
}

// The one thread that can satisfy a wait for it, where there is only one.
const Thread* find_source(const DispatcherObject& object, const std::deque<Thread>& threads) {
  if (object.type() == ObjectType::mutant) return object.owner();
  if (object.type() != ObjectType::thread) return nullptr;
  const auto found = std::find_if(threads.begin(), threads.end(),
                                  [&](const Thread& thread) { return &thread.object == &object; });
  return found == threads.end() ? nullptr : &*found;
}

class WaitGraph {
 public:
  explicit WaitGraph(const std::deque<Thread>& threads) : stuck_{is_older} {
    for (const auto& thread : threads) {
      if (thread.state != ThreadState::waiting) continue;
      stuck_.insert(&thread);
      for (const auto* object : thread.wait.objects)
        sources_[object] = find_source(*object, threads);
    }
    while (free_one()) {
    }
  }

  std::vector<Knot> knots() const {
    std::vector<Knot> found;
    Threads done{is_older};
    for (const auto* thread : stuck_) {
      if (done.count(thread) != 0) continue;
      const auto members = reached_from(thread);
      const auto reaches_back = [&](const auto* other) {
        return reached_from(other).count(thread) != 0;
      };
      if (!std::all_of(members.begin(), members.end(), reaches_back)) continue;
      done.insert(members.begin(), members.end());
      found.push_back({{members.begin(), members.end()}, victims_of(members)});
    }
    return found;
  }

 private:
  bool is_stuck(const DispatcherObject* object) const {
    const auto* source = sources_.at(object);
    return source != nullptr && stuck_.count(source) != 0;
  }

  bool is_stuck(const Wait& wait) const {
    const auto& objects = wait.objects;
    const auto stuck = [&](const auto* object) { return is_stuck(object); };
    if (objects.empty()) return false;
    return wait.type == WaitType::all ? std::any_of(objects.begin(), objects.end(), stuck)
                                      : std::all_of(objects.begin(), objects.end(), stuck);
  }

  bool free_one() {
    for (const auto* thread : stuck_)
      if (!is_stuck(thread->wait)) {
        stuck_.erase(thread);
        return true;
      }
    return false;
  }

  // By the waits of `thread` and of those that it waits for.
  Threads reached_from(const Thread* thread) const {
    Threads reached{is_older};
    std::vector<const Thread*> left{thread};
    while (!left.empty()) {
      const auto* from = left.back();
      left.pop_back();
      for (const auto* object : from->wait.objects)
        if (is_stuck(object) && reached.insert(sources_.at(object)).second)
          left.push_back(sources_.at(object));
    }
    return reached;
  }

  std::vector<const Thread*> victims_of(const Threads& members) const {
    std::vector<const Thread*> found;
    for (const auto* thread : stuck_)
      if (members.count(thread) == 0 && reached_from(thread).count(*members.begin()) != 0)
        found.push_back(thread);
    return found;
  }

  Threads stuck_;
  std::map<const DispatcherObject*, const Thread*> sources_;
};

}  // namespace

std::vector<Knot> find_knots(const std::deque<Thread>& threads) {
  return WaitGraph{threads}.knots();
}

}  // namespace coldtrace::tracefile::synthesis
