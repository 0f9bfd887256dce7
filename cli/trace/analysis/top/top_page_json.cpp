#include "cli/command/version.hpp"
#include "cli/trace/analysis/requests/io_tables.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/analysis/top/top_formats.hpp"
#include "cli/trace/session_text.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::DiskSums;
using trace_analysis::FileSums;
using trace_analysis::Index;
using trace_analysis::LongWait;
using trace_analysis::nobody;

class TopJson {
 public:
  TopJson(Output& output, const TopContext& context, Int64 int64)
      : json_{output, int64},
        context_{context},
        answers_{context.answers},
        page_{context.page},
        population_{context.observation.population()},
        times_{context.input.trace.clock(), context.observation.observed().first} {}

  void write() {
    const auto& observed = context_.observation.observed();
    json_.begin_object().field("schema", "coldtrace.trace-top/1").field("tool", tool_version);
    write_observed(json_, context_.input.trace, observed);
    json_.field("records", observed.records)
        .field("elapsed", duration(answers_.use.get().schedule().elapsed()))
        .key("population")
        .object("processes", u64{population_.processes().size()}, "threads",
                u64{population_.threads().size()});
    write_machine();
    write_lost(json_, page_.events_lost, page_.buffers_lost);
    for (const auto topic : trace_analysis::topics) write_section(topic);
    write_absent();
    json_.key("findings");
    write_findings(json_, context_.input.findings);
    json_.end_object().end_document();
  }

 private:
  void write_section(Topic topic) {
    json_.key(to_string(topic));
    if (!page_.has(topic)) {
      json_.value(nullptr);
      return;
    }
    json_.begin_object();
    write_rows(*this, topic);
    json_.field("commands", commands_of(topic)).end_object();
  }

  // The array NAME and the member more_NAME.
  template <class Row, class Write>
  void rows(const std::string& name, const TopRows<Row>& all, Write write) {
    json_.key(name).begin_array();
    for (const auto& row : all.rows) {
      json_.begin_object();
      write(row);
      json_.end_object();
    }
    json_.end_array().field("more_" + name, all.more);
  }

  void write_machine() {
    json_.key("machine");
    if (!page_.machine) {
      json_.value(nullptr);
      return;
    }
    const auto& machine = *page_.machine;
    json_.object("windows_version", machine.windows_version, "processors", machine.processors,
                 "pointer_size", machine.pointer_size);
  }

 public:  // what write_rows() calls
  void write_processor() {
    const auto& use = answers_.use.get();
    const auto switched = [&](i64 ticks) { return when(use.has_switches(), duration(ticks)); };
    const auto sampled = [&](i64 ticks) { return when(use.has_samples(), duration(ticks)); };
    const auto& all = page_.processors;
    json_.field("processors", all.count)
        .field("busy", switched(all.busy))
        .field("idle", switched(all.idle))
        .field("unknown", switched(all.unknown))
        .field("samples", use.total().all.samples)
        .field("sampled", sampled(use.total().all.time))
        .field("sampled_idle", sampled(all.sampled_idle));
    rows("processes", all.processes, [&](const TopPage::ProcessTime& row) {
      write_process(row.process);
      json_.field("running", switched(row.running))
          .field("sampled", sampled(row.sampled))
          .field("turns", when(use.has_switches(), row.turns))
          .field("samples", row.samples);
    });
    rows("drivers", all.drivers, [&](const trace_analysis::DriverUse& row) {
      const bool known = row.module != trace_analysis::CodeNames::no_module;
      json_.field("module", ExactText{when(known, answers_.code.get().modules()[row.module])})
          .field("dpcs", row.dpcs)
          .field("dpc_time", duration(row.in_dpc))
          .field("isrs", row.isrs)
          .field("isr_time", duration(row.in_isr));
    });
  }

  void write_disk() {
    const auto& disk = answers_.disk.get();
    json_.field("requests", disk.all().count())
        .field("bytes_read", disk.all().bytes_read)
        .field("bytes_written", disk.all().bytes_written)
        .field("open", u64{disk.requests().open().size()})
        .key("busiest");
    if (page_.busiest_disk)
      json_.object("disk", page_.busiest_disk->number, "busy", duration(page_.busiest_disk->busy));
    else
      json_.value(nullptr);
    const auto sums = [this](const DiskSums& one) {
      json_.field("requests", one.count())
          .field("bytes_read", one.bytes_read)
          .field("bytes_written", one.bytes_written)
          .field("response", duration(one.response));
    };
    rows("processes", page_.disk.processes, [&](const auto& row) {
      write_process(row.first);
      sums(*row.second);
    });
    rows("files", page_.disk.files, [&](const auto& row) {
      json_.field("file", ExactText{when(row.first != 0, disk.files()[row.first].name)});
      sums(*row.second);
    });
  }

