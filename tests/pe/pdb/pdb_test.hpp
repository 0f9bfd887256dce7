#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "coldtrace/pdb/pdb_publics.hpp"
#include "fixtures/builders/pdb_file.hpp"

namespace coldtrace::test {

// Bytes of exactly their size, so that AddressSanitizer sees a read behind.
class ExactBytes {
 public:
  explicit ExactBytes(core::ByteView bytes)
      : size_{bytes.size()}, copy_{new std::byte[bytes.size()]} {
    std::copy(bytes.begin(), bytes.end(), copy_.get());
  }
  core::ByteView view() const { return {copy_.get(), size_}; }

 private:
  u64 size_;
  std::unique_ptr<std::byte[]> copy_;
};

// A PDB read to its end.
struct OpenedPdb {
  explicit OpenedPdb(core::ByteView file)
      : bytes{file}, pdb{pe::Pdb::open(bytes.view(), findings)} {
    if (!pdb) return;
    sections = pe::PdbSections::read(*pdb, findings);
    publics = pe::read_public_symbols(*pdb, sections, findings);
  }
  explicit OpenedPdb(const fixtures::MsfFile& file) : OpenedPdb{file.view()} {}
  explicit OpenedPdb(const fixtures::PdbSpec& spec) : OpenedPdb{fixtures::build_pdb(spec)} {}

  // "first@0x1000 second@0x1020 absolute@-"
  std::string symbols() const {
    std::string text;
    for (const auto& symbol : publics.symbols) {
      if (!text.empty()) text += ' ';
      text +=
          std::string{symbol.name} + '@' + (symbol.address ? pe::to_string(*symbol.address) : "-");
    }
    return text;
  }

  // "pdb-public pdb-stream", in order
  std::string codes() const {
    std::string text;
    for (const auto& finding : findings.all()) {
      if (!text.empty()) text += ' ';
      text += finding.code.view();
    }
    return text;
  }

  core::Findings findings;
  ExactBytes bytes;
  core::Result<pe::Pdb> pdb;
  pe::PdbSections sections;
  pe::PublicSymbols publics;
};

}  // namespace coldtrace::test
