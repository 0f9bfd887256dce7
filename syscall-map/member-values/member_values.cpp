#include "coldtrace/syscall-map/member_values.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pdb/pdb_names.hpp"
#include "coldtrace/pdb/pdb_procedures.hpp"
#include "coldtrace/pdb/pdb_types.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pdb/type_layers.hpp"
#include "coldtrace/pdb/type_members.hpp"
#include "syscall-map/code/kernel_code.hpp"
#include "syscall-map/member-values/member_accessors.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_named = 8;  // members in one finding

// That something has a thing, and where. Several that agree are independent of each other.
struct Claim {
  u64 value = 0;
  enum class From : u8 { code, pdb, other_build };
  From from = From::code;
  Confidence confidence = Confidence::high;
  std::vector<std::string> sentences;
  bool negative = false;
  bool enumeration = false;
  std::optional<u32> size;
  std::optional<pe::BitField> bits;
  std::size_t source = 0;  // the file of symbols that says so
};
using Claims = std::vector<Claim>;

bool is_address(MemberKind kind) {
  return kind == MemberKind::global || kind == MemberKind::function;
}

std::set<u64> values_of(const Claims& claims, Claim::From from) {
  std::set<u64> values;
  for (const auto& claim : claims)
    if (claim.from == from) values.insert(claim.value);
  return values;
}

// A PDB, or a symbol table that was made of it.
struct Source {
  const pe::SymbolFile* file = nullptr;
  std::string name;  // in sentences
  std::optional<pe::PdbTypes> types;
  std::unordered_map<u32, u32> sizes;  // of procedures

  std::string said(std::string_view what) const { return name + std::string{what}; }
};

// By number where there are several: names of files are not evidence.
std::vector<Source> name_sources(std::span<const pe::SymbolFile* const> files) {
  std::vector<Source> sources;
  for (const auto* const file : files) {
    auto& source = sources.emplace_back();
    source.file = file;
    source.name = file->pdb ? "PDB" : "symbol table";
    source.name =
        files.size() > 1 ? fmt::format("{} {}", source.name, sources.size()) : "the " + source.name;
  }
  return sources;
}

class Search {
 public:
  Search(std::span<const MemberRequest> requests, const KernelView& kernel, const HookTable& table,
         std::span<const pe::SymbolFile* const> files, core::Findings& findings)
      : image_{kernel.image()}, sources_{name_sources(files)}, findings_{findings} {
    for (const auto& request : requests)
      if (is_address(request.kind))
        for (const auto& name : request.alternatives) addresses_.try_emplace(name);
    for (auto& source : sources_) read_source(source);
    read_exports(kernel);
    read_tables(table);
    if (sources_.empty()) read_named_code(table);
    read_accessors(kernel, table);
  }

  void read_inferred(std::span<const InferredMember> inferred) {
    for (const auto& member : inferred)
      accesses_.emplace(
          member.expression,
          Claim{member.offset, Claim::From::other_build, member.confidence, {member.sentence}});
  }

  std::vector<MemberValue> find(std::span<const MemberRequest> requests) {
    std::vector<MemberValue> values;
    for (const auto& request : requests) values.push_back(find(request));
    tell("pdb-type-range", beyond_, "offsets or sizes that exceed 32 bits");
    tell("member-missing", missing_, "the build does not have, or no given file shows");
    tell("member-contradiction", contradicted_,
         "PDBs, PDB and code, symbols of one name, or inferred places disagree on");
    tell("member-place", misplaced_,
         "symbols lie outside the image, or functions outside its code");
    return values;
  }

 private:
  using Names = std::vector<std::string>;

  // What one file says of a name.
  struct NamedClaim {
    bool exact = false;                          // it has the name as it is
    std::vector<std::pair<Claim, bool>> claims;  // false: of a decorated name
  };
  using NamedClaims = std::unordered_map<std::string, NamedClaim>;

  // ---- What there is.

  void read_source(Source& source) {
    if (auto types = pe::read_types(*source.file, findings_))
      source.types.emplace(std::move(*types));
    NamedClaims named;
    for (const auto& symbol : source.file->publics.symbols) {
      if (!symbol.address) continue;
      add_symbol(source, named, symbol.name, *symbol.address, true);
      if (const auto plain = core::undecorated(symbol.name); plain != symbol.name)
        add_symbol(source, named, plain, *symbol.address, false);
    }
    // A name of C that another symbol has as it is, is that one's.
    for (auto& [name, found] : named)
      if (found.exact) std::erase_if(found.claims, [](const auto& one) { return !one.second; });
    if (source.file->pdb) read_procedures(source, named);
    for (auto& [name, found] : named)
      for (auto& [claim, exact] : found.claims) addresses_[name].push_back(std::move(claim));
  }

