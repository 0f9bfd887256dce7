// Any text as an expression about files: its error lies inside of it, or a file is wanted by it or
// by its negation, never by both.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs_query/file_filter.hpp"

namespace {

using namespace coldtrace;

// A file that has no value of some members, one of others and two of the rest.
class Sample final : public ntfs::FileValues {
 public:
  void each(ntfs::FileMember member, const See& see) override {
    const auto number = static_cast<u64>(member);
    for (u64 i = 0; i < number % 3; ++i) {
      where::Subject subject;
      switch (number % 5) {
        case 0:
          subject.text = i == 0 ? "Report.DOCX" : "/folder/a.b";
          break;
        case 1:
          subject.boolean = i == 0;
          break;
        case 2:
          subject.time = core::FileTime{132'000'000'000'000'000 + i};
          break;
        case 3:
          subject.guid = core::Guid{};
          break;
        default:
          subject.number = where::Number::of(number + i);
      }
      see(subject);
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = core::to_chars(std::as_bytes(std::span{data, size}));
  const auto where = ntfs::parse_file_where(text);
  if (!where) {
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    if (where.error().line > lines || where.error().column > size + 1) __builtin_trap();
    return 0;
  }
  // A line of its own ends a comment.
  const auto negation = ntfs::parse_file_where("not (" + std::string{text} + "\n)");
  if (!negation) return 0;  // as deep or as long as may be
  Sample file;
  if (ntfs::wants(*where, file) == ntfs::wants(*negation, file)) __builtin_trap();
  if (ntfs::asks_zone_ids(*where) != ntfs::asks_zone_ids(*negation)) __builtin_trap();
  return 0;
}
