#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/hook_service.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/trace-points/function_places.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"
#include "syscall-map/code/instruction_boundary.hpp"

namespace coldtrace::syscall_map {

// What gives names to the code of a kernel, and places to names: its exports, the public symbols
// of its PDB, and its services, which outlive this. Used inside this library alone.
class TracePlaces {
 public:
  TracePlaces(const pe::ImageTables& tables, const std::vector<NamedPlace>& symbols,
              const std::vector<HookService>& services);

  // Sets `source` and `rva` of the point from what was requested, or says why it cannot. The
  // exports go before the services, these before the symbols, the signatures and structure; that
  // they disagree is a finding.
  void resolve(TracePoint& point, core::Findings& findings);

  // Where exports, services and symbols have a function of this name, in this order.
  std::vector<FunctionPlace> find_named(std::string_view name) const;

  // "HAL.KfLowerIrql" where an export of this name leads to another image; else empty.
  std::string forwarder_of(std::string_view name) const;

  // Of code and data, undecorated, as find_named() takes them.
  std::vector<std::string_view> names() const;

  // Those of them that name code, or of `others`, that a glob means, undecorated or as they are.
  std::set<std::string> matching(std::string_view glob,
                                 std::span<const std::string_view> others) const;

  // Whether the name that is asked for, if any, is found without the services.
  bool has_name(std::string_view requested) const;

  const CodeSearch& code() const { return code_; }

  std::vector<std::string> names_at(pe::Rva rva, core::Findings& findings) const;

  // Of all that lie in executable sections.
  std::vector<FunctionStart> starts() const;

 private:
  struct Name {
    std::string name;
    pe::Rva rva{};
    PlaceSource source = PlaceSource::none;
    const HookService* service = nullptr;  // of the service table
  };

  void add(Name name);
  bool is_function(const Name& name) const;
  static std::string_view plain_name(const Name& name);
  std::vector<std::string_view> function_names() const;
  std::string similar_names(std::string_view name);
  void find(std::string_view name, TracePoint& point, core::Findings& findings);
  void add_places(std::string_view name, PlaceSource source,
                  std::vector<FunctionPlace>& places) const;

  const pe::Image& image_;
  CodeSearch code_;
  std::vector<Name> names_;
  std::multimap<pe::Rva, std::size_t> by_place_;
  std::unordered_multimap<std::string, std::size_t> by_name_;  // as it is, and undecorated
  std::map<std::string, std::string> forwarders_;
  unsigned suggestions_left_ = 64;  // looking for similar names is slow
};

// A name, a name and a number of bytes, or an RVA; nothing for what is none of these.
struct TraceRequest {
  std::string_view name;  // empty: the offset is an RVA
  u32 offset = 0;
};

std::optional<TraceRequest> parse_trace_request(std::string_view text);

}  // namespace coldtrace::syscall_map
