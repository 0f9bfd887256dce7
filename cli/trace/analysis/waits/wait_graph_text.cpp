#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/waits/wait_graph_answer.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::nobody;
using trace_analysis::StatedWaits;
using trace_analysis::WaitEvidence;
using trace_analysis::WaitGraph;
using trace_analysis::WaitGraphView;

class WaitGraphText {
 public:
  WaitGraphText(Output& output, const WaitGraphAnswer& answer)
      : output_{output},
        answer_{answer},
        evidence_{answer.evidence},
        graph_{answer.evidence.graph.get()},
        view_{answer.view},
        names_{answer.names} {}

  void write() {
    write_stated();
    write_lock_owners();
    write_requests();
    write_files();
    write_kinds();
    if (!graph_.names_objects()) return write_wakes();
    for (const auto wait : view_.waits()) {
      const auto& edge = graph_.edges()[wait];
      print(output_, "{} waited {}x for {}", names_.thread(edge.thread), grouped(edge.count),
            names_.object(edge.object));
      if (edge.measured > 0)
        print(output_, ", {}, longest {} since {}", names_.duration_text(edge.total),
              names_.duration_text(edge.longest), names_.since_start(edge.longest_since.time));
      if (edge.unknown > 0) print(output_, ", {} of unknown length", grouped(edge.unknown));
      if (edge.open_since)
        print(output_, ", still waiting since {}", names_.moment(*edge.open_since));
      output_.write("\n");
    }
    for (const auto owned : view_.owners()) {
      const auto& owner = graph_.owners()[owned];
      print(output_, "{} {} {} since {}\n", names_.thread(owner.thread),
            owner.strength == WaitGraph::Strength::proved ? "owns" : "last owned",
            names_.object(owner.object), names_.moment(owner.since));
    }
    if (const auto ends = graph_.ends_without_begin(); ends > 0)
      print(output_, "{} that began earlier, or whose begin is missing\n",
            counted(ends, "wait ended", "waits ended"));
  }

 private:
  void write_stated() {
    for (const auto number : view_.stated()) {
      const auto& edge = evidence_.stated.get().edges()[number];
      if (edge.kind == StatedWaits::Kind::reply)
        print(output_, "{} waited {}x for a reply from {}", names_.thread(edge.thread),
              grouped(edge.count), names_.thread(edge.other));
      else
        print(output_, "{} contended {}x for the critical section {:#x}, which {} owned",
              names_.thread(edge.thread), grouped(edge.count), edge.lock,
              names_.thread(edge.other));
      if (edge.timed > 0)
        print(output_, ", {} in {}", names_.duration_text(edge.time), grouped(edge.timed));
      print(output_, ", last {}\n", names_.moment(edge.last));
    }
  }

  void write_lock_owners() {
    for (const auto number : view_.lock_owners()) {
      const auto& edge = evidence_.locks.get().edges()[number];
      print(output_, "{} owned the lock {:#x}, for which its priority was raised {}x",
            names_.thread(edge.owner), edge.lock, grouped(edge.count));
      if (edge.by != nobody) print(output_, " by {}", names_.thread(edge.by));
      print(output_, ", last {}\n", names_.moment(edge.last));
    }
  }

  // "likely waited 2x for its own requests to disk 3 (read), 7.00 ms, longest ..."
  void write_sum(const trace_analysis::EndedWaits& ended) {
    print(output_, ", {}, longest {} since {}", names_.duration_text(ended.time),
          names_.duration_text(ended.longest), names_.since_start(ended.longest_since.time));
  }

  void write_requests() {
    for (const auto number : view_.requests()) {
      const auto& edge = evidence_.requests.get().edges()[number];
      const auto action = to_string(edge.action);
      if (edge.ended.count > 0) {
        print(output_, "{} likely waited {}x for its own requests to {} ({})",
              names_.thread(edge.thread), grouped(edge.ended.count),
              edge.disk ? fmt::format("disk {}", *edge.disk) : "a disk", action);
        write_sum(edge.ended);
        print(output_, ", {} of them ended right after\n", grouped(edge.by_interrupt));
      }
      if (edge.open_since)
        print(output_,
              "{} has been waiting since {}, while its request to a disk ({}) is under way\n",
              names_.thread(edge.thread), names_.moment(*edge.open_since), action);
    }
  }

