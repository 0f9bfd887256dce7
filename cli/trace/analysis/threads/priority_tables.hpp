#pragma once

#include <functional>
#include <optional>
#include <span>

#include "cli/layout/text_table.hpp"
#include "cli/trace/analysis/waits/wait_names.hpp"
#include "coldtrace/trace_analysis/waits/priority_order.hpp"

namespace coldtrace::cli {

// The answer of `trace priority` for the chosen threads.
class PriorityTables {
 public:
  using Chosen = std::function<bool(trace_analysis::Index)>;

  // All must outlive it.
  PriorityTables(const TraceInput& input, const trace_analysis::Observed& observed,
                 trace_analysis::FunctionNames& functions,
                 const trace_analysis::Priorities& priorities,
                 const trace_analysis::Inversions& inversions, Chosen chosen, Output& output)
      : input_{input},
        observed_{observed},
        priorities_{priorities},
        inversions_{inversions},
        chosen_{std::move(chosen)},
        output_{output},
        names_{input.trace, observed, functions, inversions.objects()} {}

  // Without an order: threads by number in JSON, in text by changes, and by the time in which lower
  // ones ran.
  void write_json(Int64 int64, std::optional<trace_analysis::RowOrder> order) const;
  // With `each_change` the changes are listed too.
  void write_text(u64 top, bool each_change, std::optional<trace_analysis::RowOrder> order) const;
  // The part of the text with the story of each inversion.
  void write_inversions() const;

 private:
  using Index = trace_analysis::Index;
  using Inversion = trace_analysis::Inversions::Inversion;
  using LowerRan = trace_analysis::Inversions::LowerRan;

  std::vector<Index> threads() const;
  std::vector<Index> threads(trace_analysis::RowOrder order) const;
  std::vector<const Inversion*> inversions() const;

  void write_nodes(JsonWriter& json) const;
  void write_thread(JsonWriter& json, Index thread) const;
  void write_lower_ran(JsonWriter& json, const LowerRan* one) const;
  void write_step(JsonWriter& json, const trace_analysis::PriorityStep& step) const;
  void write_inversion(JsonWriter& json, const Inversion& one) const;

  void add_thread(TextTable& table, Index thread) const;
  void write_change_lines(std::span<const Index> shown) const;
  void write_causes(Index index) const;
  void write_steps() const;
  void write_story(std::size_t number, const Inversion& one) const;
  void write_lower_lines(u64 top, trace_analysis::RowOrder order) const;

  const TraceInput& input_;
  const trace_analysis::Observed& observed_;
  const trace_analysis::Priorities& priorities_;
  const trace_analysis::Inversions& inversions_;
  Chosen chosen_;
  Output& output_;
  WaitNames names_;
};

}  // namespace coldtrace::cli
