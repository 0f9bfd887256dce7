#include "coldtrace/ntfs_privacy/hashed_path.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

std::string hashed(const privacy::HashedNames& names, std::string_view path) {
  std::string text;
  append_hashed_path(text, names, path);
  return text;
}

}  // namespace

TEST_CASE("each name of a path is hashed, and what is not a name stays") {
  const std::vector<std::byte> key(20, std::byte{0x0b});
  const privacy::HashedNames names{key, false};
  const auto users = names.name("Users");
  const auto file = names.name("a.txt");
  CHECK(hashed(names, "/Users/a.txt") == "/" + users + "/" + file);
  CHECK(hashed(names, "/<parent 30-2>/a.txt") == "/<parent 30-2>/" + file);
  CHECK(hashed(names, "/") == "/");
  // It only stands at the front: elsewhere a file may be called so.
  CHECK(hashed(names, "/Users/<parent 30-2>") == "/" + users + "/" + names.name("<parent 30-2>"));
}
