#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/trace/analysis/waits/wait_graph_answer.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::FileWaits;
using trace_analysis::LockOwners;
using trace_analysis::nobody;
using trace_analysis::ObjectIndex;
using trace_analysis::RequestWaits;
using trace_analysis::StatedWaits;
using trace_analysis::WaitEvidence;
using trace_analysis::WaitGraph;
using trace_analysis::WaitGraphView;
using trace_analysis::WaitKinds;

std::string_view to_string(WaitGraph::Strength strength) {
  switch (strength) {
    case WaitGraph::Strength::exact:
      return "exact";
    case WaitGraph::Strength::proved:
      return "proved";
    case WaitGraph::Strength::upper_bound:
      return "upper_bound";
  }
  return {};
}

class WaitGraphJson {
 public:
  WaitGraphJson(Output& output, Int64 int64, const WaitGraphAnswer& answer)
      : output_{output},
        int64_{int64},
        answer_{answer},
        evidence_{answer.evidence},
        graph_{answer.evidence.graph.get()},
        view_{answer.view},
        names_{answer.names} {}

  void write() const {
    JsonWriter json{output_, int64_};
    json.begin_object().field("schema", "coldtrace.trace-wait-graph/1").field("tool", tool_version);
    write_observed(json, answer_.input.trace, answer_.observed);
    json.field("names_objects", graph_.names_objects())
        .field("ends_without_begin", graph_.ends_without_begin());
    write_nodes(json);
    json.key("waits").begin_array();
    for (const auto wait : view_.waits()) write_wait(json, graph_.edges()[wait]);
    json.end_array().key("owners").begin_array();
    for (const auto owner : view_.owners()) write_owner(json, graph_.owners()[owner]);
    json.end_array().key("woken_by").begin_array();
    for (const auto wake : view_.wakes()) write_wake(json, graph_.wakes().edges()[wake]);
    json.end_array().key("stated").begin_array();
    for (const auto number : view_.stated())
      write_stated(json, evidence_.stated.get().edges()[number]);
    json.end_array().key("lock_owners").begin_array();
    for (const auto number : view_.lock_owners())
      write_lock_owner(json, evidence_.locks.get().edges()[number]);
    json.end_array().key("requests").begin_array();
    for (const auto number : view_.requests())
      write_request(json, evidence_.requests.get().edges()[number]);
    json.end_array().key("file_operations").begin_array();
    for (const auto number : view_.files()) write_file(json, evidence_.files.get().edges()[number]);
    json.end_array().key("kinds").begin_array();
    for (const auto number : view_.kinds()) write_kind(json, evidence_.kinds.get().edges()[number]);
    json.end_array();
    answer_.symbols.write(json);
    json.key("findings");
    write_findings(json, answer_.input.findings);
    json.end_object().end_document();
  }

 private:
  std::optional<std::string> reason_or_null(std::optional<u8> reason) const {
    if (!reason) return std::nullopt;
    return wait_reason_text(*reason);
  }

  void write_wait(JsonWriter& json, const WaitGraph::Edge& edge) const {
    const bool measured = edge.measured > 0;
    json.begin_object()
        .field("thread", edge.thread)
        .field("object", edge.object)
        .field("strength", to_string(WaitGraph::Strength::exact))
        .field("reason", reason_or_null(edge.reason))
        .field("count", edge.count)
        .field("open", edge.open)
        .field("unknown", edge.unknown)
        .field("duration", names_.duration(edge.total))
        .field("longest", measured ? std::optional{names_.duration(edge.longest)} : std::nullopt);
    names_.write_moment(json, "longest_since", "longest_event",
                        measured ? std::optional{edge.longest_since} : std::nullopt);
    names_.write_moment(json, "open_since", "open_event", edge.open_since);
    json.end_object();
  }

  void write_owner(JsonWriter& json, const WaitGraph::Owner& owner) const {
    json.begin_object()
        .field("object", owner.object)
        .field("thread", owner.thread)
        .field("strength", to_string(owner.strength));
    names_.write_moment(json, "since", "event", owner.since);
    json.end_object();
  }

  void write_wake(JsonWriter& json, const trace_analysis::Wakes::Edge& edge) const {
    const bool measured = edge.measured > 0;
    json.begin_object()
        .field("thread", edge.thread)
        .field("waker", number_or_null(edge.waker))
        .field("interrupt", edge.in_dpc)
        .field("count", edge.count)
        .field("unknown", edge.unknown)
        .field("duration", names_.duration(edge.total))
        .field("longest", measured ? std::optional{names_.duration(edge.longest)} : std::nullopt)
        .field("longest_reason", reason_or_null(edge.longest_reason));
    names_.write_moment(json, "longest_since", "longest_event",
                        measured ? std::optional{edge.longest_since} : std::nullopt);
    json.end_object();
  }