  void write_files() {
    const auto& files = answers_.files.get();
    const auto sums = [this](const FileSums& one) {
      json_.field("operations", one.operations)
          .field("bytes_read", one.bytes_read)
          .field("bytes_written", one.bytes_written)
          .field("duration", duration(one.time));
    };
    sums(page_.file_operations);
    json_.field("open", files.open());
    rows("processes", page_.files.processes, [&](const auto& row) {
      write_process(row.first);
      sums(*row.second);
    });
    rows("files", page_.files.files, [&](const auto& row) {
      json_.field("file", ExactText{when(row.first != 0, files.files()[row.first].name)});
      sums(*row.second);
    });
  }

  void write_network() {
    rows("processes", page_.network, [this](const TopPage::NetworkRow& row) {
      write_process(row.first);
      json_.field("sends", row.second->sends)
          .field("bytes_sent", row.second->bytes_sent)
          .field("receives", row.second->receives)
          .field("bytes_received", row.second->bytes_received)
          .field("bytes_repeated", row.second->bytes_repeated);
    });
    json_.field("open", answers_.network.get().open());
  }

  void write_waits() {
    rows("longest", page_.waits, [this](const LongWait& wait) {
      json_.key("thread");
      write_thread(wait.thread);
      json_.field("since", times_.utc(wait.from))
          .field("duration", duration(trace_analysis::ticks_between(wait.from, wait.to)))
          .field("state", wait.told ? "waiting" : "off")
          .field("reason",
                 wait.reason ? std::optional{wait_reason_text(*wait.reason)} : std::nullopt)
          .field("interrupt", wait.in_dpc)
          .key("waker");
      write_thread(wait.waker);
      json_.key("event");
      write_place(json_, wait.event);
    });
    const auto& deadlocks = answers_.deadlocks.get();
    json_.key("deadlocks")
        .begin_object()
        .field("names_objects", deadlocks.names_objects())
        .field("count", u64{deadlocks.deadlocks().size()})
        .field("lasting", page_.lasting_deadlocks)
        .field("inversions", u64{deadlocks.inversions().size()})
        .field("suspects", u64{deadlocks.suspects().size()})
        .end_object();
  }

  void write_services() {
    const ServiceNames names{answers_.services, answers_.code};
    json_.field("count", u64{answers_.services.get().services().size()});
    rows("slowest", page_.services, [&](TopPage::ServiceRow row) {
      json_.field("kind", to_string(row->service.kind))
          .field("number", row->service.number)
          .field("name", ExactText{text_or_null(names.find(*row))})
          .field("calls", row->calls)
          .field("inclusive", duration(row->inclusive))
          .field("longest", duration(static_cast<i64>(row->times.greatest())));
    });
  }

 private:
  void write_absent() {
    json_.key("absent").begin_array();
    for (const auto topic : trace_analysis::topics)
      if (!page_.has(topic))
        json_.object("section", to_string(topic), "needs",
                     logging_needs(topic, context_.input.trace));
    json_.end_array();
  }

  void write_process(Index index) { write_process_members(json_, population_, times_, index); }

  void write_thread(Index index) {
    if (index == nobody) {
      json_.value(nullptr);
      return;
    }
    const auto& thread = population_.threads()[index];
    json_.begin_object().field("tid", thread.tid);
    write_process_members(json_, population_, times_, thread.process);
    json_.end_object();
  }

  i64 duration(i64 ticks) const { return times_.duration(ticks); }

  template <class T>
  static std::optional<T> when(bool there, const T& value) {
    if (!there) return std::nullopt;
    return value;
  }

  JsonWriter json_;
  const TopContext& context_;
  const TopAnswers& answers_;
  const TopPage& page_;
  const trace_analysis::Population& population_;
  TraceTimes times_;
};

}  // namespace

void write_top_json(Output& output, const TopContext& context, Int64 int64) {
  TopJson{output, context, int64}.write();
}

}  // namespace coldtrace::cli