  void read_procedures(Source& source, NamedClaims& named) {
    pe::read_procedures(
        *source.file->pdb, source.file->sections,
        [&](const pe::Procedure& procedure) {
          if (procedure.kind == pe::Procedure::Kind::cold_part) return;
          source.sizes.emplace(value(procedure.address), procedure.size);
          const std::string name{procedure.name};
          if (addresses_.contains(name) && !named[name].exact)
            named[name].claims.emplace_back(claim_of(source, procedure.address), true);
        },
        findings_);
  }

  void add_symbol(const Source& source, NamedClaims& named, std::string_view text, pe::Rva address,
                  bool exact) {
    const std::string name{text};
    if (!addresses_.contains(name)) return;
    auto& found = named[name];
    found.exact = found.exact || exact;
    found.claims.emplace_back(claim_of(source, address), exact);
  }

  Claim claim_of(const Source& source, pe::Rva address) const {
    Claim claim{value(address), Claim::From::pdb, Confidence::high, {source.said(" names it")}};
    claim.source = static_cast<std::size_t>(&source - sources_.data());
    return claim;
  }

  void read_exports(const KernelView& kernel) {
    for (const auto& [name, found] : addresses_)
      if (const auto rva = kernel.find_export(name)) add_code(name, *rva, "the kernel exports it");
  }

  // Found by structure alone, without names of the PDB.
  void read_tables(const HookTable& table) {
    for (const auto& [image, located] : table.service_tables) {
      if (image != ImageRole::kernel || located.name != "KiServiceTable") continue;
      add_code(located.name, located.rva, "the structure of the kernel's service table",
               located.confidence);
      add_code("KiServiceLimit", located.limit, "the number of services is there",
               located.confidence);
      add_code("KiArgumentTable", located.arguments, "the sizes of arguments are there",
               located.confidence);
      add_code("KeServiceDescriptorTable", located.descriptor,
               "code writes the service table there", located.confidence);
    }
    if (table.services_tab)
      add_code("KiServicesTab", table.services_tab->rva, "the structure of the table",
               table.services_tab->confidence);
  }

  void read_named_code(const HookTable& table) {
    for (const auto& found : table.context_switch.candidates)
      add_code(found.name, found.rva, "what a context switch does", found.confidence);
    for (const auto& service : table.services) {
      if (service.image != ImageRole::kernel || !service.target) continue;
      for (const auto& name : service.names)
        if (name.starts_with("Nt"))
          add_code(name, service.target, "the service table leads there", service.confidence);
    }
  }

  void read_accessors(const KernelView& kernel, const HookTable& table) {
    for (auto& access : read_member_accessors(kernel))
      accesses_.emplace(
          std::move(access.expression),
          Claim{access.offset, Claim::From::code, access.confidence, std::move(access.evidence)});
    std::set<std::pair<std::string, u64>> told;  // rivals for one name are one witness
    for (const auto& found : table.context_switch.candidates)
      if (found.kernel_stack_offset && told.emplace(found.name, *found.kernel_stack_offset).second)
        accesses_.emplace("_KTHREAD.KernelStack",
                          Claim{*found.kernel_stack_offset,
                                Claim::From::code,
                                Confidence::low,
                                {fmt::format("{} keeps the stack pointer there", found.name)}});
  }

  void add_code(std::string_view name, std::optional<pe::Rva> rva, std::string_view sentence,
                Confidence confidence = Confidence::high) {
    const auto found = addresses_.find(std::string{name});
    if (found != addresses_.end() && rva)
      found->second.push_back(
          {value(*rva), Claim::From::code, confidence, {std::string{sentence}}});
  }

  // ---- What a request finds.

  MemberValue find(const MemberRequest& request) {
    MemberValue result;
    result.name = request.name;
    result.kind = request.kind;
    result.optional = request.optional;
    result.expression = request.alternatives.front();
    for (const auto& alternative : request.alternatives) {
      const auto claims = claims_of(request, alternative);
      if (claims.empty()) continue;
      result.expression = alternative;
      decide(claims, result);
      return result;
    }
    const bool is_beyond = !beyond_.empty() && beyond_.back() == request.name;
    if (!request.optional && !is_beyond) missing_.push_back(request.name);
    return result;
  }

