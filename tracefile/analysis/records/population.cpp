#include "coldtrace/trace_analysis/records/population.hpp"

namespace coldtrace::trace_analysis {

Index Population::Ids::find(u32 id) const {
  if (id % 4 == 0 && id / 4 < dense_ids) return id / 4 < dense_.size() ? dense_[id / 4] : nobody;
  const auto place = others_.find(id);
  return place == others_.end() ? nobody : place->second;
}

void Population::Ids::set(u32 id, Index index) {
  if (id % 4 != 0 || id / 4 >= dense_ids) {
    others_[id] = index;
    return;
  }
  if (id / 4 >= dense_.size()) dense_.resize(std::size_t{id} / 4 + 1, nobody);
  dense_[id / 4] = index;
}

Index Population::process(u32 pid) {
  if (const auto known = pids_.find(pid); known != nobody) return known;
  const auto index = static_cast<Index>(processes_.size());
  processes_.push_back({.pid = pid});
  if (names_ != nullptr)
    processes_.back().image_name = names_->find_process(pid, now_).value_or("");
  pids_.set(pid, index);
  return index;
}

Index Population::thread(u32 tid) {
  if (const auto known = tids_.find(tid); known != nobody) return known;
  const auto index = static_cast<Index>(threads_.size());
  threads_.push_back({.tid = tid});
  tids_.set(tid, index);
  if (names_ == nullptr) return index;
  if (const auto known = names_->find_thread(tid, now_)) {
    threads_[index].process = process(known->pid);
    threads_[index].name = known->name;
  }
  return index;
}

Index Population::living_thread(u32 tid) {
  const auto known = tids_.find(tid);
  if (known == nobody || !threads_[known].is_gone) return thread(tid);
  ++reused_;
  tids_.set(tid, nobody);
  return thread(tid);
}

Index Population::listed_process(u32 pid) {
  const auto known = pids_.find(pid);
  if (known == nobody || !processes_[known].life.end) return process(pid);
  ++reused_;
  pids_.set(pid, nobody);
  return process(pid);
}

Index Population::listed_thread(u32 tid) {
  const auto known = tids_.find(tid);
  if (known != nobody && threads_[known].life.end) threads_[known].is_gone = true;
  return living_thread(tid);
}

Index Population::idle_thread(u16 cpu) {
  if (cpu >= idle_.size()) idle_.resize(std::size_t{cpu} + 1, nobody);
  auto& index = idle_[cpu];
  if (index != nobody) return index;
  index = static_cast<Index>(threads_.size());
  const auto process = this->process(0);
  if (processes_[process].image_name.empty()) processes_[process].image_name = "Idle";
  threads_.push_back({.tid = 0, .process = process, .idle_of = cpu});
  return index;
}

Index Population::start_process(u32 pid, i64 time, const Place& place) {
  if (pids_.find(pid) != nobody) ++reused_;
  const auto index = static_cast<Index>(processes_.size());
  processes_.push_back({.pid = pid, .life = {.start = time, .started_at = place}});
  pids_.set(pid, index);
  return index;
}

Index Population::start_thread(u32 tid, i64 time, const Place& place) {
  if (tids_.find(tid) != nobody) ++reused_;
  const auto index = static_cast<Index>(threads_.size());
  threads_.push_back({.tid = tid, .life = {.start = time, .started_at = place}});
  tids_.set(tid, index);
  return index;
}

// A process that was there before the trace can only have a parent that was there before, too: one
// that began during the trace has taken the id of a parent that is gone.
void Population::finish() {
  std::unordered_map<u32, Index> before;
  for (Index i = 0; i < processes_.size(); ++i)
    if (!processes_[i].life.start) before.emplace(processes_[i].pid, i);
  for (auto& process : processes_) {
    if (process.life.start || !process.stated_parent) continue;
    const auto parent = before.find(*process.stated_parent);
    if (parent != before.end()) process.parent = parent->second;
  }
}

std::vector<Index> find_threads(const Population& population, u32 tid, i64 from, i64 to) {
  std::vector<Index> found;
  for (Index i = 0; i < population.threads().size(); ++i) {
    const auto& thread = population.threads()[i];
    if (thread.tid != tid || thread.idle_of) continue;
    const auto start = thread.life.start.value_or(from);
    // Whose id another one has is gone.
    if (!found.empty() && start <= from) found.clear();
    if (start <= to && thread.life.end.value_or(to) >= from) found.push_back(i);
  }
  return found;
}

std::optional<u32> pid_of(const Population& population, Index thread) {
  if (thread == nobody) return std::nullopt;
  const auto process = population.threads()[thread].process;
  if (process == nobody) return std::nullopt;
  return population.processes()[process].pid;
}

}  // namespace coldtrace::trace_analysis