  void write_files() {
    for (const auto number : view_.files()) {
      const auto& edge = evidence_.files.get().edges()[number];
      const auto file = waited_file_text(evidence_.files.get().files()[edge.file]);
      const auto action = to_string(edge.action);
      if (edge.ended.count > 0) {
        print(output_, "{} likely waited {}x for its own file operations ({}) on {}",
              names_.thread(edge.thread), grouped(edge.ended.count), action, printable(file));
        write_sum(edge.ended);
        print(output_, ", {} of them in operations that it ended itself, {} ended right after\n",
              grouped(edge.by_itself), grouped(edge.by_completion));
      }
      if (edge.open_since)
        print(output_,
              "{} has been waiting since {}, while its file operation ({}) on {} is under way\n",
              names_.thread(edge.thread), names_.moment(*edge.open_since), action, printable(file));
    }
  }

  void write_kinds() {
    for (const auto number : view_.kinds()) {
      const auto& edge = evidence_.kinds.get().edges()[number];
      print(output_, "{} waited {}x for {}, by its stack ({})", names_.thread(edge.thread),
            grouped(edge.ended.count), wait_kind_text(edge.kind),
            printable(answer_.code.functions()[edge.function].name));
      write_sum(edge.ended);
      output_.write("\n");
    }
  }

  void write_wakes() {
    for (const auto wake : view_.wakes()) {
      const auto& edge = graph_.wakes().edges()[wake];
      print(output_, "{} was woken {}x by {}, {}", names_.thread(edge.thread), grouped(edge.count),
            edge.waker != nobody ? names_.thread(edge.waker)
            : edge.in_dpc        ? "an interrupt"
                                 : "an unknown waker",
            names_.duration_text(edge.total));
      if (edge.measured > 0)
        print(output_, ", longest {} since {}{}", names_.duration_text(edge.longest),
              names_.since_start(edge.longest_since.time),
              edge.longest_reason ? " (" + wait_reason_text(*edge.longest_reason) + ")" : "");
      output_.write("\n");
    }
  }

  Output& output_;
  const WaitGraphAnswer& answer_;
  const WaitEvidence& evidence_;
  const WaitGraph& graph_;
  const WaitGraphView& view_;
  const WaitNames& names_;
};

}  // namespace

void write_wait_graph_text(Output& output, const WaitGraphAnswer& answer) {
  WaitGraphText{output, answer}.write();
}

std::string_view waited_file_text(const trace_analysis::FileTable::File& file) {
  return file.name.empty() ? "an unnamed file" : std::string_view{file.name};
}

std::string_view wait_kind_text(trace_analysis::WaitKind kind) {
  using K = trace_analysis::WaitKind;
  switch (kind) {
    case K::object:
      return "an object";
    case K::objects:
      return "several objects";
    case K::address:
      return "an alert by thread id or address";
    case K::keyed_event:
      return "a keyed event";
    case K::queue:
      return "a kernel queue";
    case K::critical_section:
      return "a critical section";
    case K::srw_lock:
      return "an SRW lock";
    case K::condition_variable:
      return "a condition variable";
    case K::resource:
      return "an executive resource";
    case K::push_lock:
      return "a push lock";
    case K::fast_mutex:
      return "a fast mutex";
    case K::rundown:
      return "run-down protection";
    case K::completion_port:
      return "a completion port";
    case K::worker_factory:
      return "work for a thread pool";
    case K::port:
      return "a port";
    case K::time:
      return "a delay";
    case K::window_message:
      return "a window message";
    case K::file:
      return "a file or device";
    case K::page:
      return "a page";
  }
  return {};
}

}  // namespace coldtrace::cli
