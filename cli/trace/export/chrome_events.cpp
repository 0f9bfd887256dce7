#include "cli/trace/export/chrome_events.hpp"

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/status.hpp"

namespace coldtrace::cli {

using trace_analysis::Index;
using trace_analysis::nobody;
using trace_export::Turn;

namespace {

// Rows that are not threads have the ids of processes that Windows never gives: its ids are
// multiples of four.
constexpr u32 processors_id = 1;
constexpr u32 disks_id = 2;
constexpr u32 unknown_id = 3;

Thousandths microseconds(i64 nanoseconds) {
  return {static_cast<u64>(nanoseconds)};
}

}  // namespace

void ChromeEvents::begin() {
  json_.begin_object().field("displayTimeUnit", "ns").key("traceEvents").begin_array();
}

ChromeEvents::Row ChromeEvents::row_of(Index thread) {
  if (thread == nobody) return {unknown_id, unknown_id};
  threads_.insert(thread);
  const auto& known = names_.population().threads()[thread];
  return {trace_analysis::pid_of(names_.population(), thread).value_or(unknown_id), known.tid};
}

bool ChromeEvents::has_place(i64 begin) {
  if (names_.nanoseconds(begin) >= 0) return true;
  ++left_out_;
  return false;
}

void ChromeEvents::write_head(std::string_view phase, std::string_view category,
                              std::string_view name, Row row, i64 time) {
  json_.begin_object()
      .field("ph", phase)
      .field("cat", category)
      .field("name", name)
      .field("pid", row.pid)
      .field("tid", row.tid)
      .field("ts", microseconds(names_.nanoseconds(time)));
}

void ChromeEvents::write_complete(std::string_view category, std::string_view name, Row row,
                                  i64 begin, i64 end) {
  write_head("X", category, name, row, begin);
  json_.field("dur", microseconds(names_.nanoseconds(end) - names_.nanoseconds(begin)));
}

template <class WriteArguments>
void ChromeEvents::write_pair(std::string_view category, std::string_view name, Row row, i64 begin,
                              i64 end, WriteArguments write_arguments) {
  ++pairs_;
  write_head("b", category, name, row, begin);
  json_.field("id", pairs_).key("args").begin_object();
  write_arguments();
  json_.end_object().end_object();
  write_head("e", category, name, row, end);
  json_.field("id", pairs_).end_object();
}

void ChromeEvents::on_switch(const trace_export::ContextSwitch& record, const Turn* ended,
                             bool is_shown) {
  const auto cpu = *record.moment.cpu;
  if (cpu >= is_shown_.size()) is_shown_.resize(std::size_t{cpu} + 1);
  const bool was_shown = is_shown_[cpu];
  is_shown_[cpu] = is_shown;
  if (!was_shown || ended == nullptr || !ended->end) return;
  if (names_.population().threads()[ended->thread].idle_of) return;
  processors_.insert(cpu);
  row_of(ended->thread);
  const Row row{processors_id, cpu + 1U};
  write_complete("sched", names_.thread_of_process(ended->thread), row, ended->begin, *ended->end);
  json_.key("args")
      .begin_object()
      .field("tid", names_.population().threads()[ended->thread].tid)
      .field("pid", trace_analysis::pid_of(names_.population(), ended->thread))
      .field("priority", ended->in_priority);
  if (record.old_state) json_.field("end_state", to_string(*record.old_state));
  if (trace_analysis::is_waiting(record.old_state) && record.wait_reason)
    json_.field("wait_reason", wait_reason_text(*record.wait_reason));
  json_.end_object().end_object();
  write_wake(*ended);
}

// From the processor where the thread was made ready to the one that it came to.
void ChromeEvents::write_wake(const Turn& turn) {
  if (!turn.readied || !turn.readied_on || names_.nanoseconds(*turn.readied) < 0) return;
  ++wakes_;
  const auto name = turn.waker == nobody ? std::string{"woken by an interrupt"}
                                         : "woken by " + names_.thread_of_process(turn.waker);
  processors_.insert(*turn.readied_on);
  write_head("s", "wake", name, {processors_id, *turn.readied_on + 1U}, *turn.readied);
  json_.field("id", wakes_).end_object();
  write_head("f", "wake", name, {processors_id, turn.cpu + 1U}, turn.begin);
  json_.field("bp", "e").field("id", wakes_).end_object();
}

void ChromeEvents::on_call(const trace_export::Services::Seen& seen) {
  if (!has_place(seen.begin)) return;
  const auto kind = names_.kind_of(seen.service);
  const bool interrupts = seen.thread == nobody && seen.end.cpu;
  const auto row = interrupts ? Row{processors_id, *seen.end.cpu + 1U} : row_of(seen.thread);
  if (interrupts) processors_.insert(*seen.end.cpu);
  write_complete(to_string(kind), names_.service(seen.service), row, seen.begin, seen.end.time);
  json_.end_object();
}

// That of requests to an unknown disk comes first.
ChromeEvents::Row ChromeEvents::row_of_disk(std::optional<u32> disk) {
  return {disks_id, disk ? u64{*disk} + 1 : 0};
}

void ChromeEvents::on_disk_request(const trace_export::DiskRequest& request) {
  if (!request.begin || !has_place(*request.begin)) return;
  disks_.insert(request.disk);
  write_pair("disk", to_string(request.action), row_of_disk(request.disk), *request.begin,
             request.end.time, [&] {
               json_.field("disk", request.disk)
                   .field("offset", request.offset)
                   .field("bytes", request.bytes)
                   .field("thread", names_.thread_of_process(request.thread));
             });
}

void ChromeEvents::on_file_operation(const trace_export::FileOperation& operation) {
  if (!has_place(operation.begin)) return;
  write_pair("file", to_string(operation.action), row_of(operation.thread), operation.begin,
             operation.end.time, [&] {
               json_.field("file", text_or_null(names_.file(operation.file)))
                   .field("bytes", operation.bytes)
                   .field("status", nt_status_text(operation.status));
             });
}

void ChromeEvents::on_region(const trace_export::Region& region) {
  if (!has_place(region.begin)) return;
  write_pair("region", region.name.empty() ? region.provider : region.name, row_of(region.thread),
             region.begin, region.end.time, [&] {
               for (const auto& argument : region.arguments)
                 json_.field(argument.name, argument.value);
             });
}

void ChromeEvents::write_name(std::string_view what, Row row, std::string_view name) {
  json_.begin_object()
      .field("ph", "M")
      .field("name", what)
      .field("pid", row.pid)
      .field("tid", row.tid)
      .key("args")
      .object("name", name);
  json_.end_object();
}

void ChromeEvents::end() {
  if (!processors_.empty()) write_name("process_name", {processors_id, 0}, "processors");
  for (const auto cpu : processors_)
    write_name("thread_name", {processors_id, cpu + 1U}, fmt::format("processor {}", cpu));
  if (!disks_.empty()) write_name("process_name", {disks_id, 0}, "disks");
  for (const auto& disk : disks_)
    write_name("thread_name", row_of_disk(disk),
               disk ? fmt::format("disk {}", *disk) : "unknown disk");
  std::set<Index> processes;
  for (const auto thread : std::set<Index>{threads_}) {
    const auto row = row_of(thread);
    write_name("thread_name", row, names_.thread(thread));
    const auto process = names_.population().threads()[thread].process;
    if (process != nobody && processes.insert(process).second)
      write_name("process_name", {row.pid, 0}, names_.process(process));
  }
  json_.end_array().key("otherData").begin_object();
  json_.field("exporter", tool_version);
  json_.field("start", names_.start()).end_object().end_object().end_document();
}

}  // namespace coldtrace::cli
