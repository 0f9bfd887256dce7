// Searches whole files for the patterns of a signature file: the peer of YARA in compare-yara.
// Machines, versions and anchors are ignored.
// usage: signature_search SIGNATURES LIST [--print]
// LIST names the files, one per line. Prints how often each signature matches, or with --print
// every match as "FILE ID OFFSET".

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/signatures/signature_matcher.hpp"
#include "coldtrace/signatures/signature_parser.hpp"

// As YARA reads files. The product never maps files that it does not trust.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) std::exit(2);
    size_ = static_cast<std::size_t>(status.st_size);
    memory_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    close(file);
    if (memory_ == MAP_FAILED) std::exit(2);
  }
  ~MappedFile() { munmap(memory_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  coldtrace::core::ByteView bytes() const {
    return {static_cast<const std::byte*>(memory_), size_};
  }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

int main(int argc, char** argv) {
  using namespace coldtrace;
  if (argc < 3) return 2;
  const bool print = argc > 3 && std::string{argv[3]} == "--print";
  const auto text = core::read_whole_file(argv[1], syscall_map::largest_signature_file);
  if (!text) return 2;
  const auto signatures = syscall_map::parse_signatures(core::to_chars(*text));
  if (!signatures) {
    fmt::print(stderr, "{}\n", to_string(signatures.error()));
    return 2;
  }
  std::vector<const syscall_map::Signature*> pointers;
  for (const auto& signature : *signatures) pointers.push_back(&signature);
  const syscall_map::SignatureMatcher matcher{pointers};
  std::map<std::string, u64> counts;
  std::ifstream list{argv[2]};
  for (std::string path; std::getline(list, path);) {
    const MappedFile file{path};
    const auto found = matcher.search(file.bytes(), 0);
    if (found.exhausted) fmt::print(stderr, "{}: not searched to its end\n", path);
    for (const auto& match : found.matches) {
      const auto& id = pointers[match.signature]->id;
      ++counts[id];
      if (print) fmt::print("{} {} {:#x}\n", path, id, match.start);
    }
  }
  if (!print)
    for (const auto& [id, count] : counts) fmt::print("{} {}\n", id, count);
  return 0;
}
