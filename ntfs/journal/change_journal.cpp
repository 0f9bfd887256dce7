#include "coldtrace/ntfs/journal/change_journal.hpp"

#include <algorithm>

namespace coldtrace::ntfs {
namespace {

constexpr std::string_view file_name = "$UsnJrnl";
constexpr std::string_view stream_name = "$J";
constexpr std::string_view settings_name = "$Max";

bool is_change_journal(const RecordFacts& facts) {
  return std::ranges::any_of(facts.names, [](const FileName& name) {
    return name.parent.record == static_cast<u64>(SystemRecord::extend) &&
           equals_ascii(name.name, file_name);
  });
}

// The value of $Max is contents, which no table of records keeps.
std::optional<JournalSettings> read_settings(const Volume& volume, const RecordFacts& facts,
                                             core::Findings& findings) {
  const auto* attribute = facts.find(AttributeType::data, settings_name);
  if (!attribute) return std::nullopt;
  std::vector<std::byte> value(JournalSettings::stored_size);
  const auto offset = volume.mft().offset_of(attribute->record);
  const auto unread = [&](const core::ParseError& error) {
    findings.warning("journal-settings", error);
    return std::nullopt;
  };
  if (attribute->resident) {
    std::vector<std::byte> record;
    RecordFacts unused;
    const auto read = volume.mft().read(volume.image(), attribute->record, record, unused);
    if (!read) return unread(read.error());
    const auto stored = core::slice(record, attribute->value_offset, attribute->size);
    if (stored) value.assign(stored->begin(), stored->end());
  } else {
    ExtentFaults faults;
    const auto extents = collect_extents(facts, AttributeType::data, attribute->name,
                                         volume.mft().clusters(), faults);
    const auto read = read_stream(volume.image(), volume.mft().clusters(), extents, 0, value);
    if (!read) return unread(read.error());
  }
  auto settings = read_journal_settings(value, offset.value_or(0) + attribute->value_offset);
  if (!settings) return unread(settings.error());
  return *settings;
}

ChangeJournal open_journal(const Volume& volume, const RecordFacts& facts,
                           core::Findings& findings) {
  const auto* attribute = facts.find(AttributeType::data, stream_name);
  const auto offset = volume.mft().offset_of(facts.record);
  const auto& clusters = volume.mft().clusters();
  std::vector<Extent> extents;
  if (!attribute || attribute->resident) {
    findings.warning("journal-runs", offset, "$UsnJrnl has no stream $J with clusters");
  } else {
    ExtentFaults faults;
    extents = collect_extents(facts, AttributeType::data, attribute->name, clusters, faults);
    if (faults.runs || faults.gap || faults.outside_volume)
      findings.warning("journal-runs", offset,
                       "the run list of $J is damaged; what it does not map is not read");
  }
  const u64 size = extents.empty() ? 0 : attribute->size;
  return {facts.reference(), facts.in_use, read_settings(volume, facts, findings),
          JournalStream::of_volume(volume.image(), clusters, std::move(extents), size, findings)};
}

}  // namespace

core::Result<JournalSettings> read_journal_settings(core::ByteView value, u64 offset) {
  core::Reader reader{value, "$UsnJrnl:$Max", offset};
  JournalSettings settings{};
  settings.maximum_size = reader.read_u64("MaximumSize");
  settings.allocation_delta = reader.read_u64("AllocationDelta");
  settings.id = reader.read_u64("UsnJournalID");
  settings.lowest_valid_usn = reader.read_u64("LowestValidUsn");
  return reader.finish(settings);
}

std::vector<ChangeJournal> find_change_journals(const Volume& volume, const RecordTable& records,
                                                core::Findings& findings) {
  std::vector<ChangeJournal> journals;
  RecordFacts facts;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record)) continue;
    const auto summary = records.summary(record);
    if (summary.directory || summary.extension) continue;
    records.assemble_names(record, facts);
    if (!is_change_journal(facts)) continue;
    records.assemble(record, facts);
    journals.push_back(open_journal(volume, facts, findings));
  }
  std::stable_partition(journals.begin(), journals.end(),
                        [](const ChangeJournal& journal) { return journal.in_use; });
  return journals;
}

}  // namespace coldtrace::ntfs
