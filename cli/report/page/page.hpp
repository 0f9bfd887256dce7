#pragma once

#include <string>
#include <vector>

#include "cli/output/output.hpp"
#include "cli/report/page/html.hpp"

namespace coldtrace::cli {

// A report: one HTML file that needs no network. Its contents are in `sections`, as plain HTML; the
// script draws what can be explored.
struct Page {
  struct Section {
    std::string id, title;
    Html content;
  };
  std::string title;
  std::vector<std::string> overview;  // paragraphs
  std::vector<Section> sections;
  std::vector<std::string> data;  // from PackedData, one for each part of the page
};

// Starts a section after the others.
Html& add_section(Page& page, std::string id, std::string title);

// The size of the sections and data so far.
u64 size_of(const Page& page);

// Returns the number of bytes written.
u64 write_page(Output& output, const Page& page);

}  // namespace coldtrace::cli
