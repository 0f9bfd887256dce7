#include "coldtrace/syscall-map/services_tab.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/stubs/name_hash.hpp"
#include "syscall-map/service-tables/service_table_reader.hpp"

namespace coldtrace::syscall_map {
namespace {

// Source: two decompiled kernels (10.0.18362, 10.0.22631): u32 hash, u32 argument count, u64
// address.
constexpr u64 record_size = 16;
constexpr u64 address_in_record = 8;

constexpr u32 most_arguments = 17;

using Numbers = std::map<pe::Rva, std::vector<u16>>;
using Records = std::vector<ServicesTabEntry>;

class TabFinder {
 public:
  TabFinder(const pe::ImageTables& tables, const LocatedServiceTable& table)
      : tables_{tables}, image_{tables.image()} {
    for (std::size_t i = 0; i < table.entries.size() && i < most_services_of_table; ++i)
      numbers_[table.entries[i].target].push_back(static_cast<u16>(i));
  }

  const Numbers& numbers() const { return numbers_; }

  // Each place where records lead to all functions of the table and to no other.
  std::vector<std::pair<pe::Rva, Records>> find() {
    if (numbers_.empty()) return {};
    Records records;
    pe::Rva start{};
    std::optional<pe::Rva> last;
    // Who found the table has reported damaged relocations.
    for (const auto& [address, type] : tables_.relocations().entries) {
      if (type != pe::RelocationType::dir64 || value(address) < address_in_record ||
          last == address)
        continue;
      const pe::Rva at{value(address) - u32{address_in_record}};
      if (!last || value(address) - value(*last) != record_size) finish(start, records);
      last = address;
      auto record = read_record(at);
      if (!record) {
        finish(start, records);
        continue;
      }
      if (records.empty()) start = at;
      // One too many is enough to see that there are too many.
      if (records.size() <= most_services_of_table) records.push_back(std::move(*record));
    }
    finish(start, records);
    return std::move(found_);
  }

 private:
  std::optional<ServicesTabEntry> read_record(pe::Rva at) const {
    const auto fields = core::Fields<record_size>::at(image_.bytes(at, record_size), 0);
    if (!fields) return std::nullopt;
    const auto target = image_.rva_of_address(fields->get<u64, address_in_record>());
    const auto arguments = fields->get<u32, 4>();
    if (!target || arguments > most_arguments) return std::nullopt;
    const auto numbers = numbers_.find(*target);
    if (numbers == numbers_.end()) return std::nullopt;
    return ServicesTabEntry{fields->get<u32, 0>(), arguments, *target, {}, {}};
  }

  void finish(pe::Rva start, Records& records) {
    const auto enough = records.size() >= numbers_.size();
    if (enough && records.size() <= most_services_of_table) {
      std::set<pe::Rva> targets;
      for (const auto& record : records) targets.insert(record.target);
      if (targets.size() == numbers_.size()) found_.emplace_back(start, std::move(records));
    }
    records.clear();
  }