  void write_stated(JsonWriter& json, const StatedWaits::Edge& edge) const {
    json.begin_object()
        .field("kind", to_string(edge.kind))
        .field("strength", to_string(WaitGraph::Strength::exact))
        .field("thread", edge.thread)
        .field("other", edge.other)
        .field("lock",
               edge.lock != 0 ? std::optional{fmt::format("{:#x}", edge.lock)} : std::nullopt)
        .field("count", edge.count)
        .field("timed", edge.timed)
        .field("duration", names_.duration(edge.time));
    names_.write_moment(json, "last", "last_event", edge.last);
    json.end_object();
  }

  void write_lock_owner(JsonWriter& json, const LockOwners::Edge& edge) const {
    json.begin_object()
        .field("lock", fmt::format("{:#x}", edge.lock))
        .field("thread", edge.owner)
        .field("strength", to_string(WaitGraph::Strength::exact))
        .field("by", number_or_null(edge.by))
        .field("count", edge.count);
    names_.write_moment(json, "last", "last_event", edge.last);
    json.end_object();
  }

  // The members that likely waits have in common.
  void write_sum(JsonWriter& json, const trace_analysis::EndedWaits& ended,
                 std::string_view event_name = "longest_event") const {
    const bool measured = ended.count > 0;
    json.field("count", ended.count)
        .field("duration", names_.duration(ended.time))
        .field("longest", measured ? std::optional{names_.duration(ended.longest)} : std::nullopt);
    names_.write_moment(json, "longest_since", event_name,
                        measured ? std::optional{ended.longest_since} : std::nullopt);
  }

  void write_request(JsonWriter& json, const RequestWaits::Edge& edge) const {
    json.begin_object()
        .field("thread", edge.thread)
        .field("disk", edge.disk)
        .field("action", to_string(edge.action))
        .field("strength", "likely")
        .field("by_interrupt", edge.by_interrupt);
    write_sum(json, edge.ended);
    names_.write_moment(json, "open_since", "open_event", edge.open_since);
    json.end_object();
  }

  void write_file(JsonWriter& json, const FileWaits::Edge& edge) const {
    json.begin_object()
        .field("thread", edge.thread)
        .field("file", ExactText{text_or_null(evidence_.files.get().files()[edge.file].name)})
        .field("action", to_string(edge.action))
        .field("strength", "likely")
        .field("by_itself", edge.by_itself)
        .field("by_completion", edge.by_completion);
    write_sum(json, edge.ended);
    names_.write_moment(json, "open_since", "open_event", edge.open_since);
    json.end_object();
  }

  void write_kind(JsonWriter& json, const WaitKinds::Edge& edge) const {
    json.begin_object()
        .field("thread", edge.thread)
        .field("kind", to_string(edge.kind))
        .field("strength", "kind")
        .field("function", ExactText{answer_.code.functions()[edge.function].name});
    write_sum(json, edge.ended, "longest_stack_event");
    json.end_object();
  }

  // What the edges name, in the order of their numbers.
  void write_nodes(JsonWriter& json) const {
    std::vector<bool> threads(answer_.observed.population.threads().size());
    std::vector<bool> objects(graph_.objects().all().size());
    for (const auto wait : view_.waits()) {
      threads[graph_.edges()[wait].thread] = true;
      objects[graph_.edges()[wait].object] = true;
    }
    for (ObjectIndex i = 0; i < objects.size(); ++i)
      if (const auto thread = graph_.objects().all()[i].thread; objects[i] && thread != nobody)
        threads[thread] = true;
    for (const auto owner : view_.owners()) threads[graph_.owners()[owner].thread] = true;
    for (const auto wake : view_.wakes()) {
      const auto& edge = graph_.wakes().edges()[wake];
      threads[edge.thread] = true;
      if (edge.waker != nobody) threads[edge.waker] = true;
    }
    for (const auto number : view_.stated()) {
      const auto& edge = evidence_.stated.get().edges()[number];
      threads[edge.thread] = threads[edge.other] = true;
    }
    for (const auto number : view_.lock_owners()) {
      const auto& edge = evidence_.locks.get().edges()[number];
      threads[edge.owner] = true;
      if (edge.by != nobody) threads[edge.by] = true;
    }
    for (const auto number : view_.requests())
      threads[evidence_.requests.get().edges()[number].thread] = true;
    for (const auto number : view_.files())
      threads[evidence_.files.get().edges()[number].thread] = true;
    for (const auto number : view_.kinds())
      threads[evidence_.kinds.get().edges()[number].thread] = true;
    names_.write_nodes(json, threads, objects);
  }

  Output& output_;
  Int64 int64_;
  const WaitGraphAnswer& answer_;
  const WaitEvidence& evidence_;
  const WaitGraph& graph_;
  const WaitGraphView& view_;
  const WaitNames& names_;
};

}  // namespace

void write_wait_graph_json(Output& output, Int64 int64, const WaitGraphAnswer& answer) {
  WaitGraphJson{output, int64, answer}.write();
}

}  // namespace coldtrace::cli
