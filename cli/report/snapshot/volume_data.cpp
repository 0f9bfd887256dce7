#include <algorithm>

#include "cli/output/json.hpp"
#include "cli/report/page/memory_text.hpp"
#include "cli/report/page/packed_data.hpp"
#include "cli/report/snapshot/volume_sections.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {
namespace {

// Directories of a drawing; the largest ones.
constexpr std::size_t most_nodes = 3000;
constexpr u32 not_drawn = 0xffff'ffff;

u64 least_bytes(const std::vector<ntfs::VolumeSummary::Directory>& directories) {
  if (directories.size() <= most_nodes) return 0;
  std::vector<u64> bytes;
  for (const auto& one : directories) bytes.push_back(one.bytes);
  const auto at = bytes.begin() + most_nodes;
  std::ranges::nth_element(bytes, at, std::greater{});
  return *at;
}

}  // namespace

std::string volume_data(const VolumeAnswers& answers) {
  const auto& directories = answers.summary.directories();
  const auto least = least_bytes(directories);
  std::vector<u32> places(directories.size(), not_drawn), drawn;
  for (u32 i = 0; i < directories.size(); ++i) {
    if (i != 0 && (directories[i].bytes <= least || places[directories[i].parent] == not_drawn))
      continue;
    places[i] = static_cast<u32>(drawn.size());
    drawn.push_back(i);
  }
  PackedData data;
  data.facts(*text_in_memory(std::size_t{1} << 30U, [&](Output& memory) {
    JsonWriter json{memory, Int64::number};
    json.begin_object().key("treemaps").begin_array().begin_object();
    json.field("id", answers.id + "-treemap")
        .field("count", u64{drawn.size()})
        .key("names")
        .begin_array();
    for (const auto number : drawn)
      json.value(number == 0 ? std::string{"/"} : core::printable(directories[number].name));
    json.end_array().end_object().end_array().end_object();
  }));
  for (const auto number : drawn) data.number(places[directories[number].parent]);
  for (const auto number : drawn) data.number(directories[number].bytes);
  return data.take();
}

}  // namespace coldtrace::cli
