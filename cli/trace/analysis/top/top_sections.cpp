#include "cli/trace/analysis/top/top_sections.hpp"

namespace coldtrace::cli {

std::string_view title_of(Topic topic) {
  switch (topic) {
    case Topic::processor:
      return "Processor";
    case Topic::disk:
      return "Disk";
    case Topic::file_operations:
      return "Files";
    case Topic::network:
      return "Network";
    case Topic::waits:
      return "Waits";
    case Topic::services:
      break;
  }
  return "Services";
}

std::string_view subject_of(Topic topic) {
  switch (topic) {
    case Topic::processor:
      return "context switches, samples or interrupts";
    case Topic::disk:
      return "requests to disks";
    case Topic::file_operations:
      return "file operations";
    case Topic::network:
      return "bytes over the network";
    case Topic::waits:
      return "waits";
    case Topic::services:
      break;
  }
  return "service calls";
}

std::vector<std::string_view> commands_of(Topic topic) {
  switch (topic) {
    case Topic::processor:
      return {"trace cpu", "trace schedule"};
    case Topic::disk:
    case Topic::file_operations:
    case Topic::network:
      return {"trace io"};
    case Topic::waits:
      return {"trace graph wait-for", "trace deadlocks"};
    case Topic::services:
      break;
  }
  return {"trace services"};
}

}  // namespace coldtrace::cli
