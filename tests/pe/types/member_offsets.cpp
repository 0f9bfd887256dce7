// Answers "STRUCTURE<tab>MEMBER.MEMBER" lines of standard input with offsets, "-" for none, from
// the types of the PDB that is given; then names the findings. For tests that ask another reader
// too.

#include <cstdio>
#include <iostream>
#include <string>

#include "coldtrace/core/file.hpp"
#include "coldtrace/pdb/pdb_types.hpp"

int main(int argc, char** argv) {
  using namespace coldtrace;
  if (argc != 2) return 2;
  const auto file = core::read_whole_file(argv[1], u64{1} << 30);
  if (!file) return 2;
  core::Findings findings;
  const auto pdb = pe::Pdb::open(*file, findings);
  if (!pdb) return 2;
  const auto types = pe::PdbTypes::read(*pdb, findings);
  if (!types) return 2;
  for (std::string line; std::getline(std::cin, line);) {
    const auto tab = line.find('\t');
    if (tab == line.npos) return 2;
    const std::string_view query{line};
    const auto offset = types->offset_of(query.substr(0, tab), query.substr(tab + 1), findings);
    std::cout << (offset ? std::to_string(*offset) : "-") << '\n';
  }
  for (const auto& finding : findings.all()) std::cout << finding.code.view() << '\n';
}
