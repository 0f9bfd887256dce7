#include "tracefile/ctrace/ctrace_links.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "tracefile/ctrace/ctrace_sequence.hpp"

namespace coldtrace::tracefile {
namespace {

// A buffer in one of the files of a session.
struct Place {
  u16 part;
  u64 index;
  CtraceBufferEntry entry;

  // For a queue that gives the lowest number first.
  bool operator<(const Place& other) const {
    return std::tie(other.entry.sequence, other.part) < std::tie(entry.sequence, part);
  }
};

void note_lost_index(u64 index, core::Findings& findings) {
  findings.warning("index-lost", std::nullopt,
                   "the temporary file of the trace's index cannot be used: buffers from the {}th "
                   "on are missing",
                   index);
}

// The buffers of one processor in one session.
class Link {
 public:
  Link(std::span<CtracePart> parts, std::span<core::Findings> findings, u16 processor)
      : parts_{parts}, findings_{findings}, processor_{processor} {}

  void add(u16 part) {
    if (const auto found = parts_[part].scan.processors.find(processor_);
        found != parts_[part].scan.processors.end())
      add(part, found->second.first_buffer);
  }

  // What stands against it.
  std::optional<std::string> run() {
    std::optional<CtraceSequence> sequence;
    while (!places_.empty()) {
      const auto place = places_.top();
      places_.pop();
      auto& part = parts_[place.part];
      if (last_ && last_->part != place.part && last_->entry.sequence == place.entry.sequence)
        return fmt::format("{} and {} both have buffer {} of processor {} of one session",
                           parts_[last_->part].name, part.name, place.entry.sequence, processor_);
      if (!sequence) {
        sequence.emplace(part.header);
        first_ = {place.part, processor_, place.index};
        if (place.entry.sequence > 0) part.begins_late.insert(processor_);
      }
      check(*sequence, place);
      follow(place);
      last_ = place;
      add(place.part, place.entry.next);
    }
    if (last_ && last_->entry.next != CtraceBufferEntry::none)
      set_next(CtraceBufferEntry::none, last_->part);
    return std::nullopt;
  }

  const CtraceChain& first() const { return first_; }

 private:
  void add(u16 part, u64 index) {
    if (index == CtraceBufferEntry::none) return;
    const auto entry = parts_[part].scan.buffers.at(index);
    if (entry)
      places_.push({part, index, *entry});
    else
      note_lost_index(index, findings_[part]);
  }

  void check(CtraceSequence& sequence, const Place& place) {
    const auto& entry = place.entry;
    auto gap = sequence.check(processor_, entry.sequence, entry.offset, findings_[place.part]);
    if (entry.events > 0) stamp_ = entry.first_stamp;
    if (gap) {
      if (stamp_) gap->timestamp = static_cast<i64>(*stamp_);
      auto& scan = parts_[place.part].scan;
      scan.missing += gap->buffers;
      scan.gaps.push_back(*gap);
    }
    if (entry.events > 0) stamp_ = entry.last_stamp;
  }

  // Has the last buffer lead to this one.
  void follow(const Place& place) {
    if (!last_ || (last_->part == place.part && last_->entry.next == place.index)) return;
    set_next(place.index, place.part);
  }

  void set_next(u64 index, u16 part) {
    auto entry = last_->entry;
    entry.next = index;
    entry.next_part = part == last_->part ? CtraceBufferEntry::same_part : part;
    if (!parts_[last_->part].scan.buffers.replace(last_->index, entry))
      note_lost_index(last_->index, findings_[last_->part]);
  }

  std::span<CtracePart> parts_;
  std::span<core::Findings> findings_;
  u16 processor_;
  std::priority_queue<Place> places_;
  std::optional<Place> last_;
  std::optional<u64> stamp_;
  CtraceChain first_{};
};

void note_end_of_session(std::span<CtracePart> parts, std::span<const u16> session,
                         std::span<core::Findings> findings) {
  const bool closed = std::any_of(session.begin(), session.end(),
                                  [&](u16 part) { return parts[part].scan.closed; });
  for (const auto part : session) {
    if (!closed) note_not_closed(*parts[part].source, findings[part]);
    parts[part].scan.closed = closed;
  }
}

}  // namespace

std::vector<CtraceChain> chains_of(CtracePart& part) {
  std::vector<CtraceChain> chains;
  for (const auto& [number, processor] : part.scan.processors) {
    chains.push_back({0, number, processor.first_buffer});
    const auto first = part.scan.buffers.at(processor.first_buffer);
    if (!first || first->sequence > 0) part.begins_late.insert(number);
  }
  return chains;
}

core::Expected<std::vector<CtraceChain>, std::string> link_parts(
    std::span<CtracePart> parts, std::span<core::Findings> findings) {
  using Session = std::tuple<u16, u64, core::Guid>;
  std::map<Session, std::vector<u16>> sessions;
  u16 number = 0;  // AnyTrace takes no more than that can count
  for (const auto& part : parts)
    sessions[{part.run, part.header.start_time.ticks, part.header.session}].push_back(number++);
  std::vector<CtraceChain> chains;
  for (const auto& [session, numbers] : sessions) {
    std::map<u16, std::vector<u16>> processors;
    for (const auto part : numbers)
      for (const auto& [processor, ignored] : parts[part].scan.processors)
        processors[processor].push_back(part);
    for (const auto& [processor, having] : processors) {
      Link link{parts, findings, processor};
      for (const auto part : having) link.add(part);
      if (auto failure = link.run()) return core::fail(std::move(*failure));
      chains.push_back(link.first());
    }
    note_end_of_session(parts, numbers, findings);
  }
  std::stable_sort(chains.begin(), chains.end(), [&](const CtraceChain& a, const CtraceChain& b) {
    return parts[a.part].cpu_of(a.processor) < parts[b.part].cpu_of(b.processor);
  });
  return chains;
}

}  // namespace coldtrace::tracefile
