// Runs a fuzz target over files and folders, for builds without libFuzzer.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string content{std::istreambuf_iterator<char>{file}, {}};
  // Exactly the file's size, so that a read beyond its end is caught by AddressSanitizer.
  const std::unique_ptr<std::uint8_t[]> bytes{new std::uint8_t[content.size()]};
  if (!content.empty()) std::memcpy(bytes.get(), content.data(), content.size());
  LLVMFuzzerTestOneInput(bytes.get(), content.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator{argv[i]})
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) replay(file);
  std::printf("%zu files replayed\n", files.size());
  return files.empty() ? 1 : 0;
}
