#include "cli/trace/trace_pipeline.hpp"

#include <deque>

#include "coldtrace/core/parallel.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t events_per_batch = 512;
constexpr std::size_t largest_batch = 2 << 20;  // bytes of buffers that its events lie in

// Some events and gaps in their order, and the lines made of them.
struct Batch {
  struct GapAt {
    std::size_t event;  // before which it comes
    tracefile::Gap gap;
  };
  std::vector<tracefile::Event> events;
  std::vector<std::shared_ptr<const tracefile::AttachedStack>> stacks;  // of the events
  std::vector<GapAt> gaps;
  std::vector<std::shared_ptr<const tracefile::Buffer>> buffers;
  std::size_t held = 0;
  core::TextBuffer text;

  bool full() const { return events.size() >= events_per_batch || held >= largest_batch; }

  void add(const tracefile::EventSequence& sequence) {
    events.push_back(sequence.event());
    stacks.push_back(sequence.stack());
    const auto& buffer = sequence.buffer();
    for (const auto& known : buffers)
      if (known == buffer) return;
    buffers.push_back(buffer);
    held += buffer->bytes.size();
  }

  void clear() {
    events.clear();
    stacks.clear();
    gaps.clear();
    buffers.clear();
    held = 0;
    text.clear();
  }
};

void make_lines(Batch& batch, TraceLines& lines) {
  auto gap = batch.gaps.begin();
  for (std::size_t i = 0; i <= batch.events.size(); ++i) {
    for (; gap != batch.gaps.end() && gap->event == i; ++gap)
      lines.append_gap(batch.text, gap->gap);
    if (i < batch.events.size())
      lines.append_event(batch.text, batch.events[i], batch.stacks[i].get());
  }
}

// Fills batches with the wanted events and the gaps of a trace.
class BatchFiller {
 public:
  BatchFiller(const TraceContext& context, tracefile::EventSequence& events,
              const TracePipelineOptions& options, TracePipelineResult& result)
      : options_{options},
        result_{result},
        stream_{events},
        hashed_{context.hashed},
        selector_{context, options.selection} {}

  // False when there is nothing more.
  bool fill(Batch& batch) {
    batch.clear();
    while (!ended_ && !batch.full()) add_next(batch);
    return !batch.events.empty() || !batch.gaps.empty();
  }

  // Whether a limit ended the run.
  bool limited() const { return limited_; }

  // Of what was asked for, what the whole trace does not have.
  core::NoMatch unmatched() const {
    if (limited_) return {};
    if (hashed_ == nullptr) return selector_.unmatched();
    return selector_.unmatched([this](std::string_view name) { return hashed_->name(name); });
  }

 private:
  using Item = tracefile::EventSequence::Item;

  void add_next(Batch& batch) {
    const auto item = stream_.next();
    if (item == Item::end) {
      ended_ = true;
    } else if (item == Item::gap) {
      batch.gaps.push_back({batch.events.size(), stream_.gap()});
      ++result_.gaps;
    } else if (selector_.wants(stream_.event(), stream_.stack().get())) {
      limited_ = options_.limit && result_.events == *options_.limit;
      ended_ = limited_;
      if (ended_) return;
      batch.add(stream_);
      ++result_.events;
    }
  }

  const TracePipelineOptions& options_;
  TracePipelineResult& result_;
  tracefile::EventSequence& stream_;
  const privacy::HashedNames* hashed_;  // null: names are as they are
  tracefile::EventSelector selector_;
  bool ended_ = false;
  bool limited_ = false;
};

}  // namespace

tracefile::StreamOptions to_stream_options(const TracePipelineOptions& options,
                                           const tracefile::Clock& clock) {
  tracefile::StreamOptions stream_options;
  stream_options.order = options.order;
  tracefile::limit_to_times(options.selection, clock, stream_options);
  return stream_options;
}

TracePipelineResult write_trace(const TraceContext& context, tracefile::EventSequence& events,
                                const TracePipelineOptions& options, Output& output) {
  TracePipelineResult result;
  BatchFiller filler{context, events, options, result};
  std::deque<TraceLines> lines;
  for (unsigned i = 0; i < options.jobs; ++i) lines.emplace_back(context, options.lines);
  core::ordered_pipeline<Batch>(
      options.jobs, [&](Batch& batch) { return filler.fill(batch); },
      [&](unsigned worker, Batch& batch) { make_lines(batch, lines[worker]); },
      [&](Batch& batch) { output.write(batch.text.view()); });
  tracefile::KindCounts counts;
  for (const auto& maker : lines) {
    maker.counter().add_to(counts);
    result.cut_names += maker.cut_names();
    result.other_schemas += maker.other_schemas();
    result.still_sealed += maker.still_sealed();
  }
  result.kinds = counts.sorted();
  result.unmatched = filler.unmatched();
  if (options.lines.chosen && result.events > 0 && !filler.limited())
    options.lines.chosen->report(result.kinds, result.unmatched);
  return result;
}

}  // namespace coldtrace::cli
