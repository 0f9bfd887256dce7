#include "cli/ntfs/query/query_text.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_size.hpp"
#include "cli/output/text_time.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::FileMember;

// The first value of a member as text, or what stands for none.
std::string first_of(ntfs::FileValues& values, FileMember member, std::string_view none) {
  std::optional<std::string> text;
  values.each(member, [&](const where::Subject& value) {
    if (text) return;
    if (value.number) text = fmt::format("{}", value.number->magnitude);
    if (value.time) text = text_time(*value.time);
    if (value.boolean) text = *value.boolean ? "true" : "false";
    if (value.text) text = printable(*value.text);
  });
  return text.value_or(std::string{none});
}

std::string size_of(ntfs::FileValues& values) {
  std::string text{"-"};
  for (const auto member : {FileMember::entry_size, FileMember::size}) {
    bool is_first = true;
    values.each(member, [&](const where::Subject& size) {
      if (size.number && std::exchange(is_first, false)) text = text_size(size.number->magnitude);
    });
  }
  return text;
}

// Where U+FFFD stands for something the units say what.
std::string path_of(ntfs::FileValues& values) {
  const auto units = first_of(values, FileMember::path_utf16, "");
  if (units.empty()) return first_of(values, FileMember::path, "<unnamed>");
  std::string path;
  values.each(FileMember::path, [&](const where::Subject& value) {
    if (value.text && path.empty()) path = *value.text;
  });
  return printable(find_exact_text(path, units).value_or(path));
}

}  // namespace

void append_query_text(core::TextBuffer& out, ntfs::FileValues& values) {
  out.append(file_text_columns(first_of(values, FileMember::record, "?"),
                               first_of(values, FileMember::sequence, "?"), size_of(values),
                               first_of(values, FileMember::si_modified, "-")));
  const auto state = first_of(values, FileMember::state, "");
  if (!state.empty() && state != "live") out.append(fmt::format("[{}] ", state));
  const auto path = path_of(values);
  if (const auto number = first_of(values, FileMember::partition_number, ""); !number.empty())
    out.append("/partition" + number);
  if (const auto number = first_of(values, FileMember::partition_shadow, ""); !number.empty())
    out.append("/shadow" + number);
  out.append(path);
  if (first_of(values, FileMember::directory, "") == "true" && path != "/") out.append('/');
  const auto target = first_of(values, FileMember::reparse_target, "");
  if (!target.empty()) out.append(" -> " + target);
  values.each(FileMember::stream_name, [&](const where::Subject& name) {
    if (name.text) out.append("  :" + printable(*name.text));
  });
  values.each(FileMember::finding_code, [&](const where::Subject& code) {
    if (code.text) out.append("  !" + printable(*code.text));
  });
  out.append('\n');
}

}  // namespace coldtrace::cli