  void decide(const Claims& claims, MemberValue& result) {
    const auto pdb = values_of(claims, Claim::From::pdb);
    const auto code = values_of(claims, Claim::From::code);
    const auto other_build = values_of(claims, Claim::From::other_build);
    const auto& chosen = !pdb.empty() ? pdb : !code.empty() ? code : other_build;
    const bool other_places = std::ranges::any_of(
        claims, [&](const Claim& claim) { return claim.value != claims.front().value; });
    const bool contradicted = other_places || !same_extent(claims);
    if (contradicted) contradicted_.push_back(result.name);
    for (const auto& claim : claims)
      for (const auto& sentence : claim.sentences)
        result.evidence.push_back(contradicted ? fmt::format("{}: {}", place_of(claim), sentence)
                                               : sentence);
    if (chosen.size() > 1) return;
    for (const auto& claim : claims) {
      if (claim.value != *chosen.begin()) continue;
      result.value = claim.value;
      result.negative = claim.negative;
      result.enumeration = claim.enumeration;
      result.from_pdb = result.from_pdb || claim.from == Claim::From::pdb;
      result.from_code = result.from_code || claim.from == Claim::From::code;
      result.inferred = result.inferred || claim.from == Claim::From::other_build;
      result.confidence = std::max(result.confidence, claim.confidence);
      if (!same_extent(claims)) continue;
      if (claim.size) result.size = claim.size;
      if (claim.bits) {
        result.bit_position = claim.bits->position;
        result.bit_length = claim.bits->length;
      }
    }
    if (contradicted) result.confidence = Confidence::low;
    if (!contradicted && result.from_code && !result.from_pdb && claims.size() > 1)
      result.confidence = std::max(result.confidence, Confidence::medium);
  }

  // Whether those that say how large it is, or which bits it has, say the same.
  static bool same_extent(const Claims& claims) {
    std::set<u32> sizes;
    std::set<std::pair<u8, u8>> bits;
    for (const auto& claim : claims) {
      if (claim.size) sizes.insert(*claim.size);
      if (claim.bits) bits.emplace(claim.bits->position, claim.bits->length);
    }
    return sizes.size() < 2 && bits.size() < 2;
  }

  static std::string place_of(const Claim& claim) {
    auto text = fmt::format("at {:#x}", claim.value);
    if (claim.bits)
      text += fmt::format(", bits {} to {}", claim.bits->position,
                          claim.bits->position + claim.bits->length - 1);
    if (claim.size) text += fmt::format(", {}", core::counted(*claim.size, "byte", "bytes"));
    return text;
  }

  Claims claims_of(const MemberRequest& request, const std::string& text) {
    if (is_address(request.kind)) return addresses_of(request, text);
    Claims claims;
    for (const auto& source : sources_)
      if (auto claim = claim_of(request, split_member(text), source))
        claims.push_back(std::move(*claim));
    if (request.kind == MemberKind::offset) {
      const auto [first, last] = accesses_.equal_range(text);
      for (auto one = first; one != last; ++one) claims.push_back(one->second);
    }
    return claims;
  }

  Claims addresses_of(const MemberRequest& request, const std::string& name) {
    Claims claims;
    std::set<std::pair<u64, std::vector<std::string>>> seen;
    for (const auto& claim : addresses_[name]) {
      if (!seen.emplace(claim.value, claim.sentences).second) continue;
      const pe::Rva rva{static_cast<u32>(claim.value)};
      const bool inside = claim.value < image_.optional_header().size_of_image;
      if (!inside || (request.kind == MemberKind::function && !image_.is_executable(rva))) {
        misplaced_.push_back(request.name);
        continue;
      }
      claims.push_back(claim);
      if (request.kind == MemberKind::function) claims.back().size = size_of(claim);
    }
    return claims;
  }

