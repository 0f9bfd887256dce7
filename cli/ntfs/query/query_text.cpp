#include "cli/ntfs/query/query_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_size.hpp"
#include "cli/output/text_time.hpp"
#include "coldtrace/core/hex.hpp"

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

std::vector<std::string> texts_of(ntfs::FileValues& values, FileMember member) {
  std::vector<std::string> texts;
  values.each(member, [&](const where::Subject& value) {
    if (value.text) texts.emplace_back(*value.text);
  });
  return texts;
}

// As text shows them. Where U+FFFD stands for something the units say what.
std::vector<std::string> shown_texts(ntfs::FileValues& values, FileMember member,
                                     FileMember units_member) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  auto texts = texts_of(values, member);
  const auto units = texts_of(values, units_member);
  const auto is_inexact = [&](const std::string& text) {
    return text.find(replacement) != text.npos;
  };
  // Otherwise it is not known which texts the units are of.
  const bool all = std::ranges::count_if(texts, is_inexact) == std::ssize(units);
  auto next = units.begin();
  for (auto& text : texts)
    text =
        printable(all && is_inexact(text) ? find_exact_text(text, *next++).value_or(text) : text);
  return texts;
}

std::string target_of(ntfs::FileValues& values) {
  const auto bytes = texts_of(values, FileMember::reparse_target_bytes);
  if (!bytes.empty())
    if (const auto read = core::parse_hex(bytes.front())) return printable(core::to_chars(*read));
  const auto targets =
      shown_texts(values, FileMember::reparse_target, FileMember::reparse_target_utf16);
  return targets.empty() ? std::string{} : targets.front();
}

}  // namespace

void append_query_text(core::TextBuffer& out, ntfs::FileValues& values) {
  out.append(file_text_columns(first_of(values, FileMember::record, "?"),
                               first_of(values, FileMember::sequence, "?"), size_of(values),
                               first_of(values, FileMember::si_modified, "-")));
  const auto state = first_of(values, FileMember::state, "");
  if (!state.empty() && state != "live") out.append(fmt::format("[{}] ", state));
  const auto paths = shown_texts(values, FileMember::path, FileMember::path_utf16);
  const auto path = paths.empty() ? "<unnamed>" : paths.front();
  if (const auto number = first_of(values, FileMember::partition_number, ""); !number.empty())
    out.append("/partition" + number);
  if (const auto number = first_of(values, FileMember::partition_shadow, ""); !number.empty())
    out.append("/shadow" + number);
  out.append(path);
  if (first_of(values, FileMember::directory, "") == "true" && path != "/") out.append('/');
  if (const auto target = target_of(values); !target.empty()) out.append(" -> " + target);
  for (const auto& name :
       shown_texts(values, FileMember::stream_name, FileMember::stream_name_utf16))
    out.append("  :" + name);
  values.each(FileMember::finding_code, [&](const where::Subject& code) {
    if (code.text) out.append("  !" + printable(*code.text));
  });
  out.append('\n');
}

}  // namespace coldtrace::cli
