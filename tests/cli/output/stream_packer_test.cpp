#include "cli/output/stream_packer.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>

#include "cli/output/libzstd.hpp"

namespace coldtrace::cli {
namespace {

std::ptrdiff_t running_threads() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return std::distance(begin(tasks), end(tasks));
}

struct Packed {
  std::string bytes;
  std::ptrdiff_t threads = 0;  // beside those that were there
};

// Of 10 MB of lines.
Packed pack_lines(unsigned threads) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += std::to_string(i * 7919LL % 1'000'003) + '\n';
  const auto before = running_threads();
  const auto packer = make_packer(Packing::zstandard, "lines.zst", threads);
  Packed packed;
  const auto take = [&](std::string_view bytes) { packed.bytes += bytes; };
  packer->pack(text, false, take);
  packed.threads = running_threads() - before;
  packer->pack({}, true, take);
  return packed;
}

}  // namespace

TEST_CASE("zstd packs with the threads that it is given, to the same bytes") {
  if (libzstd() == nullptr) {
    WARN("skipped: libzstd is not installed");
    return;
  }
  const auto one = pack_lines(1);
  CHECK(one.threads == 1);
  CHECK_FALSE(one.bytes.empty());
  for (const unsigned threads : {0U, 3U, 256U}) {
    const auto several = pack_lines(threads);
    CHECK(several.threads ==
          std::clamp(static_cast<std::ptrdiff_t>(threads), std::ptrdiff_t{1}, std::ptrdiff_t{8}));
    CHECK(several.bytes == one.bytes);
  }
}

}  // namespace coldtrace::cli
