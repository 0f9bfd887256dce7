#pragma once

#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/waits/open_waits.hpp"

namespace coldtrace::cli {

// The names of objects in answers about waits, besides threads and moments.
class WaitNames : public ThreadNames {
 public:
  // All must outlive it.
  WaitNames(const tracefile::AnyTrace& trace, const trace_analysis::Observed& observed,
            trace_analysis::FunctionNames& functions, const trace_analysis::WaitObjects& objects)
      : ThreadNames{trace, observed, functions}, objects_{objects} {}

  // "Mutant 0xfffffa8001000000"; for a thread object, the thread.
  std::string object(trace_analysis::ObjectIndex index) const;
  // "Semaphore", and for one used for calls whether clients or servers wait for it.
  static std::string kind(const trace_analysis::WaitObjects::Object& object);

  void write_object(JsonWriter& json, trace_analysis::ObjectIndex index) const;
  // Members "threads" and "objects" with those whose indexes are marked.
  void write_nodes(JsonWriter& json, const std::vector<bool>& threads,
                   const std::vector<bool>& objects) const;

 private:
  const trace_analysis::WaitObjects& objects_;
};

}  // namespace coldtrace::cli
