#include "cli/report/snapshot/volume_names_data.hpp"

#include <algorithm>

#include "cli/output/json.hpp"
#include "cli/report/page/memory_text.hpp"
#include "cli/report/page/packed_data.hpp"
#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::State;
using Name = ntfs::VolumeNames::Name;
using Chosen = std::vector<const Name*>;  // as VolumeNames sorts them

// Those that take most of the disk.
Chosen heaviest(const ntfs::VolumeNames& names, std::size_t count) {
  Chosen chosen;
  for (const auto& name : names.names()) chosen.push_back(&name);
  if (count >= chosen.size()) return chosen;
  const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::nth_element(chosen, end,
                           [](const Name* a, const Name* b) { return ntfs::weighs_more(*a, *b); });
  chosen.erase(end, chosen.end());
  std::ranges::sort(chosen);  // pointers into what is sorted
  return chosen;
}

// The columns of some names; see docs/commands/report.md.
class NameColumns {
 public:
  NameColumns(const VolumeAnswers& answers, u64 clusters, const Chosen& names,
              std::size_t most_extents)
      : answers_{answers}, clusters_{clusters}, names_{names}, most_extents_{most_extents} {
    for (const auto* const name : names_) {
      const auto directory = ntfs::split_path(name->path).directory;
      if (directories_.empty() || directories_.back() != directory)
        directories_.push_back(directory);
      for (const auto day : name->days) {
        if (day == 0) continue;
        first_day_ = first_day_ == 0 ? day : std::min(first_day_, day);
      }
    }
  }

  std::string pack() {
    PackedData data;
    constexpr std::size_t most = std::size_t{1} << 30U;
    data.facts(
        text_in_memory(most, [this](Output& memory) { write_facts(memory); }).value_or("{}"));
    write_directories(data);
    column(data, [](const Name& name) {
      return (name.state == State::deleted ? 1U : 0U) + (name.directory ? 2U : 0U);
    });
    column(data,
           [](const Name& name) { return name.size ? core::saturating_add(*name.size, 1) : 0; });
    const bool sized = answers_.cluster_size != 0;
    column(data, [&](const Name& name) { return sized || name.extents == 0 ? name.on_disk : 0; });
    for (std::size_t kind = 0; kind < 4; ++kind)
      column(data, [&](const Name& name) {
        return name.days[kind] == 0 ? 0 : name.days[kind] - first_day_ + 1;
      });
    column(data, [](const Name& name) { return name.extents; });
    column(data, [this](const Name& name) { return kept(name); });
    write_extents(data);
    return data.take();
  }

 private:
  u64 kept(const Name& name) const { return std::min(name.first_extents.size(), most_extents_); }

  template <class Value>
  void column(PackedData& data, Value value) const {
    for (const auto* const name : names_) data.number(value(*name));
  }

  void write_facts(Output& memory) const {
    JsonWriter json{memory, Int64::number};
    json.begin_object().key("volumes").begin_array().begin_object();
    json.field("id", answers_.id + "-search")
        .field("clusters", clusters_)
        .field("clusterSize", answers_.cluster_size)
        .field("firstDay", first_day_)
        .field("count", u64{names_.size()})
        .key("directories")
        .begin_array();
    for (const auto directory : directories_) json.value(core::printable(directory));
    json.end_array().key("names").begin_array();
    for (const auto* const name : names_)
      json.value(core::printable(ntfs::split_path(name->path).name));
    json.end_array().end_object().end_array().end_object();
  }

  // How many names each stretch of one directory has.
  void write_directories(PackedData& data) const {
    std::size_t at = 0;
    for (const auto directory : directories_) {
      const auto begin = at;
      while (at < names_.size() && ntfs::split_path(names_[at]->path).directory == directory) ++at;
      data.number(at - begin);
    }
  }

  // The place of each, less the end of the one before, of whatever file.
  void write_extents(PackedData& data) const {
    u64 end = 0;
    for (const auto* const name : names_)
      for (std::size_t i = 0; i < kept(*name); ++i) {
        const auto& extent = name->first_extents[i];
        const auto begin = static_cast<u64>(*extent.lcn);
        data.signed_number(static_cast<i64>(begin - end));
        data.number(extent.clusters);
        end = begin + extent.clusters;
      }
  }

  const VolumeAnswers& answers_;
  u64 clusters_;
  const Chosen& names_;
  std::size_t most_extents_;
  std::vector<std::string_view> directories_;
  u64 first_day_ = 0;
};

}  // namespace

NamesData names_data(const VolumeAnswers& answers, const ntfs::VolumeNames& names, u64 room) {
  const auto clusters = answers.summary.clusters();
  auto count = names.names().size();
  auto extents = ntfs::VolumeNames::most_extents;
  while (count > 0) {
    const auto chosen = heaviest(names, count);
    NamesData data{NameColumns{answers, clusters, chosen, extents}.pack(), count};
    if (data.packed.size() <= room) return data;
    if (extents > 1) {
      extents = 1;
      continue;
    }
    // A little less than what would fit if all names were alike.
    const auto share = static_cast<double>(room) / static_cast<double>(data.packed.size());
    count =
        std::min(count - 1, static_cast<std::size_t>(static_cast<double>(count) * share * 0.95));
  }
  return {};
}

void write_search(Html& html, const VolumeAnswers& answers, const ntfs::VolumeNames& names,
                  const NamesData& data) {
  html.element("h3", "Names");
  if (data.names < names.seen())
    html.element(
        "p", fmt::format("{} of {} are in this page, those whose files take the most space: there "
                         "is no room for the others. 'coldtrace ntfs snapshot' lists all.",
                         grouped(data.names), counted(names.seen(), "name", "names")));
  if (data.names == 0) return;
  html.markup(fmt::format("<div id=\"{}-search\" data-label=\"Names of the volume\"></div>\n",
                          answers.id))
      .markup(
          "<noscript><p class=\"note\">The search needs the page's script; the tables do "
          "not.</p></noscript>\n");
}

}  // namespace coldtrace::cli
