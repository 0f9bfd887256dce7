#pragma once

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/pdb/type_table.hpp"
#include "fixtures/builders/pdb_file.hpp"

namespace coldtrace::test {

// The types of a PDB that is made of records, from index 0x1000 on.
struct ReadTypes {
  explicit ReadTypes(std::vector<fixtures::Bytes> records, u16 machine = 0x8664) {
    fixtures::PdbSpec spec;
    spec.types = std::move(records);
    spec.machine = machine;
    file = fixtures::build_pdb(spec).bytes;
    const auto pdb = pe::Pdb::open(file, findings);
    REQUIRE(pdb);
    auto read = pe::TypeTable::read(*pdb, findings);
    REQUIRE(read);
    table = std::move(*read);
  }

  fixtures::Bytes file;
  core::Findings findings;
  pe::TypeTable table;
};

}  // namespace coldtrace::test
