#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/trace_analysis/findings/logging_needs.hpp"

namespace coldtrace::cli {

// The topics of the parts of `trace top`, in order.
using trace_analysis::Topic;

// "Files", and "file operations": what a trace without this topic lacks.
std::string_view title_of(Topic topic);
std::string_view subject_of(Topic topic);

// Makes a rendering of the page write the rows of a part.
template <class Page>
void write_rows(Page& page, Topic topic) {
  switch (topic) {
    case Topic::processor:
      return page.write_processor();
    case Topic::disk:
      return page.write_disk();
    case Topic::file_operations:
      return page.write_files();
    case Topic::network:
      return page.write_network();
    case Topic::waits:
      return page.write_waits();
    case Topic::services:
      return page.write_services();
  }
}

// The commands with more details, without "coldtrace".
std::vector<std::string_view> commands_of(Topic topic);

}  // namespace coldtrace::cli
