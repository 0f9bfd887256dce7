#pragma once

#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/nt_trace_control/trace_control_call.hpp"

namespace coldtrace::cli {

// Collects from the fields of one event what it logged of a call of NtTraceControl: an event that
// gives the service by number or hash and has its arguments, or an event with the service's name
// whose fields are named as the function's parameters.
class ControlCallFields {
 public:
  // Starts an event with its name, and the pointer size where it was logged.
  void start(std::string_view event_name, u8 pointer_size);
  void add_service(std::string_view name) { is_call_ |= is_trace_control(name); }
  void add_name_hash(u32 hash);
  void add_argument(u64 value);
  void add_field(std::string_view name, u64 value) {
    if (by_parameters_) add_parameter(name, value);
  }

  bool wants_fields() const { return by_parameters_; }

  // Null if the event is not such a call.
  const tracefile::LoggedControlCall* call() const { return is_call_ ? &call_ : nullptr; }

 private:
  static bool is_trace_control(std::string_view service);
  void add_parameter(std::string_view name, u64 value);

  tracefile::LoggedControlCall call_;
  std::size_t arguments_ = 0;
  bool by_parameters_ = false;
  bool is_call_ = false;
};

// The member "trace_control" of an event's line. Without a version, what applies to every call with
// this code.
void append_control_call(core::TextBuffer& json, const tracefile::LoggedControlCall& call,
                         std::optional<tracefile::KernelVersion> version);

}  // namespace coldtrace::cli