  const pe::ImageTables& tables_;
  const pe::Image& image_;
  Numbers numbers_;
  std::vector<std::pair<pe::Rva, Records>> found_;
};

// The name of each hash that one known name has, "" where several do.
std::map<u32, std::string> names_by_hash(std::span<const std::string> names) {
  std::map<u32, std::string> by_hash;
  for (const auto& name : names) {
    const auto hashed = hashed_name(name);
    const auto service = fmt::format("Nt{}", hashed);
    const auto [known, added] = by_hash.emplace(hash_name(hashed), service);
    if (!added && known->second != service) known->second.clear();
  }
  return by_hash;
}

u64 name_records(Records& records, std::span<const std::string> names) {
  const auto by_hash = names_by_hash(names);
  u64 named = 0;
  for (auto& record : records) {
    const auto name = by_hash.find(record.hash);
    if (name == by_hash.end() || name->second.empty()) continue;
    record.name = name->second;
    ++named;
  }
  return named;
}

void check_counts(const Records& records, const Numbers& numbers, std::size_t services,
                  std::optional<u64> offset, Proof& proof, core::Findings& findings) {
  std::map<pe::Rva, std::size_t> uses;
  for (const auto& record : records) ++uses[record.target];
  u64 merged = 0;
  bool equal = true;
  for (const auto& [target, of_table] : numbers) {
    if (of_table.size() > 1) merged += of_table.size();
    equal = equal && uses[target] == of_table.size();
  }
  if (equal) {
    proof.add(fmt::format("as many records as the table has entries, {}, for each function",
                          records.size()));
  } else {
    proof.contradict(fmt::format("{}, but {} of the table",
                                 core::counted(records.size(), "record", "records"),
                                 core::counted(services, "entry", "entries")));
    findings.warning("services-tab-count", offset,
                     "KiServicesTab has {}, or for a function other than the {} of KiServiceTable",
                     core::counted(records.size(), "record", "records"),
                     core::counted(services, "entry", "entries"));
  }
  if (merged > 0)
    proof.note(
        fmt::format("{} services share their function with another: it is not known which record "
                    "belongs to which number",
                    merged));
}

// KiArgumentTable of an x64 kernel counts what is behind the first four arguments.
void check_arguments(const Records& records, const LocatedServiceTable& table,
                     std::optional<u64> offset, Proof& proof, core::Findings& findings) {
  if (!table.arguments) return;
  u64 checked = 0, equal = 0;
  for (const auto& record : records) {
    if (record.numbers.size() != 1) continue;
    const auto bytes = table.entries[record.numbers.front()].argument_bytes;
    if (!bytes) continue;
    ++checked;
    const auto on_stack = record.argument_count > 4 ? (record.argument_count - 4) * 4 : 0;
    if (on_stack == *bytes) ++equal;
  }
  auto sentence =
      fmt::format("{} of {} argument counts agree with KiArgumentTable", equal, checked);
  if (checked > 0 && equal == checked) {
    proof.add(std::move(sentence));
  } else if (checked > 0) {
    findings.warning("services-tab-arguments", offset, "{}", sentence);
    proof.contradict(std::move(sentence));
  }
}

void report_absence(const pe::Image& image, core::Findings& findings) {
  core::Findings version_findings;  // the version is read for this alone
  const auto version = pe::find_version_info(image, version_findings);
  constexpr pe::VersionNumber first{10, 0, 18362, 0};
  if (version && version->fixed && version->fixed->file >= first)
    findings.info("no-services-tab", std::nullopt,
                  "no KiServicesTab, which kernels of this version have: no relocated records lead "
                  "to all functions of KiServiceTable and to no other");
}

}  // namespace

std::optional<ServicesTab> find_services_tab(const pe::ImageTables& tables,
                                             const LocatedServiceTable& kernel_table,
                                             std::span<const std::string> names,
                                             core::Findings& findings) {
  const auto& image = tables.image();
  const core::UnreadableNote note{image.file(), findings};
  if (image.machine() != pe::Machine::amd64 || kernel_table.table != ServiceTable::nt)
    return std::nullopt;
  TabFinder finder{tables, kernel_table};
  auto places = finder.find();
  if (places.size() > 1) {
    findings.warning("services-tab-ambiguous", std::nullopt,
                     "{} places could be KiServicesTab, at RVA {:#x} and {:#x}: none is used",
                     places.size(), value(places[0].first), value(places[1].first));
    return std::nullopt;
  }
  if (places.empty()) {
    report_absence(image, findings);
    return std::nullopt;
  }
  ServicesTab tab;
  tab.rva = places.front().first;
  tab.entries = std::move(places.front().second);
  tab.file_offset = image.addresses().to_offset(tab.rva);
  tab.address = image.optional_header().image_base + value(tab.rva);
  for (auto& record : tab.entries) record.numbers = finder.numbers().at(record.target);

  Proof proof;
  proof.add(
      fmt::format("{} records with relocated addresses lead to all {} functions of "
                  "KiServiceTable and to no other",
                  tab.entries.size(), finder.numbers().size()));
  check_counts(tab.entries, finder.numbers(), kernel_table.entries.size(), tab.file_offset, proof,
               findings);
  check_arguments(tab.entries, kernel_table, tab.file_offset, proof, findings);
  const auto named = name_records(tab.entries, names);
  auto sentence = fmt::format("the hashes of {} of {} records are those of known names", named,
                              tab.entries.size());
  if (named * 2 > tab.entries.size()) {
    proof.add(std::move(sentence));
  } else {
    proof.note(std::move(sentence));
  }
  if (named < tab.entries.size())
    findings.info("services-tab-unnamed", tab.file_offset,
                  "{} of {} records of KiServicesTab {} a hash that does not belong to exactly one "
                  "known name",
                  tab.entries.size() - named, tab.entries.size(),
                  tab.entries.size() - named == 1 ? "has" : "have");
  tab.evidence = proof.sentences();
  tab.confidence = proof.confidence();
  return tab;
}

}  // namespace coldtrace::syscall_map
