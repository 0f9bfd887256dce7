#include "cli/trace/analysis/waits/wait_names.hpp"

#include <fmt/format.h>

namespace coldtrace::cli {

using trace_analysis::nobody;
using trace_analysis::ObjectIndex;

std::string WaitNames::object(ObjectIndex index) const {
  const auto& object = objects_.all()[index];
  if (object.thread != nobody) return thread(object.thread);
  return fmt::format("{} {:#x}", kind(object), object.waited.address);
}

std::string WaitNames::kind(const trace_analysis::WaitObjects::Object& object) {
  std::string kind{to_string(object.waited.kind)};
  return object.calls ? fmt::format("{} ({})", kind, wait_reason_text(*object.calls)) : kind;
}

void WaitNames::write_nodes(JsonWriter& json, const std::vector<bool>& threads,
                            const std::vector<bool>& objects) const {
  json.key("threads").begin_array();
  for (trace_analysis::Index i = 0; i < threads.size(); ++i)
    if (threads[i]) write_thread(json, i);
  json.end_array().key("objects").begin_array();
  for (ObjectIndex i = 0; i < objects.size(); ++i)
    if (objects[i]) write_object(json, i);
  json.end_array();
}

void WaitNames::write_object(JsonWriter& json, ObjectIndex index) const {
  const auto& object = objects_.all()[index];
  std::optional<std::string> calls;
  if (object.calls) calls = wait_reason_text(*object.calls);
  json.begin_object()
      .field("id", index)
      .field("type", to_string(object.waited.kind))
      .field("address", fmt::format("{:#x}", object.waited.address))
      .field("calls", calls)
      .field("thread", number_or_null(object.thread))
      .end_object();
}

}  // namespace coldtrace::cli
