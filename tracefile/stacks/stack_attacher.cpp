#include "coldtrace/tracefile/stacks/stack_attacher.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/events/clock_change.hpp"
#include "coldtrace/tracefile/names/event_stack.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u8 thread_group = 0x05;
constexpr u8 context_switch = 36;
constexpr u8 stack_group = 0x18;
constexpr u8 stack_walk = 32;
constexpr u8 stack_key_kernel = 37;
constexpr u8 stack_key_user = 38;

// Of events whose thread is not known.
constexpr u32 no_thread = 0xffff'ffff;

// Providers of the .NET runtime, each with the id of its CLRStackWalk.
struct RuntimeProvider {
  core::Guid guid;
  u16 stack_walk;
};
constexpr std::array runtime_providers = {
    RuntimeProvider{*core::parse_guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"), 82},   // Runtime
    RuntimeProvider{*core::parse_guid("a669021c-c450-4609-a035-5af59af4df18"), 0},    // Rundown
    RuntimeProvider{*core::parse_guid("763fd754-7086-4dfe-95eb-c01a46faf4ca"), 151},  // Private
    RuntimeProvider{*core::parse_guid("cc2bcbba-16b6-4cf3-8990-d74c2e8af500"), 1},    // Stress
};

std::optional<std::size_t> runtime_of(const Event& event) {
  if (event.event_class != EventClass::manifest) return std::nullopt;
  for (std::size_t i = 0; i < runtime_providers.size(); ++i)
    if (event.provider == runtime_providers[i].guid) return i;
  return std::nullopt;
}

u64 runtime_key(std::size_t provider, u32 tid) {
  return u64{provider} << 32U | tid;
}

bool is_walk(const Event& event) {
  return event.kernel_group == stack_group &&
         (event.opcode == stack_walk || event.opcode == stack_key_kernel ||
          event.opcode == stack_key_user);
}

bool has_own_stack(const Event& event) {
  ExtendedItems items{event};
  while (const auto item = items.next())
    if (item->type == ExtendedType::stack32 || item->type == ExtendedType::stack64 ||
        item->type == ExtendedType::stack_key32 || item->type == ExtendedType::stack_key64)
      return true;
  return false;
}

// Classic events without a group are those that tools add when they merge a trace, with times of
// others, and those of programs, which have their stacks with them.
bool can_have_walk(const Event& event) {
  if (!event.has_time || event.kernel_group == stack_group) return false;
  if (event.event_class == EventClass::classic) return event.kernel_group.has_value();
  return event.event_class == EventClass::manifest && !has_own_stack(event);
}

// The thread whose stack was taken: of a switch, the one that goes on.
u32 thread_of(const Event& event) {
  if (event.kernel_group == thread_group && event.opcode == context_switch)
    return core::load<u32>(event.payload, 0).value_or(no_thread);
  return event.tid.value_or(no_thread);
}

// CLRStackWalk: the number of frames stands before them.
void read_runtime_stack(const Event& event, EventStack& stack) {
  constexpr std::size_t count_at = 4;
  constexpr std::size_t fixed_part = 8;
  stack.frames.clear();
  const std::size_t width = event.pointer_size;
  const u64 count = core::load<u32>(event.payload, count_at).value_or(0);
  auto at = fixed_part;
  for (u64 i = 0; i < count && at + width <= event.payload.size(); ++i, at += width)
    stack.frames.push_back(width == 8 ? *core::load<u64>(event.payload, at)
                                      : *core::load<u32>(event.payload, at));
}

}  // namespace

StackAttacher::StackAttacher(std::unique_ptr<EventSequence> events,
                             core::Borrowed<StackTable> stacks, std::optional<i64> last,
                             bool in_time_order, const Limits& limits)
    : events_{std::move(events)},
      stacks_{stacks.get()},
      last_{last},
      in_time_order_{in_time_order},
      limits_{limits} {}

StackAttacher::StackAttacher(std::unique_ptr<EventSequence> events,
                             core::Borrowed<StackTable> stacks, std::optional<i64> last,
                             bool in_time_order)
    : StackAttacher{std::move(events), stacks, last, in_time_order, Limits{}} {}

EventSequence::Item StackAttacher::next() {
  while (!ended_ && !is_full()) ended_ = !read();
  if (held_.empty()) {
    current_ = {};
    return Item::end;
  }
  release(held_.front(), first_);
  current_ = std::move(held_.front());
  held_.pop_front();
  ++first_;
  return current_.item;
}

bool StackAttacher::is_full() const {
  return held_.size() >= limits_.events || bytes_ >= limits_.bytes || frames_ >= limits_.frames;
}

bool StackAttacher::read() {
  switch (events_->next()) {
    case Item::end:
      return false;
    case Item::gap:
      hold_gap(events_->gap());
      return true;
    case Item::event:
      break;
  }
  const auto& event = events_->event();
  if (attach(event)) {
    ++counts_.attached;
    return true;
  }
  if (last_ && event.timestamp > *last_) return !in_time_order_ || ++beyond_ < limits_.events;
  if (is_walk(event)) ++counts_.unattached;
  if (const auto provider = runtime_of(event);
      provider && event.id == runtime_providers[*provider].stack_walk)
    ++counts_.unattached;
  hold_event(event);
  return true;
}

// Behind it the event of a runtime's stack may be one that is missing.
void StackAttacher::hold_gap(const Gap& gap) {
  of_runtime_.clear();
  if (last_ && gap.timestamp && *gap.timestamp > *last_) return;
  held_.emplace_back();
  held_.back().item = Item::gap;
  held_.back().gap = gap;
}

