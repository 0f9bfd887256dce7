#include "cli/trace/analysis/requests/request_rows.hpp"

#include <fmt/format.h>

#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/requests/disk_tables.hpp"

namespace coldtrace::cli {
using trace_analysis::DiskIo;

std::optional<i64> RequestRows::duration(std::optional<i64> ticks) const {
  if (!ticks) return std::nullopt;
  return duration(*ticks);
}

void RequestRows::begin() {
  output_.write(
      "end,response,service,queue,disk,action,offset,bytes,priority,status,file,snapshot_file,"
      "snapshot_state,process,pid,tid,buffer,event_offset\n");
}

void RequestRows::write(const DiskIo::Row& row) {
  const auto& request = row.request;
  const auto issuer = ids_of(observation_.population(), request.thread);
  std::optional<i64> queue;
  if (request.service) queue = duration(*request.response) - duration(*request.service);
  const auto time = TraceTimes{clock_, observation_.observed().first}.since_start(request.end.time);
  print(output_, "{},{},{},{},{},{},{},{},{},{}", time.substr(1), cell(duration(request.response)),
        cell(duration(request.service)), cell(queue), cell(request.disk), to_string(request.action),
        cell(request.offset), cell(request.bytes),
        request.priority ? priority_text(*request.priority) : "", cell(request.status));
  print(output_, ",{},{},{},{},{},{},{},{}\n", csv_field(distinct_text(row.traced_name)),
        csv_field(row.snapshot != nullptr ? distinct_text(row.snapshot->path) : ""),
        row.snapshot != nullptr ? to_string(row.snapshot->state) : "",
        csv_field(distinct_text(issuer.process)), cell(issuer.pid), cell(issuer.tid),
        request.end.place.buffer, request.end.place.offset);
}

}  // namespace coldtrace::cli
