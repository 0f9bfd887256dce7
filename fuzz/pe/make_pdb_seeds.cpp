// Writes the seeds of corpus/pdb and corpus/pdb_types anew: make_pdb_seeds CORPUS

#include <filesystem>
#include <fstream>

#include "fixtures/builders/pdb_file.hpp"

namespace {

using namespace coldtrace::fixtures;

void write(const std::filesystem::path& path, const MsfFile& file) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out{path, std::ios::binary};
  for (const auto byte : file.bytes) out.put(static_cast<char>(byte));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto folder = std::filesystem::path{argv[1]} / "pdb";
  PdbSpec spec;
  spec.publics = {{"KeSetEvent", 1, 0x40},
                  {"?mangled@@YAXH@Z", 1, 0x10, 3},
                  {"data", 2, 8, 0},
                  {"absolute", 3, 0x1234, 0},
                  {"managed", 2, 0, 12}};
  for (coldtrace::u32 i = 0; i < 60; ++i)
    spec.publics.push_back({"symbol" + std::to_string(i), 1, 0x100 + 16 * i});
  spec.sections = {{".text", 0x1000, 0x1000}, {".data", 0x2000, 0x100}};
  write(folder / "scattered", build_pdb(spec));
  spec.scattered = false;
  spec.block_size = 1024;
  write(folder / "in-order", build_pdb(spec));
  spec = {};
  spec.original_sections = {{".text", 0x1000, 0x2000}};
  spec.moves = {{0, 0}, {0x1000, 0x3000}, {0x1010, 0x1000}};
  write(folder / "moved", build_pdb(spec));
  spec = {};
  spec.publics[0].old_form = true;
  spec.has_publics_stream = false;
  write(folder / "no-publics-stream", build_pdb(spec));
  spec = {};
  spec.types = {build_field_list({{"a", 0x75, 0}, {"b", 0x603, 8}, {"c", 0x23, 8}}),
                build_structure({"inner", ".?AUinner@@", 0x1000, 0x1505, false, 0x10, 3}),
                build_structure({"inner", ".?AUinner@@", 0, 0x1505, true}),
                build_field_list({{"", 0x1002, 0, 0x1400}, {"d", 0x1002, 0x10}, {"e", 0x71, 0x20}}),
                build_structure({"outer", "", 0x1003, 0x1506, false, 0x28, 3})};
  write(std::filesystem::path{argv[1]} / "pdb_types" / "members", build_pdb(spec));
}
