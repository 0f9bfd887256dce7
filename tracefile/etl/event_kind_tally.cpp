#include "tracefile/etl/event_kind_tally.hpp"

#include <algorithm>
#include <set>

#include "tracefile/providers/event_source_manifest.hpp"

namespace coldtrace::tracefile {
namespace {

// Every generation of schemas is a copy and lets the threads start over with the kinds.
constexpr std::size_t most_generations = 64;

SchemaKey key_of(const EventKind& kind) {
  return {kind.provider, kind.id, kind.version, kind.event_class == EventClass::classic};
}

// A provider may have got its name after the kind.
void rename_provider(EventKind& kind, const SchemaSource& schemas) {
  const bool named_by_schema = kind.schema && !kind.schema->provider_name.empty();
  if (!kind.looked_up || kind.event_class != EventClass::manifest || named_by_schema) return;
  if (const auto name = schemas.find_provider_name(kind.provider); !name.empty())
    kind.provider_name = name;
}

}  // namespace

void EventKindTally::Counter::begin_part() {
  const std::scoped_lock lock{tally_.mutex_};
  if (generation_ == tally_.generation_) return;
  settle();
  generation_ = tally_.generation_;
  schemas_ = tally_.schemas_;
  chain_ = std::make_unique<SchemaChain>(schemas_.in_order());
  decoder_ = std::make_unique<EventDecoder>(*chain_);
}

void EventKindTally::Counter::settle() {
  counter_.add_to(settled_);
  counter_ = KindCounter{};
  known_.clear();
  provisional_.clear();
  provisional_numbers_.clear();
}

bool EventKindTally::Counter::is_provisional(const EventKind& kind) const {
  return kind.looked_up && kind.schema != manifest_chunk_schema();
}

void EventKindTally::Counter::count(const Event& event) {
  const auto& kind = decoder_->kind_of(event);
  if (kind.number >= known_.size() || !known_[kind.number]) {
    known_.resize(std::max<std::size_t>(known_.size(), kind.number + std::size_t{1}));
    provisional_.resize(known_.size());
    known_[kind.number] = true;
    provisional_[kind.number] = is_provisional(kind);
    if (provisional_[kind.number]) provisional_numbers_.push_back(kind.number);
  }
  if (provisional_[kind.number]) buffer_provisional_ = true;
  counter_.count(kind, decoder_->measure(event, kind).decoded);
}

void EventKindTally::Counter::end_buffer(u32 index) {
  if (std::exchange(buffer_provisional_, false)) part_.buffers.push_back(index);
}

EventKindTally::Part EventKindTally::Counter::end_part() {
  for (const auto number : provisional_numbers_)
    if (auto count = counter_.take(number); count.total() > 0)
      part_.provisional.push_back(std::move(count));
  return std::exchange(part_, {});
}

EventKindTally::EventKindTally(unsigned workers, std::shared_ptr<const SchemaSource> outside)
    : schemas_{std::make_shared<SchemaTable>(), std::make_shared<SchemaTable>(),
               std::move(outside)} {
  for (unsigned i = 0; i < workers; ++i) counters_.emplace_back(*this);
}

void EventKindTally::add(const Part& part, const SchemaCollector& schemas) {
  if (!part.provisional.empty()) {
    auto& provisional = parts_.emplace_back();
    provisional.buffers = part.buffers;
    for (const auto& count : part.provisional) {
      const Doubt doubt{key_of(count.kind), count.kind.schema, count.kind.others};
      provisional.doubts.push_back(doubt);
      auto& all = provisional_[doubt];
      if (all.total() == 0) all.kind = count.kind;
      for (std::size_t i = 0; i < all.events.size(); ++i) all.events[i] += count.events[i];
    }
  }
  if (schemas.size() == schemas_size_ || generation_ > most_generations) return;
  schemas_size_ = schemas.size();
  TraceSchemas found{schemas.embedded(), schemas.event_source(), schemas_.outside};
  const std::scoped_lock lock{mutex_};
  schemas_ = std::move(found);
  ++generation_;
}

std::vector<KindCount> EventKindTally::finish(const TraceSchemas& schemas, const Visit& visit) {
  const auto chain = schemas.in_order();
  EventDecoder decoder{chain};
  const auto is_wrong = [&](const Doubt& doubt) {
    const auto schema = chain.find(doubt.key);
    if (!schema) return false;
    if (schema != doubt.schema || chain.has_variants(doubt.key.provider)) return true;
    const auto& count = provisional_.at(doubt);
    return count.events[static_cast<std::size_t>(Decoded::exact)] != count.total() &&
           find_layouts(chain, doubt.key, schema) != doubt.others;
  };
  KindCounts counts;
  const auto add = [&](KindCount count) {
    rename_provider(count.kind, chain);
    counts.add(count);
  };
  for (auto& counter : counters_) {
    counter.settle();
    for (const auto& count : counter.settled_.sorted()) add(count);
  }
  for (const auto& [doubt, count] : provisional_)
    if (!is_wrong(doubt)) add(count);
  KindCounter again;
  for (const auto& part : parts_) {
    std::set<SchemaKey> wrong;
    for (const auto& doubt : part.doubts)
      if (is_wrong(doubt)) wrong.insert(doubt.key);
    if (wrong.empty()) continue;
    for (const auto index : part.buffers)
      visit(index, [&](const Event& event) {
        const auto& kind = decoder.kind_of(event);
        if (kind.looked_up && wrong.contains(key_of(kind)))
          again.count(kind, decoder.measure(event, kind).decoded);
      });
  }
  again.add_to(counts);
  return counts.sorted();
}

}  // namespace coldtrace::tracefile
