// Writes the seeds of corpus/wevt_resource anew: make_wevt_seeds CORPUS

#include <filesystem>
#include <fstream>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/wevt_resource.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::fixtures;

WevtProviderSpec sample() {
  WevtProviderSpec spec;
  spec.name = "Seed";
  spec.channels = {{16, "Seed/Debug"}};
  spec.levels = {{4, "win:Informational"}};
  spec.tasks = {{7, "Work"}};
  spec.opcodes = {{u64{1} << 16, "win:Start"}};
  spec.keywords = {{1, "Low"}};
  spec.maps = {{"Values", false, {{1, 100}}}, {"Bits", true, {{1, 102}, {4, 103}}}};
  spec.templates = {{{{"N", 6, 6},
                      {"Rows", 0, 0, {}, {}, {}, 0, {}, {{"Size", 4, 4}, {"Key", 1, 1, {}, 4}}},
                      {"Bits", 8, 18, {}, {}, {}, {}, 1},
                      {"Text", 2, 1}}},
                    {{{"Id", 15, 14}, {"Data", 14, 15, 4}}}};
  spec.events = {
      {1, 0, 0, 0, 0, 0, 0, {0}, 200}, {1, 1, 1}, {2, 0, {}, {}, {}, {}, {}, {}, 201, 0, "Own"}};
  return spec;
}

// With a payload behind it, as the fuzz target splits its input.
void write(const std::filesystem::path& path, const std::vector<std::byte>& resource) {
  constexpr std::size_t payload = 24;
  auto whole = resource;
  whole.insert(whole.begin(),
               static_cast<std::byte>((resource.size() * 255 + resource.size() + payload - 1) /
                                      (resource.size() + payload)));
  for (std::size_t i = 0; i < payload; ++i) whole.push_back(static_cast<std::byte>(i % 5));
  std::filesystem::create_directories(path.parent_path());
  std::ofstream{path, std::ios::binary} << core::to_chars(whole);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto folder = std::filesystem::path{argv[1]} / "wevt_resource";
  write(folder / "new", build_wevt({sample()}));
  write(folder / "old", build_wevt({sample()}, true));
  auto second = sample();
  second.guid.bytes[0] = std::byte{1};
  write(folder / "two", build_wevt({sample(), second}));
}
