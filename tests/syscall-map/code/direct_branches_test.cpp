#include "syscall-map/code/direct_branches.hpp"

#include "tests/syscall-map/code/code_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;

void put(fixtures::Bytes& bytes, u32 rva, const fixtures::Bytes& code) {
  std::copy(code.begin(), code.end(), bytes.begin() + (rva - 0x1000));
}

struct Found {
  u32 from, target;
  bool call;

  bool operator==(const Found&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << std::hex << found.from << " to " << found.target << (found.call ? ", a call" : "");
}

std::vector<Found> find(const CodeImage& image, std::vector<RvaRange> ranges) {
  core::Findings findings;
  std::vector<Found> found;
  for (const auto& branch : find_direct_branches(image.code, std::move(ranges), findings))
    found.push_back({value(branch.from), value(branch.target), branch.call});
  CHECK(findings.empty());
  return found;
}

// One section of 0x200 bytes, which its file has to the last one.
fixtures::Bytes branches() {
  fixtures::Bytes bytes(0x200, std::byte{0x90});
  put(bytes, 0x1000, to_bytes({0xe8, 0xfb, 0x00, 0x00, 0x00}));        // call 1100
  put(bytes, 0x1010, to_bytes({0xe9, 0x6b, 0x01, 0x00, 0x00}));        // jmp 1180
  put(bytes, 0x1020, to_bytes({0x0f, 0x85, 0x12, 0x01, 0x00, 0x00}));  // jne 1138
  put(bytes, 0x1030, to_bytes({0x0f, 0x8f, 0x09, 0x01, 0x00, 0x00}));  // jg 113f
  put(bytes, 0x1040, to_bytes({0xe8, 0xfb, 0x00, 0x00, 0x00}));        // call 1140
  put(bytes, 0x1050, to_bytes({0xe8, 0xaa, 0x00, 0x00, 0x00}));        // call 10ff
  put(bytes, 0x1060, to_bytes({0x0f, 0x18, 0x9a, 0x00, 0x00, 0x00}));  // prefetcht0 [rdx+0x...]
  put(bytes, 0x1070, to_bytes({0xe8, 0x1a, 0x01, 0x00, 0x00}));        // call 118f
  put(bytes, 0x1080, to_bytes({0xe8, 0x0b, 0x01, 0x00, 0x00}));        // call 1190
  put(bytes, 0x10a0, to_bytes({0xe8, 0xbb, 0x00, 0x00, 0x00}));        // call 1160
  put(bytes, 0x10b0, to_bytes({0x0f, 0x90, 0x4a, 0x00, 0x00, 0x00}));  // seto [rdx], add [rax], al
  put(bytes, 0x11f0, to_bytes({0xe8, 0x0b, 0xff, 0xff, 0xff}));        // call 1100
  put(bytes, 0x11fb, to_bytes({0x0f, 0x84, 0xff, 0xfe, 0xff}));        // je, without its last byte
  return bytes;
}

TEST_CASE("direct branches into ranges are found, by target and then by place") {
  const CodeImage image{code_spec(branches())};
  const std::vector<Found> wanted{{0x1000, 0x1100, true},  {0x11f0, 0x1100, true},
                                  {0x1020, 0x1138, false}, {0x1030, 0x113f, false},
                                  {0x1010, 0x1180, false}, {0x1070, 0x118f, true}};
  CHECK(find(image, {{0x1100, 0x1140}, {0x1180, 0x1190}}) == wanted);
  // In any order, and where they overlap or touch.
  CHECK(find(image, {{0x1180, 0x1190}, {0x1110, 0x1138}, {0x1138, 0x1140}, {0x1100, 0x1120}}) ==
        wanted);
  CHECK(find(image, {{0x1100, 0x1140}, {0x1110, 0x1120}, {0x1180, 0x1190}}) == wanted);
  CHECK(find(image, {{0x1130, 0x1139}}) == std::vector<Found>{{0x1020, 0x1138, false}});
  CHECK(find(image, {}).empty());
}

TEST_CASE("of 262,144 direct branches no more are kept, which is a finding") {
  constexpr u32 most = 262'144;
  const auto more = GENERATE(0U, 1U);
  fixtures::Bytes bytes;
  for (u32 call = 0; call < most + more; ++call) {
    const u32 distance = 0U - 5 * (call + 1);  // to 1000
    bytes.push_back(std::byte{0xe8});
    for (u32 shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<std::byte>(distance >> shift));
  }
  const CodeImage image{code_spec(std::move(bytes))};
  core::Findings findings;
  CHECK(find_direct_branches(image.code, {{0x1000, 0x1001}}, findings).size() == most);
  CHECK(findings.count("context-switch-limit") == more);
}

}  // namespace
}  // namespace coldtrace
