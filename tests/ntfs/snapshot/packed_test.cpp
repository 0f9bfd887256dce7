#include "coldtrace/ntfs/packed.hpp"

#include <array>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/ntfs/directory_node.hpp"

namespace coldtrace::ntfs {
namespace {

using Packed = std::vector<std::byte>;
static_assert(std::is_constructible_v<PackedReader, const Packed&>);
static_assert(!std::is_constructible_v<PackedReader, Packed>);
static_assert(std::is_constructible_v<NodeReader, core::ByteView>);
static_assert(!std::is_constructible_v<NodeReader, Packed>);

TEST_CASE("a packed number has seven bits a byte, and behind the end there are zeros") {
  constexpr std::array packed{std::byte{0x7f}, std::byte{0x80}, std::byte{0x01}, std::byte{0xff}};
  PackedReader in{packed};
  CHECK(in.get() == 0x7f);
  CHECK(in.get() == 0x80);
  CHECK(in.get() == 0x7f);  // what there is of it
  CHECK(in.get() == 0);
  CHECK(in.get_raw<u32>() == 0);
  CHECK(in.get_bytes(1).empty());
}

}  // namespace
}  // namespace coldtrace::ntfs
