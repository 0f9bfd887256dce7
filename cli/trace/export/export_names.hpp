#pragma once

#include <unordered_map>

#include "cli/trace/analysis/services/service_names.hpp"
#include "cli/trace/export/export_input.hpp"
#include "coldtrace/trace_export/timeline_names.hpp"

namespace coldtrace::cli {

// Names from the trace, and from the files given with options.
class ExportNames final : public trace_export::TimelineNames {
 public:
  // All must outlive it. `use` has to be called before anything is asked.
  ExportNames(ExportRun& run, const trace_analysis::CodeNames& code);
  void use(const trace_export::Timeline& timeline);

  const trace_analysis::Population& population() const override { return population_; }
  std::string process_name(trace_analysis::Index process) const override;
  // The name given to it, else what is at its start address.
  std::string thread_name(trace_analysis::Index thread) const override;
  std::string thread_of_process(trace_analysis::Index thread) const override;
  std::string service(u32 number) const override;
  trace_analysis::Service::Kind kind_of(u32 service) const override {
    return timeline_->services().services()[service].service.kind;
  }
  std::string file(u32 number) const override;
  i64 nanoseconds(i64 time) const override;
  std::optional<i64> start() const override;

  // "a.exe (100)"
  std::string process(trace_analysis::Index process) const;
  // "main (101)"
  std::string thread(trace_analysis::Index thread) const;

 private:
  const tracefile::Clock& clock_;
  const trace_analysis::Observed& observed_;
  const trace_analysis::Population& population_;
  const trace_analysis::CodeNames& code_;
  const SystemCallNames* calls_;
  const trace_export::Timeline* timeline_ = nullptr;
  SymbolNames& functions_;
  std::optional<ServiceNames> services_;
  mutable std::unordered_map<trace_analysis::Index, std::string> start_functions_;
};

}  // namespace coldtrace::cli
