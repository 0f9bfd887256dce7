#include "coldtrace/trace_analysis/waits/wait_kinds.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/symbol_name.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

struct Row {
  std::string_view function;
  KnownWait wait;
};

constexpr std::array rows{
#define WAIT(function, kind, role) Row{function, {KnownWait::Role::role, WaitKind::kind}},
#define BORDER(function) Row{function, {KnownWait::Role::border}},
#include "tracefile/analysis/waits/known_wait_table.inc"
#undef BORDER
#undef WAIT
};

// Files of the kernel, whatever it is for, and those whose functions make its waits. Of WOW64 the
// frames of both worlds are there.
constexpr std::array<std::string_view, 10> images{
    "ntdll.dll",  "ntkrnlmp.exe",   "ntkrnlpa.exe",   "ntkrpamp.exe", "ntoskrnl.exe",
    "win32k.sys", "win32kbase.sys", "win32kfull.sys", "win32u.dll",   "user32.dll"};

}  // namespace

std::string_view to_string(WaitKind kind) {
  using K = WaitKind;
  switch (kind) {
    case K::object:
      return "object";
    case K::objects:
      return "objects";
    case K::address:
      return "address";
    case K::keyed_event:
      return "keyed_event";
    case K::queue:
      return "queue";
    case K::critical_section:
      return "critical_section";
    case K::srw_lock:
      return "srw_lock";
    case K::condition_variable:
      return "condition_variable";
    case K::resource:
      return "resource";
    case K::push_lock:
      return "push_lock";
    case K::fast_mutex:
      return "fast_mutex";
    case K::rundown:
      return "rundown";
    case K::completion_port:
      return "completion_port";
    case K::worker_factory:
      return "worker_factory";
    case K::port:
      return "port";
    case K::time:
      return "time";
    case K::window_message:
      return "window_message";
    case K::file:
      return "file";
    case K::page:
      return "page";
  }
  return {};
}

// The same service is called Zw where drivers call it.
std::optional<KnownWait> find_known_wait(std::string_view function) {
  const auto border = function.rfind('!');
  if (border == std::string_view::npos) return std::nullopt;
  const auto image = function.substr(0, border);
  if (std::ranges::none_of(images, [&](auto one) { return core::equal_ignoring_case(one, image); }))
    return std::nullopt;
  std::string name{core::undecorated(function.substr(border + 1))};
  if (name.starts_with("Zw")) name.replace(0, 2, "Nt");
  const auto* const row = std::ranges::find(rows, std::string_view{name}, &Row::function);
  return row != rows.end() ? std::optional{row->wait} : std::nullopt;
}

void WaitKinds::begin(const Observed& observed) {
  population_ = &observed.population;
  turns_.begin(observed);
}

std::optional<KnownWait> WaitKinds::known_wait(u32 function) {
  auto& known = grown(known_, function);
  if (!known) known = find_known_wait(code_.functions()[function].name);
  return *known;
}

std::optional<WaitKinds::Found> WaitKinds::find(std::span<const u64> stack, std::optional<u32> pid,
                                                i64 time) {
  std::optional<Found> general;
  for (const auto address : stack) {
    const auto function = code_.find(pid, address, time).function;
    const auto wait = known_wait(function);
    if (!wait) continue;
    if (wait->role == KnownWait::Role::border) break;
    const Found found{function, wait->kind};
    if (wait->role == KnownWait::Role::kind) return found;
    general = found;
  }
  return general;
}

void WaitKinds::add(const StackedTurns::Stacked& one) {
  const auto& turn = one.turn;
  const auto waiting = absence_before(turn).waiting;
  if (!waiting) return;
  const auto found = find(one.stack, pid_of(*population_, turn.thread), turn.begin);
  if (!found) return;
  const auto [place, is_new] = numbers_.try_emplace({turn.thread, found->kind}, edges_.size());
  if (is_new) edges_.push_back({turn.thread, found->kind, found->function, {}});
  auto& edge = edges_[place->second];
  if (is_new || *waiting > edge.ended.longest) edge.function = found->function;
  edge.ended.add(*waiting, {*turn.left, turn.cpu, turn.place});
}

}  // namespace coldtrace::trace_analysis