void StackAttacher::hold_event(const Event& event) {
  auto& held = held_.emplace_back();
  held.item = Item::event;
  held.event = event;
  held.buffer = events_->buffer();
  if (buffers_[held.buffer.get()]++ == 0) bytes_ += held.buffer->bytes.size();
  index(held, first_ + held_.size() - 1);
}

void StackAttacher::index(Held& held, Number number) {
  const auto& event = held.event;
  if (const auto provider = runtime_of(event); provider && event.tid) {
    held.runtime = runtime_key(*provider, *event.tid);
    of_runtime_[*held.runtime] = number;
  }
  if (!can_have_walk(event)) return;
  held.key = Key{event.timestamp, thread_of(event)};
  const auto [place, added] = by_key_.try_emplace(*held.key, Chain{number, number});
  if (added) return;
  find(place->second.last)->next_of_key = number;
  place->second.last = number;
}

// The first of those that are held.
void StackAttacher::release(const Held& held, Number number) {
  if (held.stack) frames_ -= held.stack->frames.size();
  if (held.buffer) {
    const auto buffer = buffers_.find(held.buffer.get());
    if (--buffer->second == 0) {
      bytes_ -= held.buffer->bytes.size();
      buffers_.erase(buffer);
    }
  }
  if (held.runtime) {
    const auto last = of_runtime_.find(*held.runtime);
    if (last != of_runtime_.end() && last->second == number) of_runtime_.erase(last);
  }
  if (!held.key) return;
  const auto chain = by_key_.find(*held.key);
  if (held.next_of_key == none)
    by_key_.erase(chain);
  else
    chain->second.first = held.next_of_key;
}

StackAttacher::Held* StackAttacher::find(Number number) {
  return number < first_ ? nullptr : &held_[static_cast<std::size_t>(number - first_)];
}

// Whether the event is a stack of one that waits.
bool StackAttacher::attach(const Event& event) {
  if (is_walk(event)) return attach_walk(event);
  const auto provider = runtime_of(event);
  return provider && event.id == runtime_providers[*provider].stack_walk &&
         attach_runtime_stack(event, *provider);
}

bool StackAttacher::attach_walk(const Event& event) {
  constexpr std::size_t process_at = 8;
  constexpr std::size_t thread_at = 12;
  const auto time = core::load<u64>(event.payload, 0);
  const auto tid = core::load<u32>(event.payload, thread_at);
  if (!time || !tid) return false;
  if (event.opcode == stack_walk)
    read_stack_walk(event, stack_);
  else
    find_stack(event, stacks_, stack_);
  if (stack_.frames.empty()) return false;
  const auto first_of_kernel = event.pointer_size == 8 ? u64{1} << 63U : u64{1} << 31U;
  const bool of_kernel = stack_.frames.front() >= first_of_kernel;
  const auto pid = core::load<u32>(event.payload, process_at);
  const Key key{in_clock_of_trace(event, static_cast<i64>(*time)), *tid};
  return add_to_first(key, event, pid, of_kernel, false) ||
         add_to_first({key.time, no_thread}, event, pid, of_kernel, true);
}

// Of two events of a thread at one tick nothing tells which one a stack is of: the first one that
// lacks that part has it.
bool StackAttacher::add_to_first(const Key& key, const Event& walk, std::optional<u32> pid,
                                 bool of_kernel, bool same_processor) {
  const auto chain = by_key_.find(key);
  if (chain == by_key_.end()) return false;
  constexpr int most_tried = 16;
  auto number = chain->second.first;
  for (int tried = 0; number != none && tried < most_tried; ++tried) {
    auto& held = *find(number);
    const bool has_part = of_kernel ? held.has_kernel : held.has_user;
    if (!has_part && (!same_processor || held.event.cpu == walk.cpu)) {
      add_part(held, pid, of_kernel);
      return true;
    }
    number = held.next_of_key;
  }
  return false;
}

bool StackAttacher::attach_runtime_stack(const Event& event, std::size_t provider) {
  if (!event.tid) return false;
  const auto last = of_runtime_.find(runtime_key(provider, *event.tid));
  if (last == of_runtime_.end()) return false;
  auto& held = *find(last->second);
  if (held.has_user || has_own_stack(held.event)) return false;
  read_runtime_stack(event, stack_);
  if (stack_.frames.empty()) return false;
  add_part(held, event.pid, false);
  return true;
}

// Of stack_, behind or in front of the part that is there.
void StackAttacher::add_part(Held& held, std::optional<u32> pid, bool of_kernel) {
  if (!held.stack) {
    held.stack = std::make_shared<AttachedStack>();
    ++counts_.events;
  }
  (of_kernel ? held.has_kernel : held.has_user) = true;
  auto& frames = held.stack->frames;
  frames.insert(of_kernel ? frames.begin() : frames.end(), stack_.frames.begin(),
                stack_.frames.end());
  if (pid) held.stack->pid = pid;
  frames_ += stack_.frames.size();
}

void note_unattached(const StackAttacher& attacher, core::Findings& findings) {
  if (const auto unattached = attacher.counts().unattached; unattached > 0)
    findings.info(
        "stack-unattached", std::nullopt, "{} of {} own",
        core::counted(unattached, "stack belongs to no event that waits for one; it is an event",
                      "stacks belong to no event that waits for one; they are events"),
        unattached == 1 ? "its" : "their");
}

}  // namespace coldtrace::tracefile
