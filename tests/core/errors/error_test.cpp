#include "coldtrace/core/error.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace {
namespace {

// Of a temporary, `*LazyFile::open(...)` and `open_image(...)->source`, the value would be gone
// with the statement, and nobody has asked whether there is one.
template <class Of>
concept gives_value = requires(Of&& result) {
  *std::forward<Of>(result);
};
template <class Of>
concept gives_member = requires(Of&& result) {
  std::forward<Of>(result).operator->();
};
using Opened = core::Result<std::unique_ptr<core::LazyFile>>;
static_assert(gives_value<Opened&> && gives_value<const Opened&>);
static_assert(!gives_value<Opened> && !gives_value<const Opened>);
static_assert(gives_member<Opened&> && gives_member<const Opened&>);
static_assert(!gives_member<Opened> && !gives_member<const Opened>);
// The error would be gone as well.
template <class Of>
concept gives_error = requires(Of&& result) {
  std::forward<Of>(result).error();
};
static_assert(gives_error<Opened&> && gives_error<const Opened&>);
static_assert(!gives_error<Opened> && !gives_error<const Opened>);
// value() throws where there is none, and of a temporary gives one that is gone.
template <class Of>
concept throws_or_gives = requires(Of&& result) {
  std::forward<Of>(result).value();
};
static_assert(!throws_or_gives<Opened&> && !throws_or_gives<Opened>);

static_assert(std::is_constructible_v<core::Name, const char (&)[4]>);
static_assert(!std::is_constructible_v<core::Name, char (&)[4]>);
static_assert(!std::is_constructible_v<core::Name, std::string>);

TEST_CASE("an error names offset, structure, field, expected and found") {
  const core::ParseError error{core::Fault::truncated, 0x180, "IMAGE_SECTION_HEADER",
                               "VirtualSize",          4,     2};
  CHECK(core::to_string(error) ==
        "0x180: IMAGE_SECTION_HEADER.VirtualSize: truncated: 4 bytes needed, 2 available");
}

TEST_CASE("an error says what a structure has not, and no numbers") {
  const core::ParseError error{core::Fault::missing, 0x6000, "FILE record", "$DATA", 1, 0};
  CHECK(core::to_string(error) == "0x6000: FILE record has no $DATA");
}

TEST_CASE("an error of the operating system says what it said") {
  const core::ParseError error{core::Fault::io, 0, "file", "open", 0, ENOENT};
  CHECK(core::to_string(error) == "cannot read: No such file or directory");
}

}  // namespace
}  // namespace coldtrace
