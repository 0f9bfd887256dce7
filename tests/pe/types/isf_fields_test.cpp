#include "coldtrace/pdb/isf_fields.hpp"

#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_field_list;
using fixtures::build_structure;
using fixtures::Bytes;
using fixtures::PdbStructure;

fixtures::PdbMember base(u32 type, u64 offset) {
  return {"", type, offset, 0x1400};
}

Bytes structure(const std::string& name, u32 fields, u64 size) {
  PdbStructure made;
  made.name = name;
  made.fields = fields;
  made.size = size;
  return build_structure(made);
}

// "name+offset:type" of the fields of a definition.
std::vector<std::string> fields_of(const std::vector<Bytes>& records, u32 index,
                                   core::Findings& findings) {
  fixtures::PdbSpec spec;
  spec.types = records;
  const auto file = build_pdb(spec).bytes;
  const auto pdb = pe::Pdb::open(file, findings);
  REQUIRE(pdb);
  const auto table = pe::TypeTable::read(*pdb, findings);
  REQUIRE(table);
  pe::TypeBudget budget{*table};
  std::vector<std::string> all;
  pe::visit_isf_fields(*table, index, budget, findings, [&](const pe::IsfField& field) {
    all.push_back(fmt::format("{}+{}:{:#x}", field.name, field.offset, field.type));
  });
  return all;
}

TEST_CASE("members of base classes follow those of the type, at their place in it") {
  core::Findings findings;
  const std::vector<Bytes> records{
      build_field_list({{"low", 0x75, 0}, {"twice", 0x75, 4}}),  // 0x1000
      structure("lowest", 0x1000, 8),                            // 0x1001
      build_field_list({base(0x1001, 8), {"middle", 0x74, 0}}),  // 0x1002
      structure("base", 0x1002, 16),                             // 0x1003
      build_field_list({base(0x1003, 16), {"own", 0x74, 0}, {"twice", 0x74, 4}, {"", 0x74, 8}}),
      structure("derived", 0x1004, 32),  // 0x1005
  };
  CHECK(fields_of(records, 0x1005, findings) ==
        std::vector<std::string>{"own+0:0x74", "twice+4:0x74", "middle+16:0x74", "low+24:0x75"});
  CHECK(fields_of(records, 0x1001, findings) ==
        std::vector<std::string>{"low+0:0x75", "twice+4:0x75"});
}

TEST_CASE("the members of 16 levels of base classes are listed") {
  core::Findings findings;
  std::vector<Bytes> records{build_field_list({{"m0", 0x75, 0}}), structure("s0", 0x1000, 4)};
  for (u32 level = 1; level <= 17; ++level) {
    const auto last = 0x1000 + static_cast<u32>(records.size()) - 1;
    records.push_back(build_field_list({base(last, 0), {fmt::format("m{}", level), 0x75, 0}}));
    records.push_back(structure(fmt::format("s{}", level), last + 1, 4));
  }
  const auto last = 0x1000 + static_cast<u32>(records.size()) - 1;
  const auto fields = fields_of(records, last, findings);
  REQUIRE(fields.size() == 17);
  CHECK(fields.front() == "m17+0:0x75");
  CHECK(fields.back() == "m1+0:0x75");
}

TEST_CASE("a base class of which members lie beyond 64 bits is told") {
  core::Findings findings;
  const std::vector<Bytes> records{
      build_field_list({{"near", 0x75, 0}, {"far", 0x75, 16}}),
      structure("base", 0x1000, 32),
      build_field_list({base(0x1001, 0xffff'ffff'ffff'fff8), {"own", 0x75, 0}}),
      structure("derived", 0x1002, 64),
  };
  CHECK(fields_of(records, 0x1003, findings) ==
        std::vector<std::string>{"own+0:0x75", "near+18446744073709551608:0x75"});
  CHECK(findings.count("pdb-type-range") > 0);
}

}  // namespace
}  // namespace coldtrace
