// Writes the seeds of corpus/hook_table anew: make_hook_table_seeds CORPUS

#include <filesystem>
#include <fstream>

#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "fixtures/builders/hook_tables.hpp"

namespace {

using namespace coldtrace;

bool write(const std::filesystem::path& path, const std::vector<syscall_map::HookTable>& tables) {
  std::filesystem::create_directories(path.parent_path());
  const auto bytes = syscall_map::encode_hook_tables(tables);
  if (!bytes) return false;
  std::ofstream out{path, std::ios::binary};
  for (const auto byte : *bytes) out.put(static_cast<char>(byte));
  return out.good();
}

// Of version 1.0.
std::vector<syscall_map::HookTable> without_trace_points(u32 seed, u32 count) {
  auto tables = fixtures::make_hook_tables(seed, count);
  for (auto& table : tables) table.trace_points.clear();
  return tables;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto folder = std::filesystem::path{argv[1]} / "hook_table";
  const bool written = write(folder / "empty", {}) &&
                       write(folder / "one", without_trace_points(1, 1)) &&
                       write(folder / "two", without_trace_points(2, 2)) &&
                       write(folder / "three", without_trace_points(3, 3)) &&
                       write(folder / "trace-points", fixtures::make_hook_tables(2, 2));
  return written ? 0 : 1;
}
