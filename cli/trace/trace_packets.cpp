#include <algorithm>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_input.hpp"
#include "cli/trace/trace_where.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"
#include "coldtrace/tracefile/packets/packet_capture.hpp"
#include "coldtrace/tracefile/packets/pcapng_file.hpp"
#include "coldtrace/tracefile/selection/event_context.hpp"

namespace coldtrace::cli {
namespace {

using Item = tracefile::EventSequence::Item;

struct TracePacketsOptions : TraceInputOptions {
  tracefile::EventSelection selection;
  std::optional<std::string> where;
  tracefile::PacketCaptureOptions packets;
};

// "Windows 10.0.19042"; empty where that is not known.
std::string system_of(const tracefile::AnyTrace& trace) {
  const auto build = trace.windows_build();
  return build.empty() ? std::string{} : "Windows " + build;
}

Exit run_trace_packets(const TracePacketsOptions& options) {
  auto selection = options.selection;
  if (options.where) {
    selection.where = read_where("--where", *options.where);
    if (!selection.where) return Exit::failure;
  }
  Report report{options.findings};
  auto input = open_trace(options, TraceUse::lines, report);
  if (!input) return Exit::failure;
  const auto& trace = input->trace;
  const auto context = tracefile::event_context_of(trace, trace.schemas());
  tracefile::StreamOptions all;
  const auto around = trace.stream(all);
  const auto surroundings = find_packet_surroundings(context, *around);
  surroundings.owners.report(input->findings);
  auto packets = options.packets;
  packets.owners = &surroundings.owners;

  Output output{options.output};
  tracefile::PcapngFile file{output.buffer(), surroundings.interfaces, input->findings};
  file.start(system_of(trace), tool_version);
  tracefile::PacketCapture capture{context, packets, input->findings,
                                   [&](const tracefile::CapturedPacket& packet) {
                                     file.add(packet);
                                     output.make_room();
                                   }};
  tracefile::StreamOptions wanted;
  limit_to_times(selection, trace.clock(), wanted);
  tracefile::EventSelector selector{context, selection};
  wanted.progress = input->begin_progress("reading");
  const auto events = trace.stream(wanted);
  for (auto item = events->next(); item != Item::end; item = events->next()) {
    if (item == Item::gap)
      capture.add_gap();
    else if (selector.wants(events->event()))
      capture.add(events->event());
  }
  capture.finish();
  selector.unmatched().report(input->findings);
  tracefile::note_unread_buffers(std::max(around->unread_buffers(), events->unread_buffers()),
                                 input->findings);
  note_no_packets(capture, input->findings);
  output.commit();
  input->tell(report);
  return report.exit();
}

}  // namespace

void add_trace_packets(CLI::App& app, Exit& exit) {
  add_command<TracePacketsOptions>(
      app, exit,
      {"packets", "Export packets that NDIS or PktMon captured as pcapng, for Wireshark",
       "  coldtrace trace packets NetTrace.etl -o NetTrace.pcapng\n"
       "  coldtrace trace packets PktMon.etl --where 'id == 170' -o drops.pcapng\n"
       "  coldtrace trace packets PktMon.etl | tshark -r -\n",
       "  0  all packets of the trace were written\n"
       "  1  packets are damaged or incomplete, or there are none; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"pcapng"},
      [](Command& command, TracePacketsOptions& options) {
        add_trace_input_options(command, options);
        command.add_flag(
            "--every-appearance", options.packets.every_appearance,
            "Write a PktMon packet once for each component that it passed, instead of once in all");
        add_time_options(command, options.selection);
        command
            .add_option_function<std::string>(
                "--where", [&options](const std::string& text) { options.where = text; },
                "Only packets whose events match the expression, e.g. \"ComponentId == 12\"")
            .type_name("EXPR");
      },
      run_trace_packets);
}

}  // namespace coldtrace::cli
