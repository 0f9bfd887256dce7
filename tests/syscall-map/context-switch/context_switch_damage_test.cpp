#include <random>

#include "coldtrace/syscall-map/supported_interfaces.hpp"
#include "coldtrace/syscall-map/thread_offsets.hpp"
#include "tests/syscall-map/context-switch/switch_kernel.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using test::load_switch_kernel;

// Whatever the bytes are, what is found lies inside the image: whether they are one.
bool look_everywhere(core::ByteView file) {
  // Exactly its size, so that a sanitizer sees a read behind.
  const std::vector<std::byte> bytes{file.begin(), file.end()};
  core::Findings findings;
  const auto image = pe::Image::open(bytes, pe::Layout::file, findings);
  if (!image) return false;
  const auto search = find_context_switch(*image);
  for (const auto& found : search.candidates) {
    REQUIRE(image->addresses().is_mapped(found.rva));
    for (const auto& option : found.plan.options) REQUIRE_FALSE(option.reasons.empty());
  }
  REQUIRE((!search.candidates.empty() || !search.reasons.empty()));
  (void)find_thread_offsets(*image);
  REQUIRE_FALSE(find_supported_interfaces(*image, findings).empty());
  return true;
}

TEST_CASE("every truncation of a kernel ends with an answer") {
  const auto id = GENERATE("xp-x86", "11-x64");
  const auto kernel = load_switch_kernel(id);
  if (!kernel) return;
  std::size_t opened = 0;
  for (std::size_t size = 0; size < kernel->bytes.size(); ++size)
    opened += look_everywhere(core::ByteView{kernel->bytes}.first(size));
  CHECK(opened > 1000);
}

TEST_CASE("kernels with random bytes end with an answer") {
  const auto id = GENERATE("7-x86", "2003-x86", "11-x64", "7-x64");
  const auto kernel = load_switch_kernel(id);
  if (!kernel) return;
  std::size_t opened = 0;
  std::mt19937 random{20};
  for (int round = 0; round < 500; ++round) {
    auto bytes = kernel->bytes;
    for (int count = 0; count < 1 + round % 40; ++count)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    opened += look_everywhere(bytes);
  }
  CHECK(opened > 250);
}

}  // namespace
}  // namespace coldtrace
