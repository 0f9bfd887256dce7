#include "coldtrace/ntfs/logfile/log_present.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::ntfs {

std::string_view to_string(LogPresent present) {
  constexpr std::array<std::string_view, 6> texts = {"same_name", "other_name", "in_use",
                                                     "deleted",   "reused",     "absent"};
  return texts[static_cast<std::size_t>(present)];
}

LogPresent LogPresence::find(const LogEvent& event) {
  if (!records_.has(event.record)) return LogPresent::absent;
  const auto summary = records_.summary(event.record);
  if (!summary.in_use) {
    records_.assemble(event.record, facts_);
    if (was_never_used(facts_)) return LogPresent::absent;
  }
  if (!event.sequence) return summary.in_use ? LogPresent::in_use : LogPresent::deleted;
  // NTFS counts the number up when a file is deleted, and leaves 0 out.
  const u16 next = *event.sequence == 0xffff ? u16{1} : static_cast<u16>(*event.sequence + 1);
  if (!summary.in_use && (summary.sequence == next || summary.sequence == *event.sequence))
    return LogPresent::deleted;
  if (summary.sequence != *event.sequence) return LogPresent::reused;
  const auto& name = event.after ? event.after : event.before;
  if (!name) return LogPresent::in_use;
  facts_.clear();
  records_.assemble_names(event.record, facts_);
  const bool same = std::ranges::any_of(facts_.names, [&](const FileName& own) {
    return own.parent == name->parent && own.name == name->name();
  });
  return same ? LogPresent::same_name : LogPresent::other_name;
}

void LogPresence::add_name(LogEvent& event) {
  if (!event.named_by_mft || !records_.has(event.record) || !records_.summary(event.record).in_use)
    return;
  facts_.clear();
  records_.assemble_names(event.record, facts_);
  const auto seen = std::ranges::find_if(
      facts_.names, [](const FileName& name) { return name.name_space != NameSpace::dos; });
  if (seen == facts_.names.end()) return;
  event.after = to_logged_name(*seen);
  event.name_source = LogNameSource::mft;
}

std::string LogPresence::path_of(const LoggedName& name) {
  const auto directory = chain_.find(name.parent);
  if (!directory.whole || !directory.live) return {};
  if (name.parent.record == root_record && equals_ascii(name.name(), ".")) return "/";
  std::string path{directory.text};
  path += '/';
  append_exact(path, name.name());
  return path;
}

}  // namespace coldtrace::ntfs