  // As the file that names it has it; of a place that code shows, the first that has one there.
  std::optional<u32> size_of(const Claim& claim) const {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (claim.from == Claim::From::pdb && claim.source != i) continue;
      const auto& sizes = sources_[i].sizes;
      if (const auto size = sizes.find(static_cast<u32>(claim.value)); size != sizes.end())
        return size->second;
    }
    return std::nullopt;
  }

  std::optional<Claim> claim_of(const MemberRequest& request, const MemberExpression& text,
                                const Source& source) {
    if (!source.types) return std::nullopt;
    if (request.kind == MemberKind::constant) return constant(text, source);
    if (request.kind == MemberKind::size && text.path.empty())
      return whole_size(request, text.type, source);
    return member(request, text, source);
  }

  // What a driver can use; no type of a compiler is larger. What is, is told.
  std::optional<u32> narrow(const MemberRequest& request, const std::optional<u64>& number) {
    if (!number) return std::nullopt;
    if (*number <= ~u32{0}) return static_cast<u32>(*number);
    tell_beyond(request);
    return std::nullopt;
  }

  void tell_beyond(const MemberRequest& request) {
    if (beyond_.empty() || beyond_.back() != request.name) beyond_.push_back(request.name);
  }

  static std::optional<Claim> size_claim(const std::optional<u32>& size, const Source& source) {
    if (!size) return std::nullopt;
    return Claim{
        *size, Claim::From::pdb, Confidence::high, {source.said("'s types have this size")}};
  }

  std::optional<Claim> whole_size(const MemberRequest& request, std::string_view type,
                                  const Source& source) {
    const auto& table = source.types->table();
    const auto structure = table.find_structure(type, findings_);
    const auto index = structure ? structure : table.find_enumeration(type, findings_);
    if (!index) table.report_unread(type, findings_);
    auto claim =
        size_claim(narrow(request, index ? pe::size_of(table, *index) : std::nullopt), source);
    if (claim) claim->enumeration = !structure;
    return claim;
  }

  std::optional<Claim> member(const MemberRequest& request, const MemberExpression& text,
                              const Source& source) {
    const auto& table = source.types->table();
    const auto found = source.types->find(text.type, text.path, findings_);
    if (!found) return std::nullopt;
    const auto size = narrow(request, pe::size_of(table, found->type));
    if (request.kind == MemberKind::size) return size_claim(size, source);
    Claim claim{found->offset.value_or(0),
                Claim::From::pdb,
                Confidence::high,
                {source.said("'s types have it here")}};
    claim.size = size;
    if (const auto* const record = table.find_record(table.unmodified(found->type)))
      claim.bits = pe::read_bit_field(*record);
    if (request.kind == MemberKind::bit) {
      if (!claim.bits)
        return std::nullopt;  // a member that is not a bit field has no such position
      claim.value = claim.bits->position;
    } else if (!found->offset) {
      tell_beyond(request);
      return std::nullopt;
    }
    return claim;
  }

  std::optional<Claim> constant(const MemberExpression& text, const Source& source) {
    const auto& table = source.types->table();
    const auto index = table.find_enumeration(text.type, findings_);
    if (!index) return std::nullopt;
    std::optional<Claim> claim;
    pe::TypeBudget budget{table};
    const auto enumeration = pe::read_enumeration(*table.find_record(*index));
    const auto* const integer =
        enumeration ? pe::find_simple_type(enumeration->underlying) : nullptr;
    pe::visit_members(table, *index, {}, budget, findings_, [&](const pe::TypeMember& entry) {
      if (claim || entry.field.kind != pe::Field::Kind::enumerator || entry.name != text.path)
        return;
      claim = Claim{entry.field.value,
                    Claim::From::pdb,
                    Confidence::high,
                    {source.said("'s enumeration has it")}};
      claim->negative = integer && integer->is_signed && static_cast<i64>(entry.field.value) < 0;
    });
    return claim;
  }

  void tell(core::Name code, const Names& names, std::string_view what) {
    if (names.empty()) return;
    const auto shown = std::min(names.size(), most_named);
    const auto last = names.begin() + static_cast<std::ptrdiff_t>(shown);
    findings_.warning(
        code, std::nullopt, "{}: {}{}", what, fmt::join(names.begin(), last, ", "),
        shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "");
  }

  const pe::Image& image_;
  std::vector<Source> sources_;
  core::Findings& findings_;
  std::unordered_map<std::string, Claims> addresses_;  // that are asked for
  std::multimap<std::string, Claim> accesses_;
  Names missing_, beyond_, contradicted_, misplaced_;
};

}  // namespace

std::vector<MemberValue> find_members(std::span<const MemberRequest> requests,
                                      const KernelView& kernel, const HookTable& table,
                                      std::span<const pe::SymbolFile* const> files,
                                      std::span<const InferredMember> inferred,
                                      core::Findings& findings) {
  if (requests.empty()) return {};
  const core::UnreadableNote note{kernel.image().file(), findings};
  Search search{requests, kernel, table, files, findings};
  search.read_inferred(inferred);
  return search.find(requests);
}

}  // namespace coldtrace::syscall_map
