#include "cli/ntfs/rows/l2tcsv_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {
namespace {

std::string l2t_cell(std::string_view text) {
  auto cell = core::printable(text);
  std::ranges::replace(cell, ',', ' ');
  return cell.empty() ? "-" : cell;
}

// "02/29/2024,12:34:56" of "2024-02-29T12:34:56.1234567Z"; as plaso has it where there is none, or
// a year of more than four digits, which the format has no room for.
std::string date_and_time(core::FileTime time) {
  constexpr std::string_view none = "00/00/0000,--:--:--";
  const auto text = core::to_string(time);
  if (time.ticks == 0 || text.starts_with('+')) return std::string{none};
  const auto t = text.find('T');
  const std::string_view whole = text;
  const auto date = whole.substr(0, t);
  const auto day = date.substr(date.size() - 2);
  const auto month = date.substr(date.size() - 5, 2);
  return fmt::format("{}/{}/{},{}", month, day, date.substr(0, date.size() - 6),
                     whole.substr(t + 1, 8));
}

}  // namespace

std::string_view l2tcsv_header() {
  return "date,time,timezone,MACB,source,sourcetype,type,user,host,short,desc,version,filename,"
         "inode,notes,format,extra\n";
}

std::string l2tcsv_line(const L2tLine& line) {
  return fmt::format("{},UTC,{},FILE,{},{},{},-,{},{},2,{},{},-,coldtrace,{}\n",
                     date_and_time(line.time), line.macb, line.source_type, line.type,
                     l2t_cell(line.user), l2t_cell(line.short_text), l2t_cell(line.text),
                     l2t_cell(line.path), l2t_cell(line.inode), l2t_cell(line.extra));
}

std::string plaso_path(std::string_view path) {
  if (path.empty()) return {};
  std::string text = "NTFS:";
  text += path;
  std::ranges::replace(text, '/', '\\');
  return text;
}

}  // namespace coldtrace::cli
