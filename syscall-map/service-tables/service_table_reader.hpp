#pragma once

#include <optional>
#include <string>
#include <vector>

#include "syscall-map/service-tables/service_table_search.hpp"

namespace coldtrace::syscall_map {

// How many places that could be one table are examined; real images have one.
constexpr std::size_t most_table_places = 16;

// Where a table is, and how to read its words.
struct TablePlace {
  pe::Rva start;
  TableForm form;
  // x64 2003: functions are aligned to 16 bytes, and the low four bits hold the number of
  // arguments on the stack. Source: Windows Research Kernel, amd64 service table.
  bool argument_nibbles = false;

  auto operator<=>(const TablePlace&) const = default;
};

// The evidence for a table. Sentences of different kinds are independent of each other.
class Proof {
 public:
  // Adds one more kind of evidence.
  void add(std::string sentence);
  // Adds a fact that proves nothing by itself.
  void note(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  // Adds evidence against it: confidence is then low.
  void contradict(std::string sentence);

  Confidence confidence() const;
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  std::vector<std::string> sentences_;
  unsigned kinds_ = 0;
  bool contradicted_ = false;
};

// What is needed to read the entries of a table.
struct TableLayout {
  std::string name;
  ServiceTable table;
  TablePlace place;
  u32 count;
  std::optional<pe::Rva> limit;
  std::optional<pe::Rva> arguments;
  bool verified;
};

// Reads the entries and checks them against relocations and sections: an entry that is not stored
// or leads out of the image ends the table with a finding.
LocatedServiceTable read_service_table(TableSearch& search, const TableLayout& layout,
                                       Proof& proof);

// How many consecutive relocated addresses of code there are from the start, up to one more than a
// table can have; 0 for a form that is not relocated.
u64 count_relocated_entries(const TableSearch& search, const TablePlace& place);

// How many exported services are where the table entry with their number leads.
struct NumberAgreement {
  u64 shared = 0;
  u64 equal = 0;

  bool trusted() const;
};

NumberAgreement compare_numbers(const LocatedServiceTable& table, const KernelStubs& stubs);

}  // namespace coldtrace::syscall_map
