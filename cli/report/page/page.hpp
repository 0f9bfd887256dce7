#pragma once

#include <string>
#include <vector>

#include "cli/output/output.hpp"
#include "cli/report/page/html.hpp"

namespace coldtrace::cli {

// A report: one HTML file that needs no network. What it says is in `sections`, as plain
// HTML; the script draws what can be looked at closer.
struct Page {
  struct Section {
    std::string id, title;
    Html content;
  };
  std::string title;
  std::vector<std::string> overview;  // paragraphs
  std::vector<Section> sections;
  std::vector<std::string> data;  // of PackedData, each of a part of the page
};

// Starts a section behind the others.
Html& add_section(Page& page, std::string id, std::string title);

// Of what sections and data have by now.
u64 size_of(const Page& page);

// Returns how many bytes it has.
u64 write_page(Output& output, const Page& page);

}  // namespace coldtrace::cli
