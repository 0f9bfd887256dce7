#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

std::string_view to_string(PlaceSource source) {
  switch (source) {
    case PlaceSource::none:
      return "none";
    case PlaceSource::rva:
      return "rva";
    case PlaceSource::exported:
      return "export";
    case PlaceSource::symbol:
      return "symbol";
    case PlaceSource::service_table:
      return "service_table";
    case PlaceSource::signature:
      return "signature";
    case PlaceSource::structure:
      return "structure";
  }
  return "";
}

std::string_view to_string(TraceRefusal refusal) {
  switch (refusal) {
    case TraceRefusal::init:
      return "init";
    case TraceRefusal::kvascode:
      return "kvascode";
    case TraceRefusal::discardable:
      return "discardable";
    case TraceRefusal::duplicate_address:
      return "duplicate_address";
    case TraceRefusal::duplicate_function:
      return "duplicate_function";
    case TraceRefusal::not_found:
      return "not_found";
    case TraceRefusal::ambiguous:
      return "ambiguous";
    case TraceRefusal::forwarded:
      return "forwarded";
    case TraceRefusal::outside:
      return "outside";
    case TraceRefusal::not_executable:
      return "not_executable";
    case TraceRefusal::not_stored:
      return "not_stored";
    case TraceRefusal::not_a_boundary:
      return "not_a_boundary";
    case TraceRefusal::no_instruction:
      return "no_instruction";
    case TraceRefusal::breakpoint:
      return "breakpoint";
    case TraceRefusal::machine:
      return "machine";
  }
  return "";
}

}  // namespace coldtrace::syscall_map
